//! Ports of a client's own, by which it finds the servers that all find by another.

/// Ports by which a client and everybody else find the same servers; of as many digits.
pub(crate) struct Ports {
    /// Port that the servers know of.
    pub(crate) of_all: String,
    /// Port that the client knows of.
    pub(crate) own: String,
}

impl Ports {
    /// Replaces the number wherever it stands by itself.
    pub(super) fn translate(&self, text: &mut [u8]) {
        let (from, to) = (self.of_all.as_bytes(), self.own.as_bytes());
        let is_digit = |at: Option<usize>, text: &[u8]| {
            at.and_then(|at| text.get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        let mut at = 0;
        while at + from.len() <= text.len() {
            let end = at + from.len();
            let is_number = text[at..end] == *from
                && !is_digit(at.checked_sub(1), text)
                && !is_digit(Some(end), text);
            if is_number && from.len() == to.len() {
                text[at..end].copy_from_slice(to);
                at = end;
            } else {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_translated_where_it_stands_by_itself() {
        let ports = Ports {
            of_all: "26279".to_owned(),
            own: "26281".to_owned(),
        };
        let told = |text: &str| {
            let mut text = text.as_bytes().to_vec();
            ports.translate(&mut text);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(told(":26279\r\n"), ":26281\r\n");
        assert_eq!(told("$6\r\n126279\r\n"), "$6\r\n126279\r\n");
    }
}
