//! A lock as it is typed on a command line: `token`, or `redisson={era="3.10"}`.

use toml::Table;

use crate::model::{Lock, LockKind};

/// Reads one of our own locks, with its options as an inline table, or with the usual ones.
///
/// # Errors
/// In words, where there is no such lock, or the options are not its own.
pub fn typed_lock(text: &str) -> Result<Lock, String> {
    let (name, options) = text.split_once('=').unwrap_or((text, "{}"));
    let name = name.trim();
    let own = |kind: &LockKind| *kind != LockKind::Adapter;
    let is_known = LockKind::ALL
        .into_iter()
        .filter(own)
        .any(|kind| kind.name() == name);
    if !is_known {
        return Err(format!(
            "unknown lock '{name}'; `lockstorm list locks` names them all"
        ));
    }
    let read = toml::from_str::<Table>(&format!("lock.{name} = {options}"));
    let read = read.and_then(|mut table| match table.remove("lock") {
        Some(lock) => lock.try_into::<Lock>(),
        None => Err(serde::de::Error::custom("no options")),
    });
    read.map_err(|error| format!("options of {name}: {}", error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Era;

    #[test]
    fn a_lock_is_a_name_or_a_name_with_options() {
        assert_eq!(typed_lock("token").unwrap().label(), "token");
        let old = typed_lock("redisson={era=\"3.10\"}").unwrap();
        assert_eq!(old.era(), Some(Era::V3_10));
    }

    #[test]
    fn what_is_no_lock_is_told_by_name() {
        assert!(
            typed_lock("tokn")
                .unwrap_err()
                .contains("unknown lock 'tokn'")
        );
        assert!(typed_lock("adapter").unwrap_err().contains("unknown lock"));
        let error = typed_lock("token={leese=\"1s\"}").unwrap_err();
        assert!(error.contains("leese"), "{error}");
        assert!(typed_lock("token={").is_err());
    }
}
