//! Words that are nearly ours: the nearest of the words that would have been right.
//!
//! For: what exporters of others write where they mean a field, a function or an answer of ours.
//! A word counts as near where it is spelled alike, or where it is one of those that others use for
//! the same thing.

/// One of our words, and what others call it. Those are in small letters without marks between.
pub(super) type Known = (&'static str, &'static [&'static str]);

/// The process that injects faults.
pub(super) const NEMESIS: &str = "nemesis";

/// The functions of clients.
pub(super) const CALLS: [Known; 7] = [
    (
        "acquire",
        &[
            "lock",
            "trylock",
            "take",
            "obtain",
            "grab",
            "get",
            "tryacquire",
            "acquired",
        ],
    ),
    (
        "renew",
        &[
            "refresh",
            "extend",
            "prolong",
            "keepalive",
            "heartbeat",
            "touch",
            "relock",
            "renewed",
        ],
    ),
    (
        "release",
        &["unlock", "free", "drop", "giveback", "released", "del"],
    ),
    ("read", &["get", "load"]),
    ("write", &["put", "set", "store"]),
    ("cas", &["compareandset", "compareandswap"]),
    ("append", &["add", "push"]),
];

/// The notes of clients.
pub(super) const CLIENT_NOTES: [Known; 5] = [
    ("alive", &["heartbeat", "ping"]),
    ("lost", &["loss", "locklost", "lostlock"]),
    ("queued", &["waiting", "enqueued", "doorway"]),
    ("routed", &[]),
    ("failure", &["crash", "crashed", "hang"]),
];

/// The notes of the nemesis that mean something.
pub(super) const NEMESIS_NOTES: [Known; 7] = [
    ("fault", &[]),
    ("phase", &[]),
    ("role", &[]),
    ("view", &[]),
    ("command", &[]),
    ("expired", &[]),
    ("stall", &[]),
];

/// The fields of an event that may be absent.
pub(super) const EVENT_FIELDS: [Known; 4] = [
    (
        "key",
        &["lock", "lockname", "lockkey", "mutex", "lockid", "resource"],
    ),
    (
        "time",
        &[
            "ts",
            "timestamp",
            "at",
            "timens",
            "timeus",
            "timems",
            "datetime",
            "nanos",
        ],
    ),
    ("value", &["val", "args", "payload", "params"]),
    ("error", &["err", "reason", "exception", "failure"]),
];

/// The fields that every event has.
pub(super) const NEEDED_FIELDS: [Known; 3] = [
    ("type", &["kind", "status", "event", "outcome", "result"]),
    ("process", &["client", "thread", "worker", "pid", "session"]),
    (
        "f",
        &[
            "function",
            "op",
            "operation",
            "action",
            "call",
            "method",
            "func",
        ],
    ),
];

/// The fields of a value that bear on a verdict.
pub(super) const VALUE_FIELDS: [Known; 9] = [
    (
        "owner",
        &[
            "client",
            "holder",
            "session",
            "clientid",
            "ownerid",
            "holderid",
            "sessionid",
        ],
    ),
    (
        "lease_ms",
        &[
            "lease",
            "ttl",
            "ttlms",
            "leases",
            "leasetime",
            "leasems",
            "leasens",
            "leaseus",
            "leaseseconds",
            "ttls",
            "ttlseconds",
            "expiry",
            "expires",
            "expire",
            "expirems",
            "expiryms",
            "px",
            "ex",
            "validity",
            "validityms",
            "duration",
            "durationms",
        ],
    ),
    ("mode", &["lockmode", "shared", "exclusive", "readonly"]),
    ("permits", &["permit", "slots"]),
    ("token", &["fence", "fencing", "fencingtoken", "fencetoken"]),
    ("waited_ns", &["waited", "waitedms"]),
    ("count", &["holdcount", "reentrancy"]),
    ("resource", &[]),
    ("value", &["val", "data", "contents"]),
];

/// The answer of a server to an acquire.
pub(super) const REFUSED: Known = (
    "refused",
    &[
        "refusal",
        "held",
        "heldbyanother",
        "busy",
        "locked",
        "taken",
        "denied",
        "alreadylocked",
        "alreadyheld",
        "lockheld",
        "islocked",
        "notacquired",
        "contended",
        "contention",
        "wouldblock",
        "notowner",
        "keyexists",
    ],
);

/// The answer of a server to a renewal or a release.
pub(super) const NOT_OWNER: Known = (
    "not-owner",
    &[
        "notheld",
        "notholder",
        "notlockowner",
        "notlockholder",
        "notlocked",
        "wrongowner",
        "notmine",
        "expired",
        "leaseexpired",
        "lockexpired",
        "locklost",
        "nosuchlock",
        "refused",
    ],
);

/// Letters of the longest word that is compared: none of ours is half as long.
const COMPARED_MAX: usize = 32;

/// Letters of the shortest word of which a slip of the pen is recognised: of shorter ones, one
/// letter makes another word (`mode`, `node`).
const SLIP_LETTERS_MIN: usize = 5;

/// The one of `known` that `word` is near to, but not.
pub(super) fn nearest<'a>(word: &str, known: &'a [Known]) -> Option<&'a str> {
    if word.len() > COMPARED_MAX || known.iter().any(|(ours, _)| *ours == word) {
        return None;
    }
    let word = plain(word);
    let is_alike = |ours: &str| plain(ours) == word;
    let is_meant = |(_, others): &&Known| others.contains(&&*word);
    let is_slip = |ours: &str| {
        let ours = plain(ours);
        ours.len() >= SLIP_LETTERS_MIN && strsim::damerau_levenshtein(&ours, &word) == 1
    };
    let mut by_rank = [
        known.iter().find(|(ours, _)| is_alike(ours)),
        known.iter().find(is_meant),
        known.iter().find(|(ours, _)| is_slip(ours)),
    ]
    .into_iter();
    by_rank.find_map(|found| found.map(|(ours, _)| *ours))
}

/// A word in small letters, without what different habits put between its parts.
fn plain(word: &str) -> String {
    let letters = word.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_synonyms_and_slips_are_near_and_other_words_are_not() {
        for (word, known, near) in [
            ("leaseMs", &VALUE_FIELDS[..], Some("lease_ms")),
            ("lease-ms", &VALUE_FIELDS, Some("lease_ms")),
            ("lease", &VALUE_FIELDS, Some("lease_ms")),
            ("onwer", &VALUE_FIELDS, Some("owner")),
            ("client", &VALUE_FIELDS, Some("owner")),
            ("node", &VALUE_FIELDS, None),
            ("owner", &VALUE_FIELDS, None),
            ("host", &VALUE_FIELDS, None),
            ("lock", &EVENT_FIELDS, Some("key")),
            ("keys", &EVENT_FIELDS, None),
            ("tryLock", &CALLS, Some("acquire")),
            ("aquire", &CALLS, Some("acquire")),
            ("UNLOCK", &CALLS, Some("release")),
            ("weather", &CALLS, None),
            ("NOT_OWNER", &[NOT_OWNER], Some("not-owner")),
            ("not-owner", &[NOT_OWNER], None),
            ("Refused", &[REFUSED], Some("refused")),
            ("timeout", &[REFUSED], None),
        ] {
            assert_eq!(nearest(word, known), near, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(1 << 20), &CALLS), None);
    }

    #[test]
    fn what_others_call_a_thing_is_plain_and_belongs_to_one_word_of_a_table() {
        for table in [
            &CALLS[..],
            &CLIENT_NOTES,
            &NEMESIS_NOTES,
            &EVENT_FIELDS,
            &NEEDED_FIELDS,
            &VALUE_FIELDS,
            &[REFUSED],
            &[NOT_OWNER],
        ] {
            for (ours, others) in table {
                for other in *others {
                    assert_eq!(plain(other), *other, "{ours}: {other}");
                    assert_ne!(*other, *ours);
                }
            }
        }
    }
}
