//! Sequential models: a lock or a register if everybody took turns, one file for each model.

mod append;
mod exclusive;
mod mutex;
mod read_write;
mod register;
mod semaphore;

pub use append::Append;
pub use exclusive::Exclusive;
pub use mutex::Mutex;
pub use read_write::ReadWrite;
pub use register::Register;
pub use semaphore::Semaphore;
