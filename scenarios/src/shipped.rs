//! The scenario files that the program carries: they can be run by name, wherever it is.

use std::path::{Component, Path, PathBuf};

/// A file of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its path in a checkout of the project, by which diagnostics name it.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

// `SHIPPED`, written by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Shipped {
    /// The name by which it is run: that of the file, without its ending.
    pub fn name(&self) -> &'static str {
        let stem = Path::new(self.path).file_stem().unwrap_or_default();
        stem.to_str().unwrap_or_default()
    }

    /// The folder of the library in which it lies, such as `examples`.
    pub fn folder(&self) -> &'static str {
        let folder = Path::new(self.path).parent().and_then(Path::file_name);
        folder.and_then(|name| name.to_str()).unwrap_or_default()
    }
}

/// The file that is run by `name`.
pub fn shipped(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|file| file.name() == name)
}

/// The file at a path of the project, which may go up and down: `a/../b`.
pub(crate) fn shipped_at(path: &Path) -> Option<&'static Shipped> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    SHIPPED.iter().find(|file| Path::new(file.path) == plain)
}
