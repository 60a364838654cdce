//! The scenario as written: one type for each table of the file.
//!
//! Enums are externally tagged and unknown fields are refused, so that an error points at the
//! exact value.

mod checks;
mod clients;
mod custom;
mod duration;
mod era;
mod expected;
mod external;
mod faults;
mod guarded_resource;
mod locks;
mod mask;
mod matrix;
mod mutant;
mod origin;
mod promise;
mod scenario;
mod server_url;
mod situation;
mod step;
mod step_form;
mod storm;
mod sync;
mod system;
mod topology;
mod topology_options;
mod trace;

pub(crate) use mask::is_usual_variable;
pub use mask::{with_password_variable, without_passwords};

pub(crate) use duration::{RANGE_FORMAT, SPAN_FORMAT};

pub use checks::Checks;
pub use clients::{ClientKind, Clients, Pick};
pub use custom::Custom;
pub(crate) use custom::unknown_place;
pub use duration::{DurationRange, DurationSpec, ParseDurationError};
pub use era::Era;
pub(crate) use expected::RUNS_FORMAT;
pub use expected::{Amount, Expected, ParseRunRangeError, RunRange};
pub use external::{Disturbance, External, Tls};
pub use faults::*;
pub use guarded_resource::{GuardedResource, Orders};
pub use locks::*;
pub use matrix::Matrix;
pub use mutant::Mutant;
pub use origin::{Lines, Origin, Origins};
pub use promise::Promise;
pub use scenario::{Case, CaseLabels, Scenario, Workload};
pub use server_url::{Lookup, Secret, ServerPlace, ServerUrl, UrlError, with_variables};
pub use situation::{LeaseEnds, Situation};
pub use step::{
    Acquire, AcquireReply, Await, CloseOrders, FindOrders, Heal, OrdersReply, Release,
    ReleaseReply, Renew, RenewReply, Step, Work,
};
pub use storm::{NemesisEntry, Quiet, Storm};
pub use sync::Sync;
pub use system::System;
pub use topology::{Topology, TopologyKind};
pub use topology_options::{
    Cluster, Etcd, Independent, Mariadb, Persistence, Pooler, Postgres, Replicated, Sentinel,
    Single, Timers, Zookeeper,
};
pub use trace::Trace;
