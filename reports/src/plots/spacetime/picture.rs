//! The picture itself: the cast, then the script, row by row.

use lockstorm_checker::Nanos;
use lockstorm_checker::history::FaultPhase;
use lockstorm_checker::verdict::{FaultStage, FaultSummary, Holder, Witness};

use super::super::drawing::{Drawing, Stroke};
use super::super::faults::fault_name;
use super::super::ink::Ink;
use super::cast::{Cast, Servers};
use super::paper::Paper;
use super::script::{Row, What, numbers, rows};
use lockstorm_scenarios::Absence;

use crate::closeup::{CloseUp, Deed};
use crate::hit::{Hit, absence};
use crate::remedy::Scene;
use crate::words;

/// A picture, and what had to be left out of it.
pub(crate) struct Spacetime {
    pub(crate) drawing: Drawing,
    /// Says so where something is left out or concluded.
    pub(crate) note: Option<String>,
}

/// The diagram of a finding; `None` where its history is not at hand, for then nobody knows who
/// asked whom, and when.
pub(crate) fn spacetime(scene: &Scene, close: Option<&CloseUp>) -> Option<Spacetime> {
    let close = close?;
    let witness = scene.witness;
    let deeds = close.deeds_of(witness);
    if deeds.is_empty() {
        return None;
    }
    let is_told = |fault: &&FaultSummary| {
        let mut story = witness.story.iter();
        witness.faults_active.contains(&fault.id) || story.any(|step| step.actor == fault.id)
    };
    let faults: Vec<&FaultSummary> = scene.faults.iter().filter(is_told).collect();
    let hits: Vec<Hit> = faults
        .iter()
        .map(|fault| Hit::of(fault, scene.nodes).gathered())
        .collect();
    let around = Servers {
        nodes: scene.nodes,
        turns: &close.turns,
        faults: scene.faults,
    };
    let holders: Vec<&str> = witness.holders.iter().map(|h| h.client.as_str()).collect();
    let cast = Cast::of(&around, &holders, &deeds, &hits);
    let (rows, rows_left_out) = rows(witness, &deeds, &faults);
    let label = format!("Space-time diagram of a violation: {}", witness.claim);
    let mut stage = Stage {
        paper: Paper::new(&cast, rows.len(), label),
        witness,
        around,
        cast,
        rows,
        is_concluded: false,
    };
    stage.draw(&faults, &hits);
    let note = stage.note(rows_left_out);
    Some(Spacetime {
        drawing: stage.paper.drawing,
        note,
    })
}

struct Stage<'a> {
    paper: Paper,
    witness: &'a Witness,
    around: Servers<'a>,
    cast: Cast,
    rows: Vec<Row<'a>>,
    /// True if an arrow goes where nobody recorded that it went.
    is_concluded: bool,
}

impl<'a> Stage<'a> {
    fn draw(&mut self, faults: &[&'a FaultSummary], hits: &[Hit]) {
        self.names();
        let rows = self.rows.clone();
        for (at, row) in rows.iter().enumerate() {
            self.paper.instant(at as f64, &words::instant(row.time));
            if matches!(row.what, What::Contradiction) {
                self.violation(at as f64);
            }
        }
        self.lifelines(faults, hits);
        let witness = self.witness;
        for holder in &witness.holders {
            self.hold(holder);
        }
        for (at, row) in rows.iter().enumerate() {
            match row.what {
                What::Sent(deed) => self.deed(at, deed),
                What::Fault(fault, stage) => self.fault(at, fault, stage),
                What::Ended | What::Contradiction => {}
            }
            let ink = if matches!(row.what, What::Contradiction) {
                Ink::Violation
            } else {
                Ink::Text
            };
            for (place, number) in numbers(witness, row.event).into_iter().take(2).enumerate() {
                self.paper.number(at as f64, number, place, ink);
            }
        }
    }

    fn names(&mut self) {
        let clients = self.cast.clients.len();
        let names: Vec<String> = self.cast.names().map(str::to_owned).collect();
        for (column, name) in names.iter().enumerate() {
            let mut nodes = self.around.nodes.iter();
            let role = nodes.find(|node| node.name == *name).map(|node| &node.role);
            let what = match role {
                _ if column < clients => "client".to_owned(),
                Some(role) => role.clone(),
                None => words::count(self.around.nodes.len() as u64, "server"),
            };
            self.paper.name(column, name, &what);
        }
    }

    /// The row of an event.
    fn row_of(&self, event: u64) -> Option<f64> {
        let at = self.rows.iter().position(|row| row.event == event)?;
        Some(at as f64)
    }

    /// The row of an instant: the first event that is not before it.
    fn row_at(&self, time: Nanos) -> f64 {
        let first = self.rows.iter().position(|row| row.time >= time);
        first.map_or(self.end(), |row| row as f64)
    }

    fn end(&self) -> f64 {
        self.rows.len() as f64 - 0.4
    }

    /// The line of each actor, dashed where it answers nobody.
    fn lifelines(&mut self, faults: &[&FaultSummary], hits: &[Hit]) {
        for column in 0..self.cast.len() {
            let mut absences: Vec<(f64, f64)> = Vec::new();
            for (fault, hit) in faults.iter().zip(hits) {
                let mut actors = hit.actors.iter();
                if actors.any(|name| self.cast.columns(name).contains(&column)) {
                    absences.extend(self.absence(fault));
                }
            }
            absences.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut at = -0.6;
            for (from, to) in absences {
                if from > at {
                    self.paper.lifeline(column, (at, from), false);
                }
                self.paper
                    .lifeline(column, (from.max(at), to.max(at)), true);
                at = to.max(at);
            }
            self.paper.lifeline(column, (at, self.end()), false);
        }
    }

    /// From which row to which an actor with this fault answers nobody.
    fn absence(&self, fault: &FaultSummary) -> Option<(f64, f64)> {
        let observed = fault.at(FaultPhase::Observed)?;
        let (from, back) = match absence(fault)? {
            Absence::UntilObserved(_) => (fault.at(FaultPhase::Injected)?, Some(observed)),
            Absence::UntilHealed(_) => (observed, fault.at(FaultPhase::Healed)),
        };
        let to = back.map_or(self.end(), |back| self.row_at(back));
        Some((self.row_at(from), to))
    }

    fn hold(&mut self, holder: &Holder) {
        let from = self.row_at(holder.granted);
        let left = holder.told_lost.or(holder.release_invoked);
        let to = left.map_or(self.end(), |left| self.row_at(left));
        let title = format!(
            "{} held from {} to {}",
            holder.client,
            words::instant(holder.granted),
            words::instant(left.unwrap_or(Nanos::MAX))
        );
        for column in self.cast.columns(&holder.client) {
            self.paper.hold(column, (from, to), title.clone());
        }
    }

    fn violation(&mut self, row: f64) {
        let holders = self.witness.holders.iter();
        let columns: Vec<usize> = holders.flat_map(|h| self.cast.columns(&h.client)).collect();
        let first = columns.iter().min().copied().unwrap_or_default();
        let last = columns.iter().max().copied().unwrap_or_default();
        let brief = self.witness.property.brief();
        self.paper.violation((first, last), row, brief);
    }

    /// A request and what came of it.
    fn deed(&mut self, row: usize, deed: &Deed) {
        let to = self.around.addressee_of(deed);
        self.is_concluded |= !to.is_known;
        let (Some(&client), Some(&server)) = (
            self.cast.columns(&deed.client).first(),
            self.cast.columns(&to.name).first(),
        ) else {
            return;
        };
        let stroke = |ink, is_certain| {
            if is_certain && to.is_known {
                Stroke::new(ink, 1.5)
            } else {
                Stroke::dashed(ink, 1.5)
            }
        };
        let sent = row as f64;
        let ended = deed.completed.and_then(|event| self.row_of(event));
        let ended = ended.filter(|_| deed.answer.is_known);
        // When the server had it is not recorded: somewhere in between.
        let there = ended.map_or(sent + 0.6, |ended| f64::midpoint(sent, ended));
        let ink = if ended.is_some() {
            Ink::Wait
        } else {
            Ink::Unknown
        };
        self.paper.arrow(
            (client, sent),
            (server, there),
            stroke(ink, ended.is_some()),
        );
        let asked = match ended {
            Some(_) => deed.asked.clone(),
            None => format!("{} (no answer)", deed.asked),
        };
        self.paper.words(client, sent, &asked, Ink::Text);
        if let Some(ended) = ended {
            self.paper
                .arrow((server, there), (client, ended), stroke(Ink::Wait, true));
            let token = deed
                .token
                .map_or_else(String::new, |t| format!(", token {t}"));
            let answer = format!("{}{token}", deed.answer.text);
            self.paper.words(client, ended, &answer, Ink::Muted);
        }
    }

    fn fault(&mut self, row: usize, fault: &FaultSummary, stage: &FaultStage) {
        let hit = Hit::of(fault, self.around.nodes).gathered();
        let row = row as f64;
        let name = fault_name(fault);
        let text = match stage.phase {
            FaultPhase::Healed => format!("{} healed", fault.id),
            FaultPhase::Requested | FaultPhase::Injected | FaultPhase::Observed => name.clone(),
        };
        let is_over = stage.phase == FaultPhase::Healed;
        let mut place = None;
        for column in hit.actors.iter().flat_map(|actor| self.cast.columns(actor)) {
            if !is_over {
                self.paper.cross(column, row, &name);
            }
            place = place.or(Some(column));
        }
        for (from, to) in &hit.links {
            for from in self.cast.columns(from) {
                for to in self.cast.columns(to) {
                    if !is_over {
                        self.paper.link((from.min(to), from.max(to)), row, &name);
                    }
                    place = place.or(Some(from.min(to)));
                }
            }
        }
        // A fault that hits nobody in the picture has its words at the servers.
        let place = place.unwrap_or(self.cast.clients.len().min(self.cast.len() - 1));
        self.paper.caption(place, row, &text);
    }

    fn note(&self, rows_left_out: usize) -> Option<String> {
        let mut notes = Vec::new();
        if rows_left_out > 0 {
            notes.push(format!(
                "Showing only the first {} of {} events.",
                self.rows.len(),
                self.rows.len() + rows_left_out
            ));
        }
        if self.cast.left_out > 0 {
            let all = self.cast.len() + self.cast.left_out;
            notes.push(format!("Showing only {} of {all} actors.", self.cast.len()));
        }
        if self.is_concluded {
            notes.push(
                "Dashed arrows: nobody recorded which server was asked; it is concluded from roles \
                 and faults, or left open."
                    .to_owned(),
            );
        }
        (!notes.is_empty()).then(|| notes.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use lockstorm_checker::Property;

    use super::super::super::drawing::Shape;
    use super::*;
    use crate::model::RunRecord;
    use crate::sample;

    fn picture(run: &RunRecord, close: &CloseUp) -> Spacetime {
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        spacetime(&Scene::of_run(run, witness), Some(close)).expect("the history is at hand")
    }

    #[test]
    fn the_diagram_has_the_actors_messages_and_faults_of_the_story_and_no_others() {
        let spacetime = picture(&sample::failover_run(), &sample::failover_closeup());
        insta::assert_snapshot!(spacetime.drawing.words().join("\n"));
        assert!(spacetime.note.unwrap().contains("concluded"));
    }

    #[test]
    fn without_a_history_there_is_no_diagram() {
        let run = sample::failover_run();
        let witness = &run.analysis.properties[&Property::MutualExclusion].witnesses[0];
        let scene = Scene::of_run(&run, witness);
        assert!(spacetime(&scene, None).is_none());
        assert!(spacetime(&scene, Some(&CloseUp::default())).is_none());
    }

    #[test]
    fn more_events_than_rows_are_counted() {
        let run = sample::failover_run();
        let mut close = sample::failover_closeup();
        let deed = close.deeds[0].clone();
        close.deeds = vec![deed; 40];
        let note = picture(&run, &close).note.expect("the limit bites");
        assert!(note.starts_with("Showing only the first 44 of"), "{note}");
    }

    #[test]
    fn everything_stays_on_the_paper() {
        let spacetime = picture(&sample::failover_run(), &sample::failover_closeup());
        let (width, height) = (spacetime.drawing.width, spacetime.drawing.height);
        let is_inside =
            |(x, y): (f64, f64)| (0.0..=width).contains(&x) && (0.0..=height).contains(&y);
        for shape in &spacetime.drawing.shapes {
            let inside = match shape {
                Shape::Box { area, .. } => {
                    is_inside((area.x, area.y))
                        && is_inside((area.x + area.width, area.y + area.height))
                }
                Shape::Line { from, to, .. } => is_inside(*from) && is_inside(*to),
                Shape::Curve { points, .. } => points.iter().all(|point| is_inside(*point)),
                Shape::Mark { at, .. } => is_inside(*at),
                Shape::Text(label) => is_inside(label.at),
            };
            assert!(inside, "{shape:?}");
        }
    }

    #[test]
    fn a_request_without_answer_says_so() {
        let mut close = sample::failover_closeup();
        close.deeds[2].answer.is_known = false;
        let spacetime = picture(&sample::failover_run(), &close);
        assert!(spacetime.drawing.words().contains(&"acquire (no answer)"));
    }
}
