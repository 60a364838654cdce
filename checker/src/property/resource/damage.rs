//! The kinds of damage to what a lock guards.

use crate::case::{Case, Finding};
use crate::operations::{Access, Action, OpId};

/// The kind of damage, as the operations of a finding tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A write, the one that it lost, and what each had read.
    LostUpdate,
    /// A write, and the later holder's that came before.
    StaleWrite,
    /// An append, and the read that does not show it.
    LostAppend,
    /// A read, and the append whose value it shows too often.
    DoubleEffect,
    /// An append, the other holder's of the same value, and what each had read.
    Repeat,
}

impl Damage {
    pub(crate) fn of(case: &Case, finding: &Finding) -> Self {
        let does =
            |id: &OpId, access| case.digest.operation(*id).action == Action::Resource(access);
        let is_read = |id: &OpId| does(id, Access::Read);
        match &*finding.operations {
            [first, ..] if is_read(first) => Self::DoubleEffect,
            [_, second] if is_read(second) => Self::LostAppend,
            [_, _] => Self::StaleWrite,
            [first, ..] if does(first, Access::Append) => Self::Repeat,
            _ => Self::LostUpdate,
        }
    }
}
