//! Orders of the harness to the guardian, and its answers: a line of JSON each, in turns.

use std::ffi::OsString;
use std::io;

use serde::{Deserialize, Serialize};

/// Order that the guardian is to carry out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Order {
    /// Start a process.
    Start(Box<Start>),
    /// Say whether a process has ended.
    Look {
        /// Its number.
        pid: i32,
    },
    /// Kill a process and all that came of it; its number is free then.
    Bury {
        /// Its number.
        pid: i32,
    },
}

/// A process to be started.
#[derive(Debug, Serialize, Deserialize)]
pub struct Start {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables of its environment that are set, or unset, beyond those of the guardian.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// Paths of its standard input, its standard output and its standard error: pipes of the
    /// harness, by way of `/proc`.
    pub streams: [String; 3],
}

/// Outcome of an order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Answer {
    /// The process runs.
    Started {
        /// Its number, which is also that of its group.
        pid: i32,
    },
    /// It does not.
    Failed {
        /// The system's number of the reason, if it has one.
        code: Option<i32>,
        /// The reason.
        text: String,
    },
    /// Reply that says whether it has ended.
    Ended {
        /// It has.
        ended: bool,
    },
    /// It is gone.
    Buried {
        /// Status as the system has it; `None` where the guardian did not know the process.
        status: Option<i32>,
    },
}

impl From<io::Error> for Answer {
    fn from(error: io::Error) -> Self {
        Self::Failed {
            code: error.raw_os_error(),
            text: error.to_string(),
        }
    }
}
