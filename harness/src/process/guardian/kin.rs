//! Descendants of a process.

use std::collections::BTreeMap;
use std::fs;

use nix::unistd::Pid;

/// The living descendants of a process, as far as no parent between has died.
pub fn descendants(ancestor: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for entry in processes {
        let name = entry.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok())
            && let Some(parent) = parent_of(pid)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![ancestor.as_raw()];
    while let Some(parent) = next.pop() {
        // Taken out: should numbers change hands meanwhile, there is still an end of it.
        let here = children.remove(&parent).unwrap_or_default();
        found.extend(here.iter().copied().map(Pid::from_raw));
        next.extend(here);
    }
    found
}

/// `None` for one that is no more, or is dead and waits for its burial.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may have any of them in it; then come state and parent.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z").then_some(parent)
}
