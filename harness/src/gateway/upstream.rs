//! One server that someone else runs: where it is, and how it is entered.

use std::io;
use std::time::Duration;

use lockstorm_scenarios::{
    External, Lookup, Secret, ServerPlace, ServerUrl, UrlError, with_variables,
};
use redis::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::tls;
use crate::connection::{Wire, WireError};

/// Time that it may take to enter: over the internet, with TLS.
const ENTERS_WITHIN: Duration = Duration::from_secs(5);

/// Time that the first words of TLS may take: less, so that it is known what was slow.
const SHAKES_WITHIN: Duration = Duration::from_secs(4);
/// Remedy where no TLS is spoken.
const PLAIN: &str = "does the server speak TLS on this port? without it: redis://";

/// A stream to a server, with or without TLS.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection to a server, entered.
pub type Entered = Wire<Box<dyn Duplex>>;

/// A server, and what it takes to enter it.
pub struct Upstream {
    /// Name of the node.
    pub name: String,
    place: ServerPlace,
    password: Option<Secret>,
    /// The variable that the password comes from.
    password_env: Option<String>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// Reason why a server cannot be entered. None of it tells a password.
#[derive(Debug, thiserror::Error)]
pub enum EnterError {
    /// The scenario does not say enough.
    #[error("{0}")]
    Settings(String),
    /// Nobody answers.
    #[error("it cannot be reached: {0}; is its url right, and does a firewall let it through?")]
    Unreachable(String),
    /// No connection by TLS.
    #[error("TLS fails: {reason}; {remedy}")]
    Tls {
        /// Mistake that was found.
        reason: String,
        /// Remedy for the mistake.
        remedy: &'static str,
    },
    /// Something else listens there.
    #[error(
        "what answers there does not speak the protocol of Redis; is it the port of a web server, \
         or is there an HTTP proxy in between?"
    )]
    Foreign,
    /// It wants to know who enters.
    #[error("it asks for a password: name one in its url, or its variable with password-env")]
    NoPassword,
    /// It does not let us in.
    #[error("user '{user}' or the password is wrong ({said}){from}")]
    WrongPassword {
        /// User that wanted to enter.
        user: String,
        /// The word of the server's refusal.
        said: String,
        /// Where the password came from.
        from: String,
    },
    /// Anything else that it said.
    #[error("{0}")]
    Refused(String),
}

impl Upstream {
    /// The server of `url`, called `name`.
    ///
    /// # Errors
    /// What is missing in the environment, or wrong in a file.
    pub fn new(
        name: &str,
        url: &ServerUrl,
        external: &External,
        variable: Lookup<'_>,
    ) -> Result<Self, EnterError> {
        let settings = |error: String| EnterError::Settings(error);
        let place = url
            .read(variable)
            .map_err(|error| settings(error.to_string()))?;
        let mut password_env = None;
        let password = match (&place.password, &external.password_env) {
            (Some(own), _) => Some(own.clone()),
            (None, Some(name)) => {
                let unset = || settings(format!("the environment variable {name} is not set"));
                password_env = Some(name.clone());
                Some(variable(name).ok_or_else(unset)?.into())
            }
            (None, None) if place.user.is_some() => {
                return Err(settings(UrlError::UserAlone.to_string()));
            }
            (None, None) => None,
        };
        let tls = if place.tls {
            let named = match &external.tls.server_name {
                Some(name) => {
                    with_variables(name, variable).map_err(|error| settings(error.to_string()))?
                }
                None => place.host.clone(),
            };
            let server = ServerName::try_from(named)
                .map_err(|_| settings("its host is no name that a certificate has".to_owned()))?;
            let connector = tls::connector(&external.tls, variable).map_err(settings)?;
            Some((connector, server))
        } else {
            None
        };
        Ok(Self {
            name: name.to_owned(),
            place,
            password,
            password_env,
            tls,
        })
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        self.place.to_string()
    }

    /// Host, and port.
    pub fn host_and_port(&self) -> (&str, u16) {
        (&self.place.host, self.place.port)
    }

    /// Returns the user that enters.
    pub fn user(&self) -> &str {
        self.place.user.as_deref().unwrap_or("default")
    }

    /// Opens a connection and enters.
    ///
    /// # Errors
    /// See [`EnterError`].
    pub async fn enter(&self) -> Result<Entered, EnterError> {
        let late = || EnterError::Unreachable(format!("no answer within {ENTERS_WITHIN:?}"));
        timeout(ENTERS_WITHIN, self.open())
            .await
            .map_err(|_| late())?
    }

    async fn open(&self) -> Result<Entered, EnterError> {
        let unreachable = |error: io::Error| EnterError::Unreachable(error.to_string());
        let stream = TcpStream::connect(self.host_and_port())
            .await
            .map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let stream: Box<dyn Duplex> = match &self.tls {
            None => Box::new(stream),
            Some((connector, server)) => {
                let shaken = timeout(SHAKES_WITHIN, connector.connect(server.clone(), stream));
                let shaken = shaken.await.map_err(|_| EnterError::Tls {
                    reason: format!("no answer to its first words within {SHAKES_WITHIN:?}"),
                    remedy: PLAIN,
                })?;
                Box::new(shaken.map_err(|error| tls_error(&error))?)
            }
        };
        let mut wire = Wire::new(stream);
        self.greet(&mut wire).await?;
        Ok(wire)
    }

    async fn greet(&self, wire: &mut Entered) -> Result<(), EnterError> {
        if let Some(password) = &self.password {
            let mut auth = redis::cmd("AUTH");
            if let Some(user) = &self.place.user {
                auth.arg(user);
            }
            auth.arg(password.reveal());
            self.told(wire.send(&auth).await)?;
        }
        if self.place.database > 0 {
            let mut select = redis::cmd("SELECT");
            select.arg(self.place.database);
            self.told(wire.send(&select).await)?;
        }
        Ok(())
    }

    /// Reads the answer of a server while it is entered.
    fn told(&self, reply: Result<Value, WireError>) -> Result<Value, EnterError> {
        reply.map_err(|error| self.failure(error))
    }

    /// Returns the meaning of an error, or of the lack of a reply, of a server.
    pub fn failure(&self, error: WireError) -> EnterError {
        match error {
            WireError::Lost(text) if text.contains("Parse error") => EnterError::Foreign,
            WireError::Lost(text) if self.tls.is_some() => EnterError::Tls {
                reason: text,
                remedy: "if the server asks clients for a certificate: tls.cert and tls.key",
            },
            WireError::Lost(text) => {
                EnterError::Unreachable(format!("{text}; a server that wants TLS is rediss://"))
            }
            WireError::Server(text) => self.refusal(&text),
        }
    }

    /// A refusal of the server's. Only its first word is told of one that is about passwords, for
    /// nobody knows what the rest may quote.
    pub fn refusal(&self, text: &str) -> EnterError {
        let word = text.split(' ').next().unwrap_or_default();
        match word {
            "NOAUTH" => EnterError::NoPassword,
            "WRONGPASS" => self.wrong_password(word),
            "ERR" if text.contains("AUTH") => self.wrong_password("no such user or password"),
            _ => EnterError::Refused(text.to_owned()),
        }
    }

    fn wrong_password(&self, said: &str) -> EnterError {
        let from = self.password_env.as_ref();
        EnterError::WrongPassword {
            user: self.user().to_owned(),
            said: said.to_owned(),
            from: from.map_or(String::new(), |name| format!("; it comes from {name}")),
        }
    }
}

fn tls_error(error: &io::Error) -> EnterError {
    let reason = error.to_string();
    // A signature is wrong where the one who signed is another of the same name.
    let remedy = if reason.contains("UnknownIssuer") || reason.contains("BadSignature") {
        "name the file of the CA that signed its certificate: tls.ca"
    } else if reason.contains("not valid for name") || reason.contains("NotValidForName") {
        "take the host that its certificate names, or say which name that is: tls.server-name"
    } else {
        PLAIN
    };
    EnterError::Tls { reason, remedy }
}
