//! Checks of what a program does when it or its servers are disturbed, and at its end.

use std::time::Duration;

use lockstorm_nemesis::{Members, ProcessState, Processes, process_state};
use tokio::time::{Instant, sleep};

use super::check::Finding;
use super::checks::{Found, LONG, POLL, granted, passed, released};
use super::test_bed::{Raw, TestBed, target, unexpected};
use crate::adapter::{Answer, Call, Can, Reason};

/// Tries after a lost connection, of which one has to be granted.
const TRIES_MAX: usize = 20;
/// Longest time that a program may take to stop or to end.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

pub(super) async fn stands_still(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    granted(&peer, &key).await?;
    let told = |error: std::io::Error| error.to_string();
    peer.program.stop().map_err(told)?;
    let deadline = Instant::now() + ENDS_WITHIN;
    while !peer.program.pid().is_some_and(is_stopped) {
        if Instant::now() >= deadline {
            return Err(format!("it did not stop within {ENDS_WITHIN:?}"));
        }
        sleep(POLL).await;
    }
    peer.program.resume().map_err(told)?;
    match peer.ask(Call::Alive(target(&key))).await? {
        Answer::Held => {}
        other => return Err(unexpected("alive of a held lock", &other)),
    }
    released(&peer, &key).await?;
    Ok(passed())
}

fn is_stopped(process: i32) -> bool {
    process_state(process) == ProcessState::Stopped
}

pub(super) async fn cancels(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    if !peer.opened.can.contains(&Can::Cancel) {
        let why = "'can' of 'opened' does not name 'cancel'".to_owned();
        return Ok(Finding::NotClaimed(why));
    }
    granted(&peer, &bed.key()).await?;
    let stopped = Stopped::all(bed.server_processes()).await?;
    // As soon as it is under way.
    peer.gate.cancel_order(1);
    let answer = peer.acquire(&key).await;
    drop(stopped);
    peer.gate.end_order();
    match answer? {
        Answer::Cancelled => {}
        // It had ended, or could not be given up any more.
        Answer::Error { text } => return Ok(Finding::Passed(format!("it ended: {text}"))),
        other => return Err(unexpected("an acquire that was given up", &other)),
    }
    granted(&peer, &bed.key()).await?;
    Ok(passed())
}

pub(super) async fn reconnects(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    granted(&peer, &key).await?;
    released(&peer, &key).await?;
    if !bed.reset_connections(&peer.client).await {
        let why = "it keeps no connection between two calls";
        return Ok(Finding::NotClaimed(why.to_owned()));
    }
    // A try that met the broken connection may have taken effect: the next ones ask for others.
    for _ in 0..TRIES_MAX {
        match peer.acquire(&bed.key()).await? {
            Answer::Granted { .. } => return Ok(passed()),
            Answer::Error { .. } | Answer::Failed { .. } => sleep(POLL).await,
            other => return Err(unexpected("acquire of a free lock", &other)),
        }
    }
    Err(format!("{TRIES_MAX} tries after the loss all failed"))
}

pub(super) async fn indeterminate(bed: &mut TestBed) -> Found {
    let (peer, key) = (bed.client(LONG).await?, bed.key());
    granted(&peer, &bed.key()).await?;
    let stopped = Stopped::all(bed.server_processes()).await?;
    let answer = peer.acquire(&key).await;
    drop(stopped);
    match answer? {
        Answer::Error { .. }
        | Answer::Refused {
            reason: Some(Reason::Unknown),
        } => Ok(passed()),
        other => Err(format!(
            "{}, which nobody can know: the request may still be carried out",
            unexpected("acquire with all servers stopped", &other)
        )),
    }
}

/// Servers that stand still until it is dropped, with every process of theirs.
struct Stopped(Vec<Members>);

impl Stopped {
    async fn all(servers: Vec<Processes>) -> Result<Self, String> {
        let mut this = Self(Vec::new());
        for server in servers {
            let stopped = server.stop(ENDS_WITHIN).await;
            this.0.push(stopped.map_err(|error| error.to_string())?);
        }
        Ok(this)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for server in &self.0 {
            // Fails only for a dead server, and then the next check says so.
            let _ = server.resume();
        }
    }
}

pub(super) async fn closes(bed: &mut TestBed) -> Found {
    let peer = bed.client(LONG).await?;
    match peer.ask(Call::Close).await? {
        Answer::Done => {}
        other => return Err(unexpected("close", &other)),
    }
    let deadline = Instant::now() + ENDS_WITHIN;
    // Whoever listens to it notices its end as well, and buries it.
    while peer.program.pid().is_some() {
        if Instant::now() >= deadline {
            return Err(format!("it is still there after {ENDS_WITHIN:?}"));
        }
        sleep(POLL).await;
    }
    Ok(passed())
}

pub(super) async fn end_of_input(bed: &mut TestBed) -> Found {
    let Raw {
        program,
        input,
        output,
        ..
    } = bed.start()?;
    drop(input);
    let ended = program.ended(ENDS_WITHIN).await;
    drop(output);
    match ended {
        Some(_) => Ok(passed()),
        None => Err(format!("it is still there after {ENDS_WITHIN:?}")),
    }
}
