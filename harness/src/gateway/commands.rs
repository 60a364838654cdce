//! Which commands pass, and where the names stand in them that get the prefix.
//!
//! A command that is not in the table does not pass: nobody could say whose keys it would touch. In
//! its place the server gets one that it cannot know, so that its error comes back in turn.

/// What a client is told by the server, in its words, of a command that did not pass.
const REFUSED: &[u8] = b"LOCKSTORM-LETS-ONLY-COMMANDS-OF-LOCKS-PASS";

/// Who stands at a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A client of a lock.
    Client,
    /// The harness: its nemesis, and its questions.
    Harness,
}

/// Where names stand among the words of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// There are none.
    None,
    /// The first word after the command.
    First,
    /// All words after the command.
    All,
    /// As many as the second word says, from the third on: scripts.
    Counted,
}

/// What the names are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Keys,
    Channels,
}

/// Commands of locks, whoever wrote them.
const OF_LOCKS: &[(Names, Of, &[&str])] = &[
    (
        Names::Counted,
        Of::Keys,
        &["EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO"],
    ),
    (
        Names::First,
        Of::Keys,
        &[
            "GET",
            "SET",
            "SETNX",
            "SETEX",
            "PSETEX",
            "GETSET",
            "GETDEL",
            "GETEX",
            "APPEND",
            "STRLEN",
            "INCR",
            "INCRBY",
            "DECR",
            "DECRBY",
            "EXPIRE",
            "PEXPIRE",
            "EXPIREAT",
            "PEXPIREAT",
            "PERSIST",
            "TTL",
            "PTTL",
            "EXPIRETIME",
            "PEXPIRETIME",
            "TYPE",
            "HSET",
            "HSETNX",
            "HGET",
            "HMGET",
            "HGETALL",
            "HDEL",
            "HEXISTS",
            "HINCRBY",
            "HLEN",
            "HKEYS",
            "HVALS",
            "LPUSH",
            "RPUSH",
            "LPOP",
            "RPOP",
            "LRANGE",
            "LINDEX",
            "LLEN",
            "LREM",
            "LSET",
            "ZADD",
            "ZREM",
            "ZINCRBY",
            "ZSCORE",
            "ZCARD",
            "ZCOUNT",
            "ZRANK",
            "ZRANGE",
            "ZRANGEBYSCORE",
            "ZREMRANGEBYSCORE",
            "ZREMRANGEBYRANK",
            "SADD",
            "SREM",
            "SCARD",
            "SISMEMBER",
            "SMEMBERS",
        ],
    ),
    (
        Names::All,
        Of::Keys,
        &["DEL", "UNLINK", "EXISTS", "TOUCH", "MGET", "WATCH"],
    ),
    (Names::First, Of::Channels, &["PUBLISH", "SPUBLISH"]),
    (
        Names::All,
        Of::Channels,
        &[
            "SUBSCRIBE",
            "UNSUBSCRIBE",
            "SSUBSCRIBE",
            "SUNSUBSCRIBE",
            "PSUBSCRIBE",
            "PUNSUBSCRIBE",
        ],
    ),
    (
        Names::None,
        Of::Keys,
        &[
            "PING", "ECHO", "HELLO", "INFO", "TIME", "ROLE", "WAIT", "MULTI", "EXEC", "DISCARD",
            "UNWATCH", "QUIT", "COMMAND",
        ],
    ),
];

/// Commands of which only some forms are harmless, by their first two words.
const FORMS_OF_LOCKS: &[(&str, &[&str])] = &[
    ("CLIENT", &["ID", "SETINFO", "SETNAME", "GETNAME", "REPLY"]),
    ("SCRIPT", &["LOAD", "EXISTS"]),
];

/// The same for the nemesis, whose faults were allowed by the scenario.
const FORMS_OF_THE_HARNESS: &[(&str, &[&str])] = &[
    ("CLIENT", &["LIST", "KILL", "PAUSE", "UNPAUSE"]),
    ("SCRIPT", &["FLUSH"]),
    ("DEBUG", &["SLEEP"]),
    ("FAILOVER", &["TO", "ABORT"]),
];

/// A command on its way to the server.
#[derive(Debug, PartialEq, Eq)]
pub struct Passing {
    /// Its words, with the prefix before each name.
    pub words: Vec<Vec<u8>>,
    /// The keys that it names, with their prefix.
    pub keys: Vec<Vec<u8>>,
    /// Whether messages may follow it.
    pub subscribes: bool,
}

/// Puts `prefix` before every name of a command, if it may pass.
pub fn pass(mut words: Vec<Vec<u8>>, prefix: &str, caller: Caller) -> Passing {
    let word = |n: usize| words.get(n).map(|word| word.to_ascii_uppercase());
    let (first, second) = (word(0).unwrap_or_default(), word(1).unwrap_or_default());
    let row = OF_LOCKS
        .iter()
        .find(|(_, _, commands)| commands.iter().any(|command| command.as_bytes() == first));
    let Some((names, of, _)) = row else {
        let passes = is_form(FORMS_OF_LOCKS, &first, &second)
            || caller == Caller::Harness && is_form(FORMS_OF_THE_HARNESS, &first, &second);
        return if passes {
            nameless(words)
        } else {
            refused(&first)
        };
    };
    // HELLO may bring a user and a password along, and there is another behind the door.
    if first == b"HELLO" && words.len() > 2 {
        return refused(&first);
    }
    let range = match names {
        Names::None => 0..0,
        Names::First => 1..2.min(words.len()),
        Names::All => 1..words.len(),
        Names::Counted => match counted(&words) {
            Some(range) => range,
            None => return refused(&first),
        },
    };
    for name in &mut words[range.clone()] {
        name.splice(..0, prefix.bytes());
    }
    Passing {
        keys: match of {
            Of::Keys => words[range].to_vec(),
            Of::Channels => Vec::new(),
        },
        subscribes: *of == Of::Channels && *names == Names::All,
        words,
    }
}

/// Where the keys of a script stand.
fn counted(words: &[Vec<u8>]) -> Option<std::ops::Range<usize>> {
    let count: usize = std::str::from_utf8(words.get(2)?).ok()?.parse().ok()?;
    let end = count.checked_add(3)?;
    (end <= words.len()).then_some(3..end)
}

fn is_form(table: &[(&str, &[&str])], first: &[u8], second: &[u8]) -> bool {
    let forms = table
        .iter()
        .find(|(command, _)| command.as_bytes() == first);
    forms.is_some_and(|(_, forms)| forms.iter().any(|form| form.as_bytes() == second))
}

const fn nameless(words: Vec<Vec<u8>>) -> Passing {
    Passing {
        words,
        keys: Vec::new(),
        subscribes: false,
    }
}

fn refused(command: &[u8]) -> Passing {
    nameless(vec![REFUSED.to_vec(), command.to_vec()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<u8>> {
        line.split(' ')
            .map(|word| word.as_bytes().to_vec())
            .collect()
    }

    fn passed(line: &str, caller: Caller) -> String {
        let words = pass(words(line), "p:", caller).words;
        let words = words.iter().map(|word| String::from_utf8_lossy(word));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_name_of_a_command_gets_the_prefix_and_nothing_else_does() {
        for (sent, arrives) in [
            ("SET k v NX PX 100", "SET p:k v NX PX 100"),
            ("eval return 2 a b c d", "eval return 2 p:a p:b c d"),
            ("EVALSHA 0f 0 a", "EVALSHA 0f 0 a"),
            ("DEL a b", "DEL p:a p:b"),
            ("PUBLISH c m", "PUBLISH p:c m"),
            ("SUBSCRIBE c d", "SUBSCRIBE p:c p:d"),
            ("WAIT 1 100", "WAIT 1 100"),
            ("HELLO 3", "HELLO 3"),
            ("CLIENT SETINFO LIB-NAME x", "CLIENT SETINFO LIB-NAME x"),
        ] {
            assert_eq!(passed(sent, Caller::Client), arrives);
        }
    }

    #[test]
    fn what_could_touch_anything_of_others_does_not_pass() {
        for line in [
            "FLUSHALL",
            "FLUSHDB",
            "KEYS *",
            "SCAN 0",
            "SELECT 1",
            "CONFIG SET a b",
            "MONITOR",
            "SHUTDOWN",
            "AUTH a b",
            "HELLO 3 AUTH a b",
            "EVAL return 2 a",
            "EVAL return x a",
            "CLIENT KILL ID 1",
            "SCRIPT FLUSH",
            "DEBUG SLEEP 1",
            "REPLICAOF NO ONE",
            "RESET",
        ] {
            let refused = passed(line, Caller::Client);
            assert!(refused.starts_with("LOCKSTORM-"), "{line}: {refused}");
        }
        for line in [
            "FLUSHALL",
            "CONFIG SET a b",
            "DEBUG RELOAD",
            "REPLICAOF NO ONE",
        ] {
            let refused = passed(line, Caller::Harness);
            assert!(refused.starts_with("LOCKSTORM-"), "{line}: {refused}");
        }
        assert_eq!(
            passed("CLIENT KILL ID 1", Caller::Harness),
            "CLIENT KILL ID 1"
        );
    }

    #[test]
    fn keys_are_remembered_and_channels_are_not() {
        let keys = |line| pass(words(line), "p:", Caller::Client).keys;
        assert_eq!(keys("EVAL x 2 a b c"), [b"p:a".to_vec(), b"p:b".to_vec()]);
        assert_eq!(keys("SUBSCRIBE c"), Vec::<Vec<u8>>::new());
        assert!(pass(words("SUBSCRIBE c"), "p:", Caller::Client).subscribes);
    }
}
