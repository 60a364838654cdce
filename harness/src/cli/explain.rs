//! `lockstorm explain`.

use std::fmt::Write as _;
use std::str::FromStr;

use anyhow::Error;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use lockstorm_checker::Property;
use lockstorm_scenarios::Promise;
use serde_json::json;

use super::answer_format::AnswerFormat;
use super::completion;
use super::examples;
use super::exit::ExitCode;
use crate::output;

/// Arguments of `lockstorm explain`.
#[derive(Debug, Args)]
#[command(after_help = examples::EXPLAIN)]
pub struct ExplainArgs {
    /// A property or a promise, as in `lockstorm list properties` and `lockstorm list promises`.
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(completion::explained))]
    pub topic: Topic,
    /// Content of standard output.
    #[arg(long, value_enum, default_value_t)]
    pub format: AnswerFormat,
}

/// Something that is explained.
#[derive(Clone, Copy, Debug)]
pub enum Topic {
    /// A property of a history.
    Property(Property),
    /// A promise of a lock.
    Promise(Promise),
}

/// A name of nothing that is explained.
#[derive(Debug, thiserror::Error)]
#[error(
    "unknown property or promise '{0}'; `lockstorm list properties` and `lockstorm list promises` \
     name them all"
)]
pub struct UnknownTopic(String);

impl FromStr for Topic {
    type Err = UnknownTopic;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut promises = Promise::ALL.into_iter();
        let promise = promises.find(|promise| promise.name() == name);
        let property = name.parse().ok().map(Self::Property);
        let topic = property.or(promise.map(Self::Promise));
        topic.ok_or_else(|| UnknownTopic(name.to_owned()))
    }
}

impl Topic {
    const fn summary(self) -> &'static str {
        match self {
            Self::Property(property) => property.summary(),
            Self::Promise(promise) => promise.sentence(),
        }
    }

    /// The long text: of a promise, what breaks it.
    fn text(self) -> String {
        let promise = match self {
            Self::Property(property) => return property.explain().to_owned(),
            Self::Promise(promise) => promise,
        };
        let properties = promise.properties();
        let names: Vec<&str> = properties.iter().map(|one| one.name()).collect();
        let (name, sentence) = (promise.name(), promise.sentence());
        let mut text = format!(
            "{name}: {sentence}\n\nA promise. It is judged by: {}.\n",
            names.join(", ")
        );
        for property in properties {
            write!(text, "\n{}", property.explain()).expect("a string takes what is written");
        }
        text
    }
}

/// Prints the long text.
///
/// # Errors
/// When it cannot be written.
pub fn execute(args: &ExplainArgs) -> Result<ExitCode, Error> {
    let text = args.topic.text();
    let (kind, name) = match args.topic {
        Topic::Property(property) => ("property", property.name()),
        Topic::Promise(promise) => ("promise", promise.name()),
    };
    match args.format {
        AnswerFormat::Human => output::answer(&text)?,
        AnswerFormat::Json => output::json(&serde_json::to_string_pretty(&json!({
            kind: name,
            "summary": args.topic.summary(),
            "text": text,
        }))?)?,
    }
    Ok(ExitCode::AsExpected)
}
