//! The libraries that are to be on the page, and why they break what they break.

use std::fs;
use std::path::Path;
use std::process::Command;

use lockstorm_scenarios::{Promise, System, TopologyKind};
use serde::Deserialize;

use crate::support::root;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    library: Vec<Library>,
}

/// One way to use a library.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// Folder of its adapter, below `adapters/`.
    adapter: String,
    /// Arguments of the adapter.
    #[serde(default)]
    arguments: Vec<String>,
    /// Servers on which it is assessed.
    pub topologies: Vec<String>,
    /// Name of the library in its registry, and releases beside the pinned one on which its
    /// findings are tried.
    #[serde(default)]
    package: String,
    #[serde(default)]
    pub versions: Vec<String>,
    /// The argument that is the pinned release, where the adapter is told it: another release takes
    /// its place.
    pinned: Option<String>,
    #[serde(default)]
    reason: Vec<Reason>,
}

/// Reason why the library breaks a promise, or why no run can tell of it, from its source.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    promise: Promise,
    why: String,
    /// Address of an issue, or of a page of the library, that says the same.
    upstream: Option<String>,
}

/// All of them, in the order of the page.
pub fn read() -> Vec<Library> {
    let path = root().join("adapters/scoreboard.toml");
    let text = fs::read_to_string(path).expect("the list is there");
    let list: List = toml::from_str(&text).expect("the list is well-formed");
    list.library
}

impl Library {
    /// Name of its folders.
    pub fn slug(&self) -> String {
        let of_redis = self.system() == System::Redis;
        let servers = self.topologies.iter().filter(|_| !of_redis);
        let words: Vec<&str> = [&self.adapter]
            .into_iter()
            .chain(&self.arguments)
            .chain(servers)
            .map(String::as_str)
            .collect();
        words.join("-").replace('/', "-")
    }

    /// The system of its servers.
    pub fn system(&self) -> System {
        let mut kinds = TopologyKind::ALL.into_iter();
        let kind = kinds.find(|kind| self.topologies.iter().any(|name| name == kind.name()));
        kind.expect("a library has servers").system()
    }

    /// Words for the system behind the name of the library; none for Redis.
    pub fn on(&self) -> String {
        match self.system() {
            System::Redis => String::new(),
            other => format!(" on {}", other.name()),
        }
    }

    /// Folder of its adapter, below `adapters/`.
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// The program and its arguments, from the checkout.
    pub fn command(&self) -> String {
        format!("adapters/{}/run {}", self.adapter, self.arguments.join(" "))
            .trim_end()
            .to_owned()
    }

    /// A program with another release, and its arguments.
    pub fn command_with<'a>(&'a self, program: &'a str, version: &'a str) -> Vec<&'a str> {
        let arguments = self.arguments.iter().map(|argument| {
            let is_release = self.pinned.as_ref() == Some(argument);
            if is_release { version } else { argument }
        });
        [program].into_iter().chain(arguments).collect()
    }

    /// Tells whether `LOCKSTORM_ONLY` names it, or nothing at all.
    pub fn is_asked_for(&self) -> bool {
        let only = std::env::var("LOCKSTORM_ONLY").unwrap_or_default();
        only.split(',').any(|part| self.slug().contains(part))
    }

    /// Words for a release that was asked for: some have the number of what brings them.
    pub fn asked_for(&self, version: &str) -> String {
        match self.package.strip_suffix(".version") {
            Some(of) => format!("that of {of} {version}"),
            None => version.to_owned(),
        }
    }

    /// Copies the adapter into this folder with another release of the library, and returns the
    /// program.
    ///
    /// # Errors
    /// When the release does not exist, or the adapter cannot be built with it: the line that says
    /// so.
    pub fn at_version(&self, version: &str, into: &Path) -> Result<String, String> {
        let output = Command::new(root().join("adapters/at-version"))
            .args([&self.adapter, &self.package, version])
            .arg(into)
            .output();
        let output = output.expect("the script can be started");
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() {
            return Ok(lines(&output.stdout));
        }
        let said = lines(&output.stderr);
        let names_it = |line: &&str| line.to_lowercase().contains("error");
        let line = said.lines().find(names_it).or(said.lines().last());
        Err(line.unwrap_or_default().to_owned())
    }

    /// Tells whether its `setup` was run: it leaves what git does not know of.
    pub fn is_set_up(&self) -> bool {
        let folder = root().join("adapters").join(&self.adapter);
        let installed = [".venv", "node_modules", "target"];
        installed.iter().any(|name| folder.join(name).exists())
    }

    /// Page about its adapter, from `docs/`.
    pub fn readme(&self) -> String {
        format!("../adapters/{}/README.md", self.adapter)
    }

    /// Why it breaks this promise, where that was looked up.
    pub fn why(&self, promise: Promise) -> Option<&str> {
        Some(self.reason(promise)?.why.trim())
    }

    /// Where its authors or users say the same, as far as that is known.
    pub fn upstream(&self, promise: Promise) -> Option<&str> {
        self.reason(promise)?.upstream.as_deref()
    }

    fn reason(&self, promise: Promise) -> Option<&Reason> {
        let mut reasons = self.reason.iter();
        reasons.find(|reason| reason.promise == promise)
    }
}
