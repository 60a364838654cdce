//! Tests of the checker as its users call it, one file or folder for each matter.

#[path = "support/carried.rs"]
mod carried;
mod formats;
mod jsonl;
mod judge;
mod model_oracle;
mod mutation;
mod oracle;
mod support;
mod verdicts;
