//! Rows left in the database of orders, beside what the checker says of it: the damage is real.

use std::path::Path;

use crate::support::{have_server, root, run_scenario, stderr};
use rusqlite::Connection;

/// Runs an experiment on the order job; gives the number of orders that were closed and the pieces
/// that were given back for them.
fn closed_and_given_back(scenario: &str) -> (u32, u32) {
    let scenario = root().join("scenarios/library/origin").join(scenario);
    let scenario = scenario.to_str().expect("a plain name");
    let out = tempfile::tempdir().expect("a temporary folder can be made");
    let output = run_scenario(scenario, out.path(), &["--report", "none"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let database = out.path().join("latest/orders.sqlite");
    let count = |sql| number(&database, sql);
    (
        count("SELECT count(*) FROM orders WHERE status = 'closed'"),
        count("SELECT pieces FROM stock"),
    )
}

fn number(database: &Path, sql: &str) -> u32 {
    let connection = Connection::open(database).expect("the run has left its database");
    let row = connection.query_row(sql, [], |row| row.get(0));
    row.expect("it answers")
}

#[test]
fn without_a_lock_more_stock_is_given_back_than_was_ordered_and_with_it_as_much() {
    if !have_server() {
        return;
    }
    let (closed, given_back) = closed_and_given_back("o01-orders-without-a-lock.toml");
    assert!(closed > 0, "the job has done something");
    assert!(
        given_back > closed,
        "{given_back} pieces for {closed} orders"
    );
    let (closed, given_back) = closed_and_given_back("o01-orders-with-the-lock.toml");
    assert!(closed > 0, "the job has done something");
    assert_eq!(given_back, closed);
}

#[test]
fn a_failover_gives_the_stock_back_twice_unless_the_database_looks_at_tokens() {
    if !have_server() {
        return;
    }
    let twice = closed_and_given_back("o01-orders-after-a-failover.toml");
    assert_eq!(twice, (3, 6));
    let once = closed_and_given_back("o01-orders-with-fencing.toml");
    assert_eq!(once, (3, 3));
}
