//! The libraries that are to be on the page, and why they break what they break.

use std::fs;

use lockstorm_scenarios::Promise;
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
    #[serde(default)]
    finding: Vec<Finding>,
}

/// The reason for a broken promise, from the source of the library.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    promise: Promise,
    why: String,
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
        let words: Vec<&str> = [&*self.adapter]
            .into_iter()
            .chain(self.arguments.iter().map(String::as_str))
            .collect();
        words.join("-").replace('/', "-")
    }

    /// The program and its arguments, from the checkout.
    pub fn command(&self) -> String {
        let program = format!("adapters/{}/run", self.adapter);
        let arguments = self.arguments.iter().map(String::as_str);
        let words: Vec<&str> = [&*program].into_iter().chain(arguments).collect();
        words.join(" ")
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
        let mut findings = self.finding.iter();
        let found = findings.find(|finding| finding.promise == promise);
        found.map(|finding| finding.why.trim())
    }
}
