//! The properties, one file each: what counts as a violation, and when there may be none to see.

mod availability;
mod dead_on_arrival;
mod fairness;
mod fencing;
mod guarded_resource;
mod lease_overrun;
mod leftover;
mod liveness;
mod loss_notice;
mod lost_lock;
mod model;
mod mutual_exclusion;
mod ownership;
mod progress;
mod reentrancy;
mod replay;
mod resource;
mod rule;
mod spurious_refusal;

pub(crate) use rule::Rule;

use crate::verdict::Property;

/// The rule of a property.
pub(crate) fn rule(property: Property) -> &'static dyn Rule {
    match property {
        Property::MutualExclusion => &mutual_exclusion::MutualExclusion,
        Property::LostLock => &lost_lock::LostLock,
        Property::LeaseOverrun => &lease_overrun::LeaseOverrun,
        Property::DeadOnArrival => &dead_on_arrival::DeadOnArrival,
        Property::Leftover => &leftover::Leftover,
        Property::LossNotice => &loss_notice::LossNotice,
        Property::Progress => &progress::Progress,
        Property::Fencing => &fencing::Fencing,
        Property::Ownership => &ownership::Ownership,
        Property::Reentrancy => &reentrancy::Reentrancy,
        Property::GuardedResource => &guarded_resource::GuardedResource,
        Property::SpuriousRefusal => &spurious_refusal::SpuriousRefusal,
        Property::Availability => &availability::Availability,
        Property::Fairness => &fairness::Fairness,
        Property::Liveness => &liveness::Liveness,
        Property::Model => &model::Linearizability,
    }
}
