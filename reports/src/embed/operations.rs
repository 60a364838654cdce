//! Columns of the embedded operations: what each asked, and how it was answered.

use std::collections::HashMap;

use lockstorm_checker::history::Mode;
use lockstorm_checker::{Access, Action, Digest, Operation, Outcome};

use super::column::Column;
use super::lanes::Lanes;
use super::selection::Selection;
use super::ticks::{TOKEN_MAX, Unit};

/// The columns of operations, in order of their invocation.
#[derive(Debug, Default)]
pub(super) struct OperationColumns {
    /// Kind of each and its answer, a byte each; see [`kind`].
    pub(super) kinds: Column,
    /// Zero for the lane of the operation that its process sent before; else one more than its
    /// lane.
    pub(super) lanes: Column,
    /// Of an acquire: ticks from its invocation to the try that was granted.
    pub(super) waits: Column,
    /// Of an operation on the guarded resource: one more than its token, or zero.
    pub(super) tokens: Column,
}

impl OperationColumns {
    pub(super) fn of(digest: &Digest, selection: &Selection, lanes: &Lanes, unit: Unit) -> Self {
        let mut columns = Self::default();
        let mut lane_of: HashMap<u64, u32> = HashMap::new();
        for position in selection.positions() {
            let operation = &digest.operations[position];
            columns.kinds.byte(kind(operation));
            let lane = lanes.at(position);
            let before = lane_of.insert(operation.process, lane);
            let is_same = before == Some(lane);
            columns
                .lanes
                .number(if is_same { 0 } else { u64::from(lane) + 1 });
            match operation.action {
                Action::Acquire => {
                    let wait = unit.ticks(operation.asked()) - unit.ticks(operation.invoked);
                    columns.waits.number(wait.unsigned_abs());
                }
                Action::Resource(_) => {
                    let token = operation.token.filter(|&token| token < TOKEN_MAX);
                    columns.tokens.number(token.map_or(0, |token| token + 1));
                }
                Action::Renew | Action::Release | Action::Other => {}
            }
        }
        columns
    }
}

/// Bits 0 to 2: what it does; 3 to 5: how it was answered; 6: as a reader. Bit 7 is free.
pub(super) fn kind(operation: &Operation) -> u8 {
    let action = match operation.action {
        Action::Acquire => 0,
        Action::Renew => 1,
        Action::Release => 2,
        Action::Resource(Access::Read) => 3,
        Action::Resource(Access::Write) => 4,
        Action::Resource(Access::Cas) => 5,
        Action::Resource(Access::Append) => 6,
        Action::Other => 7,
    };
    let outcome = match operation.outcome {
        Outcome::Ok => 0,
        Outcome::Refused => 1,
        Outcome::NotOwner => 2,
        Outcome::Failed => 3,
        Outcome::Unknown => 4,
    };
    action | outcome << 3 | u8::from(operation.mode == Mode::Read) << 6
}
