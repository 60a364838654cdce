//! Rule of a link for the bytes that want to pass.

use lockstorm_scenarios::CutMode;

/// The rule in force on one directed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Everything passes.
    Pass,
    /// Everything waits.
    Stall,
    /// Connections are reset.
    Reset,
}

/// The cuts in force on one directed link. They may overlap, so they are counted: the link
/// passes again when the last of them is healed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cuts {
    stalls: usize,
    resets: usize,
}

impl Cuts {
    /// The rule that these cuts add up to. A reset outranks a stall: what has been reset can
    /// wait for nothing.
    pub(crate) const fn rule(self) -> Rule {
        match (self.stalls, self.resets) {
            (0, 0) => Rule::Pass,
            (_, 0) => Rule::Stall,
            (_, _) => Rule::Reset,
        }
    }

    pub(crate) fn add(&mut self, mode: CutMode) {
        *self.of(mode) += 1;
    }

    pub(crate) fn remove(&mut self, mode: CutMode) {
        let count = self.of(mode);
        assert!(*count > 0, "each cut is removed once, by its own guard");
        *count -= 1;
    }

    fn of(&mut self, mode: CutMode) -> &mut usize {
        match mode {
            CutMode::Stall => &mut self.stalls,
            CutMode::Reset => &mut self.resets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_passes_again_only_when_its_last_cut_is_healed() {
        let mut cuts = Cuts::default();
        cuts.add(CutMode::Stall);
        cuts.add(CutMode::Stall);
        cuts.remove(CutMode::Stall);
        assert_eq!(cuts.rule(), Rule::Stall);
        cuts.remove(CutMode::Stall);
        assert_eq!(cuts.rule(), Rule::Pass);
    }

    #[test]
    fn a_reset_outranks_a_stall_and_leaves_it_in_force() {
        let mut cuts = Cuts::default();
        cuts.add(CutMode::Stall);
        cuts.add(CutMode::Reset);
        assert_eq!(cuts.rule(), Rule::Reset);
        cuts.remove(CutMode::Reset);
        assert_eq!(cuts.rule(), Rule::Stall);
    }
}
