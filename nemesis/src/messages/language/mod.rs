//! Languages: where a message ends in the protocol of each system, and what it asks for.
//!
//! A connection is cut into *pieces*, none longer than a message. Of the pieces of a message one
//! stands for it: of a request the first, which the server has not seen then, of a reply the first
//! that says that the server has done what it was asked. The others go on or wait with it, for
//! nothing overtakes on a connection.

mod etcd;
mod grpc;
mod mysql;
mod pieces;
mod postgres;
mod queue;
mod redis;
mod speech;
mod sql;
mod zookeeper;

use lockstorm_scenarios::System;

pub(super) use speech::{Heard, Language, Request};

/// The language of the servers of a system; `None` where nobody knows it.
pub(super) fn of(system: System) -> Option<Box<dyn Language>> {
    Some(match system {
        System::Redis => Box::new(redis::Redis::default()),
        System::Etcd => Box::new(etcd::Etcd::default()),
        System::Zookeeper => Box::new(zookeeper::Zookeeper::default()),
        System::Mariadb => Box::new(mysql::Mysql::default()),
        System::Postgres => Box::new(postgres::Postgres::default()),
        System::Custom => return None,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use lockstorm_scenarios::Message;

    use super::*;

    /// A request that keeps no session alive.
    pub(super) fn asks(number: u64, command: &str) -> Heard {
        Heard::asked(number, Some(command.to_owned()))
    }

    /// A command of Redis, as clients send it.
    pub(in crate::messages) fn request(words: &[&str]) -> Vec<u8> {
        let words = words
            .iter()
            .map(|word| format!("${}\r\n{word}\r\n", word.len()));
        let count = words.len();
        format!("*{count}\r\n{}", words.collect::<String>()).into_bytes()
    }

    /// Any bytes are cut somewhere, or are none of this language, and mean something.
    #[test]
    fn bytes_of_nobody_are_heard_without_harm() {
        let systems = [
            System::Redis,
            System::Etcd,
            System::Zookeeper,
            System::Mariadb,
            System::Postgres,
        ];
        let mut state = 1_u64;
        let mut byte = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 56) as u8
        };
        for system in systems {
            for round in 0..2_000 {
                let mut language = of(system).expect("it is known");
                // Small bytes make short lengths, so that pieces are cut and heard.
                let bytes: Vec<u8> = (0..200).map(|_| byte() % [4, 40, 255][round % 3]).collect();
                for from in [Message::Request, Message::Reply, Message::Request] {
                    let mut rest = &bytes[..];
                    while let Ok(Some(end)) = language.cut(from, rest) {
                        assert!(end > 0, "{system:?} cuts nothing off");
                        let heard = match from {
                            Message::Request => language.request(&rest[..end]),
                            Message::Reply => language.reply(&rest[..end]),
                        };
                        if heard == Heard::Stream {
                            break;
                        }
                        rest = &rest[end..];
                    }
                }
            }
        }
    }
}
