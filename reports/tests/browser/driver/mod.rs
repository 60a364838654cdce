//! Drives a headless Chromium over the `DevTools` protocol.
//!
//! For: the browser tests, the pictures of the documentation, and the benchmark of the page. Not
//! for: browsers in general; it knows the few commands that these need.
//!
//! ```text
//! test ─→ page ─→ devtools ═ two pipes ═ chromium
//! ```

mod chromium;
mod devtools;
mod page;

pub use page::{Key, Page, Scheme};
