//! Locks of databases.

mod advisory;
mod get_lock;
mod row_lease;
mod session_lock;
mod transaction_advisory;
mod unique_index;

pub use advisory::{PostgresAdvisory, number_of_lock};
pub use get_lock::MysqlGetLock;
pub use row_lease::PostgresRowLease;
pub use session_lock::mark_of_connection;
pub use transaction_advisory::TransactionAdvisory as PostgresAdvisoryXact;
pub use unique_index::MysqlUniqueIndex;
