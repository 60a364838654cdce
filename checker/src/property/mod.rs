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

pub(crate) use rule::{BlameWindow, Causes, Evidence, Rule};

use crate::property_name::with_every_property;
use crate::verdict::Property;

macro_rules! rules {
    ($(
        #[doc = $doc:literal]
        $name:literal => $Property:ident, $file:ident, $Kind:ident,
            $summary:literal, $brief:literal;
    )*) => {
        /// The rule of a property.
        pub(crate) fn rule(property: Property) -> &'static dyn Rule {
            match property {
                $(Property::$Property => &$file::$Property,)*
            }
        }
    };
}

with_every_property!(rules);
