//! The view of a member of ZooKeeper: the first node in line for a lock, as far as this member
//! knows.

use lockstorm_checker::history::{Name, NodeView, Until};

use super::Views;
use crate::connection::{Ephemerals, four_letters};
use crate::server::Node;
use crate::trace::marks::Marks;
use crate::trace::roles::{FOLLOWER, LEADER};

/// Role of a member and its view of each lock; the error is in words.
pub async fn look(node: &Node, keys: &[Name], marks: &Marks) -> Result<Views, String> {
    let rank = node.server().rank().await;
    let leads = rank.map_err(|error| error.to_string())?.leads;
    let role = if leads { LEADER } else { FOLLOWER };
    let said = four_letters(node.private, "dump", super::PATIENCE).await?;
    let known = Ephemerals::read(&said)?;
    let view = |key: &Name| Some(view(&known, key, marks));
    Ok((Some(role.into()), keys.iter().map(view).collect()))
}

fn view(known: &Ephemerals, lock: &str, marks: &Marks) -> NodeView {
    let places = known.of(lock);
    let Some(node) = places.first().and_then(|path| path.rsplit('/').next()) else {
        return NodeView::default();
    };
    let owner = marks.owner(node);
    let content = owner.is_none().then(|| format!("the node '{node}'").into());
    NodeView {
        held_by: owner.into_iter().collect(),
        content,
        until: Some(Until::SessionEnd),
        ..NodeView::default()
    }
}
