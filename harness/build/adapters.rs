//! The adapters and their kits, as `lockstorm init adapter` writes them.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::set;

/// The adapters, from this crate.
const ADAPTERS: &str = "../adapters";
/// Languages that have a folder there.
const LANGUAGES: [&str; 5] = ["go", "java", "node", "python", "rust"];

/// Lists their files in `carried.rs` of `OUT_DIR`.
pub fn list() -> io::Result<()> {
    let root = PathBuf::from(set("CARGO_MANIFEST_DIR")).join(ADAPTERS);
    let mut files = Vec::new();
    for language in LANGUAGES {
        gather(&root.join(language), &mut files)?;
        gather(&root.join("sdk").join(language), &mut files)?;
    }
    files.sort();
    let mut source =
        "/// Files of adapters and kits, by path.\npub const CARRIED: &[Carried] = &[\n".to_owned();
    for file in files {
        // Each by itself: what the adapters' own builds put beside them is none of ours.
        println!("cargo:rerun-if-changed={}", file.display());
        let path = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy();
        let place = file.to_string_lossy();
        let is_program = fs::metadata(&file)?.permissions().mode() & 0o111 != 0;
        writeln!(
            source,
            "Carried {{ path: {path:?}, text: include_str!({place:?}), is_program: {is_program} }},"
        )
        .map_err(io::Error::other)?;
    }
    source.push_str("];\n");
    fs::write(PathBuf::from(set("OUT_DIR")).join("carried.rs"), source)
}

/// Finds the files below a folder that belong to an adapter: neither what its set-up has put there
/// nor the tests of a kit.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            let is_foreign = matches!(&*name, "target" | "node_modules" | "tests" | "test");
            if !is_foreign && !name.starts_with(['.', '_']) {
                gather(&path, files)?;
            }
        } else if !is_test(&name) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_test(name: &str) -> bool {
    name.starts_with("test_") || name.ends_with("_test.go") || name.ends_with(".test.mjs")
}
