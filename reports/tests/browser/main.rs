//! The page in a real browser, opened from the disk as a reader opens it.
//!
//! Method: stored runs are rendered into a temporary folder, and a headless Chromium is driven
//! through what a reader does. Every test ends by asking that the page complained of nothing (no
//! exception, no error of the console, no dialog) and asked for nothing but itself. Where there is
//! no Chromium the tests skip and say so; `.ci/setup` installs one.

mod contrast;
mod driver;
mod hostile;
mod index;
mod keyboard;
mod palette;
mod paper;
mod pictures;
mod plots;
mod report;
mod scriptless;
mod theme;
mod timeline;
mod topology;
