//! Scenario files: what they say, and what they mean.
//!
//! For: reading scenario files, refusing wrong ones with every mistake shown at its place,
//! expanding a `[matrix]` into cases, and the JSON schema. Not for: running anything.
//!
//! ```text
//! file → tree with places → inspected (shape) → judged (rules) → Scenario (as written)
//!                                                              → Case (as it will run)
//! ```

mod diagnostics;
mod document;
mod draft;
mod excerpt;
mod expand;
mod hits;
mod inspect;
mod library;
mod load;
mod model;
mod old_words;
mod origin;
mod overrides;
mod rules;
mod schema;
mod shape;
mod shipped;
mod situated;
mod situations;
mod source;
mod suggest;
mod typed_lock;
mod write;
mod written;

pub use diagnostics::{Diagnostic, Diagnostics};
pub use expand::{Expanded, expand};
pub use hits::{numbered, numbered_by_all};
pub use library::{Listed, describe, list};
pub use load::{Loaded, load, load_shipped, load_str, open};
pub use model::*;
pub use origin::effective;
pub use overrides::{Override, OverrideError};
pub use rules::NAME_BYTES_MAX;
pub use schema::schema;
pub use shipped::{SHIPPED, Shipped, shipped};
pub use situated::put_into;
pub use situations::{SITUATIONS, situations};
pub use suggest::nearest;
pub use typed_lock::typed_lock;
pub use write::to_toml;
