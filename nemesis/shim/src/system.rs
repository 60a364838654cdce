//! The few functions of the C library and numbers of the kernel that the shim needs.
//!
//! System calls are made by number: their usual wrappers are what the shim takes the place of.

use std::ffi::{c_char, c_int, c_long, c_void};

/// `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Timespec {
    pub(crate) sec: i64,
    pub(crate) nsec: i64,
}

/// `struct timeval`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Timeval {
    pub(crate) sec: i64,
    pub(crate) usec: i64,
}

#[cfg(target_arch = "x86_64")]
mod number {
    use std::ffi::c_long;
    pub(crate) const CLOCK_GETTIME: c_long = 228;
    pub(crate) const FSYNC: c_long = 74;
    pub(crate) const FDATASYNC: c_long = 75;
    pub(crate) const STATX: c_long = 332;
}

#[cfg(target_arch = "aarch64")]
mod number {
    use std::ffi::c_long;
    pub(crate) const CLOCK_GETTIME: c_long = 113;
    pub(crate) const FSYNC: c_long = 82;
    pub(crate) const FDATASYNC: c_long = 83;
    pub(crate) const STATX: c_long = 291;
}

pub(crate) use number::{CLOCK_GETTIME, FDATASYNC, FSYNC, STATX};

pub(crate) const CLOCK_REALTIME: c_int = 0;
pub(crate) const CLOCK_REALTIME_COARSE: c_int = 5;

unsafe extern "C" {
    pub(crate) fn syscall(number: c_long, ...) -> c_long;
    pub(crate) fn nanosleep(length: *const Timespec, left: *mut Timespec) -> c_int;
    pub(crate) fn getenv(name: *const c_char) -> *const c_char;
    pub(crate) fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub(crate) fn close(file: c_int) -> c_int;
    pub(crate) fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
}
