//! Fate of each packet, and its time.
//!
//! For: lots, delays and the order of packets, as functions of what is laid on their links and of
//! the time that is handed in. Not for: sockets and waiting.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::header::{Flow, Header};
use super::queue::{Arrival, Verdict};
use crate::link::{Link, Map, Rule};
use crate::network::Slowness;

/// By this mark the firewall knows the packets that are to be answered with a reset.
pub(super) const RESET_MARK: u32 = 0x4C53;

/// Bytes of one direction of one connection that may wait on a link of limited rate. What comes
/// beyond is dropped, as by any router, and slows its sender down.
const BACKLOG_BYTES_MAX: u64 = 64 << 10;

/// Flows that are remembered at a time; beyond that, those with nothing under way are forgotten.
const FLOWS_MAX: usize = 20_000;

/// Packets and their fates.
pub(super) struct Traffic {
    map: Arc<Map>,
    flows: HashMap<Flow, Passage>,
    /// Packets under way, by when they are due; by their arrival, where that is the same.
    under_way: BTreeMap<(Instant, u64), Packet>,
    arrivals: u64,
    lots: ChaCha8Rng,
}

/// A packet under way.
struct Packet {
    id: u32,
    header: Header,
    link: Arc<Link>,
    /// Its place among the packets of its flow.
    place: u64,
}

/// One flow on a link that delays or reorders.
#[derive(Default)]
struct Passage {
    /// When the link has taken in, at its rate, what came so far.
    taken_in: Option<Instant>,
    /// Time at which the last packet that did not stay behind is due.
    last_due: Option<Instant>,
    packets: u32,
    bytes: u64,
    /// Places given so far.
    places: u64,
    /// The last place that was let go.
    gone: u64,
}

impl Traffic {
    pub(super) fn new(map: Arc<Map>) -> Self {
        Self {
            map,
            flows: HashMap::new(),
            under_way: BTreeMap::new(),
            arrivals: 0,
            lots: ChaCha8Rng::seed_from_u64(0),
        }
    }

    /// Takes a packet in: what becomes of it, if that is to be now.
    pub(super) fn arrive(&mut self, arrival: Arrival, now: Instant) -> Option<Verdict> {
        let Some(header) = arrival.header else {
            return Some(Verdict::Pass);
        };
        let (from, to) = (*header.flow.from.ip(), *header.flow.to.ip());
        let Some(link) = self.map.link_between(from.into(), to.into()) else {
            return Some(Verdict::Pass);
        };
        let mut draw = |percent| self.lots.random_range(0..100) < percent;
        if link.loses(&mut draw) {
            link.lost.add(1);
            return Some(Verdict::Drop);
        }
        let behind = link.stays_behind(&mut draw);
        let slowness = link.slowness();
        let quiet = slowness.is_none() && !link.reorders();
        if quiet && !self.flows.contains_key(&header.flow) {
            return Some(pass(&link, &header));
        }
        self.make_room();
        let passage = self.flows.entry(header.flow).or_default();
        if slowness.bytes_per_second.is_some() && passage.bytes > BACKLOG_BYTES_MAX {
            return Some(Verdict::Drop);
        }
        let jitter = slowness.jitter.mul_f64(self.lots.random_range(0.0..=1.0));
        let due = passage.take_in(&header, (slowness, jitter), behind, now);
        if !slowness.is_none() {
            link.slowed.add(header.load());
        }
        let packet = Packet {
            id: arrival.id,
            header,
            link,
            place: passage.places,
        };
        self.arrivals += 1;
        self.under_way.insert((due, self.arrivals), packet);
        None
    }

    /// The next packet that is due by now, and what becomes of it.
    pub(super) fn release(&mut self, now: Instant) -> Option<(u32, Verdict)> {
        let entry = self.under_way.first_entry()?;
        if entry.key().0 > now {
            return None;
        }
        let Packet {
            id,
            header,
            link,
            place,
        } = entry.remove();
        if let Some(passage) = self.flows.get_mut(&header.flow) {
            passage.let_go(&header);
            if place < passage.gone {
                link.overtaken.add(1);
            }
            passage.gone = passage.gone.max(place);
            let is_over = passage.packets == 0 && link.slowness().is_none() && !link.reorders();
            if is_over {
                self.flows.remove(&header.flow);
            }
        }
        Some((id, pass(&link, &header)))
    }

    /// When the next packet is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let ((due, _), _) = self.under_way.first_key_value()?;
        Some(*due)
    }

    fn make_room(&mut self) {
        if self.flows.len() >= FLOWS_MAX {
            self.flows.retain(|_, passage| passage.packets > 0);
        }
    }
}

impl Passage {
    /// Takes a packet in: when it is due. Nothing is overtaken but what stays `behind`.
    fn take_in(
        &mut self,
        header: &Header,
        (slowness, jitter): (Slowness, Duration),
        behind: Option<Duration>,
        now: Instant,
    ) -> Instant {
        let begun = self.taken_in.map_or(now, |taken_in| taken_in.max(now));
        let taken_in = begun + slowness.time_for(header.load());
        self.taken_in = Some(taken_in);
        let due = taken_in + slowness.delay + jitter;
        let due = self.last_due.map_or(due, |last| last.max(due));
        self.packets += 1;
        self.bytes += header.payload();
        self.places += 1;
        if let Some(by) = behind {
            return due + by;
        }
        self.last_due = Some(due);
        due
    }

    fn let_go(&mut self, header: &Header) {
        self.packets -= 1;
        self.bytes -= header.payload();
    }
}

/// Returns what the cuts of its link do to a packet that is ready to pass. A reset of a connection
/// passes where connections are reset: it is how either end learns of it.
fn pass(link: &Link, header: &Header) -> Verdict {
    match link.rule() {
        Rule::Pass => Verdict::Pass,
        Rule::Stall => {
            link.held_back.add(header.load());
            Verdict::Drop
        }
        Rule::Reset if header.is_reset() => Verdict::Pass,
        Rule::Reset => {
            link.held_back.add(1);
            Verdict::Mark(RESET_MARK)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use lockstorm_scenarios::CutMode;

    use super::super::header::tests::packet;
    use super::*;
    use crate::network::{Loss, Reordering};

    const A: [u8; 4] = [127, 1, 2, 1];
    const N: [u8; 4] = [127, 1, 0, 1];
    const DATA: u8 = 0x18;
    const RESET: u8 = 0x04;

    /// Client `a` and node `n`, and how long the test has lasted.
    struct Road {
        traffic: Traffic,
        link: Arc<Link>,
        start: Instant,
    }

    impl Road {
        fn new() -> Self {
            let map = Arc::new(Map::default());
            map.introduce("a", A.into());
            map.introduce("n", N.into());
            Self {
                link: map.link("a", "n"),
                traffic: Traffic::new(map),
                start: Instant::now(),
            }
        }

        fn at(&self, ms: u64) -> Instant {
            self.start + Duration::from_millis(ms)
        }

        /// Sends packet `id` with this many bytes from a to n.
        fn send(&mut self, id: u32, bytes: u16, ms: u64) -> Option<Verdict> {
            self.arrive(id, &packet(A, N, DATA, bytes), ms)
        }

        fn arrive(&mut self, id: u32, packet: &[u8], ms: u64) -> Option<Verdict> {
            let header = Header::read(packet);
            self.traffic.arrive(Arrival { id, header }, self.at(ms))
        }

        /// The packets that are let go by then, in order.
        fn gone(&mut self, ms: u64) -> Vec<u32> {
            let now = self.at(ms);
            std::iter::from_fn(|| self.traffic.release(now))
                .map(|(id, _)| id)
                .collect()
        }
    }

    fn delay(ms: u64) -> Slowness {
        Slowness {
            delay: Duration::from_millis(ms),
            ..Slowness::default()
        }
    }

    #[test]
    fn nothing_is_done_to_a_link_without_a_rule_nor_to_strangers() {
        let mut road = Road::new();
        let _elsewhere = road.traffic.map.link("n", "a").cut(CutMode::Stall);
        assert_eq!(road.send(1, 10, 0), Some(Verdict::Pass));
        let stranger = packet([127, 0, 0, 1], N, DATA, 5);
        assert_eq!(road.arrive(2, &stranger, 0), Some(Verdict::Pass));
        assert_eq!(road.arrive(3, b"no packet", 0), Some(Verdict::Pass));
        assert_eq!(road.link.held_back.get(), 0);
    }

    #[test]
    fn a_cut_drops_packets_and_counts_what_they_carry_until_it_heals() {
        let mut road = Road::new();
        let cut = road.link.cut(CutMode::Stall);
        assert_eq!(road.send(1, 10, 0), Some(Verdict::Drop));
        assert_eq!(road.send(2, 0, 0), Some(Verdict::Drop));
        assert_eq!(
            road.link.held_back.get(),
            10,
            "an acknowledgement is nothing"
        );
        drop(cut);
        assert_eq!(road.send(3, 10, 0), Some(Verdict::Pass));
    }

    #[test]
    fn a_resetting_cut_marks_packets_and_lets_resets_pass() {
        let mut road = Road::new();
        let _cut = road.link.cut(CutMode::Reset);
        assert_eq!(road.send(1, 10, 0), Some(Verdict::Mark(RESET_MARK)));
        let reset = packet(A, N, RESET, 0);
        assert_eq!(road.arrive(2, &reset, 0), Some(Verdict::Pass));
        assert_eq!(road.link.held_back.get(), 1);
    }

    #[test]
    fn a_slow_link_lets_packets_go_late_and_in_order_even_when_it_heals_meanwhile() {
        let mut road = Road::new();
        let slow = [60, 40].map(|ms| road.link.slow(delay(ms)));
        assert_eq!(road.send(1, 10, 0), None);
        assert_eq!(road.send(2, 5, 10), None);
        assert_eq!(road.traffic.next_due(), Some(road.at(100)));
        drop(slow);
        assert_eq!(
            road.send(3, 5, 20),
            None,
            "others of its flow are under way"
        );
        assert!(road.gone(99).is_empty());
        assert_eq!(road.gone(109), [1]);
        assert_eq!(road.gone(110), [2, 3]);
        assert_eq!(road.link.slowed.get(), 15);
        assert_eq!(road.send(4, 5, 120), Some(Verdict::Pass));
        assert_eq!(road.link.overtaken.get(), 0);
    }

    #[test]
    fn jitter_is_drawn_anew_and_overtakes_nothing() {
        let mut road = Road::new();
        let _slow = road.link.slow(Slowness {
            jitter: Duration::from_millis(50),
            ..Slowness::default()
        });
        for id in 0..100 {
            assert_eq!(road.send(id, 1, u64::from(id)), None);
        }
        assert_eq!(road.gone(150), (0..100).collect::<Vec<_>>());
        assert_eq!(road.link.overtaken.get(), 0);
    }

    #[test]
    fn a_throttled_link_takes_its_time_and_drops_what_it_has_no_room_for() {
        let mut road = Road::new();
        let _slow = road.link.slow(Slowness {
            bytes_per_second: NonZeroU64::new(1000),
            ..Slowness::default()
        });
        assert_eq!(road.send(1, 100, 0), None);
        assert_eq!(road.send(2, 100, 0), None);
        assert!(road.gone(99).is_empty());
        assert_eq!(road.gone(100), [1]);
        assert_eq!(road.gone(200), [2]);
        let sent = (3..100).map(|id| road.send(id, 1000, 200));
        let dropped = sent
            .filter(|verdict| *verdict == Some(Verdict::Drop))
            .count();
        assert_eq!(dropped, 97 - 66, "64 KiB and the packet that goes beyond");
    }

    #[test]
    fn a_cut_drops_what_a_slow_link_has_under_way() {
        let mut road = Road::new();
        let _slow = road.link.slow(delay(50));
        assert_eq!(road.send(1, 10, 0), None);
        let _cut = road.link.cut(CutMode::Stall);
        assert_eq!(road.traffic.release(road.at(50)), Some((1, Verdict::Drop)));
        assert_eq!(road.link.held_back.get(), 10);
    }

    #[test]
    fn a_lossy_link_loses_about_as_many_as_it_says_and_counts_them() {
        let mut road = Road::new();
        let lossy = road.link.lose(Loss { percent: 25 });
        let sent = (0..1000).map(|id| road.send(id, 10, 0));
        let lost = sent
            .filter(|verdict| *verdict == Some(Verdict::Drop))
            .count();
        assert!((200..300).contains(&lost), "{lost} of 1000");
        assert_eq!(road.link.lost.get(), lost as u64);
        drop(lossy);
        assert_eq!(road.send(1, 10, 0), Some(Verdict::Pass));
    }

    #[test]
    fn packets_that_stay_behind_are_overtaken_and_counted() {
        let mut road = Road::new();
        let reordering = Reordering {
            percent: 100,
            by: Duration::from_millis(20),
        };
        let reorder = road.link.reorder(reordering);
        assert_eq!(road.send(1, 10, 0), None);
        drop(reorder);
        assert_eq!(road.send(2, 10, 5), None);
        assert_eq!(road.gone(5), [2]);
        assert_eq!(road.gone(20), [1]);
        assert_eq!(road.link.overtaken.get(), 1);
        assert_eq!(road.link.slowed.get(), 0, "that is another fault");
    }
}
