//! The page that the harness and the shim share: 64-bit numbers in the byte order of the machine,
//! all zero where nothing is broken.
//!
//! The harness writes with ordinary file operations, the shim has the page mapped. Each side reads
//! what the other wrote whole: a clock is written beside the one in use, then chosen by one number.

use std::ffi::CStr;

/// Name of the environment variable that holds the path of the page.
pub const PAGE_VARIABLE: &CStr = c"LOCKSTORM_SHIM_PAGE";

/// Numbers in the page.
pub const WORDS: usize = 1024;

/// Process that has mapped the page last.
pub const ATTACHED: usize = 0;

/// Which clock is in force: 0 the true one, 1 or 2 one of those below.
pub const CLOCK: usize = 1;

/// Where the clock number `n`, 1 or 2, stands: three numbers.
pub const fn clock(n: usize) -> usize {
    n * 4
}

/// Of a clock: the true time from which on it is in force, in nanoseconds since 1970.
pub const SINCE: usize = 0;
/// Of a clock: what it showed at that time.
pub const SHOWN: usize = 1;
/// Of a clock: how fast it goes, in percent of the true speed.
pub const SPEED: usize = 2;

/// How often the process asked for the time while its clock was wrong.
pub const READINGS: usize = 12;
/// How far ahead of the true time the last of these answers was, in nanoseconds.
pub const AHEAD: usize = 13;

/// Time for which each synchronisation of a file waits before it begins, in microseconds.
pub const SYNC_DELAY: usize = 16;
/// Number of synchronisations that had to wait.
pub const SYNCS_DELAYED: usize = 17;
/// How many files found no place in the table below.
pub const FILES_MISSED: usize = 18;

/// Where the table of synchronised files begins.
pub const FILES: usize = 32;
/// Files in the table: more than a server ever has.
pub const FILES_MAX: usize = 480;
/// Numbers of an entry: the inode, and the length up to which the file is safe on disk.
pub const FILE_WORDS: usize = 2;

const _: () = assert!(
    FILES + FILES_MAX * FILE_WORDS <= WORDS,
    "the table fits the page"
);
