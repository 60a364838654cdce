//! Origins of the values of a case.
//!
//! For: telling a reader which values somebody chose and which nobody did. Not for: deciding which
//! value counts; that has happened when these are made.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::document::join;
use crate::load::Loaded;
use crate::model::{Case, Lines, LockKind, Origin, Origins, Workload};
use crate::write::to_toml;
use crate::written::Written;

/// The origins of the values of `case`, asked of `origin` by path.
pub(crate) fn origins(case: &Case, origin: impl Fn(&str) -> Option<Origin>) -> Origins {
    let text = to_toml(&case.to_scenario());
    let values = values(&text).into_iter();
    let known = values.filter_map(|(path, _)| Some((path.clone(), origin(&path)?)));
    known.collect()
}

/// Lines of `case` in `file`.
pub(crate) fn lines(file: &Loaded, case: &Case) -> Lines {
    let line = |span| file.sources.spot(&span).line_column().0;
    let expect = if file.places.has("expect") {
        "expect"
    } else {
        "name"
    };
    let steps = match &case.workload {
        Workload::Litmus(steps) => 0..steps.len(),
        Workload::Storm(..) => 0..0,
    };
    Lines {
        file: file.sources.spot(&(0..0)).source.name.clone(),
        expect: line(file.places.key(expect)),
        steps: steps
            .map(|n| line(file.places.value(&format!("step.{n}"))))
            .collect(),
    }
}

/// The case as a scenario file of its own, in which a comment names the origin of each value that
/// was not in its file.
pub fn effective(case: &Case) -> String {
    let mut text = to_toml(&case.to_scenario());
    for (path, end) in values(&text).into_iter().rev() {
        let ends_its_line = text[end..].is_empty() || text[end..].starts_with('\n');
        if let (true, Some(origin)) = (ends_its_line, case.origins.get(&path)) {
            text.insert_str(end, &format!("  # {}", origin.name()));
        }
    }
    text
}

/// The path of each value in a text that is known to be TOML, and where it ends, in order.
fn values(text: &str) -> Vec<(String, usize)> {
    let root = DeTable::parse(text).expect("what was just written can be read");
    let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
    let mut values = Vec::new();
    gather(&root, "", &mut values);
    values.sort_by_key(|(_, end)| *end);
    values
}

fn gather(value: &Spanned<DeValue<'_>>, path: &str, values: &mut Vec<(String, usize)>) {
    let tables = |list: &&toml::de::DeArray<'_>| {
        list.iter()
            .all(|element| element.get_ref().as_table().is_some())
    };
    if let Some(table) = value.get_ref().as_table() {
        for (key, value) in table {
            gather(value, &join(path, key.get_ref()), values);
        }
    } else if let Some(list) = value.get_ref().as_array().filter(tables) {
        for (n, element) in list.iter().enumerate() {
            gather(element, &join(path, &n.to_string()), values);
        }
    } else {
        values.push((path.to_owned(), value.span().end));
    }
}

/// The row of a comparison that a case stands in.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    /// The file with the matrix.
    pub(crate) table: &'a Loaded,
    pub(crate) lock: usize,
    pub(crate) topology: usize,
}

/// Where the value at `path` of a case is from that `file` describes.
pub(crate) fn origin(
    file: &Loaded,
    row: Option<Row<'_>>,
    kind: LockKind,
    path: &str,
) -> Option<Origin> {
    let (part, rest) = path.split_once('.').unwrap_or((path, ""));
    // A comparison of locks on a script of its own leaves nothing to another file.
    let words = |row: Row<'_>| (!std::ptr::eq(row.table, file)).then_some(&file.words);
    match (part, row) {
        ("expect", _) => {
            let for_kind = format!("expect-for.{}.{rest}", kind.name());
            let own = if file.places.has(&for_kind) {
                for_kind
            } else {
                path.to_owned()
            };
            written(file, &own)
        }
        ("lock", Some(row)) => {
            let of_row = row.table.words.locks.get(row.lock);
            let own = words(row)
                .zip(of_row)
                .and_then(|(words, row)| words.lock_for(row));
            of_cell(row.table, ("matrix.locks", row.lock), own, rest)
        }
        ("topology", Some(row)) => {
            let of_row = row.table.words.topologies.get(row.topology);
            let own = words(row)
                .zip(of_row)
                .and_then(|(words, row)| words.topology_for(row));
            of_cell(row.table, ("matrix.topologies", row.topology), own, rest)
        }
        _ => written(file, path),
    }
}

/// The origin of what a row of the comparison says at `rest`, or leaves to the words of a file.
fn of_cell(
    table: &Loaded,
    (list, n): (&str, usize),
    own: Option<&Written>,
    rest: &str,
) -> Option<Origin> {
    let path = format!("{list}.{n}.{rest}");
    let option = rest.split('.').nth(1).unwrap_or_default();
    match written(table, &path) {
        None => Some(Origin::Comparison),
        Some(Origin::Default) if own.is_some_and(|own| own.says(option)) => None,
        other => other,
    }
}

/// Where a file, with what was set from outside, has the value at `path`.
fn written(file: &Loaded, path: &str) -> Option<Origin> {
    match file.places.written(path) {
        None => Some(Origin::Default),
        Some(span) if file.sources.is_file(&span) => None,
        Some(_) => Some(Origin::CommandLine),
    }
}
