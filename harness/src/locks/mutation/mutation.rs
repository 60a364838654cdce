//! Questions of a lock about the mistake that it is to make.

use lockstorm_scenarios::Mutant;

use super::line::changed_line;

/// The mistake of one lock; most locks make none.
pub struct Mutation {
    mutant: Option<Mutant>,
    /// The script that is changed, as it should be and as it is.
    script: Option<(&'static str, String)>,
}

/// The script that a mutant changes, as it changes it, if it changes one.
pub fn script_of(mutant: Mutant) -> Option<String> {
    changed_line(mutant).map(|change| change.applied())
}

impl Mutation {
    /// No mistake.
    pub const NONE: Self = Self {
        mutant: None,
        script: None,
    };

    /// The mistake of `mutant`.
    pub fn of(mutant: Option<Mutant>) -> Self {
        let changed = mutant.and_then(changed_line);
        Self {
            mutant,
            script: changed.map(|change| (change.script, change.applied())),
        }
    }

    /// Tells whether it is this mistake, at the one place in the code where it is made.
    pub fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// The text of a script to send.
    pub fn script<'a>(&'a self, correct: &'a str) -> &'a str {
        match &self.script {
            Some((changed, text)) if *changed == correct => text,
            Some(_) | None => correct,
        }
    }
}
