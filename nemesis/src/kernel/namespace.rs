//! A network of this process's own.
//!
//! For: entering it, and the two rules of its firewall. Not for: leaving it; it ends with the last
//! process in it.

use std::fs;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use super::traffic::RESET_MARK;

/// The number of the queue. Every namespace has queues of its own.
pub(super) const QUEUE: u16 = 0;

/// Size of packets, as on an Ethernet: the loopback's own 64 KiB would put into one packet what is
/// dozens of them anywhere else.
const PACKET_BYTES: &str = "1500";

/// Longest pause between two tries to send again what was not acknowledged. A link that heals would
/// otherwise stay as good as cut for about as long as it was.
const SEND_AGAIN_WITHIN_MS: &str = "1000";

/// Where these programs are when PATH has only those for everybody.
const ADMINISTRATORS_PATH: &str = "/usr/sbin:/sbin";

/// Proof that this process is in a network of its own.
#[derive(Clone, Copy, Debug)]
pub struct Namespace(());

/// Reason why there can be no network of our own.
#[derive(Debug, thiserror::Error)]
pub enum NamespaceError {
    /// The system does not allow it.
    #[error(
        "this system allows no network namespace ({0}); run as root, or allow unprivileged user \
         namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu, \
         kernel.unprivileged_userns_clone=1 on older Debian; in a container, add CAP_SYS_ADMIN; \
         see that user.max_net_namespaces is not 0"
    )]
    Refused(Errno),
    /// The user could not be made the administrator of the namespace.
    #[error("cannot become the administrator of a namespace of our own: {0}; run as root")]
    Identity(io::Error),
    /// A program is missing.
    #[error("cannot run '{program}': {source}; install Debian's package {package}")]
    NoProgram {
        /// Which one.
        program: &'static str,
        /// Where it comes from.
        package: &'static str,
        /// Reason why not.
        source: io::Error,
    },
    /// A program did not do what it was asked for.
    #[error("'{program}' refused to {action}: {reason}; see that this kernel has {needs}")]
    Failed {
        /// Which one.
        program: &'static str,
        /// Purpose of the command.
        action: &'static str,
        /// Answer of the command.
        reason: String,
        /// Feature that the kernel has to have for it.
        needs: &'static str,
    },
    /// The kernel hands no packets over.
    #[error("the kernel hands no packets over: {0}; see that it has the module nfnetlink_queue")]
    Queue(io::Error),
}

impl Namespace {
    /// Moves this process into a network of its own, with nothing in it but a loopback.
    ///
    /// Call it before the process has a second thread: without privileges it can be done by a
    /// process of one thread only, and with them it would not concern the others.
    ///
    /// # Errors
    /// When the system does not allow it, or lacks something for it.
    pub fn enter() -> Result<Self, NamespaceError> {
        let (user, group) = (geteuid(), getegid());
        match unshare(CloneFlags::CLONE_NEWNET) {
            Ok(()) => {}
            Err(Errno::EPERM) => {
                unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)
                    .map_err(NamespaceError::Refused)?;
                // Programs keep their rights in the namespace only as its root.
                let become_root = fs::write("/proc/self/setgroups", "deny")
                    .and_then(|()| fs::write("/proc/self/uid_map", format!("0 {user} 1")))
                    .and_then(|()| fs::write("/proc/self/gid_map", format!("0 {group} 1")));
                become_root.map_err(NamespaceError::Identity)?;
            }
            Err(error) => return Err(NamespaceError::Refused(error)),
        }
        set_up()?;
        Ok(Self(()))
    }
}

/// Makes the network ready for packets.
fn set_up() -> Result<(), NamespaceError> {
    let mut loopback = command("ip");
    loopback.args(["link", "set", "dev", "lo", "mtu", PACKET_BYTES, "up"]);
    finish(loopback, "", &IP)?;
    // Since Linux 6.15; where there is no such setting, links are a little slower to recover.
    let _ = fs::write("/proc/sys/net/ipv4/tcp_rto_max_ms", SEND_AGAIN_WITHIN_MS);
    finish(command("iptables-restore"), &rules(), &IPTABLES)?;
    // A reset cut needs it; to find that out here is better than in the middle of a run.
    let mut sockets = command("ss");
    sockets.arg("--version");
    finish(sockets, "", &SS)
}

/// A program that works on this network.
pub(super) fn command(program: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.env("PATH", format!("{path}:{ADMINISTRATORS_PATH}"));
    command
}

/// A program that sets the network up.
struct Tool {
    program: &'static str,
    package: &'static str,
    action: &'static str,
    needs: &'static str,
}

const IP: Tool = Tool {
    program: "ip",
    package: "iproute2",
    action: "bring the loopback up",
    needs: "network namespaces",
};
const IPTABLES: Tool = Tool {
    program: "iptables-restore",
    package: "iptables",
    action: "hand packets over",
    needs: "the modules nf_tables, nft_compat, xt_NFQUEUE, xt_mark and ipt_REJECT",
};
const SS: Tool = Tool {
    program: "ss",
    package: "iproute2",
    action: "say its version",
    needs: "network namespaces",
};

/// Returns the rules of the packet filter. A sender without an address of its own, such as the
/// harness when it looks at a server, comes from the loopback's first one and is left alone. While
/// nobody owns the queue, everything passes.
fn rules() -> String {
    format!(
        "*mangle\n\
         -A INPUT -p tcp ! -s 127.0.0.1 ! -d 127.0.0.1 -j NFQUEUE --queue-num {QUEUE} \
         --queue-bypass\n\
         COMMIT\n\
         *filter\n\
         -A INPUT -p tcp -m mark --mark {RESET_MARK} -j REJECT --reject-with tcp-reset\n\
         COMMIT\n"
    )
}

/// Runs a program to its end, with `input`.
fn finish(mut command: Command, input: &str, tool: &Tool) -> Result<(), NamespaceError> {
    let mut run = || {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that ends without reading it says why.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    };
    let output = run().map_err(|source| NamespaceError::NoProgram {
        program: tool.program,
        package: tool.package,
        source,
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(NamespaceError::Failed {
        program: tool.program,
        action: tool.action,
        reason: said.split_whitespace().collect::<Vec<_>>().join(" "),
        needs: tool.needs,
    })
}
