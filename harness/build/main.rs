//! Builds what the program carries inside itself: the library that servers are started with when a
//! scenario faults clocks or disks, and the adapters with their kits.

mod adapters;
mod shim;

use std::env;
use std::ffi::OsString;

fn main() {
    shim::build();
    adapters::list().expect("the adapters can be read, and listed in OUT_DIR");
}

/// A variable that cargo sets.
fn set(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"))
}
