//! `lockstorm clean`: the keys that a run has left on servers that someone else runs.

use anyhow::{Context as _, Error};
use clap::Args;
use lockstorm_scenarios::{External, ServerUrl, Tls};

use super::exit::ExitCode;
use crate::gateway::{Upstream, find, remove};
use crate::output;
use crate::usage_error::UsageError;

/// Keys of one server that are shown.
const SHOWN_MAX: usize = 20;
/// Digits of the word of a run.
const WORD_DIGITS: usize = 8;

/// Arguments of `lockstorm clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// The servers: redis:// or rediss://, with ${VARIABLE} for what the environment knows.
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
    /// Prefix of the keys of the run: `prefix` in the first line of its history.
    #[arg(long, value_name = "PREFIX", value_parser = whole_prefix)]
    pub prefix: String,
    /// Remove the keys; without it they are only shown.
    #[arg(long)]
    pub yes: bool,
    /// The environment variable with the password, for URLs that bring none.
    #[arg(long, value_name = "VARIABLE")]
    pub password_env: Option<String>,
    /// File with the certificates (PEM) of those who are trusted; without it, the system's.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<String>,
    /// File with the certificate (PEM) to show to servers that ask for one.
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<String>,
    /// File with the key (PEM) of that certificate.
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<String>,
    /// The name that the certificates of the servers have; without it, the host of their URL.
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
}

/// The prefix of one run, and not of all of them, or of others.
fn whole_prefix(text: &str) -> Result<String, String> {
    let word = text.strip_suffix(':').map(|rest| rest.rsplit(':').next());
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let of_one_run = word
        .flatten()
        .is_some_and(|word| ends_in_digits(word, is_digit));
    if of_one_run {
        Ok(text.to_owned())
    } else {
        Err(
            "it must end with the word of the run, eight digits from 0 to f, and a colon, \
             such as lockstorm:20e32186:"
                .to_owned(),
        )
    }
}

/// A prefix of the scenario's need not end with a colon: then the word follows it at once.
fn ends_in_digits(word: &str, is_digit: impl Fn(char) -> bool) -> bool {
    let last = word.chars().rev().take(WORD_DIGITS);
    last.clone().count() == WORD_DIGITS && last.into_iter().all(is_digit)
}

/// Shows the keys, or removes them.
///
/// # Errors
/// When a URL makes no sense, or the answer cannot be written.
pub fn execute(args: &CleanArgs) -> Result<ExitCode, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(clean(args))
}

async fn clean(args: &CleanArgs) -> Result<ExitCode, Error> {
    let upstreams = upstreams(args)?;
    let (mut worst, mut left) = (ExitCode::AsExpected, 0);
    for upstream in upstreams {
        match clean_one(&upstream, args).await {
            Ok(count) => left += count,
            Err(error) => {
                output::human(&format!("error: {}: {error}", upstream.address()));
                worst = ExitCode::Environment;
            }
        }
    }
    if left > 0 {
        output::human("nothing was removed; to remove these keys, add --yes");
    }
    Ok(worst)
}

/// The servers that are named.
fn upstreams(args: &CleanArgs) -> Result<Vec<Upstream>, UsageError> {
    let urls: Vec<ServerUrl> = args.urls.iter().map(ServerUrl::new).collect();
    let external = External {
        urls: urls.clone(),
        replicas: Vec::new(),
        prefix: args.prefix.clone(),
        password_env: args.password_env.clone(),
        tls: Tls {
            ca: args.ca.clone(),
            cert: args.cert.clone(),
            key: args.key.clone(),
            server_name: args.server_name.clone(),
        },
        allow: Vec::new(),
    };
    let variable = |name: &str| std::env::var(name).ok();
    let upstream = |(n, url): (usize, &ServerUrl)| {
        Upstream::new(&format!("URL {}", n + 1), url, &external, &variable)
            .map_err(|error| UsageError(format!("URL {}: {error}", n + 1)))
    };
    urls.iter().enumerate().map(upstream).collect()
}

/// Says what is there; gives how many keys stay.
async fn clean_one(upstream: &Upstream, args: &CleanArgs) -> Result<usize, Error> {
    let keys = find(upstream, &args.prefix).await?;
    let found = match (keys.len(), args.yes) {
        (0, _) => "no keys of the run".to_owned(),
        (count, true) => {
            remove(upstream, "UNLINK", &keys).await?;
            format!("removed {count} {}", plural(count))
        }
        (count, false) => format!("{count} {} of the run", plural(count)),
    };
    let mut lines = vec![format!("{}: {found}", upstream.address())];
    let shown = keys.iter().take(SHOWN_MAX);
    lines.extend(shown.map(|key| format!("  {}", String::from_utf8_lossy(key))));
    if keys.len() > SHOWN_MAX {
        lines.push(format!("  and {} more", keys.len() - SHOWN_MAX));
    }
    output::answer(&lines.join("\n"))?;
    Ok(if args.yes { 0 } else { keys.len() })
}

const fn plural(count: usize) -> &'static str {
    if count == 1 { "key" } else { "keys" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_prefix_of_one_run_is_taken() {
        for right in ["lockstorm:20e32186:", "team20e32186:", "a:b:00000000:"] {
            assert_eq!(whole_prefix(right), Ok(right.to_owned()));
        }
        for wrong in [
            "",
            ":",
            "lockstorm:",
            "lockstorm:20e32186",
            "lockstorm:20e3218:",
            "*",
        ] {
            assert!(whole_prefix(wrong).is_err(), "{wrong}");
        }
    }
}
