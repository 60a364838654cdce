//! Where each box of the picture stands: clients above, leaders below them, then their followers
//! and the sentinels, so that no link passes through a box.

use crate::topology::{Actor, Topology};

/// Size of a box.
pub(super) const BOX: (f64, f64) = (146.0, 44.0);
/// Room from one box to the next.
const PITCH: f64 = 168.0;
/// Room from one row to the next.
const ROW: f64 = 128.0;
/// Room above the first row and beside the outermost boxes.
const MARGIN: f64 = 14.0;
/// Narrower than this the picture would look lost on the page.
const WIDTH_MIN: f64 = 900.0;

/// A box: its actor, and its upper left corner.
pub(super) struct Place<'a> {
    pub(super) actor: &'a Actor,
    pub(super) at: (f64, f64),
    pub(super) is_client: bool,
}

impl Place<'_> {
    /// The middle of the box.
    pub(super) fn middle(&self) -> (f64, f64) {
        (self.at.0 + BOX.0 / 2.0, self.at.1 + BOX.1 / 2.0)
    }
}

/// All boxes, and the size of the picture.
pub(super) struct Layout<'a> {
    pub(super) places: Vec<Place<'a>>,
    pub(super) size: (f64, f64),
}

impl<'a> Layout<'a> {
    pub(super) fn of(topology: &'a Topology) -> Self {
        // A leader takes as much room as its followers below it.
        let followers = |leader: usize| {
            let of = topology
                .followers
                .iter()
                .filter(move |(at, _)| *at == leader);
            of.map(|(_, follower)| follower)
        };
        let widths: Vec<f64> = (0..topology.leaders.len())
            .map(|leader| followers(leader).count().max(1) as f64 * PITCH)
            .collect();
        let row = |actors: &[Actor]| actors.len() as f64 * PITCH;
        let sentinels = row(&topology.sentinels);
        let servers = widths.iter().sum::<f64>() + sentinels;
        let widest = servers.max(row(&topology.clients));
        let width = widest.max(WIDTH_MIN) + 2.0 * MARGIN;
        let mut layout = Self {
            places: Vec::new(),
            size: (width, 0.0),
        };
        let mut y = MARGIN;
        layout.row(topology.clients.iter(), width / 2.0, y, true);
        y += ROW;
        let mut left = (width - servers) / 2.0;
        for (leader, actor) in topology.leaders.iter().enumerate() {
            let middle = left + widths[leader] / 2.0;
            // A leader that sentinels watch stands above them as well.
            let above = middle + sentinels / 2.0;
            layout.row(std::iter::once(actor), above, y, false);
            layout.row(followers(leader), middle, y + ROW, false);
            left += widths[leader];
        }
        layout.row(
            topology.sentinels.iter(),
            left + sentinels / 2.0,
            y + ROW,
            false,
        );
        if !topology.followers.is_empty() || !topology.sentinels.is_empty() {
            y += ROW;
        }
        // Below the last row stand its faults.
        layout.size.1 = y + BOX.1 + 30.0;
        layout
    }

    /// Boxes side by side around `middle`.
    fn row(
        &mut self,
        actors: impl Iterator<Item = &'a Actor>,
        middle: f64,
        y: f64,
        is_client: bool,
    ) {
        let actors: Vec<&Actor> = actors.collect();
        let left = middle - actors.len() as f64 * PITCH / 2.0;
        for (n, actor) in actors.into_iter().enumerate() {
            let x = left + n as f64 * PITCH + (PITCH - BOX.0) / 2.0;
            self.places.push(Place {
                actor,
                at: (x, y),
                is_client,
            });
        }
    }

    /// The middle of a box, by the name of its actor.
    pub(super) fn middle_of(&self, name: &str) -> Option<(f64, f64)> {
        let place = self.places.iter().find(|place| place.actor.name == name);
        place.map(Place::middle)
    }
}
