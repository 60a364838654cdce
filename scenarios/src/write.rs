//! From a scenario back to a file.

use crate::model::Scenario;

/// The scenario as TOML; reading it gives an equal scenario.
pub fn to_toml(scenario: &Scenario) -> String {
    toml::to_string(scenario).expect("every type of the model has a form in TOML")
}
