//! A line of MONITOR → who sent which command.

use std::net::{IpAddr, SocketAddr};

use crate::output::readable;

/// Length to which one argument is shown; random values are a little longer than half of it.
const WORD_MAX: usize = 64;
/// Length to which a command is shown.
const TEXT_MAX: usize = 240;
/// Longer words are the texts of scripts and the like, in which a key may stand by chance.
const NAME_MAX: usize = 512;

/// One command that a server executed.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// Sender of the command.
    pub sender: Sender,
    /// Its name and arguments.
    pub words: Vec<String>,
}

/// Sender of a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Sender {
    /// A script that runs on the server.
    Script,
    /// Somebody at this address.
    Caller(IpAddr),
}

impl Command {
    /// Reads `+1795295362.065366 [0 127.9.2.1:54846] "set" "orders" "4f2a"`; none if it is no such
    /// line. A line that was cut is read as far as it goes.
    pub fn read(line: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(line);
        let (_, rest) = line.split_once(" [")?;
        let (sender, words) = rest.split_once("] ")?;
        let (_, sender) = sender.split_once(' ')?;
        let sender = if sender == "lua" {
            Sender::Script
        } else {
            Sender::Caller(sender.parse::<SocketAddr>().ok()?.ip())
        };
        let words = unquoted(words);
        (!words.is_empty()).then_some(Self { sender, words })
    }

    /// `true` if it names `key`, or what belongs to it.
    pub fn concerns(&self, key: &str) -> bool {
        let braced = if key.contains('{') {
            key.to_owned()
        } else {
            format!("{{{key}}}")
        };
        let words = self.words.iter().skip(1);
        let mut names = words.filter(|word| word.len() <= NAME_MAX);
        names.any(|word| *word == key || word.contains(&braced))
    }

    /// The command as one reads it: without the texts of scripts, and cut where it is long.
    pub fn text(&self) -> String {
        let name = self.words[0].to_uppercase();
        let is_script = name.starts_with("EVAL");
        let words = self.words.iter().enumerate().skip(1);
        let words = words.map(|(at, word)| {
            if is_script && at == 1 {
                "(script)".to_owned()
            } else {
                cut(word, WORD_MAX)
            }
        });
        let words: Vec<String> = std::iter::once(name.clone()).chain(words).collect();
        cut(&words.join(" "), TEXT_MAX)
    }
}

fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut begin: String = text.chars().take(max - 1).collect();
    begin.push('…');
    begin
}

/// The words in quotes, with what the server escaped as it was.
fn unquoted(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut letters = text.bytes();
    while letters.any(|letter| letter == b'"') {
        let mut word = Vec::new();
        while let Some(letter) = letters.next() {
            match letter {
                b'"' => break,
                b'\\' => word.extend(unescaped(&mut letters)),
                other => word.push(other),
            }
        }
        words.push(in_one_line(&word));
    }
    words
}

/// A word as text, with blanks for the ends of lines and the tabs of a script.
fn in_one_line(word: &[u8]) -> String {
    let is_blank = |c: char| matches!(c, '\n' | '\r' | '\t');
    match std::str::from_utf8(word) {
        Ok(text) => readable(text.replace(is_blank, " ").as_bytes()),
        Err(_) => readable(word),
    }
}

/// The byte that stands behind a backslash; none at the end of a line that was cut.
fn unescaped(letters: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let mut digit = || letters.next();
    match digit()? {
        b'x' => {
            let digits = [digit()?, digit()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        }
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'a' => Some(0x07),
        b'b' => Some(0x08),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Command {
        Command::read(line.as_bytes()).expect("a line of MONITOR")
    }

    #[test]
    fn a_line_says_who_sent_what() {
        let set =
            command("+1.5 [0 127.9.2.1:54846] \"set\" \"a \\\"b\\\"\" \"\\x00v\" \"PX\" \"9\"");
        assert_eq!(set.sender, Sender::Caller([127, 9, 2, 1].into()));
        assert_eq!(set.words, ["set", "a \"b\"", "0x0076", "PX", "9"]);
        let script = command("1.5 [0 lua] \"del\" \"orders\"");
        assert_eq!(script.sender, Sender::Script);
        assert_eq!(script.text(), "DEL orders");
    }

    #[test]
    fn a_command_concerns_the_keys_that_it_names_and_what_belongs_to_them() {
        let key = "orders";
        let concerns = |words: &str| command(&format!("1 [0 lua] {words}")).concerns(key);
        assert!(concerns("\"get\" \"orders\""));
        assert!(concerns(
            "\"publish\" \"redisson_lock__channel:{orders}\" \"0\""
        ));
        assert!(!concerns("\"get\" \"orders-2\""));
        assert!(!concerns("\"orders\""), "the name of a command is no key");
    }

    #[test]
    fn scripts_and_long_values_do_not_fill_the_page() {
        let long = "v".repeat(1000);
        let eval = command(&format!(
            "1 [0 127.9.2.1:1] \"eval\" \"return 1\\nor 2\" \"1\" \"orders\" \"{long}\""
        ));
        let text = eval.text();
        assert!(text.starts_with("EVAL (script) 1 orders vvv"), "{text}");
        assert!(text.ends_with("v…") && text.len() < 120, "{text}");
    }

    #[test]
    fn what_is_no_command_is_passed_over_and_what_is_cut_is_read_as_far_as_it_goes() {
        for odd in [
            "",
            "+OK",
            "1 [0 lua]",
            "1 [0 lua] ",
            "1 [x] \"get\"",
            "1 [0 unix:/s] \"get\"",
        ] {
            assert_eq!(Command::read(odd.as_bytes()), None, "{odd}");
        }
        assert_eq!(command("1 [0 lua] \"get\" \"ord").words, ["get", "ord"]);
        assert_eq!(command("1 [0 lua] \"get\" \"ord\\").words, ["get", "ord"]);
        assert_eq!(command("1 [0 lua] \"get\" \"ord\\x").words, ["get", "ord"]);
        assert!(Command::read(&[0xff, b' ', b'[', b'0', b' ', b'l', b'u', b'a', b']']).is_none());
    }
}
