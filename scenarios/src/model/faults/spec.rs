//! The one table of the faults.

use lockstorm_checker::history::{FaultTarget, Name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kind::FaultKind;
use super::parameters::{ExternalUse, FaultParameters};
use crate::model::system::System;

/// Hands the table to another macro, so that who needs something of each fault (its variant here,
/// its implementation in the nemesis) cannot forget one.
///
/// A line is: what the fault does, as readers of `lockstorm list faults` and of the schema see
/// it; its word in scenario files and histories; the struct of its parameters; which of the
/// parameters name something, with the [`Role`] of what they name; and the
/// [class](lockstorm_checker::history::FaultClass) of harm that it does.
#[macro_export]
macro_rules! with_every_fault {
    ($callback:ident) => {
        $callback! {
            /// SIGKILL of a server; healed by a start with what its persistence kept.
            "kill" => Kill { node: Node } as Death,
            /// SIGTERM of a server, which saves and goes; healed by a start with what it had saved.
            "stop" => Stop { node: Node } as Death,
            /// SIGKILL of a server that may still run and a start, with its memory kept or lost.
            "restart" => Restart { node: Node } as Death,
            /// SIGSTOP of a server; healed by SIGCONT.
            "pause" => Pause { node: Node } as Stall,
            /// Stops traffic from one place to another (stall or reset); the way back stays open.
            "cut" => Cut { from: Place, to: Place } as Cut,
            /// Traffic from one place to another arrives later, by a delay and a jitter.
            "delay" => Delay { from: Place, to: Place } as Packet,
            /// Limits the bytes a second from one place to another, on each connection.
            "throttle" => Throttle { from: Place, to: Place } as Packet,
            /// Drops a random share of the packets on a way; needs `--network kernel`.
            "lose" => Lose { from: Place, to: Place } as Packet,
            /// Delays a random share of the packets on a way; needs `--network kernel`.
            "reorder" => Reorder { from: Place, to: Place } as Packet,
            /// Holds one request of a client, or the reply to it; healed by letting it go on.
            "hold-message" => HoldMessage { client: Client } as Packet,
            /// Loses one request of a client, or the reply to it: the connection is reset.
            "lose-message" => LoseMessage { client: Client } as Packet,
            /// One request of a client, or the reply to it, arrives later, and what is behind it.
            "delay-message" => DelayMessage { client: Client } as Packet,
            /// Splits nodes and clients into sides between which nothing passes.
            "partition" => Partition { sides: Place } as Cut,
            /// Makes a replica the primary, and clients follow it; it stays so.
            "promote" => Promote { node: Node } as Promotion,
            /// Has a replica take over by its Sentinels or its Cluster, agreed or not; it stays so.
            "failover" => Failover { node: Node } as Promotion,
            /// A client stands still and sees no reply; healed by letting it go on.
            "pause-client" => PauseClient { client: Client } as Stall,
            /// A client's watchdog stalls: renewals fall due and are not sent, and nobody tells it.
            "stall-watchdog" => StallWatchdog { client: Client } as Stall,
            /// A client dies, at once or after some further commands; it does not come back.
            "kill-client" => KillClient { client: Client } as Death,
            /// A client's thread dies, and its process lives: its watchdog keeps what it held.
            "kill-thread" => KillThread { client: Client } as Death,
            /// An operator's plain DEL of a lock's key.
            "delete-key" => DeleteKey { key: Key, node: Node } as Data,
            /// An operator's FLUSHALL.
            "flush-all" => FlushAll { node: Node } as Data,
            /// SCRIPT FLUSH: who sends a script by its digest is answered NOSCRIPT.
            "flush-scripts" => FlushScripts { node: Node } as Scripts,
            /// The memory is full and the server evicts a lock's key to make room for others.
            "evict" => Evict { key: Key, node: Node } as Data,
            /// DEBUG SLEEP: a server answers nobody for a while, as during a slow script.
            "sleep" => Sleep { node: Node } as Stall,
            /// A script that does not end: a server answers BUSY to everybody until SCRIPT KILL.
            "busy-script" => BusyScript { node: Node } as Stall,
            /// CLIENT PAUSE: a server puts off all commands for a while, or those that write.
            "pause-commands" => PauseCommands { node: Node } as Stall,
            /// CLIENT KILL of the connections of clients, subscribers or replicas.
            "kill-connections" => KillConnections { client: Client, node: Node } as Cut,
            /// A key's slot moves to another shard, or part of the way; healed by finishing it.
            "migrate-slot" => MigrateSlot { key: Key, to: Node } as Migration,
            /// The wall clock of a server or client jumps, drifts or stands still until healed.
            "clock" => Clock { node: Node, client: Client } as Clock,
            /// SIGKILL of a server, the loss of all that was not yet safe on its disk, and a start.
            "power-cut" => PowerCut { node: Node } as Death,
            /// Each synchronisation of a server's files waits, as for a slow disk.
            "slow-fsync" => SlowFsync { node: Node } as Stall,
        }
    };
}

/// Kind of thing that the value of a parameter names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A node, or a word for nodes.
    Node,
    /// One end of a link: a node, a client or a group of them.
    Place,
    /// A client.
    Client,
    /// A lock's key.
    Key,
}

/// A parameter that names something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<T> {
    /// The parameter, as written in scenario files.
    pub parameter: &'static str,
    /// Kind of thing that it names.
    pub role: Role,
    /// The name.
    pub name: T,
}

macro_rules! fault_spec {
    ($(
        #[doc = $about:literal]
        $word:literal => $Fault:ident { $($parameter:ident: $Role:ident),* } as $Class:ident,
    )*) => {
        /// A fault with its target, as `<kind> = { ... }`.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum FaultSpec {
            $(
                #[doc = $about]
                #[serde(rename = $word)]
                $Fault(super::$Fault),
            )*
        }

        impl FaultSpec {
            /// The kind of it, without its parameters.
            pub const fn kind(&self) -> FaultKind {
                match self {
                    $(Self::$Fault(_) => FaultKind::$Fault,)*
                }
            }

            /// Commands that it sends to servers which others may use too, beside those of locks.
            pub const fn commands(&self) -> &'static [&'static str] {
                match self {
                    $(Self::$Fault(_) => <super::$Fault as FaultParameters>::COMMANDS,)*
                }
            }

            /// Effect that it may have on servers that others use as well.
            pub fn on_external(&self) -> ExternalUse {
                match self {
                    $(Self::$Fault(fault) => fault.on_external(),)*
                }
            }

            /// Reason why it cannot hit servers of `system`, if it cannot.
            pub fn cannot_hit(&self, system: System) -> Option<&'static str> {
                match (system, self) {
                    (System::Redis, _) => None,
                    $((_, Self::$Fault(fault)) => fault.not_on(system),)*
                }
            }

            /// True if it needs a network of packets, which the kernel has and the fabric has not.
            pub fn needs_packets(&self) -> bool {
                match self {
                    $(Self::$Fault(fault) => fault.needs_packets(),)*
                }
            }

            /// The message that it is about, if it is about one.
            pub fn message(&self) -> Option<super::MessagePoint> {
                match self {
                    $(Self::$Fault(fault) => fault.message(),)*
                }
            }

            /// True if it needs servers that were started with the shim: hands on clocks and disks.
            pub fn needs_shim(&self) -> bool {
                match self {
                    $(Self::$Fault(fault) => fault.needs_shim(),)*
                }
            }

            /// True if it needs clients that were started with the shim.
            pub fn needs_shim_in_clients(&self) -> bool {
                match self {
                    $(Self::$Fault(fault) => fault.needs_shim_in_clients(),)*
                }
            }

            /// Names in it, in the order of its parameters; those that are absent are left out.
            pub fn names(&self) -> Vec<Named<&str>> {
                let mut all = Vec::new();
                match self {
                    $(Self::$Fault(fault) => {
                        $(all.extend(fault.$parameter.names().into_iter().map(|name| Named {
                            parameter: stringify!($parameter),
                            role: Role::$Role,
                            name,
                        }));)*
                    })*
                }
                all
            }

            /// Names in it in that order, to put others in their place.
            pub fn names_mut(&mut self) -> Vec<&mut String> {
                let mut all = Vec::new();
                match self {
                    $(Self::$Fault(fault) => {
                        $(all.extend(fault.$parameter.names_mut());)*
                    })*
                }
                all
            }
        }
    };
}

with_every_fault!(fault_spec);

impl FaultSpec {
    /// The servers, clients, links or keys that it names; words such as `replicas` as they stand.
    pub fn target(&self) -> FaultTarget {
        let names = self.names();
        let names: Vec<(Role, Name)> = names
            .into_iter()
            .map(|named| (named.role, named.name.into()))
            .collect();
        match (self, names.as_slice()) {
            (Self::Partition(partition), _) if partition.form.is_none() => partition.target(),
            (_, [(Role::Node, node)]) => FaultTarget::Node(node.clone()),
            (_, [(Role::Client, client)]) => FaultTarget::Client(client.clone()),
            (_, [(Role::Key, key), rest @ ..]) => FaultTarget::Key {
                key: key.clone(),
                node: rest.first().map(|(_, node)| node.clone()),
            },
            (_, [(Role::Place, from), (Role::Place, to)]) => FaultTarget::Link {
                from: vec![from.clone()],
                to: vec![to.clone()],
            },
            (_, [(Role::Client, client), (Role::Node, node)]) => FaultTarget::Connections {
                client: client.clone(),
                node: node.clone(),
            },
            (_, _) => FaultTarget::Words(self.words().into()),
        }
    }

    /// Names in it, in words of the scenario, by which a step can heal it.
    pub fn words(&self) -> String {
        if let Self::Partition(partition) = self {
            return partition.name();
        }
        let names = self.names();
        let between = if names.iter().any(|named| named.role == Role::Place) {
            "→"
        } else {
            " on "
        };
        let names: Vec<&str> = names.into_iter().map(|named| named.name).collect();
        names.join(between)
    }
}

/// A parameter that holds names: one, perhaps one, or lists of them.
trait Names {
    fn names(&self) -> Vec<&str>;
    fn names_mut(&mut self) -> Vec<&mut String>;
}

impl Names for String {
    fn names(&self) -> Vec<&str> {
        vec![self]
    }

    fn names_mut(&mut self) -> Vec<&mut String> {
        vec![self]
    }
}

impl Names for Option<String> {
    fn names(&self) -> Vec<&str> {
        self.iter().map(String::as_str).collect()
    }

    fn names_mut(&mut self) -> Vec<&mut String> {
        self.iter_mut().collect()
    }
}

impl Names for Vec<Vec<String>> {
    fn names(&self) -> Vec<&str> {
        self.iter().flatten().map(String::as_str).collect()
    }

    fn names_mut(&mut self) -> Vec<&mut String> {
        self.iter_mut().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cut, DeleteKey};
    use super::*;

    #[test]
    fn a_fault_is_written_with_its_word_and_names_what_it_hits() {
        let key = "lock".to_owned();
        let mut fault = FaultSpec::DeleteKey(DeleteKey { key, node: None });
        assert_eq!(fault.words(), "lock");
        if let FaultSpec::DeleteKey(delete) = &mut fault {
            delete.node = Some("n1".to_owned());
        }
        assert_eq!(fault.words(), "lock on n1");
        let node = Some("n1".into());
        let key = "lock".into();
        assert_eq!(fault.target(), FaultTarget::Key { key, node });
        let written = serde_json::to_value(&fault).unwrap();
        assert!(written.get(fault.kind().name()).is_some(), "{written}");
    }

    #[test]
    fn names_are_replaced_in_the_order_in_which_they_are_given() {
        let (from, to) = ("one".to_owned(), "clients".to_owned());
        let mode = super::super::CutMode::Stall;
        let mut fault = FaultSpec::Cut(Cut { from, to, mode });
        "n2".clone_into(fault.names_mut()[0]);
        assert_eq!(fault.words(), "n2→clients");
        let roles: Vec<_> = fault.names().iter().map(|named| named.role).collect();
        assert_eq!(roles, [Role::Place, Role::Place]);
    }
}
