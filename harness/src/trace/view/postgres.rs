//! The view of a server of PostgreSQL: the row of a lock, or the connection that holds its number.

use lockstorm_checker::history::{Name, NodeView, Until};

use super::{PATIENCE, Views};
use crate::connection::{PostgresWire, ask_sql, postgres_literal};
use crate::locks::{mark_of_connection, number_of_lock};
use crate::server::Node;
use crate::trace::marks::Marks;
use crate::trace::roles::{PRIMARY, REPLICA};

/// Role of a server and its view of each lock; the error is in words.
pub async fn look(node: &Node, keys: &[Name], marks: &Marks) -> Result<Views, String> {
    let rank = node.server().rank().await;
    let leads = rank.map_err(|error| error.to_string())?.leads;
    let role = if leads { PRIMARY } else { REPLICA };
    let mut found = Vec::with_capacity(keys.len());
    for key in keys {
        found.push(Some(look_for(node, key, marks).await?));
    }
    Ok((Some(role.into()), found))
}

async fn look_for(node: &Node, lock: &str, marks: &Marks) -> Result<NodeView, String> {
    let name = postgres_literal(lock);
    let number = number_of_lock(lock).cast_unsigned();
    let (high, low) = (number >> 32, number & u64::from(u32::MAX));
    // A server says itself how much of a lease is left: clocks differ.
    let question = format!(
        "SELECT encode(held.owner, 'escape'), \
         ceil(extract(epoch FROM held.expires - clock_timestamp()) * 1000)::bigint, \
         (SELECT min(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted \
         AND classid = {high} AND objid = {low}) \
         FROM (SELECT 1) AS one LEFT JOIN lockstorm.leases AS held \
         ON held.name = {name} AND held.expires > clock_timestamp()"
    );
    let answer = ask_sql::<PostgresWire>(node.private, &question, PATIENCE).await?;
    let row = answer.value().map(|owner| (owner.to_owned(), "a row of"));
    let connection = answer.of_row(2).map(mark_of_connection);
    let connection = connection.map(|mark| (mark, "its number, held by"));
    let until = row.is_none().then_some(Until::SessionEnd);
    let Some((mark, what)) = row.or(connection) else {
        return Ok(NodeView::default());
    };
    let owner = marks.owner(&mark);
    let content = owner.is_none().then(|| format!("{what} '{mark}'").into());
    Ok(NodeView {
        held_by: owner.into_iter().collect(),
        content,
        until,
        left_ms: answer.of_row(1).and_then(|left| left.parse().ok()),
        ..NodeView::default()
    })
}
