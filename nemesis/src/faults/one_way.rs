//! A rule on every link from some places to others; the way back stays as it is.

use async_trait::async_trait;
use lockstorm_checker::history::FaultTarget;

use super::links::{Links, Rule, members};
use crate::deployment::Deployment;
use crate::error::FaultError;
use crate::fault::{Evidence, Fault, Sighting};

/// A fault of one direction.
pub(super) struct OneWay<R> {
    /// A node, a client, or a word for several.
    from: String,
    to: String,
    links: Links<R>,
    target: Option<FaultTarget>,
}

impl<R> OneWay<R>
where
    R: Rule + 'static,
{
    /// From whatever `from` means to whatever `to` means.
    pub(super) fn fault(from: String, to: String, rule: R) -> Box<dyn Fault> {
        Box::new(Self {
            from,
            to,
            links: Links::new(rule),
            target: None,
        })
    }
}

#[async_trait]
impl<R: Rule> Fault for OneWay<R> {
    async fn inject(&mut self, on: &dyn Deployment) -> Result<(), FaultError> {
        if on.network().is_none() {
            // Where nothing can be broken, who is asked for matters no more.
            return Err(FaultError::NoNetwork);
        }
        let (sources, sinks) = (members(on, &self.from).await?, members(on, &self.to).await?);
        let mut pairs = Vec::new();
        for from in &sources {
            for to in sinks.iter().filter(|to| *to != from) {
                pairs.push((from.clone(), to.clone()));
            }
        }
        if pairs.is_empty() {
            return Err(FaultError::Node {
                action: "break a link of",
                node: self.from.clone(),
                reason: format!("it has no link to '{}'", self.to),
            });
        }
        self.links.lay(on, pairs).await?;
        self.target = Some(FaultTarget::Link {
            from: sources.iter().map(|name| name.as_str().into()).collect(),
            to: sinks.iter().map(|name| name.as_str().into()).collect(),
        });
        Ok(())
    }

    async fn observe(&mut self, on: &dyn Deployment) -> Sighting {
        self.links.observe(on)
    }

    async fn heal(&mut self, on: &dyn Deployment) -> Result<Evidence, FaultError> {
        Ok(self.links.heal(on))
    }

    fn target(&self) -> Option<FaultTarget> {
        self.target.clone()
    }
}
