//! All keys of the server in words that do not depend on who holds and when.

use redis::Value;
use tokio::time::{Instant, sleep};

use super::test_bed::{POLL, TestBed, text};
use crate::support::WITHIN;

/// Times are rounded to so many milliseconds: a run takes less, and what differs differs by more.
const ROUND_MS: i64 = 100_000;
/// How a UUID is written: digits, and hyphens at these places.
const UUID_LENGTH: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Remembers the holders that it has seen.
#[derive(Default)]
pub struct Keys {
    holders: Vec<String>,
}

impl Keys {
    /// Every key with what it holds and how long it lives. Waits for the latches to go, which
    /// clients drop when they have their answer.
    pub async fn all(&mut self, bed: &TestBed) -> Vec<String> {
        let deadline = Instant::now() + WITHIN;
        let mut names = loop {
            let names = list(&bed.command(&["KEYS", "*"]).await);
            if !names.iter().any(|name| name.contains("unlock_latch")) {
                break names;
            }
            assert!(Instant::now() < deadline, "a latch stays: {names:?}");
            sleep(POLL).await;
        };
        names.sort();
        let mut keys = Vec::new();
        for name in names {
            let value = self.value(bed, &name).await;
            let ttl = number(&bed.command(&["PTTL", &name]).await);
            let ends = if ttl < 0 {
                "stays".to_owned()
            } else {
                format!("ends in {} s", rounded(ttl))
            };
            keys.push(format!("{}: {value}, {ends}", self.neutral(&name)));
        }
        // Holders have names of their own, by which keys were sorted.
        keys.sort();
        keys
    }

    /// A text with numbers instead of holders, in the order in which they first appeared.
    pub fn neutral(&mut self, text: &str) -> String {
        let mut neutral = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let Some(length) = holder_length(rest) else {
                neutral.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            };
            let (holder, after) = rest.split_at(length);
            let seen = self.holders.iter().position(|seen| seen == holder);
            let number = seen.unwrap_or_else(|| {
                self.holders.push(holder.to_owned());
                self.holders.len() - 1
            });
            neutral.push_str("holder ");
            neutral.push_str(&number.to_string());
            rest = after;
        }
        neutral
    }

    async fn value(&mut self, bed: &TestBed, name: &str) -> String {
        let value = match text(&bed.command(&["TYPE", name]).await).as_str() {
            "string" => text(&bed.command(&["GET", name]).await),
            "list" => list(&bed.command(&["LRANGE", name, "0", "-1"]).await).join(", "),
            "hash" => {
                let mut fields: Vec<String> = list(&bed.command(&["HGETALL", name]).await)
                    .chunks(2)
                    .map(|field| self.neutral(&field.join(" = ")))
                    .collect();
                fields.sort();
                fields.join(", ")
            }
            "zset" => scores(bed, name).await,
            odd => panic!("no lock has a key of type {odd}"),
        };
        self.neutral(&value)
    }
}

/// The members of a sorted set, and in how long the time comes that is their score.
async fn scores(bed: &TestBed, name: &str) -> String {
    let now = list(&bed.command(&["TIME"]).await);
    let now: i64 = now[0].parse::<i64>().expect("seconds") * 1000;
    list(
        &bed.command(&["ZRANGE", name, "0", "-1", "WITHSCORES"])
            .await,
    )
    .chunks(2)
    .map(|member| {
        let time: f64 = member[1].parse().expect("a score");
        let left = rounded((time as i64 - now).max(-ROUND_MS));
        // A permit's name is no text.
        let member = &member[0];
        let known = holder_length(member).is_some();
        format!("{} in {left} s", if known { member } else { "permit" })
    })
    .collect::<Vec<_>>()
    .join(", ")
}

/// How many bytes of the text's beginning name a holder: a UUID, a colon, and a thread.
fn holder_length(text: &str) -> Option<usize> {
    let uuid = text.as_bytes().get(..UUID_LENGTH)?;
    let is_uuid = uuid.iter().enumerate().all(|(at, byte)| {
        if HYPHENS.contains(&at) {
            *byte == b'-'
        } else {
            byte.is_ascii_hexdigit()
        }
    });
    let thread = text[..].get(UUID_LENGTH..)?.strip_prefix(':')?;
    let digits = thread.bytes().take_while(u8::is_ascii_digit).count();
    (is_uuid && digits > 0).then_some(UUID_LENGTH + 1 + digits)
}

/// Milliseconds in seconds, rounded.
fn rounded(ms: i64) -> i64 {
    (ms + ROUND_MS / 2).div_euclid(ROUND_MS) * ROUND_MS / 1000
}

fn number(reply: &Value) -> i64 {
    text(reply).parse().expect("it is a number")
}

fn list(reply: &Value) -> Vec<String> {
    match reply {
        Value::Array(items) => items.iter().map(text).collect(),
        odd => panic!("it is no list: {odd:?}"),
    }
}
