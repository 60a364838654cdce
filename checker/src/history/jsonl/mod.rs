//! The project's own format: one JSON object a line, an optional header first.
//!
//! ```text
//! {"format":"lockstorm-history","version":1}
//! {"index":0,"time":341187643,"type":"invoke","process":1,"f":"acquire","key":"orders",
//!  "value":{"owner":"a","lease_ms":2000},"error":null}
//! {"index":1,"time":341900112,"type":"ok","process":1,"f":"acquire","key":"orders",
//!  "value":{"token":17},"error":null}
//! {"index":2,"time":350000000,"type":"note","process":"nemesis","f":"fault","key":"",
//!  "value":{"fault":{"id":"F1","kind":"kill","phase":"injected","target":"n1"}},"error":null}
//! ```
//!
//! (Each event is one line; they are broken here for the eye.)
//!
//! `type`, `process` and `f` must be there. Absent: `index` is the position, `time` the position
//! in nanoseconds, `key` the empty name, `value` empty, `error` null. A completion may leave out
//! its key. Fields that this version does not know are kept. A last line that was cut short is
//! reported and dropped; everything else that is malformed is an error.

mod array;
mod events;
mod line;
mod plain;
mod read;
mod write;

pub(super) use array::stream as stream_array;
pub(super) use read::stream;
pub use read::{LINE_BYTES_MAX, read_jsonl};
pub use write::{write_event, write_header};
