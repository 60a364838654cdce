//! Talks of a client and a server, one a connection: when the last request was read, and when the
//! last reply.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::mutex::lock;

/// Connections between a client and a server, as far as they are carried by now.
#[derive(Default)]
pub(crate) struct Talks(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    open: Vec<Arc<Talk>>,
    /// Last reply on a connection that has ended, or its end, if a request had no reply then.
    ended: Option<Instant>,
}

/// One connection; its talk is over when this is dropped.
pub(crate) struct Connection<'a> {
    talks: &'a Talks,
    talk: Arc<Talk>,
}

#[derive(Default)]
struct Talk(Mutex<Times>);

#[derive(Clone, Copy, Default)]
struct Times {
    /// Last bytes of the client; none once it has said that there will be no more.
    asked: Option<Instant>,
    /// Last bytes of the server, be they delivered or not.
    replied: Option<Instant>,
}

impl Talks {
    /// A new connection.
    pub(crate) fn begin(&self) -> Connection<'_> {
        let talk = Arc::<Talk>::default();
        lock(&self.0).open.push(Arc::clone(&talk));
        Connection { talks: self, talk }
    }

    /// When the last reply was read as the server sent it, if there was any.
    ///
    /// # Errors
    /// While a request on some connection may have no reply yet.
    pub(crate) fn last_reply(&self) -> Result<Option<Instant>, Unanswered> {
        let heard = lock(&self.0);
        let mut last = heard.ended;
        for talk in &heard.open {
            let times = *lock(&talk.0);
            if times.asked > times.replied {
                return Err(Unanswered);
            }
            last = last.max(times.replied);
        }
        Ok(last)
    }
}

/// Some request has no reply yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered;

impl Connection<'_> {
    /// Bytes of the client were read.
    pub(crate) fn asks(&self) {
        lock(&self.talk.0).asked = Some(Instant::now());
    }

    /// The client asks nothing more, and waits for nothing that it has asked.
    pub(crate) fn is_done(&self) {
        lock(&self.talk.0).asked = None;
    }

    /// Bytes of the server were read.
    pub(crate) fn replies(&self) {
        lock(&self.talk.0).replied = Some(Instant::now());
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        let times = *lock(&self.talk.0);
        // A request that was cut off from its reply may have been served by now.
        let replied = if times.asked > times.replied {
            Some(Instant::now())
        } else {
            times.replied
        };
        let mut heard = lock(&self.talks.0);
        heard.open.retain(|open| !Arc::ptr_eq(open, &self.talk));
        heard.ended = heard.ended.max(replied);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reply_is_known_once_every_request_has_one() {
        let talks = Talks::default();
        assert_eq!(talks.last_reply(), Ok(None));
        let (one, other) = (talks.begin(), talks.begin());
        one.asks();
        assert_eq!(talks.last_reply(), Err(Unanswered));
        other.replies();
        assert_eq!(talks.last_reply(), Err(Unanswered), "that is another's");
        one.replies();
        let last = talks.last_reply().expect("all are answered");
        assert!(last.is_some());
        other.asks();
        assert_eq!(talks.last_reply(), Err(Unanswered));
        other.is_done();
        assert_eq!(talks.last_reply(), Ok(last), "it waits for nothing");
        drop(one);
        assert_eq!(talks.last_reply(), Ok(last), "what has ended is known");
        other.asks();
        drop(other);
        let cut_off = talks.last_reply().expect("nothing is due any more");
        assert!(cut_off > last, "a server may have served it until then");
    }
}
