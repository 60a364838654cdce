//! Network that stands in the path of the links of a run.

use std::net::{IpAddr, SocketAddr};

use lockstorm_nemesis::{Fabric, Guest, Kernel, Namespace, Network};
use lockstorm_scenarios::System;

use super::node::Node;
use super::shape::Shape;
use crate::environment_error::EnvironmentError;

/// Choice of what is to stand in the path.
#[derive(Clone, Copy, Debug, Default)]
pub enum Wiring {
    /// Nothing: links cannot be faulted.
    #[default]
    Direct,
    /// The fabric, which carries streams and needs no privilege.
    Fabric {
        /// It tells one message from the next.
        reads_messages: bool,
    },
    /// The kernel's own network of packets, in a namespace that this process is in.
    Kernel(Namespace),
}

impl Wiring {
    /// Address on which the server listens that everybody finds at `public`.
    pub(super) const fn behind(self, public: SocketAddr, private: SocketAddr) -> SocketAddr {
        match self {
            Self::Fabric { .. } => private,
            Self::Direct | Self::Kernel(_) => public,
        }
    }
}

/// Network that stands in the path.
pub(super) enum Wires {
    Direct,
    Fabric(Fabric),
    Kernel(Kernel),
}

impl Wires {
    /// Puts it there, for these nodes.
    pub(super) async fn lay(
        wiring: Wiring,
        system: System,
        nodes: &[Node],
        shape: &dyn Shape,
    ) -> Result<Self, EnvironmentError> {
        match wiring {
            Wiring::Direct => Ok(Self::Direct),
            Wiring::Fabric { reads_messages } => {
                let fabric = if reads_messages {
                    Fabric::of_messages(system)
                } else {
                    Fabric::new(system)
                };
                expose(&fabric, nodes, shape).await?;
                Ok(Self::Fabric(fabric))
            }
            Wiring::Kernel(namespace) => {
                let kernel = Kernel::open(namespace)?;
                for node in nodes {
                    kernel.introduce(&node.name, node.public.ip());
                }
                Ok(Self::Kernel(kernel))
            }
        }
    }

    /// Opens a port of its own on every node for a client; `false` where no fabric is there.
    pub(super) async fn admit(
        &self,
        guest: &Guest,
        nodes: &[Node],
    ) -> Result<bool, EnvironmentError> {
        let Self::Fabric(fabric) = self else {
            return Ok(false);
        };
        for node in nodes {
            let own = SocketAddr::new(node.public.ip(), guest.port);
            fabric
                .admit(guest, &node.name, node.public, node.private)
                .await
                .map_err(EnvironmentError::io("listen on", own.to_string()))?;
        }
        Ok(true)
    }

    /// Says whose address `ip` is.
    pub(super) fn introduce(&self, name: &str, ip: IpAddr) {
        match self {
            Self::Direct => {}
            Self::Fabric(fabric) => fabric.introduce(name, ip),
            Self::Kernel(kernel) => kernel.introduce(name, ip),
        }
    }

    /// Takes a fabric away, and waits until its connections are ended.
    pub(super) async fn close(&self) {
        if let Self::Fabric(fabric) = self {
            fabric.close().await;
        }
    }

    /// Network as faults see it; `None` where no link can be faulted.
    pub(super) fn network(&self) -> Option<&dyn Network> {
        match self {
            Self::Direct => None,
            Self::Fabric(fabric) => Some(fabric),
            Self::Kernel(kernel) => Some(kernel),
        }
    }

    /// Name that reports give it.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Fabric(_) => "fabric",
            Self::Kernel(_) => "kernel",
        }
    }
}

/// Puts a listener at each public address of these nodes.
async fn expose(
    fabric: &Fabric,
    nodes: &[Node],
    shape: &dyn Shape,
) -> Result<(), EnvironmentError> {
    for node in nodes {
        let private = shape.doors(node.private);
        for (public, private) in shape.doors(node.public).into_iter().zip(private) {
            fabric
                .expose(&node.name, public, private)
                .await
                .map_err(EnvironmentError::io("listen on", public.to_string()))?;
        }
    }
    Ok(())
}
