//! Costs of Redisson's locks beside `token`, of passing a released lock to the next who waits, and
//! of keeping 100,000 locks.
//!
//! Each part names the round trip that it measured itself, on the same server, between its turns:
//! figures mean something only beside it. Without an argument all parts run; `cycles`, `hand-off`
//! and `watchdog` name one.

mod cycles;
mod hand_off;
mod stage;
mod watchdog;

fn main() {
    // cargo itself adds `--bench`.
    let named: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    let wanted = |part: &str| named.is_empty() || named.iter().any(|name| name == part);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    runtime.block_on(async {
        if wanted("cycles") {
            cycles::run().await;
        }
        if wanted("hand-off") {
            hand_off::run().await;
        }
        if wanted("watchdog") {
            watchdog::run().await;
        }
    });
}
