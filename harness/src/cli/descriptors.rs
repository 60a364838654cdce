//! Room for the sockets of thousands of clients.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Descriptors for ten thousand clients, each with a connection for commands and one for messages,
/// and as many again for the fabric on their way.
const DESCRIPTORS_WANTED: u64 = 65_536;

/// Raises the limit of open files as far as wanted and allowed; the servers inherit it. Where it
/// cannot be raised, connections fail that find no room, and their operations are in doubt.
pub fn make_room() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return;
    };
    let wanted = DESCRIPTORS_WANTED.min(hard);
    if soft < wanted {
        // A refusal leaves things as they were.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}
