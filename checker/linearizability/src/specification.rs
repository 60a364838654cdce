//! The model that a name stands for, ready to take steps.

use crate::model_name::ModelName;
use crate::models::{Append, Exclusive, Mutex, ReadWrite, Register, Semaphore};
use crate::values::Values;

/// One of the models.
pub enum Specification {
    /// Held or free, whoever asks.
    Mutex(Mutex),
    /// Held by one owner, perhaps several times, perhaps with tokens.
    Exclusive(Exclusive),
    /// A number of permits.
    Semaphore(Semaphore),
    /// Readers share, a writer is alone.
    ReadWrite(ReadWrite),
    /// A value, with or without compare-and-set.
    Register(Register),
    /// A list that only grows.
    Append(Append),
}

impl Specification {
    /// The model of this name, for calls with these values; a semaphore that names no number of
    /// permits has so many.
    pub fn new(name: ModelName, permits: u32, values: &mut Values) -> Self {
        match name {
            ModelName::Mutex => Self::Mutex(Mutex),
            ModelName::OwnerAware => Self::Exclusive(Exclusive::OWNER_AWARE),
            ModelName::Reentrant { limit } => {
                let limit = limit.map_or(u32::MAX, std::num::NonZeroU32::get);
                Self::Exclusive(Exclusive::reentrant(limit))
            }
            ModelName::Fenced => Self::Exclusive(Exclusive::FENCED),
            ModelName::ReentrantFenced => Self::Exclusive(Exclusive::REENTRANT_FENCED),
            ModelName::Semaphore { permits: named } => Self::Semaphore(Semaphore {
                permits: named.map_or(permits, std::num::NonZeroU32::get),
            }),
            ModelName::ReadWrite => Self::ReadWrite(ReadWrite),
            ModelName::Register | ModelName::CasRegister { .. } => Self::Register(Register),
            ModelName::Append => Self::Append(Append::new(values)),
        }
    }
}
