//! Where a server that someone else runs is found, and by which name and password it is entered.
//!
//! A password may stand in a URL, and is seen nowhere else: written down, printed or shown in an
//! error, a URL has stars or a variable of the environment in its place.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::percent_decode_str;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer};

use super::mask::{SCHEMES, with_password_variable};

/// Redis's own port.
const USUAL_PORT: u16 = 6379;
/// Databases of a server at most: far more than any has.
const DATABASE_MAX: u32 = 1_000_000;

/// `redis://user:password@host:port/database`, or `rediss://` for TLS. Each part may come from the
/// environment, as `${VARIABLE}`, and so may the whole.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ServerUrl(String);

/// Text that must not be seen.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Content of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPlace {
    /// True if it takes TLS only.
    pub tls: bool,
    /// Name or address of the machine.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Number of its database.
    pub database: u32,
    /// User that enters; absent means the server's default user.
    pub user: Option<String>,
    /// By which password.
    pub password: Option<Secret>,
}

/// Mistakes in a URL. None of it quotes the URL: a mistyped one may have its password anywhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Another scheme, or none.
    #[error("the url begins with neither redis:// nor rediss://")]
    Scheme,
    /// There is nothing where the host should be.
    #[error("the url names no host")]
    Host,
    /// The port is none.
    #[error("the port of the url is no number from 1 to 65535")]
    Port,
    /// Something else than the number of a database follows.
    #[error("after the port, a url takes nothing but the number of a database")]
    Database,
    /// The environment does not say what it was to say.
    #[error("the environment variable {0} is not set")]
    Unset(String),
    /// A `${` without its end, or without a name.
    #[error("the url has a ${{ that is no ${{VARIABLE}}")]
    Variable,
    /// A user without a password; perhaps the name is the password.
    #[error("the url names a user and no password")]
    UserAlone,
    /// A user or password that is no text.
    #[error("the user or password of the url is not UTF-8 once its %XX are read")]
    Encoding,
}

/// Says what a variable of the environment holds.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Secret {
    /// For those who need it to enter.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl ServerUrl {
    /// Takes it as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Tells whether it has the form of a URL, whatever the environment will say.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), UrlError> {
        // Any variable that is asked for has a value that suits every place but the whole.
        match whole_variable(&self.0) {
            Some(_) => Ok(()),
            None => read(&self.0, &|_| Some("1".to_owned())).map(|_| ()),
        }
    }

    /// Tells whether it names somebody who enters without a password.
    pub(crate) fn names_user_alone(&self) -> bool {
        let place = read(&self.0, &|_| Some("1".to_owned()));
        place.is_ok_and(|place| place.user.is_some() && place.password.is_none())
    }

    /// Reads the URL, with what the environment has to add.
    ///
    /// # Errors
    /// What is wrong with it, or missing.
    pub fn read(&self, variable: Lookup<'_>) -> Result<ServerPlace, UrlError> {
        match whole_variable(&self.0) {
            Some(name) => {
                let text = variable(name).ok_or_else(|| UrlError::Unset(name.to_owned()))?;
                read(&text, variable)
            }
            None => read(&self.0, variable),
        }
    }

    /// Tells whether it asks for TLS; `None` where only the environment knows.
    pub fn tls(&self) -> Option<bool> {
        let scheme = SCHEMES.iter().find(|(begin, _)| self.0.starts_with(begin));
        scheme.map(|(_, tls)| *tls)
    }

    /// The variables of the environment that the password comes from, or all of it.
    pub(super) fn secret_variables(&self) -> Vec<String> {
        let whole = whole_variable(&self.0).map(str::to_owned);
        let entry = self.0.rsplit_once('@').map_or("", |(entry, _)| entry);
        let parts = entry.split("${").skip(1);
        let names = parts.filter_map(|part| Some(part.split_once('}')?.0.to_owned()));
        whole.into_iter().chain(names).collect()
    }

    /// Returns the URL with a variable of the environment in the place of a password.
    fn presentable(&self) -> String {
        with_password_variable(&self.0)
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.presentable())
    }
}

impl Serialize for ServerUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.presentable())
    }
}

impl JsonSchema for ServerUrl {
    fn schema_name() -> Cow<'static, str> {
        "ServerUrl".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Such as \"redis://user@host:6379\", or rediss:// for TLS. Each part, \
                            and the whole, may come from the environment, as \"${VARIABLE}\".",
            "type": "string",
        })
    }
}

/// The name in a text that is `${NAME}` and nothing else.
pub(super) fn whole_variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    is_variable(name).then_some(name)
}

/// Tells whether a variable of the environment can be called so.
pub fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Text with each `${VARIABLE}` replaced.
///
/// # Errors
/// One that is not set, or is none.
pub fn with_variables(text: &str, variable: Lookup<'_>) -> Result<String, UrlError> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}').ok_or(UrlError::Variable)?;
        if !is_variable(name) {
            return Err(UrlError::Variable);
        }
        whole += before;
        whole += &variable(name).ok_or_else(|| UrlError::Unset(name.to_owned()))?;
        rest = after;
    }
    Ok(whole + rest)
}

fn read(url: &str, variable: Lookup<'_>) -> Result<ServerPlace, UrlError> {
    let scheme = SCHEMES.iter().find(|(begin, _)| url.starts_with(begin));
    let (scheme, tls) = scheme.ok_or(UrlError::Scheme)?;
    let rest = &url[scheme.len()..];
    let (entry, rest) = match rest.rsplit_once('@') {
        Some((entry, rest)) => (Some(entry), rest),
        None => (None, rest),
    };
    let (user, password) = match entry.map(|entry| entry.split_once(':').unwrap_or((entry, ""))) {
        Some((user, password)) => (
            entered(user, variable)?,
            entered(password, variable)?.map(Secret),
        ),
        None => (None, None),
    };
    let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = split_place(place);
    let host = with_variables(host, variable)?;
    if host.is_empty() || host.contains(['?', '#', ' ']) {
        return Err(UrlError::Host);
    }
    let port = match port {
        None => USUAL_PORT,
        Some(port) => {
            let port = with_variables(port, variable)?;
            port.parse()
                .ok()
                .filter(|&port| port > 0)
                .ok_or(UrlError::Port)?
        }
    };
    let database = match with_variables(database, variable)?.as_str() {
        "" => 0,
        number => number
            .parse()
            .ok()
            .filter(|&n| n <= DATABASE_MAX)
            .ok_or(UrlError::Database)?,
    };
    Ok(ServerPlace {
        tls: *tls,
        host,
        port,
        database,
        user,
        password,
    })
}

/// Host and port; an address of IPv6 stands in brackets, which are left out.
fn split_place(place: &str) -> (&str, Option<&str>) {
    if let Some((host, port)) = place
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return (host, port.strip_prefix(':'));
    }
    place
        .split_once(':')
        .map_or((place, None), |(host, port)| (host, Some(port)))
}

/// A user or password: what stands in the URL is encoded as URLs are, what comes from the
/// environment is as it is. `None` where there is nothing.
fn entered(text: &str, variable: Lookup<'_>) -> Result<Option<String>, UrlError> {
    let text = if whole_variable(text).is_some() {
        with_variables(text, variable)?
    } else {
        let decoded = percent_decode_str(text).decode_utf8();
        decoded.map_err(|_| UrlError::Encoding)?.into_owned()
    };
    Ok(Some(text).filter(|text| !text.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        let known = [
            ("PASSWORD", "p@ss/word"),
            ("URL", "rediss://app:s%40me@db.example:6380/2"),
            ("HOST", "db.example"),
        ];
        let found = known.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }

    fn place(url: &str) -> ServerPlace {
        ServerUrl::new(url).read(&variable).expect(url)
    }

    #[test]
    fn a_url_says_where_how_and_by_whom_it_is_entered() {
        let plain = place("redis://localhost");
        assert_eq!((plain.tls, plain.port, plain.database), (false, 6379, 0));
        assert_eq!((plain.user, plain.password), (None, None));
        let full = place("rediss://app:s%40me@db.example:6380/2");
        assert_eq!(full.to_string(), "db.example:6380");
        assert_eq!((full.tls, full.database), (true, 2));
        assert_eq!(full.user.as_deref(), Some("app"));
        assert_eq!(full.password.as_ref().map(Secret::reveal), Some("s@me"));
        assert_eq!(place("redis://[::1]:7000").to_string(), "::1:7000");
    }

    #[test]
    fn what_the_environment_says_needs_no_encoding() {
        let url = place("redis://app:${PASSWORD}@${HOST}:6380");
        assert_eq!(url.password.as_ref().map(Secret::reveal), Some("p@ss/word"));
        assert_eq!(url.host, "db.example");
        assert_eq!(
            place("${URL}"),
            place("rediss://app:s%40me@db.example:6380/2")
        );
        let unset = ServerUrl::new("${NOWHERE}").read(&variable);
        assert_eq!(unset, Err(UrlError::Unset("NOWHERE".to_owned())));
    }

    #[test]
    fn a_wrong_url_is_told_without_a_word_of_it() {
        for (url, wrong) in [
            ("http://host", UrlError::Scheme),
            ("redis://", UrlError::Host),
            ("redis://user:s3cret", UrlError::Port),
            ("redis://host:0", UrlError::Port),
            ("redis://host/a", UrlError::Database),
            ("redis://${host", UrlError::Variable),
        ] {
            assert_eq!(ServerUrl::new(url).check(), Err(wrong.clone()), "{url}");
            assert!(!wrong.to_string().contains("s3cret"));
        }
        assert_eq!(ServerUrl::new("redis://u:${P}@${HOST}").check(), Ok(()));
    }

    #[test]
    fn a_password_is_neither_printed_nor_written() {
        let url = ServerUrl::new("redis://app:s3cret@host:1");
        assert_eq!(
            format!("{url:?}"),
            "redis://app:${LOCKSTORM_PASSWORD}@host:1"
        );
        assert!(!format!("{:?}", place("redis://app:s3cret@host")).contains("s3cret"));
        let kept = ServerUrl::new("redis://app:${PASSWORD}@host");
        assert_eq!(format!("{kept:?}"), "redis://app:${PASSWORD}@host");
    }
}
