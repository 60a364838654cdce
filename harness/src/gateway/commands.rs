//! Commands that pass, and the places where the names stand in them that get the prefix.
//!
//! A command that is not in the table does not pass: nobody could say whose keys it would touch. In
//! its place the server gets one that it cannot know, so that its error comes back in turn.

use lockstorm_scenarios::Disturbance;

use super::scripts::Scripts;

/// Answer to a client, in the server's words, for a command that did not pass.
const REFUSED: &[u8] = b"LOCKSTORM-LETS-ONLY-COMMANDS-OF-LOCKS-PASS";
/// Answer to a client for a script that did not pass.
const UNKNOWN_SCRIPT: &[u8] = b"LOCKSTORM-LETS-NO-SCRIPT-OF-OTHERS-PASS-UNLESS-allow-HAS-scripts";

/// Client or harness behind a door.
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

/// Kind of what the names are of.
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
    ("SCRIPT", &["EXISTS"]),
];

/// Forms that only the nemesis may use, with what the scenario has to allow.
const FORMS_OF_THE_HARNESS: &[(&str, &str, Option<Disturbance>)] = &[
    ("CLIENT", "LIST", None),
    ("CLIENT", "PAUSE", Some(Disturbance::PauseCommands)),
    ("CLIENT", "UNPAUSE", Some(Disturbance::PauseCommands)),
    ("SCRIPT", "FLUSH", Some(Disturbance::FlushScripts)),
    ("DEBUG", "SLEEP", Some(Disturbance::Sleep)),
    ("FAILOVER", "TO", Some(Disturbance::Failover)),
    ("FAILOVER", "ABORT", Some(Disturbance::Failover)),
];

/// A connection that nobody has: who may close it may close those of the run.
const NO_CONNECTION: &[u8] = b"0";

/// Permissions of a run on its servers.
#[derive(Debug)]
pub struct Rules {
    /// Stands before every key and channel.
    pub prefix: String,
    /// The scripts that it may run.
    pub scripts: Scripts,
    /// Disturbances that others may feel.
    pub allow: Vec<Disturbance>,
}

/// A command on its way to the server.
#[derive(Debug, PartialEq, Eq)]
pub struct Passing {
    /// Its words, with the prefix before each name.
    pub words: Vec<Vec<u8>>,
    /// The keys that it names, with their prefix.
    pub keys: Vec<Vec<u8>>,
    /// True if messages may follow it.
    pub subscribes: bool,
}

/// Puts the prefix before every name of a command, if it may pass. `is_own` tells connections of
/// this run's clients by their ids.
pub fn pass(
    mut words: Vec<Vec<u8>>,
    rules: &Rules,
    caller: Caller,
    is_own: impl Fn(&[u8]) -> bool,
) -> Passing {
    let word = |n: usize| words.get(n).map(|word| word.to_ascii_uppercase());
    let (first, second) = (word(0).unwrap_or_default(), word(1).unwrap_or_default());
    let row = OF_LOCKS
        .iter()
        .find(|(_, _, commands)| commands.iter().any(|command| command.as_bytes() == first));
    let Some((names, of, _)) = row else {
        if (first.as_slice(), second.as_slice()) == (b"SCRIPT", b"LOAD") {
            return load(words, rules, caller);
        }
        let passes = is_form(&first, &second)
            || caller == Caller::Harness
                && (is_allowed(rules, &first, &second) || closes_own(&words, is_own));
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
            Some(range) if rules.scripts.may_run(&words[1], &words[range.end..]) => range,
            Some(_) => return unknown_script(),
            None => return refused(&first),
        },
    };
    for name in &mut words[range.clone()] {
        name.splice(..0, rules.prefix.bytes());
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

/// Tells whether a command touches nothing but the keys and channels that it names.
pub fn is_harmless(command: &str) -> bool {
    let mut commands = OF_LOCKS.iter().flat_map(|(_, _, commands)| *commands);
    commands.any(|known| known.eq_ignore_ascii_case(command))
}

/// Where the keys of a script stand.
fn counted(words: &[Vec<u8>]) -> Option<std::ops::Range<usize>> {
    let count: usize = std::str::from_utf8(words.get(2)?).ok()?.parse().ok()?;
    let end = count.checked_add(3)?;
    (end <= words.len()).then_some(3..end)
}

fn is_form(first: &[u8], second: &[u8]) -> bool {
    let forms = FORMS_OF_LOCKS
        .iter()
        .find(|(command, _)| command.as_bytes() == first);
    forms.is_some_and(|(_, forms)| forms.iter().any(|form| form.as_bytes() == second))
}

/// Tells whether the nemesis may send it in this scenario.
fn is_allowed(rules: &Rules, first: &[u8], second: &[u8]) -> bool {
    let form = FORMS_OF_THE_HARNESS
        .iter()
        .find(|(command, form, _)| command.as_bytes() == first && form.as_bytes() == second);
    form.is_some_and(|(_, _, felt)| felt.is_none_or(|felt| rules.allow.contains(&felt)))
}

/// Tells whether it closes one connection of this run, and no other: `CLIENT KILL ID 7`.
fn closes_own(words: &[Vec<u8>], is_own: impl Fn(&[u8]) -> bool) -> bool {
    let [client, kill, id, which] = words else {
        return false;
    };
    client.eq_ignore_ascii_case(b"CLIENT")
        && kill.eq_ignore_ascii_case(b"KILL")
        && id.eq_ignore_ascii_case(b"ID")
        && (which == NO_CONNECTION || is_own(which))
}

/// SCRIPT LOAD: a script that is kept is run later, perhaps by its digest alone. The nemesis may
/// have any kept, to see whether it is forgotten.
fn load(words: Vec<Vec<u8>>, rules: &Rules, caller: Caller) -> Passing {
    let known = words
        .get(2)
        .is_some_and(|text| rules.scripts.may_load(text));
    let is_trial = caller == Caller::Harness && rules.allow.contains(&Disturbance::FlushScripts);
    if known || is_trial {
        nameless(words)
    } else {
        unknown_script()
    }
}

fn unknown_script() -> Passing {
    nameless(vec![UNKNOWN_SCRIPT.to_vec()])
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

    fn rules(allow: &[Disturbance]) -> Rules {
        Rules {
            prefix: "p:".to_owned(),
            scripts: Scripts::new(allow.contains(&Disturbance::Scripts)),
            allow: allow.to_vec(),
        }
    }

    fn passed_by(line: &str, caller: Caller, rules: &Rules) -> String {
        let words = pass(words(line), rules, caller, |id| id == b"7").words;
        let words = words.iter().map(|word| String::from_utf8_lossy(word));
        words.collect::<Vec<_>>().join(" ")
    }

    fn passed(line: &str, caller: Caller) -> String {
        passed_by(line, caller, &rules(&[Disturbance::Scripts]))
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
    }

    #[test]
    fn the_nemesis_may_do_what_the_scenario_allows() {
        let none = rules(&[]);
        for (line, allow) in [
            ("CLIENT PAUSE 1500 ALL", Disturbance::PauseCommands),
            ("CLIENT UNPAUSE", Disturbance::PauseCommands),
            ("SCRIPT FLUSH", Disturbance::FlushScripts),
            ("SCRIPT LOAD x", Disturbance::FlushScripts),
            ("DEBUG SLEEP 0.5", Disturbance::Sleep),
            ("FAILOVER TO h 1", Disturbance::Failover),
        ] {
            let refused = |said: &str| said.starts_with("LOCKSTORM-");
            assert!(refused(&passed_by(line, Caller::Harness, &none)), "{line}");
            let some = rules(&[allow]);
            assert_eq!(passed_by(line, Caller::Harness, &some), line);
            assert!(refused(&passed_by(line, Caller::Client, &some)), "{line}");
        }
    }

    #[test]
    fn only_connections_of_the_run_are_closed() {
        let passed = |line| passed_by(line, Caller::Harness, &rules(&[]));
        for own in ["CLIENT KILL ID 7", "CLIENT KILL ID 0"] {
            assert_eq!(passed(own), own);
        }
        for other in [
            "CLIENT KILL ID 8",
            "CLIENT KILL TYPE normal",
            "CLIENT KILL ID 7 SKIPME no",
            "CLIENT KILL 127.0.0.1:1",
        ] {
            assert!(passed(other).starts_with("LOCKSTORM-"), "{other}");
        }
    }

    #[test]
    fn scripts_of_others_pass_only_where_scripts_are_allowed() {
        for line in [
            "EVAL x 1 k",
            "EVALSHA 0f 1 k",
            "EVAL_RO x 0",
            "SCRIPT LOAD x",
        ] {
            for caller in [Caller::Client, Caller::Harness] {
                let refused = passed_by(line, caller, &rules(&[]));
                assert!(refused.contains("allow-HAS-scripts"), "{line}: {refused}");
                let allowed = passed_by(line, caller, &rules(&[Disturbance::Scripts]));
                assert!(!allowed.starts_with("LOCKSTORM-"), "{line}: {allowed}");
            }
        }
    }

    #[test]
    fn keys_are_remembered_and_channels_are_not() {
        let rules = rules(&[Disturbance::Scripts]);
        let pass = |line| pass(words(line), &rules, Caller::Client, |_| false);
        let keys = |line| pass(line).keys;
        assert_eq!(keys("EVAL x 2 a b c"), [b"p:a".to_vec(), b"p:b".to_vec()]);
        assert_eq!(keys("SUBSCRIBE c"), Vec::<Vec<u8>>::new());
        assert!(pass("SUBSCRIBE c").subscribes);
    }
}
