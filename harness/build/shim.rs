//! The library that servers are started with.
//!
//! The compiler is called directly, on the sources of the crate `lockstorm-shim`: a library for
//! the dynamic loader is no dependency that cargo could build first on a stable tool chain.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::set;

/// Sources of the shim, from this crate.
const SOURCES: &str = "../nemesis/shim/src";

/// Compiles the shim into `OUT_DIR`.
pub fn build() {
    println!("cargo:rerun-if-changed={SOURCES}");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let library = PathBuf::from(set("OUT_DIR")).join("lockstorm_shim.so");
    let mut compiler = Command::new(set("RUSTC"));
    compiler
        .args(["--crate-name", "lockstorm_shim", "--crate-type", "cdylib"])
        .args(["--edition", "2024", "--cap-lints", "warn"])
        .args([
            "-C",
            "opt-level=3",
            "-C",
            "panic=abort",
            "-C",
            "strip=symbols",
        ])
        .arg("--target")
        .arg(set("TARGET"))
        .arg("-o")
        .arg(&library)
        .arg(format!("{SOURCES}/lib.rs"));
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut option = OsString::from("linker=");
        option.push(linker);
        compiler.arg("-C").arg(option);
    }
    let status = compiler.status().expect("cargo names a compiler that runs");
    assert!(status.success(), "the shim does not compile: {status}");
}
