//! Rules on what faults do to links, in a litmus as in a storm.

use super::findings::Findings;
use crate::model::{Delay, FaultSpec, Partition, PartitionForm, Span};

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
        findings.value(&path, "nothing would pass", "1 or more; or cut the link");
    } else if let FaultSpec::Lose(lose) = fault {
        judge_percent(lose.percent, path, "or cut the link", findings);
    } else if let FaultSpec::Reorder(reorder) = fault {
        judge_percent(reorder.percent, path, "or delay the link", findings);
        if reorder.by == Span::default() {
            let message = "what stays behind by nothing is not overtaken";
            findings.value(&format!("{path}.by"), message, "such as \"20ms\"");
        }
    } else if let FaultSpec::Partition(partition) = fault {
        judge_partition(partition, path, findings);
    }
}

/// A share of packets is some of them, but not all.
fn judge_percent(percent: u32, path: &str, instead: &str, findings: &mut Findings<'_>) {
    if !(1..=PERCENT_MAX).contains(&percent) {
        let message = format!("{percent} percent is not some of the packets");
        let help = format!("1 to {PERCENT_MAX}; {instead}");
        findings.value(&format!("{path}.percent"), message, &help);
    }
}

fn judge_delay(delay: &Delay, path: &str, findings: &mut Findings<'_>) {
    if delay.by == Span::default() && delay.jitter == Span::default() {
        let path = format!("{path}.by");
        findings.value(&path, "the delay is zero", "such as \"50ms\"");
    }
}

fn judge_partition(partition: &Partition, path: &str, findings: &mut Findings<'_>) {
    match (partition.form, partition.sides.len()) {
        (None, 0) => findings.key(
            path,
            "the partition has no sides",
            "such as sides = [[\"primary\", \"a\"], [\"replica-1\", \"b\"]], or form = \"halves\"",
        ),
        (None, 1) => findings.value(
            &format!("{path}.sides"),
            "a partition has two sides or more",
            "who is on no side is not parted from anybody: name the others as well",
        ),
        (Some(_), 1..) => findings.value(
            &format!("{path}.form"),
            "the sides are named already",
            "leave out either 'form' or 'sides'",
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
