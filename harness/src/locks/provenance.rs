//! The servers' side of a grant: who gave it, and by what they know its holder.

use lockstorm_checker::history::Name;

/// Evidence that stories and the trace of the servers' commands need of a grant.
pub trait Provenance {
    /// The servers that gave the last grant, by name: the one that was asked, or those of a quorum
    /// that said yes. Empty where nobody knows.
    fn granted_by(&self) -> Vec<Name>;

    /// Values by which the servers know that this client holds `key`, or may hold it: the value of
    /// the key, or a field of it. Empty where that is the client's name, or not known.
    fn marks(&self, _key: &str) -> Vec<String> {
        Vec::new()
    }
}
