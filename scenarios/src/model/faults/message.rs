//! Faults of single messages: a request of a client to a server, or the reply to it.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{ExternalUse, FaultParameters};
use crate::model::DurationSpec;
use crate::model::system::System;

/// The word for the server with whose message a majority is reached.
pub const LAST_OF_MAJORITY: &str = "last-of-majority";

/// Which message of a client is meant: the first that fits, counted from the step on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePoint {
    /// Client that sends the request.
    pub client: String,
    /// Operation that it has under way; absent means any.
    pub operation: Option<LockOperation>,
    /// The request itself or the reply to it.
    pub message: Message,
    /// How many fit until it is this one.
    pub nth: NonZeroU32,
    /// Server that it goes to or comes from, or [`LAST_OF_MAJORITY`]; absent means any.
    pub node: Option<String>,
}

/// An operation of a lock, as a client has it under way.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LockOperation {
    /// It asks for a lock.
    Acquire,
    /// It extends a lease, by itself or because it was told to.
    Renew,
    /// It gives a lock back.
    Release,
}

/// One of the two messages of an exchange.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// Sent by the client; the server has not seen it.
    Request,
    /// The server has done what it was asked; the client does not know.
    Reply,
}

/// Fate of a message that was held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It goes on.
    #[default]
    Deliver,
    /// It is lost: its connection is reset.
    Lose,
}

const fn first() -> NonZeroU32 {
    NonZeroU32::MIN
}

macro_rules! message_fault {
    (
        $(#[$doc:meta])*
        $Fault:ident { $($(#[$attribute:meta])* $extra:ident: $Type:ty,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub struct $Fault {
            /// Client that sends the request.
            pub client: String,
            /// Operation that it has under way; absent means any. A renewal is whatever it sends
            /// while it neither asks for a lock nor gives one back.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub operation: Option<LockOperation>,
            /// The request, which the server has not seen, or the reply of a server that has done
            /// what it was asked. What only sets up a connection does not count, nor an error.
            pub message: Message,
            /// How many such messages there are until it is this one, from this step on.
            #[serde(default = "first")]
            pub nth: NonZeroU32,
            /// Server that it goes to or comes from; `last-of-majority` is the one with which a
            /// majority of the servers that decide is reached. Absent means any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub node: Option<String>,
            $($(#[$attribute])* pub $extra: $Type,)*
        }

        impl $Fault {
            /// The message that is meant.
            pub fn point(&self) -> MessagePoint {
                MessagePoint {
                    client: self.client.clone(),
                    operation: self.operation,
                    message: self.message,
                    nth: self.nth,
                    node: self.node.clone(),
                }
            }
        }

        impl FaultParameters for $Fault {
            fn not_on(&self, system: System) -> Option<&'static str> {
                let is_known = system != System::Custom;
                (!is_known).then_some("nobody knows what is a message there")
            }

            fn on_external(&self) -> ExternalUse {
                ExternalUse::NO_LINKS
            }

            fn message(&self) -> Option<MessagePoint> {
                Some(self.point())
            }
        }
    };
}

message_fault! {
    /// Parameters of [`FaultSpec::HoldMessage`](super::FaultSpec::HoldMessage).
    HoldMessage {
        /// Fate of it when it is healed.
        #[serde(default)]
        then: Fate,
    }
}

message_fault! {
    /// Parameters of [`FaultSpec::LoseMessage`](super::FaultSpec::LoseMessage).
    LoseMessage {}
}

message_fault! {
    /// Parameters of [`FaultSpec::DelayMessage`](super::FaultSpec::DelayMessage).
    DelayMessage {
        /// How much later it arrives.
        by: DurationSpec,
    }
}
