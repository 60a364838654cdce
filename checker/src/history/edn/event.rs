//! The fields of an event in EDN → the event.

use serde_json::{Map, Value as Json};

use super::form::Form;
use super::value::{Meaning, Misfit, meaning, misfit, natural, of_fields, stamp};
use crate::history::error::ReadError;
use crate::history::intake::{Draft, Intake, Place};
use crate::history::stamp::Stamp;
use crate::history::{Event, EventSink, Function, Kind, Process};

/// Vocabulary from which the words for functions come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) enum Dialect {
    /// Jepsen's, Knossos's and ours.
    Jepsen,
    /// Those of Porcupine's key-value histories.
    Porcupine,
}

impl Dialect {
    fn function(self, word: &str) -> Function {
        match (self, word) {
            (Self::Porcupine, "get") => Function::Read,
            (Self::Porcupine, "put") => Function::Write,
            (Self::Porcupine | Self::Jepsen, word) => Function::from(word),
        }
    }
}

/// An event whose fields are known one by one, each with its place.
#[derive(Debug)]
pub(in crate::history) struct Fields {
    place: Place,
    index: Option<u64>,
    time: Option<Stamp>,
    kind: Option<Kind>,
    process: Option<Process>,
    function: Option<String>,
    key: Option<String>,
    value: Option<(Form, Place)>,
    reply: Option<(Form, Place)>,
    error: Option<Form>,
    resource: Option<String>,
    token: Option<u64>,
    extra: Map<String, Json>,
}

impl Fields {
    /// An event that begins at `place`.
    pub(in crate::history) fn new(place: Place) -> Self {
        Self {
            place,
            index: None,
            time: None,
            kind: None,
            process: None,
            function: None,
            key: None,
            value: None,
            reply: None,
            error: None,
            resource: None,
            token: None,
            extra: Map::new(),
        }
    }

    /// Takes one field, whose value stands at `place` in `file`.
    pub(in crate::history) fn set(
        &mut self,
        file: &str,
        field: &str,
        form: Form,
        place: Place,
    ) -> Result<(), ReadError> {
        let seen = self
            .fill(field, form, place)
            .map_err(|misfit| refuse(file, place, &misfit))?;
        if seen {
            let reason = format!("the event has :{field} twice");
            return Err(place.refuse(file, reason, "delete one of them"));
        }
        Ok(())
    }

    /// Keeps a field that means nothing here.
    pub(super) fn keep(&mut self, name: String, form: Form) {
        self.extra.insert(name, form.into_json());
    }

    /// Tells whether the event is one of the nemesis, as far as is known.
    pub(in crate::history) fn is_nemesis(&self) -> bool {
        self.process == Some(Process::Nemesis)
    }

    /// Tells whether the event is a note, as far as is known, and its function one that `such`
    /// accepts.
    pub(super) fn is_note_of(&self, such: impl Fn(&str) -> bool) -> bool {
        let is_note = self.kind == Some(Kind::Note) || self.is_nemesis();
        is_note && self.function.as_deref().is_some_and(such)
    }

    /// Fills in one field, and says whether it was there already.
    fn fill(&mut self, field: &str, form: Form, place: Place) -> Result<bool, Misfit> {
        let absent = form == Form::Nil;
        Ok(match field {
            "type" => self.kind.replace(kind(&form)?).is_some(),
            "process" => self.process.replace(process(&form)?).is_some(),
            "f" => self.function.replace(form.into_text()).is_some(),
            "value" => self.value.replace((form, place)).is_some(),
            "reply" => self.reply.replace((form, place)).is_some(),
            "error" => self.error.replace(form).is_some(),
            _ if absent => false,
            "index" => self.index.replace(natural(field, &form)?).is_some(),
            "time" => self.time.replace(stamp(field, &form)?).is_some(),
            "key" => self.key.replace(form.into_text()).is_some(),
            "resource" => self.resource.replace(form.into_text()).is_some(),
            "token" => self.token.replace(natural(field, &form)?).is_some(),
            _ => self
                .extra
                .insert(field.to_owned(), form.into_json())
                .is_some(),
        })
    }

    /// Hands the event on.
    pub(in crate::history) fn finish(
        self,
        dialect: Dialect,
        intake: &mut Intake<impl EventSink>,
    ) -> Result<(), ReadError> {
        let place = self.place;
        let draft = self.draft(dialect, intake)?;
        intake.take(draft, place)
    }

    fn draft(
        mut self,
        dialect: Dialect,
        intake: &mut Intake<impl EventSink>,
    ) -> Result<Draft, ReadError> {
        let place = self.place;
        let lacking = |field: &str| {
            let reason = format!("the event has no :{field}");
            place.refuse(
                intake.file,
                reason,
                "every event has :type, :process and :f",
            )
        };
        let mut kind = self.kind.ok_or_else(|| lacking("type"))?;
        let mut process = self.process.ok_or_else(|| lacking("process"))?;
        let function = self.function.take().ok_or_else(|| lacking("f"))?;
        let function = dialect.function(&function);
        if process == Process::Nemesis {
            kind = Kind::Note;
        }
        let meaning = self
            .meaning(&function, kind)
            .map_err(|(misfit, at)| refuse(intake.file, at, &misfit))?;
        if let (Process::Nemesis, Some(client)) = (process, meaning.client) {
            process = Process::Client(client);
        }
        let error = self.error.map(error).unwrap_or_default();
        if kind == Kind::Ok && matches!(error.as_deref(), Some(Event::REFUSED | Event::NOT_OWNER)) {
            // Some clients say ok of a release that was refused: the critical section is over.
            kind = Kind::Fail;
        }
        let mut value = meaning.value;
        let key = self.key.or(meaning.key);
        if !matches!(kind, Kind::Fail | Kind::Info) {
            value.resource = value.resource.or(self.resource.map(Into::into));
            value.token = value.token.or(self.token);
        }
        Ok(Draft {
            index: self.index,
            time: self.time,
            kind,
            process,
            function,
            key: key.map(|key| intake.name(&key)),
            error: error.map(|error| intake.name(&error)),
            extra: (!self.extra.is_empty()).then(|| Box::new(self.extra)),
            value,
        })
    }

    /// Reads the part of the value that counts. A fail or an info repeats what was asked, which
    /// says nothing new; what the server replied stands in `:reply`. An outcome in the place of the
    /// value is the error.
    fn meaning(&mut self, function: &Function, kind: Kind) -> Result<Meaning, (Misfit, Place)> {
        let value = self.value.take();
        let (read, at) = match kind {
            Kind::Invoke | Kind::Ok | Kind::Note => {
                let Some((form, at)) = value else {
                    return Ok(Meaning::default());
                };
                (meaning(form, function, kind), at)
            }
            Kind::Fail | Kind::Info => {
                if let Some((Form::Word(word), _)) = value
                    && self.error.is_none()
                {
                    self.error = Some(Form::Word(word));
                }
                let Some((form, at)) = self.reply.take() else {
                    return Ok(Meaning::default());
                };
                (of_fields(form, kind), at)
            }
        };
        read.map_err(|misfit| (misfit, at))
    }
}

fn refuse(file: &str, place: Place, misfit: &Misfit) -> ReadError {
    let Misfit { field, found, .. } = misfit;
    let reason = format!("{found} cannot be the :{field} of an event");
    place.refuse(file, reason, format!("write {}", misfit.wanted))
}

fn kind(form: &Form) -> Result<Kind, Misfit> {
    match form.text() {
        Some("invoke") => Ok(Kind::Invoke),
        Some("ok") => Ok(Kind::Ok),
        Some("fail") => Ok(Kind::Fail),
        Some("info") => Ok(Kind::Info),
        Some(_) | None => Err(misfit("type", form, ":invoke, :ok, :fail or :info")),
    }
}

/// Numbers from 0 are clients. Jepsen gives every other worker a name, and some write -1 for it.
fn process(form: &Form) -> Result<Process, Misfit> {
    match form {
        // A number that is too large was left a word.
        Form::Word(word) if word.starts_with(char::is_alphabetic) => Ok(Process::Nemesis),
        Form::Number(number) if number.as_i64() == Some(-1) => Ok(Process::Nemesis),
        Form::Number(number) if number.is_u64() => natural("process", form).map(Process::Client),
        Form::Nil
        | Form::Bool(_)
        | Form::Number(_)
        | Form::Text(_)
        | Form::Word(_)
        | Form::Vector(_)
        | Form::Map(_) => Err(misfit("process", form, "a whole number, or :nemesis")),
    }
}

/// Returns the reason why it failed. The two refusals that the checker reads go by our names for
/// them.
fn error(form: Form) -> Option<String> {
    match form {
        Form::Nil => None,
        Form::Word(word) if word == "not-lock-owner" => Some(Event::NOT_OWNER.to_owned()),
        other @ (Form::Bool(_)
        | Form::Number(_)
        | Form::Text(_)
        | Form::Word(_)
        | Form::Vector(_)
        | Form::Map(_)) => Some(other.into_text()),
    }
}
