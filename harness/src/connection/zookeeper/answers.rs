//! Contents of answers to requests.

use tokio_util::bytes::Bytes;

use super::jute::Reader;

/// Path of the node that was created.
pub fn name_of(created: &Bytes) -> Option<String> {
    Reader(created).text()
}

/// Number of the change that created the node: it grows from one change to the next.
pub fn change_of(created: &Bytes) -> Option<u64> {
    let mut reader = Reader(created);
    reader.text()?;
    u64::try_from(reader.long()?).ok()
}

/// Names of children, without the path of their parent.
pub fn children_of(found: &Bytes) -> Option<Vec<String>> {
    Reader(found).texts()
}
