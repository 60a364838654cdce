//! Rules on what faults do to links, in a litmus as in a storm.

use super::findings::Findings;
use crate::model::{Delay, DurationSpec, FaultSpec, Partition, PartitionForm};

/// The greatest share of packets that something may happen to.
const PERCENT_MAX: u32 = 99;

/// Judges the parameters of a fault of links that name nothing; `path` is that of the fault.
pub(crate) fn judge(fault: &FaultSpec, path: &str, findings: &mut Findings<'_>) {
    if let FaultSpec::Delay(delay) = fault {
        judge_delay(delay, path, findings);
    } else if let FaultSpec::Throttle(throttle) = fault
        && throttle.bytes_per_second == 0
    {
        let path = format!("{path}.bytes-per-second");
        findings.value(
            &path,
            "`bytes-per-second` must be greater than 0",
            "or cut the link",
        );
    } else if let FaultSpec::Lose(lose) = fault {
        judge_percent(lose.percent, path, "or cut the link", findings);
    } else if let FaultSpec::Reorder(reorder) = fault {
        judge_percent(reorder.percent, path, "or delay the link", findings);
        if reorder.by == DurationSpec::default() {
            let message = "`by` must be greater than 0: without a delay nothing is overtaken";
            findings.value(&format!("{path}.by"), message, "such as \"20ms\"");
        }
    } else if let FaultSpec::Partition(partition) = fault {
        judge_partition(partition, path, findings);
    }
}

/// A share of packets is some of them, but not all.
fn judge_percent(percent: u32, path: &str, instead: &str, findings: &mut Findings<'_>) {
    if !(1..=PERCENT_MAX).contains(&percent) {
        let message = format!("`percent` must be from 1 to {PERCENT_MAX}, not {percent}");
        findings.value(&format!("{path}.percent"), message, instead);
    }
}

fn judge_delay(delay: &Delay, path: &str, findings: &mut Findings<'_>) {
    if delay.by == DurationSpec::default() && delay.jitter == DurationSpec::default() {
        let path = format!("{path}.by");
        findings.value(
            &path,
            "`by` or `jitter` must be greater than 0",
            "such as \"50ms\"",
        );
    }
}

fn judge_partition(partition: &Partition, path: &str, findings: &mut Findings<'_>) {
    match (partition.form, partition.sides.len()) {
        (None, 0) => findings.key(
            path,
            "`sides` or `form` must be given",
            "such as sides = [[\"primary\", \"a\"], [\"replica-1\", \"b\"]], or form = \"halves\"",
        ),
        (None, 1) => findings.value(
            &format!("{path}.sides"),
            "a partition needs at least two sides",
            "nodes and clients on no side are unaffected: name the others as well",
        ),
        (Some(_), 1..) => findings.value(
            &format!("{path}.form"),
            "only one of `form` and `sides` may be given",
            "leave one of them out",
        ),
        (None, _) | (Some(_), 0) => {}
    }
    if partition.clients > 0 && partition.form != Some(PartitionForm::IsolatePrimary) {
        findings.value(
            &format!("{path}.clients"),
            "only the form isolate-primary counts clients",
            "leave it out, or name the clients in 'sides'",
        );
    }
}
