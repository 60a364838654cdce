//! Finds the server program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::EnvironmentError;

/// Programs looked for on PATH, best first.
const NAMES: [&str; 2] = ["redis-server", "valkey-server"];
/// Where the set-up script puts what it fetched without root, relative to the checkout.
const FETCHED: &str = ".tools/bin/valkey-server";

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

/// Every place that is looked at, in order.
fn candidates() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<_> = NAMES
        .iter()
        .flat_map(|name| env::split_paths(&path).map(move |folder| folder.join(name)))
        .collect();
    // The checkout is the current folder, or one above the built binary.
    let program = env::current_exe().unwrap_or_default();
    let above: Vec<_> = program
        .ancestors()
        .map(|folder| folder.join(FETCHED))
        .collect();
    on_path
        .into_iter()
        .chain([PathBuf::from(FETCHED)])
        .chain(above)
}

/// What `--version` says, shortened; the error is a reason in words.
fn version_of(path: &Path) -> Result<String, String> {
    let output = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = |prefix: &str| {
        text.split_whitespace()
            .find_map(|part| part.strip_prefix(prefix))
            .map(str::to_owned)
    };
    let number = word("v=").ok_or_else(|| format!("--version printed {:?}", text.trim()))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_named_with_the_mend() {
        let error = find_program(Some(Path::new("/no/such/redis-server"))).expect_err("absent");
        let text = error.to_string();
        assert!(text.contains("/no/such/redis-server") && text.contains("--redis-server"));
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
