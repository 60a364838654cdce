//! The properties, one file each: what counts as a violation, and when there may be none to see.

mod lease_overrun;
mod liveness;
mod lost_lock;
mod mutual_exclusion;

use crate::case::{Case, Ruling};
use crate::verdict::Property;

/// Judges one property.
pub(crate) fn judge(property: Property, case: &Case) -> Ruling {
    match property {
        Property::MutualExclusion => mutual_exclusion::judge(case),
        Property::LostLock => lost_lock::judge(case),
        Property::LeaseOverrun => lease_overrun::judge(case),
        Property::Liveness => liveness::judge(case),
    }
}
