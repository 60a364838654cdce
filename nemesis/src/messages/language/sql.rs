//! Statements in SQL, as far as it takes to tell what they ask for.

/// Statements that set up a connection or look at it, and begin a transaction in which nothing was
/// done yet.
const OF_THE_WAY: [&str; 9] = [
    "BEGIN",
    "DEALLOCATE",
    "DISCARD",
    "PREPARE",
    "RESET",
    "SET",
    "SHOW",
    "START",
    "USE",
];

/// The first word, in capitals, of the first statement that may say something of a lock.
pub(super) fn command(statements: &[u8]) -> Option<String> {
    let statements = String::from_utf8_lossy(statements);
    statements.split(';').find_map(word)
}

fn word(statement: &str) -> Option<String> {
    let letters = statement.trim().chars();
    let word: String = letters.take_while(char::is_ascii_alphabetic).collect();
    let word = word.to_ascii_uppercase();
    // A client looks up what its connection is like.
    let asks_of_connection = word == "SELECT" && statement.contains("@@");
    let is_of_the_way = OF_THE_WAY.contains(&&*word) || asks_of_connection;
    (!word.is_empty() && !is_of_the_way).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_called_by_its_first_word_unless_it_only_sets_up() {
        let named = |text: &str| command(text.as_bytes());
        assert_eq!(named(" select get_lock('x', 1)").as_deref(), Some("SELECT"));
        assert_eq!(named("DELETE FROM locks;").as_deref(), Some("DELETE"));
        assert_eq!(named("SET NAMES utf8mb4"), None);
        assert_eq!(named("SELECT @@version"), None);
        let two = "BEGIN; SELECT pg_advisory_xact_lock(1)";
        assert_eq!(named(two).as_deref(), Some("SELECT"));
        assert_eq!(named(""), None);
    }
}
