//! How a step is read and written: a fault as any other step, by its own word.
//!
//! The derived form of [`Step`] knows all variants but the one for faults, whose words are those
//! of [`FaultSpec`]. Which of the two forms reads a step is decided by its word alone, so that
//! errors stay where they are.

use std::fmt;

use serde::de::value::EnumAccessDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::faults::{FaultKind, FaultSpec};
use super::step::Step;

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Fault(fault) = self {
            fault.serialize(serializer)
        } else {
            Self::serialize(self, serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("Step", Self::OWN_KINDS, StepVisitor)
    }
}

struct StepVisitor;

impl<'de> Visitor<'de> for StepVisitor {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a step")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Step, A::Error> {
        let (word, variant) = access.variant::<String>()?;
        let is_fault = FaultKind::NAMES.contains(&word.as_str());
        let again = EnumAccessDeserializer::new(Tagged { word, variant });
        if is_fault {
            FaultSpec::deserialize(again).map(Step::Fault)
        } else {
            Step::deserialize(again)
        }
    }
}

/// An enum whose word was read already.
struct Tagged<V> {
    word: String,
    variant: V,
}

impl<'de, V: serde::de::VariantAccess<'de>> EnumAccess<'de> for Tagged<V> {
    type Error = V::Error;
    type Variant = V;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Self::Error> {
        let value = seed.deserialize(self.word.into_deserializer())?;
        Ok((value, self.variant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Step, toml::de::Error> {
        <Step as Deserialize>::deserialize(toml::Deserializer::parse(text)?)
    }

    #[test]
    fn every_step_is_written_as_it_is_read() {
        let lines = [
            "kill = { node = \"primary\" }",
            "acquire = { client = \"a\" }",
            "heal = { fault = \"pause\", node = \"n1\" }",
        ];
        for line in lines {
            let step = read(line).unwrap();
            assert!(line.starts_with(step.kind()));
            let written = serde_json::to_string(&step).unwrap();
            let again: Step = serde_json::from_str(&written).unwrap();
            assert_eq!(again, step, "{written}");
        }
        assert!(matches!(read(lines[0]).unwrap(), Step::Fault(_)));
    }

    #[test]
    fn what_is_wrong_inside_a_fault_is_said_of_the_fault() {
        let error = read("kill = { server = \"primary\" }").unwrap_err();
        assert!(
            error.message().contains("unknown field `server`"),
            "{error}"
        );
        let error = read("kil = { node = \"primary\" }").unwrap_err();
        assert!(error.message().contains("unknown variant `kil`"), "{error}");
    }
}
