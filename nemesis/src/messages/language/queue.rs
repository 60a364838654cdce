//! Requests whose answers come in the order in which they were asked.

use std::collections::VecDeque;

/// Requests that are answered one after another.
#[derive(Debug)]
pub(super) struct Queue<T> {
    begun: u64,
    asked: VecDeque<(u64, T)>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            begun: 0,
            asked: VecDeque::new(),
        }
    }
}

impl<T> Queue<T> {
    /// Takes note of a request, and numbers it.
    pub(super) fn ask(&mut self, what: T) -> u64 {
        self.begun += 1;
        self.asked.push_back((self.begun, what));
        self.begun
    }

    /// The oldest one without an answer, and its number.
    pub(super) fn oldest(&mut self) -> Option<&mut (u64, T)> {
        self.asked.front_mut()
    }

    /// The oldest one has its answer.
    pub(super) fn answer(&mut self) -> Option<(u64, T)> {
        self.asked.pop_front()
    }
}
