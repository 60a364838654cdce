//! What a scenario file says, and what it means.
//!
//! For: reading scenario files, refusing wrong ones with every mistake shown at its place,
//! expanding a `[matrix]` into cases, and the JSON schema. Not for: running anything.
//!
//! ```text
//! file → Scenario (as written) → validated → expanded → Case (as it will run)
//! ```

mod model;

pub use model::*;
