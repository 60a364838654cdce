//! The checks by name, and what can come of one.

use super::test_bed::TestBed;
use super::{checks, disturbances};

/// Outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// All is as it should be; with what was seen, where that is worth a word.
    Passed(String),
    /// Otherwise.
    Failed(String),
    /// It cannot be checked, because the adapter does not claim it.
    NotClaimed(String),
}

/// One thing that an adapter has to get right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It says hello and opens.
    Hello,
    /// A free lock is granted.
    Grants,
    /// A held one is refused to another client.
    Refuses,
    /// A client that holds a lock is told so.
    Alive,
    /// A lock that is given back can be had.
    Releases,
    /// Nobody gives back what is not his.
    NotOwner,
    /// A lease ends, and not before its time.
    Expires,
    /// A renewal makes it longer.
    Renews,
    /// Its own watchdog keeps a lock, and lets it end while it is stalled.
    Watches,
    /// Tokens grow.
    Tokens,
    /// A client can hold two locks.
    TwoKeys,
    /// Readers hold a lock together, and keep a writer out.
    Shares,
    /// A holder that asks once more is answered.
    AsksAgain,
    /// The key that it names is the one at which servers keep the lock.
    ServerKey,
    /// A request is given up when it is told to, and it goes on.
    Cancels,
    /// It goes on after it was stopped.
    StandsStill,
    /// It lives on when its connection is lost.
    Reconnects,
    /// Without a reply, nobody knows.
    Indeterminate,
    /// It ends when it is told to.
    Closes,
    /// It ends when nobody talks to it any more.
    EndOfInput,
}

impl Check {
    /// All of them, in the order in which they are of use.
    pub const ALL: [Self; 20] = [
        Self::Hello,
        Self::Grants,
        Self::Refuses,
        Self::Alive,
        Self::Releases,
        Self::NotOwner,
        Self::Expires,
        Self::Renews,
        Self::Watches,
        Self::Tokens,
        Self::TwoKeys,
        Self::Shares,
        Self::AsksAgain,
        Self::ServerKey,
        Self::StandsStill,
        Self::Reconnects,
        Self::Cancels,
        Self::Indeterminate,
        Self::Closes,
        Self::EndOfInput,
    ];

    /// Says in words what is checked.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Hello => "answers hello and open",
            Self::Grants => "grants a free lock",
            Self::Refuses => "refuses a held lock to another client",
            Self::Alive => "says of a held lock that it is held, and answers touch",
            Self::Releases => "gives back a lock, which can then be had",
            Self::NotOwner => "refuses to give back a lock that is another's",
            Self::Expires => "lets a lease end, and not before its time",
            Self::Renews => "renews a lease",
            Self::Watches => {
                "keeps a lock by its own watchdog, and leaves out renewals that are to be skipped"
            }
            Self::Tokens => "gives fencing tokens that grow",
            Self::TwoKeys => "holds two locks at once, and gives them back one by one",
            Self::Shares => "lets readers hold a lock together, and keeps a writer out",
            Self::AsksAgain => "answers a holder that asks for its lock once more",
            Self::ServerKey => "keeps the lock at a key of the server that is known",
            Self::StandsStill => "goes on after it was stopped and continued",
            Self::Cancels => "gives up a request when it is told to, and goes on",
            Self::Reconnects => "goes on after its connections were lost",
            Self::Indeterminate => "answers error when no server replies",
            Self::Closes => "ends when it is told to close",
            Self::EndOfInput => "ends when its standard input ends",
        }
    }

    /// Carries it out.
    pub async fn run(self, bed: &mut TestBed) -> Finding {
        let found = match self {
            Self::Hello => checks::hello(bed).await,
            Self::Grants => checks::grants(bed).await,
            Self::Refuses => checks::refuses(bed).await,
            Self::Alive => checks::alive(bed).await,
            Self::Releases => checks::releases(bed).await,
            Self::NotOwner => checks::not_owner(bed).await,
            Self::Expires => checks::expires(bed).await,
            Self::Renews => checks::renews(bed).await,
            Self::Watches => checks::watches(bed).await,
            Self::Tokens => checks::tokens(bed).await,
            Self::TwoKeys => checks::two_keys(bed).await,
            Self::Shares => checks::shares(bed).await,
            Self::AsksAgain => checks::asks_again(bed).await,
            Self::ServerKey => checks::server_key(bed).await,
            Self::StandsStill => disturbances::stands_still(bed).await,
            Self::Cancels => disturbances::cancels(bed).await,
            Self::Reconnects => disturbances::reconnects(bed).await,
            Self::Indeterminate => disturbances::indeterminate(bed).await,
            Self::Closes => disturbances::closes(bed).await,
            Self::EndOfInput => disturbances::end_of_input(bed).await,
        };
        found.unwrap_or_else(Finding::Failed)
    }
}
