//! From a loaded scenario to the cases that it stands for.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostics, Mistake};
use crate::draft::Draft;
use crate::load::Loaded;
use crate::model::{
    Case, CaseLabels, Lock, LockKind, Matrix, Origins, Scenario, Topology, TopologyKind, Workload,
};
use crate::origin::{Row, lines, origin, origins};
use crate::rules;

/// Runs that a scenario stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// Runs, in order: row by row, column by column.
    pub cases: Vec<Case>,
    /// Cells of the comparison for which no scenario fits, and why.
    pub left_out: Vec<(CaseLabels, String)>,
}

/// The cases of a scenario: one, or the cells of its matrix (see [`Matrix`]).
///
/// # Errors
/// Two scenarios for one cell, two rows of one name, or a scenario whose steps do not fit the
/// servers of a row.
pub fn expand(loaded: &Loaded) -> Result<Expanded, Diagnostics> {
    let Some(matrix) = &loaded.scenario.matrix else {
        let scenario = &loaded.scenario;
        let (Some(lock), Some(topology)) = (&scenario.lock, &scenario.topology) else {
            return Err(without_lock(loaded));
        };
        return Ok(Expanded {
            cases: vec![case(loaded, lock, topology, None)],
            left_out: Vec::new(),
        });
    };
    Table::new(loaded, matrix).fill()
}

/// Says that a situation alone is nothing to run.
fn without_lock(loaded: &Loaded) -> Diagnostics {
    let message = "a situation has no lock of its own to run";
    let name = &loaded.scenario.name;
    let help = format!(
        "put one in: `lockstorm assess token --only {name}`, or name a lock and servers with --set"
    );
    let mistake = Mistake::new(loaded.places.key("situation"), message).help(help);
    let mut diagnostics = Diagnostics::default();
    diagnostics.extend(&loaded.sources, vec![mistake]);
    diagnostics
}

pub(crate) fn case(file: &Loaded, lock: &Lock, topology: &Topology, row: Option<Row<'_>>) -> Case {
    let scenario = &file.scenario;
    let mut case = Case {
        name: scenario.name.clone(),
        description: scenario.description.clone(),
        labels: CaseLabels {
            lock: lock.label(),
            topology: topology.label(),
            hazard: hazard(scenario).to_owned(),
        },
        expect: scenario.expected_of(lock),
        situation: scenario.situation.clone(),
        topology: topology.clone(),
        lock: lock.clone(),
        guarded_resource: scenario.guarded_resource.clone(),
        trace: BTreeSet::new(),
        clients: scenario.clients.clone(),
        checks: scenario.checks.clone(),
        workload: match &scenario.storm {
            Some(storm) => Workload::Storm(storm.clone(), scenario.nemesis.clone()),
            None => Workload::Litmus(scenario.step.clone()),
        },
        origins: Origins::default(),
    };
    case.trace = scenario.trace.clone().unwrap_or_else(|| case.usual_trace());
    case.origins = origins(&case, |path| origin(file, row, lock.kind(), path));
    case.origins.lines = lines(file, &case);
    case
}

fn hazard(scenario: &Scenario) -> &str {
    scenario.hazard.as_ref().unwrap_or(&scenario.name)
}

/// The comparison while it is filled in.
struct Table<'a> {
    loaded: &'a Loaded,
    matrix: &'a Matrix,
    /// The scenarios of the columns: the files of the matrix, or the file with the matrix itself.
    files: Vec<&'a Loaded>,
    expanded: Expanded,
    /// The scenario that fills each cell.
    filled: BTreeMap<CaseLabels, String>,
    /// Mistakes in the file with the matrix.
    mistakes: Vec<Mistake>,
    /// Mistakes in each of `files`.
    in_files: Vec<Vec<Mistake>>,
}

impl<'a> Table<'a> {
    fn new(loaded: &'a Loaded, matrix: &'a Matrix) -> Self {
        let files: Vec<&Loaded> = if matrix.scenarios.is_empty() {
            vec![loaded]
        } else {
            loaded.files.iter().collect()
        };
        Self {
            loaded,
            matrix,
            in_files: vec![Vec::new(); files.len()],
            files,
            expanded: Expanded::default(),
            filled: BTreeMap::new(),
            mistakes: Vec::new(),
        }
    }

    fn fill(mut self) -> Result<Expanded, Diagnostics> {
        let mut hazards: Vec<&str> = Vec::new();
        for file in &self.files {
            let hazard = hazard(&file.scenario);
            if !hazards.contains(&hazard) {
                hazards.push(hazard);
            }
        }
        let mut rows: BTreeSet<(String, String)> = BTreeSet::new();
        for (n, lock) in self.matrix.locks.iter().enumerate() {
            for (m, topology) in self.matrix.topologies.iter().enumerate() {
                if !lock.kind().supports(topology.alike()) {
                    continue;
                }
                let row = (lock.label(), topology.label());
                if rows.contains(&row) {
                    self.refuse_row(n, &row);
                    continue;
                }
                rows.insert(row);
                for hazard in &hazards {
                    self.column((n, lock), (m, topology), hazard);
                }
            }
        }
        let mut diagnostics = Diagnostics::default();
        diagnostics.extend(&self.loaded.sources, self.mistakes);
        for (file, mistakes) in self.files.iter().zip(self.in_files) {
            diagnostics.extend(&file.sources, mistakes);
        }
        diagnostics.or(self.expanded)
    }

    fn refuse_row(&mut self, n: usize, (lock, topology): &(String, String)) {
        let span = self.loaded.places.value(&format!("matrix.locks.{n}"));
        let message = format!("there is already a row for {lock} on {topology}");
        let help = "rows are told apart by kind and renewal of the lock, and by the number of \
                    servers; compare other options in a matrix of their own";
        self.mistakes.push(Mistake::new(span, message).help(help));
    }

    /// The cells of one row and column: mostly one. Two files for different options, such as the
    /// number of replicas, make two rows of it, where the matrix leaves the option to them.
    fn column(
        &mut self,
        (n, lock): (usize, &Lock),
        (m, topology): (usize, &Topology),
        hazard: &str,
    ) {
        let column = self.files.iter().enumerate();
        let column: Vec<(usize, &Loaded)> = column
            .map(|(n, file)| (n, *file))
            .filter(|(_, file)| self::hazard(&file.scenario) == hazard)
            .collect();
        let mut is_filled = false;
        for (n_file, file) in &column {
            if fits(&file.scenario, lock, topology) {
                let (lock, topology) = self.taken_from(file, (n, lock), (m, topology));
                let row = Row {
                    table: self.loaded,
                    lock: n,
                    topology: m,
                };
                self.cell((*n_file, file), &lock, &topology, row);
                is_filled = true;
            }
        }
        if !is_filled {
            let labels = CaseLabels {
                lock: lock.label(),
                topology: topology.label(),
                hazard: hazard.to_owned(),
            };
            let reason = reason(&column, lock, topology);
            self.expanded.left_out.push((labels, reason));
        }
    }

    /// The lock and the servers of a row, with what they leave out taken from the file, unless
    /// that is the one with the matrix.
    fn taken_from(
        &self,
        file: &Loaded,
        (n, lock): (usize, &Lock),
        (m, topology): (usize, &Topology),
    ) -> (Lock, Topology) {
        if self.matrix.scenarios.is_empty() {
            return (lock.clone(), topology.clone());
        }
        let (rows, own) = (&self.loaded.words, &file.words);
        let full_lock = rows.locks.get(n);
        let full_lock = full_lock.and_then(|row| row.lock(own.lock_for(row)));
        let full_topology = rows.topologies.get(m);
        let full_topology = full_topology.and_then(|row| row.topology(own.topology_for(row)));
        (
            full_lock.unwrap_or_else(|| lock.clone()),
            full_topology.unwrap_or_else(|| topology.clone()),
        )
    }

    fn cell(
        &mut self,
        (n, file): (usize, &Loaded),
        lock: &Lock,
        topology: &Topology,
        row: Row<'_>,
    ) {
        let scenario = &file.scenario;
        let case = case(file, lock, topology, Some(row));
        if let Some(twin) = self.filled.get(&case.labels) {
            let twin = twin.clone();
            self.refuse_cell(n, &twin, &scenario.name, &case.labels);
            return;
        }
        self.filled.insert(case.labels.clone(), case.name.clone());
        let draft = Draft::of_cell(scenario, lock, topology);
        let on = format!("in the cell of {} on {}", lock.label(), topology.label());
        let mistakes = rules::judge_cell(&draft, &file.places);
        self.in_files[n].extend(mistakes.into_iter().map(|mut mistake| {
            let help = mistake.help.take().unwrap_or_default();
            mistake.help(format!("{on}: {help}"))
        }));
        self.expanded.cases.push(case);
    }

    fn refuse_cell(&mut self, n: usize, first: &str, second: &str, labels: &CaseLabels) {
        let span = self.loaded.places.value(&format!("matrix.scenarios.{n}"));
        let message = format!(
            "'{first}' and '{second}' both fill the cell '{}' of {} on {}",
            labels.hazard, labels.lock, labels.topology,
        );
        let help = "give one of them another `hazard`, or tell them apart by `applies-to`";
        self.mistakes.push(Mistake::new(span, message).help(help));
    }
}

/// Tells whether the scenario is meant for this lock on servers of this shape.
fn fits(scenario: &Scenario, lock: &Lock, topology: &Topology) -> bool {
    suits(scenario, topology) && is_meant_for(scenario, lock.kind())
}

/// Tells whether the steps are written for servers of this shape.
fn suits(scenario: &Scenario, topology: &Topology) -> bool {
    servers(scenario).contains(&topology.alike())
}

/// The servers for which a scenario is written: its own, or those of its matrix.
fn servers(scenario: &Scenario) -> Vec<TopologyKind> {
    let own = scenario.topology.iter();
    let of_matrix = scenario.matrix.iter().flat_map(|matrix| &matrix.topologies);
    own.chain(of_matrix).map(Topology::alike).collect()
}

/// Tells whether `expect` holds for this lock.
fn is_meant_for(scenario: &Scenario, kind: LockKind) -> bool {
    let named = |kinds: &Vec<LockKind>| kinds.contains(&kind);
    let listed = |matrix: &Matrix| matrix.locks.iter().any(|lock| lock.kind() == kind);
    scenario.applies_to.as_ref().is_none_or(named) && scenario.matrix.as_ref().is_none_or(listed)
}

/// Reason why no scenario of a column fits.
fn reason(column: &[(usize, &Loaded)], lock: &Lock, topology: &Topology) -> String {
    let suited = column
        .iter()
        .find(|(_, file)| suits(&file.scenario, topology));
    if let Some((_, file)) = suited {
        return format!(
            "'{}' does not apply to {}",
            file.scenario.name,
            lock.kind().name()
        );
    }
    let kinds = column.iter().flat_map(|(_, file)| servers(&file.scenario));
    let mut kinds: Vec<&str> = kinds.map(TopologyKind::name).collect();
    kinds.dedup();
    format!(
        "this hazard is written for {} servers only",
        kinds.join(" and ")
    )
}
