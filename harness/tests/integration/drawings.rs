//! Drawings of faults in a report show what was done.
//! Method: real runs with names and spellings that a reader of strings would take for something
//! else, and their pages as they were written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{have_server, run_scenario, stderr};

/// A key that looks like a link.
const ARROW: &str = r#"
name = "arrow-key"
topology.replicated = { replicas = 1 }
lock.token = { lease = "2s" }
expect = { mutual-exclusion = "violated", lost-lock = "violated" }

[[step]]
acquire = { client = "a", key = "primary→replica-1", expect = "granted" }

[[step]]
delete-key = { key = "primary→replica-1" }

[[step]]
acquire = { client = "b", key = "primary→replica-1", expect = "granted" }

[[step]]
release = { client = "a", key = "primary→replica-1" }
"#;

/// A partition in the way that `spelling` says; no lock is tried while it lasts.
fn partition(name: &str, spelling: &str) -> String {
    format!(
        r#"
name = "{name}"
topology.replicated = {{ replicas = 1 }}
lock.token = {{ lease = "2s" }}
[expect]
mutual-exclusion = "any"
lost-lock = "any"
lease-overrun = "any"
dead-on-arrival = "any"

[[step]]
partition = {{ {spelling} }}

[[step]]
await = {{ key-gone = "lock", node = "replica-1" }}

[[step]]
heal = {{ fault = "partition" }}

[[step]]
acquire = {{ client = "a", expect = "granted" }}
"#
    )
}

/// Pages and pictures that a run of a scenario has drawn.
struct Drawn {
    page: String,
    timeline: String,
    markdown: String,
}

fn draw(folder: &Path, name: &str, scenario: &str) -> Drawn {
    let file = folder.join(format!("{name}.toml"));
    fs::write(&file, scenario).expect("the folder can be written");
    let out = folder.join("runs");
    let path = file.to_str().expect("temporary folders have plain names");
    let output = run_scenario(path, &out, &["--report", "html,svg,md", "--seed", "5"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let run = newest(&out.join(name));
    let text = |name: &str| fs::read_to_string(run.join(name)).expect("it was written");
    let page = text("report.html");
    let (before, style) = page.split_once("<style>").expect("a page has a style");
    let (_, after) = style.split_once("</style>").expect("which ends");
    Drawn {
        page: format!("{before}{after}"),
        timeline: text("timeline.svg"),
        markdown: text("report.md"),
    }
}

fn newest(folder: &Path) -> PathBuf {
    let runs = fs::read_dir(folder).expect("the run has a folder");
    let runs = runs.map(|entry| entry.expect("it can be listed").path());
    runs.max().expect("there is one run")
}

/// The crosses on links: how each is drawn and what it is called, without the times.
fn crosses(page: &str) -> Vec<String> {
    let groups = page.split("<g class=\"cut\"").skip(1);
    let groups = groups.filter_map(|rest| rest.split("</g>").next());
    let told = groups.filter_map(|group| {
        let title = group.split("<title>").nth(1)?.split("</title>").next()?;
        let path = group.split("<path d=\"").nth(1)?.split('"').next()?;
        Some(format!("{title}: {path}"))
    });
    told.collect()
}

/// Bands of faults in this colour.
fn bands(svg: &str, color: &str) -> usize {
    svg.matches(&format!("fill:{color};fill-opacity:0.1"))
        .count()
}

#[test]
fn a_key_that_is_deleted_cuts_no_link_whatever_it_is_called() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let arrow = draw(folder.path(), "arrow-key", ARROW);
    assert!(
        crosses(&arrow.page).is_empty(),
        "{:?}",
        crosses(&arrow.page)
    );
    assert!(arrow.page.contains("F1 delete-key primary→replica-1"));
    assert!(
        !arrow.page.contains("fault-cut"),
        "no picture has the colour of cuts"
    );
    assert!(
        arrow.page.contains("var(--fault);fill-opacity:0.1"),
        "it has a band"
    );
    assert!(
        !arrow.page.contains("data-absent=\"[["),
        "no server was away"
    );
    assert!(
        !arrow.markdown.contains("WAIT"),
        "nothing of a link would have helped"
    );
    assert!(
        arrow.timeline.contains("F1 delete-key"),
        "{}",
        arrow.timeline
    );
}

#[test]
fn a_partition_is_drawn_alike_in_both_spellings() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let spellings = [
        ("form-partition", r#"form = "isolate-primary""#),
        (
            "sides-partition",
            r#"sides = [["primary"], ["replicas", "a"]]"#,
        ),
    ];
    let drawn =
        spellings.map(|(name, spelling)| draw(folder.path(), name, &partition(name, spelling)));
    let [form, sides] = &drawn;
    let both = crosses(&form.page);
    assert_eq!(both.len(), 2, "to the replica and to the client: {both:?}");
    assert!(both[0].starts_with("F1 partition: "), "{both:?}");
    assert_eq!(both, crosses(&sides.page));
    let count = bands(&form.timeline, "#b08d00");
    assert!(count > 0, "{}", form.timeline);
    for one in &drawn {
        assert_eq!(bands(&one.timeline, "#b08d00"), count);
        let told = "F1 partition primary | replica-1,a";
        assert!(
            one.timeline.contains(told) && one.page.contains(told),
            "{}",
            one.timeline
        );
        assert!(
            one.markdown
                .contains("| F1 | partition | primary \\| replica-1,a |")
        );
    }
}

#[test]
fn a_partition_of_servers_leaves_the_links_of_clients_alone() {
    if !have_server() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let name = "servers-partition";
    let spelling = r#"sides = [["primary"], ["replicas"]]"#;
    let drawn = draw(folder.path(), name, &partition(name, spelling));
    assert_eq!(crosses(&drawn.page).len(), 1, "{:?}", crosses(&drawn.page));
}
