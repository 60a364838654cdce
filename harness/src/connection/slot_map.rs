//! Map of which server leads which slots of a Cluster, as one of its servers told a client.

use std::net::SocketAddr;
use std::ops::RangeInclusive;

use redis::Value;

/// Map that a client believes; it may be out of date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotMap {
    ranges: Vec<(RangeInclusive<u16>, SocketAddr)>,
    /// Slots that single redirections named since, with their leaders.
    moved: Vec<(u16, SocketAddr)>,
}

impl SlotMap {
    /// Reads the reply of `asked` to CLUSTER SLOTS: `[[start, end, [ip, port, ...], ...], ...]`;
    /// `None` where it tells of no slot. A server that does not know its own name leaves it out.
    pub fn read(reply: &Value, asked: SocketAddr) -> Option<Self> {
        let Value::Array(shards) = reply else {
            return None;
        };
        let ranges: Vec<_> = shards
            .iter()
            .filter_map(|shard| range(shard, asked))
            .collect();
        (!ranges.is_empty()).then_some(Self {
            ranges,
            moved: Vec::new(),
        })
    }

    /// Returns the leader of `slot`, or any leader where no slot is meant, or nobody is known to
    /// lead it: that one will say so.
    pub fn leader(&self, slot: Option<u16>) -> SocketAddr {
        let moved = self.moved.iter().rev();
        let mut moved = moved.filter(|(known, _)| Some(*known) == slot);
        let mut ranges = self
            .ranges
            .iter()
            .filter(|(range, _)| slot.is_some_and(|slot| range.contains(&slot)));
        let moved = moved.next().map(|(_, leader)| *leader);
        moved
            .or_else(|| ranges.next().map(|(_, leader)| *leader))
            .unwrap_or(self.ranges[0].1)
    }

    /// Takes it from a redirection that `leader` leads `slot`.
    pub fn moved(&mut self, slot: u16, leader: SocketAddr) {
        self.moved.retain(|(known, _)| *known != slot);
        self.moved.push((slot, leader));
    }
}

fn range(shard: &Value, asked: SocketAddr) -> Option<(RangeInclusive<u16>, SocketAddr)> {
    let Value::Array(shard) = shard else {
        return None;
    };
    let [Value::Int(start), Value::Int(end), Value::Array(leader), ..] = shard.as_slice() else {
        return None;
    };
    let [ip, Value::Int(port), ..] = leader.as_slice() else {
        return None;
    };
    let ip = match ip {
        Value::BulkString(ip) if !ip.is_empty() => std::str::from_utf8(ip).ok()?.parse().ok()?,
        Value::SimpleString(ip) => ip.parse().ok()?,
        _ => asked.ip(),
    };
    let slots = u16::try_from(*start).ok()?..=u16::try_from(*end).ok()?;
    Some((slots, SocketAddr::new(ip, u16::try_from(*port).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u8) -> SocketAddr {
        ([127, 0, 0, n], 7000).into()
    }

    fn shard(start: i64, end: i64, ip: &str) -> Value {
        let leader = vec![Value::BulkString(ip.into()), Value::Int(7000)];
        Value::Array(vec![
            Value::Int(start),
            Value::Int(end),
            Value::Array(leader),
        ])
    }

    #[test]
    fn each_slot_leads_to_its_leader_and_a_redirection_counts_for_one_slot() {
        let reply = Value::Array(vec![
            shard(0, 99, "127.0.0.1"),
            shard(100, 16_383, "127.0.0.2"),
        ]);
        let mut map = SlotMap::read(&reply, at(9)).expect("it tells of slots");
        assert_eq!(
            (map.leader(Some(99)), map.leader(Some(100))),
            (at(1), at(2))
        );
        map.moved(99, at(3));
        map.moved(99, at(4));
        assert_eq!((map.leader(Some(99)), map.leader(Some(98))), (at(4), at(1)));
    }

    #[test]
    fn who_does_not_know_its_own_name_is_found_where_it_was_asked() {
        let reply = Value::Array(vec![shard(0, 99, "")]);
        let map = SlotMap::read(&reply, at(9)).expect("it tells of slots");
        assert_eq!(map.leader(Some(5)), at(9));
        assert_eq!(
            map.leader(Some(16_000)),
            at(9),
            "nobody leads it; any will say so"
        );
    }

    #[test]
    fn a_reply_that_tells_of_no_slot_is_no_map() {
        for reply in [
            Value::Nil,
            Value::Array(Vec::new()),
            Value::Array(vec![Value::Int(1)]),
        ] {
            assert_eq!(SlotMap::read(&reply, at(1)), None, "{reply:?}");
        }
    }
}
