//! Rules on the length of names that a file makes up: they become names of files and of keys, and
//! stand in every line of a report.

use super::findings::Findings;
use crate::draft::Draft;
use crate::model::Step;

/// Bytes of the name of a scenario or a client at most: file systems take 255 for a file, and
/// terminals and pages show names in columns.
pub const NAME_BYTES_MAX: usize = 100;
/// Bytes of a key at most: several times what libraries make of their names.
const KEY_BYTES_MAX: usize = 1_000;

/// Judges the clients and keys of a script; each comes into being with an acquire.
pub(super) fn judge(draft: &Draft, findings: &mut Findings<'_>) {
    for (n, step) in draft.steps.iter().enumerate() {
        let Some(Step::Acquire(acquire)) = step else {
            continue;
        };
        for (part, name, bytes_max) in [
            ("client", &acquire.client, NAME_BYTES_MAX),
            ("key", &acquire.key, KEY_BYTES_MAX),
        ] {
            if name.len() > bytes_max {
                let bytes = name.len();
                let message = format!("the {part} has {bytes} bytes, and may have {bytes_max}");
                let path = format!("step.{n}.acquire.{part}");
                findings.value(
                    &path,
                    message,
                    "a name is read by people: take a shorter one",
                );
            }
        }
    }
}
