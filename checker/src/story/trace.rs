//! The steps that servers tell: what they knew of the lock, and what they were told to do with it.
//! Only those concerned have a say: the clients of the story, and servers that granted the lock or
//! have its key.
//!
//! For: showing where the lock got lost. Not for: proving it; the contradiction cites none of them.

use std::collections::{BTreeMap, BTreeSet};

use super::teller::{Change, Draft, Teller};
use crate::history::{CommandNote, Name, Nanos, NodeView, Until, ViewNote};
use crate::operations::{CommandAside, Digest, Interval};
use crate::text;
use crate::verdict::StepKind;

/// Views told of in one story, the last ones: each names every server.
const VIEWS_MAX: usize = 12;
/// Commands told of in one story, the last ones. Who needs more reads the servers' own logs.
const COMMANDS_MAX: usize = 24;
/// Length at least of a value that nobody else can have, such as the one that names a holder.
const MADE_VALUE_MIN: usize = 16;
/// Digits at least of a time of day, in seconds or in a part of them: another with each command.
const TIME_OF_DAY_MIN: usize = 10;
/// Name of the actor where all servers act.
const SERVERS: &str = "servers";

impl Teller<'_> {
    /// Tells what the servers knew of the lock, each time that it changed.
    pub(crate) fn views(&mut self, scene: Interval) {
        let key = self.case.digest.keys.name(self.finding.key.0);
        let until = self.until;
        let inside = |time: Nanos| scene.start <= time && time <= until;
        let all = self.case.digest.asides.views.iter();
        let all = all.filter(|view| view.key == *key && inside(view.time));
        let concerned = Concerned(self.givers());
        let mut before: Option<&ViewNote> = None;
        let mut drafts = Vec::new();
        for view in all {
            let is_new = before.is_none_or(|before| {
                let (old, new) = (before.nodes.iter(), view.note.nodes.iter());
                !old.map(standing).eq(new.map(standing))
            });
            if is_new {
                let nodes = view.note.nodes.iter();
                let nodes = nodes.filter(|node| concerned.has_say(node, before));
                let nodes: Vec<String> = nodes.map(|node| sentence(node, before)).collect();
                before = Some(&view.note);
                if !nodes.is_empty() {
                    let text = format!("the servers on {}: {}", self.lock, nodes.join("; "));
                    drafts.push(told(view.time, SERVERS.to_owned(), text, view.event));
                }
            }
        }
        let early = drafts.len().saturating_sub(VIEWS_MAX);
        self.drafts.extend(drafts.drain(early..));
    }

    /// Tells which commands about the lock the servers were sent. What somebody sends again and
    /// again, until it is its turn, is told of the first and the last time.
    pub(crate) fn commands(&mut self, scene: Interval) {
        let key = self.case.digest.keys.name(self.finding.key.0);
        let until = self.until;
        let inside = |time: Nanos| scene.start <= time && time <= until;
        let all = self.case.digest.asides.commands.iter();
        let all = all.filter(|command| command.key == *key && inside(command.time));
        let all = all.filter(|command| !command.note.is_reply);
        let mut senders = Senders::of(self);
        let concerned = all.filter(|command| senders.are_concerned(&command.note));
        let series = series(requests(concerned));
        let mut sent = Sent::new();
        let told = series.iter().flat_map(|alike| tell(alike, &mut sent));
        let mut drafts: Vec<Draft> = told.collect();
        drafts.sort_by_key(|draft| draft.evidence.clone());
        let early = drafts.len().saturating_sub(COMMANDS_MAX);
        self.drafts.extend(drafts.drain(early..));
    }

    /// Tells when a server last replied to `owner`, where its lease counts from that.
    pub(crate) fn last_reply(&mut self, owner: &str, during: Interval) {
        let key = self.case.digest.keys.name(self.finding.key.0);
        let mut all = self.case.digest.asides.commands.iter();
        let last = all.rfind(|command| {
            let is_own = command.note.is_reply && command.note.from.as_deref() == Some(owner);
            let inside = during.start <= command.time && command.time <= during.end;
            is_own && inside && command.key == *key
        });
        if let Some(command) = last {
            let node = text::name(&command.note.node);
            let text = format!("{node} last replied to {}", text::name(owner));
            self.drafts
                .push(told(command.time, node, text, command.event));
        }
    }
}

/// Sender and receiver.
type Way<'a> = (&'a Option<Name>, &'a Name);

/// A command of a client or a server, with what the script did that it ran.
struct Request<'a>(Vec<&'a CommandAside>);

impl<'a> Request<'a> {
    fn way(&self) -> Way<'a> {
        let note = &self.0[0].note;
        (&note.from, &note.node)
    }

    /// Tells whether both are the same, but for values that are made anew each time.
    fn is_like(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|request| request.0.iter().map(|one| &one.note));
        own.len() == others.len()
            && own.zip(others).all(|(one, another)| {
                let way = |note: &CommandNote| (note.from.clone(), note.node.clone());
                way(one) == way(another) && are_alike(&one.text, &another.text)
            })
    }

    /// Tells of it, with `more` behind it; `sent` is what was told before.
    fn tell(&self, more: &str, sent: &mut Sent<'a>) -> Vec<Draft> {
        let is_new = sent.insert((self.way(), &self.0[0].note.text));
        let again = if is_new { "" } else { " again" };
        let said = |command: &&CommandAside| {
            let words = &command.note;
            let (node, what) = (text::name(&words.node), text::prose(&words.text));
            let text = match &words.from {
                Some(from) => format!("{} sent {node}{again}: {what}{more}", text::name(from)),
                None => format!("{node} did in a script: {what}"),
            };
            told(command.time, node, text, command.event)
        };
        self.0.iter().map(said).collect()
    }
}

/// Commands that a story has told of, each with its sender and receiver.
type Sent<'a> = BTreeSet<(Way<'a>, &'a str)>;

/// Tells whether two commands are the same, but for values that are made anew each time.
fn are_alike(one: &str, another: &str) -> bool {
    let (mut words, mut others) = (one.split(' '), another.split(' '));
    let is_time = |word: &str| {
        let whole = word.split_once('.').map_or(word, |(whole, _)| whole);
        let is_number = word
            .bytes()
            .all(|letter| letter.is_ascii_digit() || letter == b'.');
        whole.len() >= TIME_OF_DAY_MIN && is_number
    };
    let is_made = |word: &str| {
        let has_digit = word.bytes().any(|letter| letter.is_ascii_digit());
        (word.len() >= MADE_VALUE_MIN && has_digit) || is_time(word)
    };
    loop {
        match (words.next(), others.next()) {
            (None, None) => return true,
            (Some(word), Some(other)) if word == other => {}
            (Some(word), Some(other)) if is_made(word) && is_made(other) => {}
            _ => return false,
        }
    }
}

/// Returns the requests that servers were sent, in order.
fn requests<'a>(commands: impl Iterator<Item = &'a CommandAside>) -> Vec<Request<'a>> {
    let mut all: Vec<Request> = Vec::new();
    for command in commands {
        let of_node = |request: &&mut Request| request.way().1 == &command.note.node;
        let is_of_script = command.note.from.is_none();
        match all.iter_mut().rev().find(of_node) {
            Some(request) if is_of_script => request.0.push(command),
            _ => all.push(Request(vec![command])),
        }
    }
    all
}

/// Puts together what somebody sends a server again, as the next thing.
fn series(requests: Vec<Request>) -> Vec<Vec<Request>> {
    let mut all: Vec<Vec<Request>> = Vec::new();
    for request in requests {
        let mut before = all.iter_mut().rev();
        match before.find(|alike| alike[0].way() == request.way()) {
            Some(alike) if alike[0].is_like(&request) => alike.push(request),
            _ => all.push(vec![request]),
        }
    }
    all
}

fn tell<'a>(alike: &[Request<'a>], sent: &mut Sent<'a>) -> Vec<Draft> {
    let [first, .., before_last, last] = alike else {
        let each = alike.iter();
        return each.flat_map(|request| request.tell("", sent)).collect();
    };
    let mut others = alike.iter().skip(1);
    let is_same = others.all(|request| request.0[0].note.text == first.0[0].note.text);
    let more = if is_same {
        "more"
    } else {
        "more like it, with other values,"
    };
    let others = format!(
        " (and {} {more} until {})",
        alike.len() - 2,
        text::instant(before_last.0[0].time)
    );
    let first = first.tell(&others, sent);
    first.into_iter().chain(last.tell("", sent)).collect()
}

/// The servers that granted the lock in a story; none where no reply names any.
struct Concerned<'a>(BTreeSet<&'a str>);

impl Concerned<'_> {
    /// Tells whether what `node` knows belongs to the story.
    fn has_say(&self, node: &NodeView, before: Option<&ViewNote>) -> bool {
        let old = before.and_then(|before| before.nodes.iter().find(|old| old.node == node.node));
        let had = old.is_some_and(NodeView::is_there);
        self.0.is_empty() || self.0.contains(&*node.node) || node.is_there() || had
    }
}

/// Tells whose commands belong to a story: those of its clients, and what other servers send.
struct Senders<'a> {
    clients: BTreeSet<String>,
    digest: &'a Digest,
    /// By server: whether the last command that was no script's is told of. A script does what the
    /// command before it asked for.
    scripts: BTreeMap<Name, bool>,
}

impl<'a> Senders<'a> {
    fn of(teller: &Teller<'a>) -> Self {
        Self {
            clients: teller
                .drafts
                .iter()
                .map(|draft| draft.actor.clone())
                .collect(),
            digest: teller.case.digest,
            scripts: BTreeMap::new(),
        }
    }

    fn are_concerned(&mut self, command: &CommandNote) -> bool {
        let Some(from) = &command.from else {
            return self.scripts.get(&command.node).copied().unwrap_or(true);
        };
        let is_client = self.digest.owners.find(from).is_some();
        let is_told = !is_client || self.clients.contains(&text::name(from));
        self.scripts.insert(command.node.clone(), is_told);
        is_told
    }
}

fn told(time: Nanos, actor: String, text: String, event: u64) -> Draft {
    Draft {
        time,
        actor,
        kind: StepKind::Trace,
        text,
        certain: true,
        evidence: vec![event],
        change: Change::None,
    }
}

/// Returns the part of a view that does not change by itself as time goes by.
fn standing(view: &NodeView) -> NodeView {
    NodeView {
        left_ms: None,
        ..view.clone()
    }
}

/// Says what one server knows, and what it knew before where that was something else.
fn sentence(view: &NodeView, before: Option<&ViewNote>) -> String {
    let role = |view: &NodeView| view.role.as_deref().map(text::name);
    let node = text::name(&view.node);
    let place = role(view).map_or(node.clone(), |role| format!("{node} ({role})"));
    let time = match (view.left_ms, view.until) {
        _ if !view.is_there() => String::new(),
        (Some(left), _) => format!(", {} left", text::instant(Nanos::from_millis(left))),
        (None, Some(Until::SessionEnd)) => ", until its session ends".to_owned(),
        (None, None) => ", without an end".to_owned(),
    };
    let old = before.and_then(|before| before.nodes.iter().find(|old| old.node == view.node));
    let old = old.filter(|old| standing(old) != standing(view));
    let was = old.map(|old| {
        let role = role(old).filter(|_| old.role != view.role);
        let role = role.map_or(String::new(), |role| format!("{role}, "));
        format!(" (before: {role}{})", knowledge(old))
    });
    format!(
        "{place}: {}{time}{}",
        knowledge(view),
        was.unwrap_or_default()
    )
}

fn knowledge(view: &NodeView) -> String {
    let holders: Vec<String> = view.held_by.iter().map(|owner| text::name(owner)).collect();
    match (&view.error, &view.content) {
        (Some(error), _) => format!("no answer, {}", text::prose(error)),
        (None, Some(content)) if !holders.is_empty() => {
            format!("{}, of {}", text::prose(content), text::list(&holders))
        }
        (None, None) if !holders.is_empty() => format!("held by {}", text::list(&holders)),
        (None, Some(content)) => text::prose(content),
        (None, None) => "no such key".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::are_alike;

    #[test]
    fn commands_are_alike_but_for_names_of_holders_and_times_of_day() {
        for (one, another) in [
            ("SET k 0f3a5c7e9b1d2f4a NX", "SET k 1f3a5c7e9b1d2f4b NX"),
            ("ZADD k 1764375600 a", "ZADD k 1764375601 a"),
            ("ZADD k 1764375600.12 a", "ZADD k 1764375601.5 a"),
        ] {
            assert!(are_alike(one, another), "{one}");
        }
        for (one, another) in [
            ("PEXPIRE k 1000", "PEXPIRE k 2000"),
            ("SET k abcdefghijklmnop", "SET k abcdefghijklmnoq"),
            ("GET k", "GET k 1764375600"),
        ] {
            assert!(!are_alike(one, another), "{one}");
        }
    }
}
