//! The model that a name stands for, ready to take steps.

use super::append::Append;
use super::exclusive::Exclusive;
use super::mutex::Mutex;
use super::read_write::ReadWrite;
use super::register::Register;
use super::semaphore::Semaphore;
use super::values::Values;
use crate::model_name::ModelName;

/// One of the models.
pub(crate) enum Specification {
    Mutex(Mutex),
    Exclusive(Exclusive),
    Semaphore(Semaphore),
    ReadWrite(ReadWrite),
    Register(Register),
    Append(Append),
}

impl Specification {
    /// The model of this name, for calls with these values; a semaphore that names no number of
    /// permits has so many.
    pub(crate) fn new(name: ModelName, permits: u32, values: &mut Values) -> Self {
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
