//! The lock and the servers of a file as they were written, without the defaults.
//!
//! For: filling what the row of a matrix leaves out from the scenario file of its cell. Not for:
//! judging any of it; the model and the rules do that.

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

use crate::model::{Lock, Topology};
use crate::shape::{SCENARIO, Shape};

/// The option that is about one lock only: a mistake is made in the code of that lock.
const MUTANT: &str = "mutant";

/// Words of a file itself on locks and servers, without the defaults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    pub(crate) lock: Option<Written>,
    pub(crate) topology: Option<Written>,
    /// One for each entry of `matrix.locks`, in order.
    pub(crate) locks: Vec<Written>,
    /// One for each entry of `matrix.topologies`, in order.
    pub(crate) topologies: Vec<Written>,
}

impl Words {
    /// Returns the words of the file on the lock of `row`, or of another: its own lock, or in a
    /// matrix of its own the lock of that kind.
    pub(crate) fn lock_for(&self, row: &Written) -> Option<&Written> {
        let same = self.locks.iter().find(|lock| lock.kind == row.kind);
        self.lock.as_ref().or(same)
    }

    /// Returns the words of the file on the servers.
    pub(crate) fn topology_for(&self, row: &Written) -> Option<&Written> {
        let same = self.topologies.iter().find(|own| own.kind == row.kind);
        self.topology.as_ref().or(same)
    }

    pub(crate) fn of(root: &Spanned<DeValue<'_>>) -> Self {
        let root = root.get_ref();
        let read_all = |key| {
            let matrix = root.get("matrix");
            matrix.map_or_else(Vec::new, |matrix| Written::read_all(matrix, key))
        };
        Self {
            lock: root.get("lock").and_then(Written::read),
            topology: root.get("topology").and_then(Written::read),
            locks: read_all("locks"),
            topologies: read_all("topologies"),
        }
    }
}

/// An externally tagged value as it was written: `{ token = { lease = "2s" } }`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    kind: String,
    options: Map<String, Value>,
}

impl Written {
    /// Reads the words at `value`; `None` where that is no table with one table in it.
    fn read(value: &Spanned<DeValue<'_>>) -> Option<Self> {
        let value = Value::deserialize(ValueDeserializer::from(value.clone())).ok()?;
        let Value::Object(tagged) = value else {
            return None;
        };
        let (kind, options) = tagged.into_iter().next()?;
        let Value::Object(options) = options else {
            return None;
        };
        Some(Self { kind, options })
    }

    /// Tells whether it has an option of this name.
    pub(crate) fn says(&self, option: &str) -> bool {
        self.options.contains_key(option)
    }

    /// Reads each element of the list at `key` of `table`.
    fn read_all(table: &Spanned<DeValue<'_>>, key: &str) -> Vec<Self> {
        let list = table.get_ref().get(key);
        let list = list.and_then(|list| list.get_ref().as_array());
        list.into_iter()
            .flat_map(|list| list.iter())
            .map(|element| Self::read(element).unwrap_or_default())
            .collect()
    }

    /// The lock of a row, with what it leaves out taken from the lock of a file. `None` where the
    /// two say nothing that can be read together.
    pub(crate) fn lock(&self, file: Option<&Self>) -> Option<Lock> {
        self.filled("lock", file)
    }

    /// Reads the words on the servers.
    pub(crate) fn topology(&self, file: Option<&Self>) -> Option<Topology> {
        self.filled("topology", file)
    }

    fn filled<T: DeserializeOwned>(&self, part: &str, file: Option<&Self>) -> Option<T> {
        let mut options = self.options.clone();
        for (name, value) in file.into_iter().flat_map(|file| &file.options) {
            let is_same = file.is_some_and(|file| file.kind == self.kind);
            let means_the_same = is_same || (name != MUTANT && knows(part, &self.kind, name));
            if means_the_same && !options.contains_key(name) {
                options.insert(name.clone(), value.clone());
            }
        }
        let tagged = Map::from_iter([(self.kind.clone(), Value::Object(options))]);
        serde_json::from_value(Value::Object(tagged)).ok()
    }
}

/// Tells whether the lock or topology `kind` has an option of this name.
fn knows(part: &str, kind: &str, option: &str) -> bool {
    let Shape::Table(parts) = &*SCENARIO else {
        return false;
    };
    let Some(Shape::Choice(kinds)) = parts.get(part).map(|field| &field.shape) else {
        return false;
    };
    matches!(kinds.get(kind), Some(Shape::Table(options)) if options.contains_key(option))
}
