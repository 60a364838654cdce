//! The values of registers: equal values have equal numbers, also inside of pairs and lists.

use serde_json::Value as Json;

use super::call::Datum;
use crate::history::names::Names;
use crate::operations::{Digest, ValueId};

/// A table of JSON values.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    texts: Names,
}

impl Default for Values {
    fn default() -> Self {
        let mut texts = Names::default();
        // The first number is that of `Datum::NULL`.
        texts.intern("null");
        Self { texts }
    }
}

impl Values {
    /// A value of the digest; one that is absent counts as `null`.
    pub(crate) fn datum(&mut self, digest: &Digest, value: Option<ValueId>) -> Datum {
        value.map_or(Datum::NULL, |value| {
            Datum(self.texts.intern(digest.value(value)))
        })
    }

    /// The two values of a compare-and-set: `[expected, new]`. `None` if it is no such pair.
    pub(crate) fn pair(
        &mut self,
        digest: &Digest,
        value: Option<ValueId>,
    ) -> Option<(Datum, Datum)> {
        let text = digest.value(value?);
        let [expected, new] = serde_json::from_str::<[Json; 2]>(text).ok()?;
        let mut datum = |value: &Json| Datum(self.texts.intern(&value.to_string()));
        Some((datum(&expected), datum(&new)))
    }

    /// A value, read anew from its text.
    pub(crate) fn json(&self, datum: Datum) -> Json {
        serde_json::from_str(self.text(datum)).unwrap_or(Json::Null)
    }

    /// The number of a value.
    pub(crate) fn of_json(&mut self, json: &Json) -> Datum {
        Datum(self.texts.intern(&json.to_string()))
    }

    /// A value as JSON text.
    pub(crate) fn text(&self, datum: Datum) -> &str {
        self.texts.name(datum.0)
    }

    /// Returns the number of values in the table.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}
