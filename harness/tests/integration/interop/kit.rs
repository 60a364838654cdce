//! The Java program, built once for each version of Redisson.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

use lockstorm_scenarios::Era;

/// Only one Maven at a time: it does not share its folder of downloads well.
static MAVEN: Mutex<()> = Mutex::new(());

/// Messages of Maven where the registry cannot be reached, or has been given up.
const NO_REGISTRY: [&str; 4] = [
    "Could not transfer",
    "Could not resolve",
    "Cannot access",
    "Unknown host",
];

/// The version of Redisson that an era is named after, as Maven knows it.
pub const fn version(era: Era) -> &'static str {
    match era {
        Era::V3_10 => "3.10.6",
        Era::V3_17 => "3.17.0",
        Era::V4_7 => "4.7.0",
    }
}

/// The class path of the program for a version; says loudly why if it cannot be had.
pub fn class_path(version: &str) -> Option<String> {
    let _alone = MAVEN.lock().expect("no test panics while it builds");
    match build(version) {
        Ok(folder) => {
            let folder = folder.display();
            Some(format!("{folder}/classes:{folder}/lib/*"))
        }
        Err(want) => {
            // Straight to the stream: a test's own output is shown only when it fails.
            let _ = writeln!(
                io::stderr(),
                "SKIPPED, interoperability with Redisson {version}: {want}"
            );
            None
        }
    }
}

/// Where the program lies, built now or before; what is missing if it cannot be built.
fn build(version: &str) -> Result<PathBuf, String> {
    for (program, package) in [("java", "default-jdk-headless"), ("mvn", "maven")] {
        if run(program, &["-version"]).is_err() {
            return Err(format!("no '{program}' here; install {package}"));
        }
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/interop/java");
    let name = format!("interop-{}-{:016x}", version, digest(&project));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        return Ok(folder);
    }
    // Under another name until it is whole: what is there under its own can be used.
    let unfinished = folder.with_extension(format!("{}", std::process::id()));
    let built = run(
        "mvn",
        &[
            "--quiet",
            "--batch-mode",
            "-Dstyle.color=never",
            "--file",
            &project.join("pom.xml").display().to_string(),
            &format!("-Dredisson.version={version}"),
            &format!("-Dout={}", unfinished.display()),
            "compile",
        ],
    )
    .map_err(|error| format!("mvn cannot be started: {error}"))?;
    if built.status.success() {
        fs::rename(&unfinished, &folder).expect("the folder can be renamed");
        return Ok(folder);
    }
    let said = String::from_utf8_lossy(&built.stdout);
    assert!(
        NO_REGISTRY.iter().any(|words| said.contains(words)),
        "the Java program cannot be built:\n{said}"
    );
    let why = said.lines().find(|line| line.contains("ERROR"));
    Err(why.unwrap_or("no registry").to_owned())
}

fn run(program: &str, args: &[&str]) -> io::Result<Output> {
    Command::new(program).args(args).output()
}

/// Of the project's files: what is built from other ones is another program.
fn digest(project: &Path) -> u64 {
    let mut files = Vec::new();
    collect(project, &mut files);
    files.sort();
    assert!(files.len() > 2, "the project is there");
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(file).expect("it can be read").hash(&mut hasher);
    }
    hasher.finish()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
