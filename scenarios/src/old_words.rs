//! Words of older scenario files, put into those of today before anything else is read.
//!
//! Covers `resume`, `resume-client` and `end`, which undid faults beside `heal`, and a `heal` that
//! names no fault. A mistake inside a step is left for its reader, which shows the step as it
//! stands in the file.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The verb by which a step undoes a fault.
const HEAL: &str = "heal";
/// The steps that undid one fault each, with its word; `end` names it by itself.
const OLD: [(&str, Option<&str>); 3] = [
    ("resume", Some("pause")),
    ("resume-client", Some("pause-client")),
    ("end", None),
];

/// Puts `heal` for the old verbs in all steps of a scenario.
pub(crate) fn renew(root: &mut Spanned<DeValue<'_>>) {
    let steps = match root.get_mut() {
        DeValue::Table(table) => table.get_mut("step"),
        _ => None,
    };
    let Some(DeValue::Array(steps)) = steps.map(Spanned::get_mut) else {
        return;
    };
    for step in steps.iter_mut() {
        if let DeValue::Table(step) = step.get_mut() {
            renew_step(step);
        }
    }
}

fn renew_step(step: &mut DeTable<'_>) {
    for (word, fault) in OLD {
        if !step.contains_key(HEAL)
            && let Some((key, mut parameters)) = step.remove_entry(word)
        {
            name_fault(&mut parameters, fault);
            step.insert(Spanned::new(key.span(), HEAL.into()), parameters);
        }
    }
    if let Some(parameters) = step.get_mut(HEAL) {
        name_fault(parameters, Some("cut"));
    }
}

/// Adds the fault that is undone where it is not named.
fn name_fault(parameters: &mut Spanned<DeValue<'_>>, fault: Option<&'static str>) {
    let span = parameters.span();
    if let (DeValue::Table(table), Some(fault)) = (parameters.get_mut(), fault)
        && !table.contains_key("fault")
    {
        let value = Spanned::new(span.clone(), DeValue::String(fault.into()));
        table.insert(Spanned::new(span, "fault".into()), value);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Step, Workload, load_str, to_toml};

    #[test]
    fn the_old_verbs_are_read_as_heal() {
        let text = "name = \"old\"\ntopology.replicated = { replicas = 1 }\nlock.token = {}\n\
                    step = [\n\
                    { acquire = { client = \"a\" } },\n\
                    { pause = { node = \"primary\" } },\n\
                    { resume = { node = \"primary\" } },\n\
                    { pause-client = { client = \"a\" } },\n\
                    { resume-client = { client = \"a\" } },\n\
                    { cut = { from = \"primary\", to = \"a\" } },\n\
                    { heal = { from = \"primary\", to = \"a\" } },\n\
                    { slow-fsync = { node = \"primary\", by = \"1ms\" } },\n\
                    { end = { fault = \"slow-fsync\" } },\n\
                    ]\n";
        let loaded = load_str(text, "old.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let cases = crate::expand(&loaded)
            .unwrap_or_else(|error| panic!("{error}"))
            .cases;
        let Workload::Litmus(steps) = &cases[0].workload else {
            panic!("it is a script");
        };
        let healed: Vec<_> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Heal(heal) => Some((heal.fault.as_str(), heal.target())),
                _ => None,
            })
            .collect();
        let on = |target: &str| Some(target.to_owned());
        let expected = [
            ("pause", on("primary")),
            ("pause-client", on("a")),
            ("cut", on("primary→a")),
            ("slow-fsync", None),
        ];
        assert_eq!(healed, expected);
        let written = to_toml(&cases[0].to_scenario());
        assert!(!written.contains("resume"), "{written}");
    }
}
