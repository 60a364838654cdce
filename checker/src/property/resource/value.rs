//! Values of resources, as far as they can be compared.

use serde_json::Value as Json;

use crate::operations::{Access, Action, Digest, Operation};

/// The text of a value without the quotes of a string: many stores answer `"5"` where 5 was
/// written, and two writes that can be told apart only by that must count as two of one value.
pub(super) fn plain(json: &str) -> &str {
    let inside = json
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    inside.unwrap_or(json)
}

/// Returns the value that an operation on a resource found there: the reply of a read, the
/// expectation of a compare-and-set.
pub(crate) fn read_value(digest: &Digest, operation: &Operation) -> Option<String> {
    let detail = digest.detail(operation)?;
    match operation.action {
        Action::Resource(Access::Read) => {
            let replied = detail.replied?;
            Some(plain(digest.value(replied)).to_owned())
        }
        Action::Resource(Access::Cas) => pair(digest, operation).map(|(expected, _)| expected),
        Action::Resource(Access::Write | Access::Append)
        | Action::Acquire
        | Action::Renew
        | Action::Release
        | Action::Other => None,
    }
}

/// Returns the value that an operation on a resource writes or appends there, if it takes effect.
pub(crate) fn written_value(digest: &Digest, operation: &Operation) -> Option<String> {
    let detail = digest.detail(operation)?;
    match operation.action {
        Action::Resource(Access::Write | Access::Append) => {
            let asked = detail.asked?;
            Some(plain(digest.value(asked)).to_owned())
        }
        Action::Resource(Access::Cas) => pair(digest, operation).map(|(_, new)| new),
        Action::Resource(Access::Read)
        | Action::Acquire
        | Action::Renew
        | Action::Release
        | Action::Other => None,
    }
}

/// A compare-and-set asks for `[expected, new]`.
fn pair(digest: &Digest, operation: &Operation) -> Option<(String, String)> {
    let asked = digest.detail(operation)?.asked?;
    let [expected, new] = &*elements(digest.value(asked))? else {
        return None;
    };
    Some((expected.clone(), new.clone()))
}

/// The elements of a list.
pub(super) fn elements(json: &str) -> Option<Vec<String>> {
    let list: Vec<Json> = serde_json::from_str(json).ok()?;
    let text = |element: &Json| plain(&element.to_string()).to_owned();
    Some(list.iter().map(text).collect())
}
