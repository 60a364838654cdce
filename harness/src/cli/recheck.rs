//! Checks that a stored record says what its history says: a record is a file, and anybody can edit
//! it.
//!
//! For: `lockstorm report`, which makes pages of records that may come from elsewhere. Not for:
//! runs that have just been judged.

use std::path::{Path, PathBuf};

use anyhow::Error;
use lockstorm_checker::history::ReadOptions;
use lockstorm_checker::{
    Analysis, DigestBuilder, Options, Property, Verdict, check_digest, cut_short,
};
use lockstorm_reports::{Outcome, Record, RunRecord, inside, open_stored, read_record};

use super::input;
use super::input::Care;
use crate::folder::HISTORY;
use crate::output;

/// A record that contradicts itself or its history.
#[derive(Debug, thiserror::Error)]
#[error(
    "the record in {} cannot be believed: {what}; somebody has changed it or its history, or \
     another version has written it: `lockstorm check` of the folder judges the history again, and \
     `lockstorm report` of the history file with --out makes a report of it",
    folder.display()
)]
pub struct Contradiction {
    folder: PathBuf,
    what: String,
}

/// Judges the history beside the record in `folder` again, and those of all runs of a suite. Where
/// there is none, this is said.
///
/// # Errors
/// [`Contradiction`] with the first that is found, and a record that cannot be read.
pub fn recheck(folder: &Path) -> Result<(), Error> {
    match read_record(folder)? {
        Record::Run(run) => recheck_run(folder, &run),
        Record::Suite(suite) => {
            for run in &suite.runs {
                let place = folder.join(&run.folder);
                let own = inside(folder, &run.folder);
                if let Some(Ok(Record::Run(stored))) = own.as_deref().map(read_record)
                    && verdicts(&stored.analysis) != verdicts(&run.record.analysis)
                {
                    let what = "its verdicts are not those that the suite has of this run";
                    return Err(contradiction(&place, what.to_owned()));
                }
                recheck_run(&place, &run.record)?;
            }
            Ok(())
        }
    }
}

fn recheck_run(folder: &Path, run: &RunRecord) -> Result<(), Error> {
    if let Some(what) = contradicts_itself(run) {
        return Err(contradiction(folder, what));
    }
    let history = folder.join(HISTORY);
    let mut builder = DigestBuilder::default();
    let read = open_stored(&history)
        .map_err(Error::from)
        .and_then(|_| input::read(&history, ReadOptions::default(), Care::Copy, &mut builder));
    if let Err(error) = read {
        output::human(&format!(
            "the verdict of {} is shown as stored, and could not be checked against its \
             history: {error}",
            folder.display()
        ));
        return Ok(());
    }
    let digest = builder.finish();
    let judged = check_digest(&digest, &Options::default());
    if let Some(what) = contradicts_history(&run.analysis, &judged) {
        // The record of a run that was killed was made of what there is.
        let part = cut_short(&digest).map(|reason| judged.clone().of_part(&reason));
        if part.is_none_or(|part| contradicts_history(&run.analysis, &part).is_some()) {
            return Err(contradiction(folder, what));
        }
    }
    let unnamed = judged.properties.iter().filter(|(property, judgement)| {
        judgement.verdict == Verdict::Violated && !run.analysis.properties.contains_key(property)
    });
    for (property, _) in unnamed {
        output::human(&format!(
            "the history of {} violates {property} too, of which its record says nothing: did \
             `checks.only` leave it out?",
            folder.display()
        ));
    }
    Ok(())
}

fn contradiction(folder: &Path, what: String) -> Error {
    let folder = folder.to_owned();
    Contradiction { folder, what }.into()
}

fn verdicts(analysis: &Analysis) -> Vec<(Property, Verdict)> {
    let judged = analysis.properties.iter();
    judged
        .map(|(property, judgement)| (*property, judgement.verdict))
        .collect()
}

/// Finds something in a record that cannot be true beside the rest of it.
fn contradicts_itself(run: &RunRecord) -> Option<String> {
    let analysis = &run.analysis;
    for (property, judgement) in &analysis.properties {
        let (verdict, count) = (judgement.verdict, judgement.count);
        let told = judgement.witnesses.len() as u64;
        if (verdict == Verdict::Violated) != (count > 0) || told > count {
            return Some(format!(
                "{property} is {verdict} with {count} violations, {told} of them listed"
            ));
        }
    }
    let worst = verdicts(analysis).into_iter().map(|(_, verdict)| verdict);
    let worst = worst.fold(Verdict::Valid, Verdict::merge);
    if analysis.verdict < worst {
        return Some(format!(
            "its verdict is {}, and one of its properties is {worst}",
            analysis.verdict
        ));
    }
    for result in &run.expectations {
        let judged = analysis.properties.get(&result.property);
        let verdict = judged.map_or(Verdict::Unknown, |judgement| judgement.verdict);
        if result.actual != verdict {
            return Some(format!(
                "{} is {verdict}, and is compared with the expectation as {}",
                result.property, result.actual
            ));
        }
        if result.met != result.expected.is_met_by(result.actual) {
            let met = if result.met { "met" } else { "not met" };
            return Some(format!(
                "{} is {verdict}, and the expectation is called {met}",
                result.property
            ));
        }
    }
    let due = run.due_outcome();
    (run.outcome != due).then(|| {
        format!(
            "its outcome is {}, and its expectations make it {}",
            words(run.outcome),
            words(due)
        )
    })
}

/// The first property of which the record says something else than the history.
fn contradicts_history(stored: &Analysis, judged: &Analysis) -> Option<String> {
    // An order is searched for as long as somebody is willing to wait.
    let mut properties = stored.properties.keys();
    while let Some(property) = properties.find(|property| **property != Property::Model) {
        let of = |analysis: &Analysis| {
            let judgement = analysis.properties.get(property);
            judgement.map_or(Verdict::Unknown, |judgement| judgement.verdict)
        };
        if of(stored) != of(judged) {
            return Some(format!(
                "{property} is {}, and its history says {}",
                of(stored),
                of(judged)
            ));
        }
    }
    None
}

fn words(outcome: Outcome) -> String {
    let word = serde_json::to_value(outcome).expect("an outcome is a word");
    word.as_str().unwrap_or_default().to_owned()
}
