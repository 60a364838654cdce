//! Analysis of a history in a terminal, without a run around it.

use lockstorm_checker::Analysis;

use super::paint::Tone;
use super::text::{TerminalOptions, Text};
use crate::head::{Head, Sign};
use crate::remedy::Scene;
use crate::words;

/// An analysis as text: the verdict of each property with its reason, the story of each witness,
/// and the merged verdict last.
pub fn terminal_analysis(analysis: &Analysis, options: TerminalOptions) -> String {
    let mut text = Text::new(options);
    for (property, judgement) in &analysis.properties {
        let (sign, verdict) = (Sign::from(judgement.verdict), judgement.verdict);
        let count = match judgement.count {
            0 | 1 => String::new(),
            many => format!(" {many} times"),
        };
        let name = words::property(*property);
        let word = words::verdict(verdict);
        let sentence = format!(
            "{} {name}: {word}{count} ({})",
            sign.glyph(),
            judgement.engine
        );
        text.indented(2, Tone::of(sign), &sentence);
        text.indented(
            4,
            Tone::Plain,
            judgement.reason.as_deref().unwrap_or_default(),
        );
    }
    text.measured(analysis);
    text.blank();
    for judgement in analysis.properties.values() {
        for witness in &judgement.witnesses {
            text.line(
                Tone::Bad,
                &format!("✗ {}", words::property(witness.property)),
            );
            text.witness(&Scene::of_history(analysis, witness));
            text.blank();
        }
    }
    text.idle_faults(&analysis.faults);
    text.head("verdict", &Head::of_analysis(analysis));
    text.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_analysis_tells_each_verdict_with_its_reason_and_each_story() {
        insta::assert_snapshot!(terminal_analysis(
            &sample::failover_run().analysis,
            TerminalOptions::default()
        ));
    }
}
