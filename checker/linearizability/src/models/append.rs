//! `append`: a text or a list that grows at its end, and is read as a whole.
//!
//! Where values are texts, a read returns all of them joined, as key-value stores do; otherwise a
//! read returns the list of what was appended. Before the first append both are empty, and a read
//! may say `null`.
//!
//! A state is a node of a tree: its parent, and what was appended to that. So a state costs the
//! same however long the value is, and a read is compared from its end and never copied.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::Value as Json;

use crate::call::{Call, Datum, Request};
use crate::model::{Model, Precondition};
use crate::reason::Reason;
use crate::values::Values;

/// The model, with the values of the calls that it will be asked about.
pub struct Append {
    /// Content of each value, by its number.
    contents: Vec<Content>,
    nodes: RefCell<Nodes>,
}

enum Content {
    Text(String),
    /// Of a read or a write: the elements.
    List(Vec<Datum>),
    /// Of what has neither form; it can be an element only.
    Other,
}

/// The value so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

const EMPTY: NodeId = NodeId(0);

#[derive(Clone, Copy)]
struct Node {
    parent: NodeId,
    added: Datum,
    /// Number that was added in all.
    parts: u32,
}

#[derive(Default)]
struct Nodes {
    all: Vec<Node>,
    known: HashMap<(NodeId, Datum), NodeId>,
}

impl Nodes {
    fn node(&self, id: NodeId) -> Option<Node> {
        let at = (id.0 as usize).checked_sub(1)?;
        self.all.get(at).copied()
    }

    fn add(&mut self, parent: NodeId, added: Datum) -> NodeId {
        let next = NodeId(self.all.len() as u32 + 1);
        let id = *self.known.entry((parent, added)).or_insert(next);
        if id == next {
            let parts = self.node(parent).map_or(0, |node| node.parts) + 1;
            self.all.push(Node {
                parent,
                added,
                parts,
            });
        }
        id
    }
}

impl Append {
    /// The model for calls with these values.
    pub fn new(values: &mut Values) -> Self {
        let mut contents = Vec::with_capacity(values.len());
        let mut at = 0;
        // Elements of lists are values too, and come in as new ones.
        while at < values.len() {
            contents.push(match values.json(Datum(at as u32)) {
                Json::String(text) => Content::Text(text),
                Json::Array(list) => {
                    Content::List(list.iter().map(|json| values.of_json(json)).collect())
                }
                Json::Null => Content::List(Vec::new()),
                Json::Bool(_) | Json::Number(_) | Json::Object(_) => Content::Other,
            });
            at += 1;
        }
        Self {
            contents,
            nodes: RefCell::default(),
        }
    }

    fn content(&self, datum: Datum) -> &Content {
        &self.contents[datum.0 as usize]
    }

    /// Tells whether the value so far reads like this.
    fn reads(&self, state: NodeId, seen: Datum) -> bool {
        let nodes = self.nodes.borrow();
        let parts = std::iter::successors(nodes.node(state), |node| nodes.node(node.parent));
        match self.content(seen) {
            Content::Text(text) => {
                let mut left = text.as_str();
                for node in parts {
                    let Content::Text(added) = self.content(node.added) else {
                        return false;
                    };
                    match left.strip_suffix(added.as_str()) {
                        Some(rest) => left = rest,
                        None => return false,
                    }
                }
                left.is_empty()
            }
            Content::List(list) => {
                let length = nodes.node(state).map_or(0, |node| node.parts);
                length as usize == list.len()
                    && parts
                        .zip(list.iter().rev())
                        .all(|(node, &at)| node.added == at)
            }
            Content::Other => false,
        }
    }

    fn written(&self, new: Datum) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        match self.content(new) {
            Content::List(list) => list.iter().fold(EMPTY, |state, &one| nodes.add(state, one)),
            Content::Text(text) if text.is_empty() => EMPTY,
            Content::Text(_) | Content::Other => nodes.add(EMPTY, new),
        }
    }
}

impl Model for Append {
    type State = NodeId;

    fn initial(&self) -> NodeId {
        EMPTY
    }

    fn step(&self, &state: &NodeId, call: &Call) -> Result<NodeId, Reason> {
        match call.request {
            Request::Append(added) => Ok(self.nodes.borrow_mut().add(state, added)),
            Request::Write(new) => Ok(self.written(new)),
            Request::Read(seen) if self.reads(state, seen) => Ok(state),
            Request::Read(_) => {
                let node = self.nodes.borrow().node(state);
                let parts = node.map_or(0, |node| node.parts);
                Err(Reason::Appended { parts })
            }
            Request::Acquire { .. }
            | Request::Renew { .. }
            | Request::Release { .. }
            | Request::Expire(_)
            | Request::Cas { .. } => Ok(state),
        }
    }

    fn preconditions(&self, _: &Call) -> [Precondition; 2] {
        Precondition::Any.only()
    }

    fn visit_met(&self, _: &NodeId, _: &mut impl FnMut(Precondition)) {}
}
