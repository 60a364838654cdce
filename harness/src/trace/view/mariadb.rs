//! The view of a server of MariaDB: the row of a lock, or the connection that holds its name.

use lockstorm_checker::history::{Name, NodeView, Until};

use super::{PATIENCE, Views};
use crate::connection::{MysqlWire, ask_sql, mysql_literal};
use crate::locks::mark_of_connection;
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
    let name = mysql_literal(lock);
    let question = format!(
        "SELECT (SELECT owner FROM lockstorm.locks WHERE name = {name}), IS_USED_LOCK({name})"
    );
    let answer = ask_sql::<MysqlWire>(node.private, &question, PATIENCE).await?;
    let row = answer.value().map(|owner| (owner.to_owned(), "a row of"));
    let connection = answer.of_row(1).map(mark_of_connection);
    let connection = connection.map(|mark| (mark, "the name, held by"));
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
        ..NodeView::default()
    })
}
