//! Puts the scenario files of `library` into the program.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = variable("CARGO_MANIFEST_DIR");
    let library = root.join("library");
    println!("cargo::rerun-if-changed={}", library.display());
    let mut files = Vec::new();
    gather(&library, &mut files)?;
    files.sort();
    let mut source = "/// Every scenario file that the program carries, by path.\npub const SHIPPED: &[Shipped] = &[\n".to_owned();
    for file in files {
        let below = file.strip_prefix(&root).unwrap_or(&file);
        let path = Path::new("scenarios").join(below);
        let [path, file] = [path.as_path(), file.as_path()].map(Path::to_string_lossy);
        writeln!(
            source,
            "    Shipped {{ path: {path:?}, text: include_str!({file:?}) }},"
        )
        .map_err(io::Error::other)?;
    }
    source.push_str("];\n");
    fs::write(variable("OUT_DIR").join("shipped.rs"), source)
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path);
        }
    }
    Ok(())
}
