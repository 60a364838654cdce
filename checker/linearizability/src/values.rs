//! The values of registers: equal values have equal numbers, also inside of pairs and lists.

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::call::Datum;

/// A table of JSON values.
#[derive(Clone, Debug)]
pub struct Values {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Default for Values {
    fn default() -> Self {
        let mut values = Self {
            numbers: HashMap::new(),
            texts: Vec::new(),
        };
        // The first number is that of `Datum::NULL`.
        values.of_text("null");
        values
    }
}

impl Values {
    /// Returns the number of a value, given as JSON text in its shortest form.
    pub fn of_text(&mut self, text: &str) -> Datum {
        if let Some(&number) = self.numbers.get(text) {
            return Datum(number);
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        Datum(number)
    }

    /// Returns the number of a value.
    pub fn of_json(&mut self, json: &Json) -> Datum {
        self.of_text(&json.to_string())
    }

    /// Returns the two values of a compare-and-set, given as `[expected, new]`; `None` if the text
    /// is no such pair.
    pub fn pair(&mut self, text: &str) -> Option<(Datum, Datum)> {
        let [expected, new] = serde_json::from_str::<[Json; 2]>(text).ok()?;
        Some((self.of_json(&expected), self.of_json(&new)))
    }

    /// Returns a value, read from its text.
    pub fn json(&self, datum: Datum) -> Json {
        serde_json::from_str(self.text(datum)).unwrap_or(Json::Null)
    }

    /// Returns a value as JSON text.
    pub fn text(&self, datum: Datum) -> &str {
        &self.texts[datum.0 as usize]
    }

    /// Returns the number of values in the table.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }
}
