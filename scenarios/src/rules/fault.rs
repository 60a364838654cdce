//! Rules on what a fault asks for, wherever it is asked for.

use super::findings::Findings;
use crate::model::{Clock, DurationSpec, FaultSpec};

/// The greatest speed of a clock, in percent: as if a minute were a second.
const SPEED_MAX: u32 = 6000;

/// Time for which a server may be put to sleep, or put off commands, at most.
const SLEEP_MAX: DurationSpec = DurationSpec::from_secs(60);

/// Judges the parameters of the fault at `path` that name nothing.
pub(super) fn judge(fault: &FaultSpec, path: &str, findings: &mut Findings<'_>) {
    if let FaultSpec::Clock(clock) = fault {
        judge_clock(clock, path, findings);
    } else if let FaultSpec::SlowFsync(slow) = fault
        && slow.by == DurationSpec::default()
    {
        let message = "`by` must be greater than 0";
        findings.value(&format!("{path}.by"), message, "such as \"500ms\"");
    } else if let FaultSpec::DelayMessage(delay) = fault
        && delay.by == DurationSpec::default()
    {
        let message = "`by` must be greater than 0";
        findings.value(&format!("{path}.by"), message, "such as \"3s\"");
    } else if let FaultSpec::Sleep(sleep) = fault
        && (sleep.length == DurationSpec::default() || sleep.length > SLEEP_MAX)
    {
        let message = format!("a server cannot sleep for {}", sleep.length);
        let help = format!("`for` must be greater than 0 and at most {SLEEP_MAX}");
        findings.value(&format!("{path}.for"), message, &help);
    } else if let FaultSpec::PauseCommands(pause) = fault
        && (pause.length == DurationSpec::default() || pause.length > SLEEP_MAX)
    {
        let message = format!("a server cannot put off commands for {}", pause.length);
        let help = format!("`for` must be greater than 0 and at most {SLEEP_MAX}");
        findings.value(&format!("{path}.for"), message, &help);
    }
}

fn judge_clock(clock: &Clock, path: &str, findings: &mut Findings<'_>) {
    match (&clock.node, &clock.client) {
        (None, None) => {
            let help = "add node = \"primary\", or client = \"a\" for one that is a process";
            findings.key(path, "`node` or `client` must be given", help);
        }
        (Some(_), Some(_)) => {
            let message = "only one of `node` and `client` may be given";
            findings.key(&format!("{path}.client"), message, "take two faults");
        }
        (Some(_), None) | (None, Some(_)) => {}
    }
    let jumps = [("forward", clock.forward), ("back", clock.back)];
    for (key, _) in jumps
        .iter()
        .filter(|(_, by)| *by == Some(DurationSpec::default()))
    {
        let message = format!("`{key}` must be greater than 0");
        findings.value(&format!("{path}.{key}"), message, "such as \"2s\"");
    }
    if clock.forward.is_some() && clock.back.is_some() {
        let message = "only one of `forward` and `back` may be given";
        findings.key(&format!("{path}.back"), message, "leave one of them out");
    }
    let jumps = clock.forward.is_some() || clock.back.is_some();
    match clock.speed {
        None if !jumps => {
            let help =
                "add forward = \"2s\", back = \"2s\" or speed = 50 (percent; 0 stands still)";
            findings.key(path, "`forward`, `back` or `speed` must be given", help);
        }
        Some(100) => {
            let help = "leave it out, or take another: 0 stands still, 200 goes twice as fast";
            findings.value(
                &format!("{path}.speed"),
                "100 percent is the true speed",
                help,
            );
        }
        Some(speed) if speed > SPEED_MAX => {
            let message = format!("{speed} percent is faster than clocks go wrong");
            findings.value(
                &format!("{path}.speed"),
                message,
                &format!("at most {SPEED_MAX}"),
            );
        }
        Some(_) | None => {}
    }
}
