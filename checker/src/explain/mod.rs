//! Explanations of what a property means, for people: `lockstorm explain`, and the reports.

mod texts;
