//! Finds the server program.

use std::env;
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::environment_error::EnvironmentError;
use crate::process::scrub;

/// Programs looked for on PATH, best first.
const NAMES: [&str; 2] = ["redis-server", "valkey-server"];
/// Name of the program of etcd, and of Debian's package.
const ETCD: (&str, &str) = ("etcd", "etcd-server");
/// Those of MariaDB.
const MARIADB: (&str, &str) = ("mariadbd", "mariadb-server-core");
/// Those of PostgreSQL.
const POSTGRES: (&str, &str) = ("postgres", "postgresql");
/// Name of the program of the pooler, and of Debian's package.
const PGBOUNCER: &str = "pgbouncer";
/// Variable that names the folder of the programs of another PostgreSQL than Debian's.
const POSTGRES_PROGRAMS: &str = "LOCKSTORM_POSTGRES";
/// Folder where Debian has its versions.
const DEBIANS_POSTGRES: &str = "/usr/lib/postgresql";
/// Folder of servers, which is not on everybody's PATH.
const DEBIANS_SERVERS: &str = "/usr/sbin";
/// Variable that names the folder of the jars of another ZooKeeper than Debian's.
const ZOOKEEPER_JARS: &str = "LOCKSTORM_ZOOKEEPER";
/// Folder where Debian's packages put jars.
const DEBIANS_JARS: &str = "/usr/share/java";
/// Name of the program of Java.
const JAVA: &str = "java";
/// Path where the set-up script puts what it fetched without root, relative to the checkout.
const FETCHED: &str = ".tools/bin/valkey-server";

/// Time that a program may take to say its version: servers take milliseconds.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of what it says that are read at most: servers say a line.
const ANSWER_BYTES_MAX: usize = 4096;

/// Characters of it that an error quotes.
const SHOWN_CHARS_MAX: usize = 200;

/// A server program that answered when asked for its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its path.
    pub path: PathBuf,
    /// Such as `redis 7.0.15 (jemalloc-5.2.1)`.
    pub version: String,
}

impl Program {
    /// Stands for servers that run already: nothing is started.
    pub fn none() -> Self {
        Self {
            path: PathBuf::new(),
            version: "none".to_owned(),
        }
    }
}

/// Finds the server: `asked` (the flag or `LOCKSTORM_REDIS_SERVER`), then `redis-server` and
/// `valkey-server` on PATH, then what the set-up script fetched.
///
/// # Errors
/// When there is none, or the one that was asked for does not work.
pub fn find_program(asked: Option<&Path>) -> Result<Program, EnvironmentError> {
    let path = match asked {
        Some(path) => path.to_owned(),
        None => candidates()
            .find(|path| path.is_file())
            .ok_or(EnvironmentError::NoServer)?,
    };
    let version = version_of(&path).map_err(|reason| EnvironmentError::BadServer {
        path: path.clone(),
        reason,
    })?;
    Ok(Program { path, version })
}

/// Finds etcd on PATH.
///
/// # Errors
/// When there is none, or it does not work.
pub fn find_etcd() -> Result<Program, EnvironmentError> {
    // Its first line is `etcd Version: 3.4.23`.
    find_other(ETCD, &[], |text| {
        let version = text.strip_prefix("etcd Version: ")?.lines().next()?;
        Some(format!("etcd {version}"))
    })
}

/// Finds MariaDB on PATH, or where Debian has it.
///
/// # Errors
/// When there is none, or it does not work.
pub fn find_mariadb() -> Result<Program, EnvironmentError> {
    // It says `mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for ...`.
    find_other(MARIADB, &[DEBIANS_SERVERS], |text| {
        let version = text.split_once("  Ver ")?.1.split("-MariaDB").next()?;
        Some(format!("mariadb {version}"))
    })
}

/// Finds PostgreSQL: the folder of its programs that `LOCKSTORM_POSTGRES` names, PATH, or where
/// Debian has it, the newest first.
///
/// # Errors
/// When there is none, or it does not work.
pub fn find_postgres() -> Result<Program, EnvironmentError> {
    let asked = env::var(POSTGRES_PROGRAMS).ok();
    let debians = debians_postgres();
    let folders: Vec<&str> = debians.iter().map(String::as_str).collect();
    // It says `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`.
    let read = |text: &str| {
        let version = text
            .split_once("(PostgreSQL) ")?
            .1
            .split_whitespace()
            .next()?;
        Some(format!("postgres {version}"))
    };
    let found = match asked {
        Some(folder) => judge(POSTGRES.0, Path::new(&folder).join(POSTGRES.0), read),
        None => find_other(POSTGRES, &folders, read),
    }?;
    // Its other programs are where it is itself, and not where a link to it is.
    let path = found.path.canonicalize().unwrap_or(found.path);
    Ok(Program { path, ..found })
}

/// Finds pgbouncer on PATH, or where Debian has it.
///
/// # Errors
/// When there is none, or it does not work.
pub fn find_pgbouncer() -> Result<Program, EnvironmentError> {
    // Its first line is `PgBouncer 1.18.0`.
    find_other((PGBOUNCER, PGBOUNCER), &[DEBIANS_SERVERS], |text| {
        let version = text.strip_prefix("PgBouncer ")?.lines().next()?;
        Some(format!("pgbouncer {version}"))
    })
}

/// Folders of Debian's versions, the newest first.
fn debians_postgres() -> Vec<String> {
    let versions = std::fs::read_dir(DEBIANS_POSTGRES)
        .into_iter()
        .flatten()
        .flatten();
    let versions = versions.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut versions: Vec<u32> = versions.collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let folder = |version| format!("{DEBIANS_POSTGRES}/{version}/bin");
    versions.into_iter().map(folder).collect()
}

/// Finds the server of another system, on PATH or in one of these folders; `read` takes its version
/// from what it says.
fn find_other(
    (name, package): (&'static str, &'static str),
    folders: &[&str],
    read: impl FnOnce(&str) -> Option<String>,
) -> Result<Program, EnvironmentError> {
    let elsewhere = folders.iter().map(|folder| Path::new(folder).join(name));
    let mut places = on_path(vec![name]).chain(elsewhere);
    let path = places.find(|path| path.is_file());
    let path = path.ok_or(EnvironmentError::NoOther { name, package })?;
    judge(name, path, read)
}

/// Asks a program for its version.
fn judge(
    name: &'static str,
    path: PathBuf,
    read: impl FnOnce(&str) -> Option<String>,
) -> Result<Program, EnvironmentError> {
    let said = says_version(&path);
    let version = said.and_then(|text| {
        read(&text).ok_or_else(|| format!("--version printed {:?}", shown(&text)))
    });
    match version {
        Ok(version) => Ok(Program { path, version }),
        Err(reason) => Err(EnvironmentError::BadOther { name, path, reason }),
    }
}

/// Finds ZooKeeper: the folder of its jars that `LOCKSTORM_ZOOKEEPER` names, or what Debian's
/// package has; and Java on PATH.
///
/// # Errors
/// When one of them is not there.
pub fn find_zookeeper() -> Result<Program, EnvironmentError> {
    let folder = env::var_os(ZOOKEEPER_JARS);
    let folder = folder.map_or_else(|| PathBuf::from(DEBIANS_JARS), PathBuf::from);
    let jar = jar_in(&folder).ok_or_else(|| EnvironmentError::NoZookeeper {
        folder: folder.clone(),
    })?;
    if !on_path(vec![JAVA]).any(|path| path.is_file()) {
        return Err(EnvironmentError::NoJava);
    }
    let name = jar.file_stem().unwrap_or_default().to_string_lossy();
    let version = name.trim_start_matches("zookeeper-");
    Ok(Program {
        version: format!("zookeeper {version}"),
        path: jar,
    })
}

/// The jar of ZooKeeper in a folder, by the name that tells its version.
fn jar_in(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.flatten();
    let mut jars: Vec<PathBuf> = files.map(|file| file.path()).collect();
    jars.sort();
    jars.into_iter().rfind(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let version = name.strip_prefix("zookeeper-");
        let version = version.and_then(|rest| rest.strip_suffix(".jar"));
        version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
    })
}

/// Class path with which ZooKeeper runs. Debian's jar names the others that it takes, except one
/// that writes a log; of any other all that is in its folder is taken.
pub(super) fn class_path(jar: &Path) -> String {
    let folder = jar.parent().unwrap_or(Path::new(DEBIANS_JARS)).display();
    if Path::new(DEBIANS_JARS) == jar.parent().unwrap_or(jar) {
        format!("{}:{folder}/slf4j-simple.jar", jar.display())
    } else {
        format!("{folder}/*")
    }
}

/// Every place that is looked at, in order.
fn candidates() -> impl Iterator<Item = PathBuf> {
    // The checkout is the current folder, or one above the built binary.
    let program = env::current_exe().unwrap_or_default();
    let above: Vec<_> = program
        .ancestors()
        .map(|folder| folder.join(FETCHED))
        .collect();
    on_path(NAMES.to_vec())
        .chain([PathBuf::from(FETCHED)])
        .chain(above)
}

/// Places on PATH where programs of these names may be, in order.
pub(super) fn on_path(names: Vec<&str>) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    names.into_iter().flat_map(move |name| {
        let folders = folders.clone().into_iter();
        folders.map(move |folder| folder.join(name))
    })
}

/// Beginning of what a program said.
fn shown(text: &str) -> String {
    text.trim().chars().take(SHOWN_CHARS_MAX).collect()
}

/// Output of `--version`; the error is a reason in words.
fn says_version(path: &Path) -> Result<String, String> {
    let mut command = Command::new(path);
    command.arg("--version");
    said_by(command).map_err(|reason| format!("--version {reason}"))
}

/// Output of a program; the error is what became of it.
pub(super) fn said_by(mut command: Command) -> Result<String, String> {
    scrub(&mut command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cannot be run: {error}"))?;
    let said = read_within(child.stdout.take().expect("it is piped"));
    // It has said what there is to say; whatever it started goes with it.
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
    Ok(String::from_utf8_lossy(&said?).into_owned())
}

/// Version of a server of Redis, from what it says; the error is a reason in words.
fn version_of(path: &Path) -> Result<String, String> {
    let text = says_version(path)?;
    let word = |prefix: &str| {
        text.split_whitespace()
            .find_map(|part| part.strip_prefix(prefix))
            .map(str::to_owned)
    };
    let number = word("v=").ok_or_else(|| format!("--version printed {:?}", shown(&text)))?;
    let kind = if text.starts_with("Valkey") {
        "valkey"
    } else {
        "redis"
    };
    let allocator = word("malloc=")
        .map(|name| format!(" ({name})"))
        .unwrap_or_default();
    Ok(format!("{kind} {number}{allocator}"))
}

/// Reads a pipe until it is closed, as far as anybody is interested in it.
fn read_within(mut pipe: ChildStdout) -> Result<Vec<u8>, String> {
    let end = Instant::now() + ANSWERS_WITHIN;
    let mut said = Vec::new();
    let mut some = [0; 4096];
    while said.len() < ANSWER_BYTES_MAX {
        let left = end.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let mut readable = [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)];
        match poll(&mut readable, left) {
            Ok(0) => return Err(format!("did not end within {ANSWERS_WITHIN:?}")),
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(format!("cannot be read: {error}")),
        }
        match pipe
            .read(&mut some)
            .map_err(|error| format!("cannot be read: {error}"))?
        {
            0 => break,
            read => said.extend_from_slice(&some[..read]),
        }
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_named_with_the_remedy() {
        let error = find_program(Some(Path::new("/no/such/redis-server"))).expect_err("absent");
        let text = error.to_string();
        assert!(text.contains("/no/such/redis-server") && text.contains("--redis-server"));
    }

    /// Written by another process: of a file that this one has open for writing, a child of
    /// another test may hold a copy, and then it cannot be run.
    fn program(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("redis-server");
        let write = "printf '#!/bin/sh\n%s\n' \"$1\" > \"$0\" && chmod +x \"$0\"";
        let written = Command::new("sh")
            .args(["-c", write])
            .arg(&path)
            .arg(script)
            .status()
            .expect("there is a shell");
        assert!(written.success());
        path
    }

    #[test]
    fn a_program_that_never_says_its_version_is_refused_in_time() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = program(folder.path(), "sleep 1000 & sleep 1000");
        let error = find_program(Some(&path)).expect_err("it never answers");
        let text = error.to_string();
        assert!(
            text.contains("did not end within 10s") && text.contains("--redis-server"),
            "{text}"
        );
    }

    #[test]
    fn a_program_that_says_too_much_is_refused_with_the_beginning() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let error = find_program(Some(&program(folder.path(), "yes hello")));
        let text = error.expect_err("it is no server").to_string();
        assert!(text.contains("hello") && text.len() < 1_000, "{text}");
    }

    #[test]
    fn a_program_that_is_no_server_is_refused() {
        let error = find_program(Some(Path::new("/bin/true"))).expect_err("true is no server");
        assert!(
            error.to_string().contains("no usable redis-server"),
            "{error}"
        );
    }
}
