//! Text without the passwords in it, for whatever is shown or written down.
//!
//! Those who mistype a URL or a key are shown what they wrote, and CI keeps it for everybody to
//! read. So whatever may be a password is taken for one; that a little too much is hidden hurts
//! nobody.

use std::ops::Range;

use super::server_url::whole_variable;

/// The beginning of a URL without TLS, and of one with it.
pub(super) const SCHEMES: [(&str, bool); 2] = [("redis://", false), ("rediss://", true)];
/// Takes the place of a password in a scenario that is written down: whoever runs it again sets it.
const PASSWORD_VARIABLE: &str = "LOCKSTORM_PASSWORD";
/// Part of the names of keys whose values are passwords, in small letters.
const KEY: &str = "password";
/// The key whose value is the name of a variable.
const NAMING_KEY: &str = "password-env";
/// Signs in which a string of TOML stands, and in which messages quote.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// The text with stars in the place of every password in it, as long as it was.
pub fn without_passwords(text: &str) -> String {
    let mut secrets = of_urls(text);
    secrets.extend(of_keys(text));
    let mut shown = text.as_bytes().to_vec();
    for secret in secrets {
        shown[secret].fill(b'*');
    }
    String::from_utf8(shown).expect("whole characters have become stars")
}

/// The text with a variable of the environment in the place of every password of a URL in it: what
/// it says can be done again by whoever knows the password.
pub fn with_password_variable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = SCHEMES.iter().filter_map(|(s, _)| rest.find(s)).min() {
        let ends = |c: char| c == '\n' || QUOTES.contains(&c);
        let end = rest[start..].find(ends).map_or(rest.len(), |n| start + n);
        let url = &rest[start..end];
        shown.push_str(&rest[..start]);
        match secret_in(url) {
            Some(secret) => {
                shown.push_str(&url[..secret.start]);
                shown.extend(["${", PASSWORD_VARIABLE, "}"]);
                shown.push_str(&url[secret.end..]);
            }
            None => shown.push_str(url),
        }
        rest = &rest[end..];
    }
    shown + rest
}

/// Where the password of a URL stands, unless it is a variable of the environment.
fn secret_in(url: &str) -> Option<Range<usize>> {
    let (scheme, _) = SCHEMES.iter().find(|(begin, _)| url.starts_with(begin))?;
    let start = scheme.len();
    let entry = match url.rfind('@') {
        Some(at) if at >= start => start..at,
        // Perhaps its host was forgotten: what is no port may be a password.
        Some(_) | None => {
            let end = url[start..].find('/').map_or(url.len(), |n| start + n);
            let colon = url[start..end].find(':').map(|n| start + n + 1)?;
            let is_port = url[colon..end].bytes().all(|byte| byte.is_ascii_digit());
            let open = !is_port && !url[start..end].starts_with('[');
            let hides = open && whole_variable(&url[colon..end]).is_none();
            // A slash may be part of it.
            return hides.then_some(colon..url.len());
        }
    };
    let colon = url[entry.clone()].find(':')? + start + 1;
    let secret = colon..entry.end;
    let public = secret.is_empty() || whole_variable(&url[secret.clone()]).is_some();
    (!public).then_some(secret)
}

/// Where the passwords of URLs stand, be they written as they should be or not.
fn of_urls(text: &str) -> Vec<Range<usize>> {
    // Who names a variable of the password may name a user alone.
    let users_are_public = text.contains(NAMING_KEY);
    let mut secrets = Vec::new();
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        let mut at = line_start;
        let mut open = false;
        for piece in line.split(QUOTES) {
            let range = entry_in(piece, open, users_are_public);
            secrets.extend(range.map(|range| at + range.start..at + range.end));
            open |= piece.contains("://") && !piece.contains('@');
            at += piece.len() + 1;
        }
        line_start += line.len();
    }
    secrets
}

/// Finds what may be a password in a piece of text without quotes: whatever stands before an `@`,
/// without the scheme and the user, or between the last colon and the end where a URL has no `@`.
/// `open` tells that a URL has begun before, and a quote may be part of its password.
fn entry_in(piece: &str, open: bool, users_are_public: bool) -> Option<Range<usize>> {
    let Some(end) = piece.rfind('@') else {
        let start = SCHEMES.iter().filter_map(|(s, _)| piece.find(s)).min()?;
        let url = piece[start..].trim_end();
        return secret_in(url).map(|secret| start + secret.start..start + secret.end);
    };
    let before = &piece[..end];
    let scheme = before.find("://").map(|at| at + "://".len());
    let start = scheme.unwrap_or(0);
    let colon = before[start..].find(':').map(|at| start + at + 1);
    let secret = match (colon, scheme) {
        (Some(colon), _) => colon..end,
        (None, Some(_)) if !users_are_public => start..end,
        (None, None) if open => 0..end,
        (None, Some(_) | None) => return None,
    };
    let public = secret.is_empty() || whole_variable(&piece[secret.clone()]).is_some();
    (!public).then_some(secret)
}

/// Where the values of keys stand that are called passwords.
fn of_keys(text: &str) -> Vec<Range<usize>> {
    let small = text.to_ascii_lowercase();
    let mut secrets = Vec::new();
    let mut at = 0;
    while let Some(found) = small[at..].find(KEY) {
        let key = at + found;
        at = key + KEY.len();
        let of_key = |c: char| c.is_ascii_alphanumeric() || "-_.\"' \t".contains(c);
        let rest = &text[at..];
        let length = rest.find(|c: char| !of_key(c)).unwrap_or(rest.len());
        if !rest[length..].starts_with(['=', ':']) {
            continue;
        }
        let sign = at + length + 1;
        let blanks = text[sign..].len() - text[sign..].trim_start_matches([' ', '\t']).len();
        let value = value_at(text, sign + blanks);
        let is_variable =
            text[key..].starts_with(NAMING_KEY) && is_usual_variable(&text[value.clone()]);
        if !is_variable && whole_variable(&text[value.clone()]).is_none() {
            secrets.push(value.clone());
        }
        at = at.max(value.end);
    }
    secrets
}

/// Where the value lies that begins at `at`, without its quotes.
fn value_at(text: &str, at: usize) -> Range<usize> {
    let rest = &text[at..];
    for quote in ["\"\"\"", "'''"] {
        if rest.starts_with(quote) {
            let start = at + quote.len();
            let end = text[start..].find(quote);
            return start..end.map_or(text.len(), |end| start + end);
        }
    }
    let line = rest.find('\n').map_or(text.len(), |end| at + end);
    match rest.chars().next().filter(|c| QUOTES.contains(c)) {
        // A quote in the middle of it may be part of it: the last one of the line that can end it.
        Some(quote) => {
            let start = at + 1;
            let ends = |end: usize| {
                let after = text[start + end + 1..line].trim_start();
                after.is_empty() || after.starts_with([',', '}', ']', '#'])
            };
            let mut quotes = text[start..line].match_indices(quote).map(|(end, _)| end);
            let end = quotes.find(|end| ends(*end));
            start..end.map_or(line, |end| start + end)
        }
        None => at..line,
    }
}

/// Tells whether a variable of the environment is usually called so.
pub(crate) fn is_usual_variable(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && name.chars().all(usual)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_take_the_place_of_passwords_and_nothing_moves() {
        let text = "urls = [\"redis://a:s3cret@h\", 'rediss://:p@ss@h/1'] # redis://h:6379";
        let shown = without_passwords(text);
        assert_eq!(
            shown,
            "urls = [\"redis://a:******@h\", 'rediss://:****@h/1'] # redis://h:6379"
        );
        assert_eq!(shown.len(), text.len());
        assert_eq!(without_passwords("redis://a:s3cret"), "redis://a:******");
    }

    #[test]
    fn what_is_no_password_stays() {
        for text in [
            "redis://a:${P}@h",
            "redis://[::1]:7000",
            "redis://db.example.org:6379/2",
            "urls = [\"redis://app@h\"], password-env = \"REDIS_PASSWORD\"",
            "command = [\"npx\", \"@scope/tool\"]",
            "name = \"a\"\nlock.token = { lease = \"2s\" }\n",
            "# the password comes from the environment",
            "password = \"${SECRET}\"",
        ] {
            assert_eq!(without_passwords(text), text);
        }
    }

    #[test]
    fn a_run_can_be_repeated_by_who_knows_the_password() {
        for (text, shown) in [
            ("redis://a:s3cret@h", "redis://a:${LOCKSTORM_PASSWORD}@h"),
            (
                "redis://app: s3cret@h",
                "redis://app:${LOCKSTORM_PASSWORD}@h",
            ),
            (
                "urls=[\"redis://a:b@h\",\"redis://c@h\"]",
                "urls=[\"redis://a:${LOCKSTORM_PASSWORD}@h\",\"redis://c@h\"]",
            ),
        ] {
            assert_eq!(with_password_variable(text), shown);
        }
    }

    /// How a URL, or what has the password, comes to be mistyped.
    const MISTYPED: [&str; 26] = [
        "urls = [\"redis://app:PW@h\"]",
        "urls = [\"redis//app:PW@h\"]",
        "urls = [\"redis:/app:PW@h\"]",
        "urls = [\"redis:app:PW@h\"]",
        "urls = [\"redis:///app:PW@h\"]",
        "urls = [\"app:PW@h\"]",
        "urls = [\":PW@h\"]",
        "urls = [\"REDIS://app:PW@h\"]",
        "urls = [\"http://app:PW@h\"]",
        "urls = [\"redis+tls://app:PW@h\"]",
        "urls = [\"redis-sentinel://app:PW@h:1\"]",
        "urls = [\"unix://app:PW@/run/redis\"]",
        "urls = [\"redis://PW@h\"]",
        "urls = [\"redis://app: PW@h\"]",
        "urls = [ redis://app:PW@h ]",
        "urls = [\"redis://app:PW@h\", \"redis://app:PW@g\"]",
        "urls = \"redis://app:PW@h",
        "url = 'redis://app:PW'",
        "password = \"PW\"",
        "Password = 'PW'",
        "\"password\" = \"PW\"",
        "password-env = \"PW\"",
        "password_env = \"PW\", prefix = \"a\"",
        "topology.external.password=PW",
        "topology = { external = { password = \"PW\" } }",
        "password = \"\"\"PW\n\"\"\"",
    ];

    proptest! {
        #[test]
        fn no_mistyping_shows_the_password(
            form in prop::sample::select(MISTYPED.to_vec()),
            // No sign that ends a string of TOML, which would be another mistake.
            password in "[a-z][A-Za-z0-9!$%&*+./;<>?^|~@:/ äß-]{5,20}[a-z0-9]",
        ) {
            // Alone, what stands before a colon is taken for a user.
            let is_alone = form.contains("//PW");
            let password = if is_alone { password.replace(':', ";") } else { password };
            // Of a password with a scheme in it nobody can tell where the URL begins.
            let password = password.replace("://", ";;;");
            // Without a host, what stands behind an @ is taken for one.
            let has_host = form.contains("PW@") || !form.contains("://");
            let password = if has_host { password } else { password.replace('@', ";") };
            let text = form.replace("PW", &password);
            let shown = without_passwords(&text);
            prop_assert_eq!(shown.len(), text.len());
            prop_assert!(!shown.contains(&password), "{} became {}", text, shown);
            // Nor a part of it that is worth anything.
            let inner: String = password.chars().skip(1).take(5).collect();
            prop_assert!(!shown.contains(&inner), "{} became {}", text, shown);
        }

        #[test]
        fn any_text_is_masked_without_a_panic(text in any::<String>()) {
            prop_assert_eq!(without_passwords(&text).len(), text.len());
            with_password_variable(&text);
        }
    }
}
