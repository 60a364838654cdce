//! Tests of scenario files: what is read, refused, expanded and shipped.

mod cluster_rules;
mod custom_rules;
mod diagnostics;
mod ensemble_rules;
mod expansion;
mod external_rules;
mod fault_rules;
mod hazards_page;
mod hostile;
mod link_rules;
mod names;
mod origins;
mod overrides;
mod rules;
mod schema;
mod shipped;
mod situations;
