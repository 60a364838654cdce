//! Data that is safe on disk: `fsync` and `fdatasync`.
//!
//! Each synchronisation notes how long the file was when it began: that much survives a cut of the
//! power. Where the harness says so, it waits before it begins, as a slow disk has it do.

use std::ffi::{c_int, c_long};
use std::sync::atomic::Ordering;

use crate::control::{Page, page};
use crate::layout::{FILE_WORDS, FILES, FILES_MAX, FILES_MISSED, SYNC_DELAY, SYNCS_DELAYED};
use crate::system::{FDATASYNC, FSYNC, STATX, Timespec, nanosleep, syscall};

/// As in POSIX.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn fsync(file: c_int) -> c_int {
    synchronised(FSYNC, file)
}

/// As in POSIX.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn fdatasync(file: c_int) -> c_int {
    synchronised(FDATASYNC, file)
}

fn synchronised(call: c_long, file: c_int) -> c_int {
    let Some(page) = page() else {
        return do_synchronise(call, file);
    };
    wait(page);
    let before = identity(file);
    let result = do_synchronise(call, file);
    if let Some((inode, length)) = before.filter(|_| result == 0) {
        note(page, inode, length);
    }
    result
}

fn do_synchronise(call: c_long, file: c_int) -> c_int {
    // SAFETY: the call takes a number of a file, which the kernel checks.
    let result = unsafe { syscall(call, file) };
    if result == 0 { 0 } else { -1 }
}

fn wait(page: &Page) {
    let micros = page[SYNC_DELAY].load(Ordering::Acquire);
    if micros <= 0 {
        return;
    }
    page[SYNCS_DELAYED].fetch_add(1, Ordering::AcqRel);
    let mut left = Timespec {
        sec: micros / 1_000_000,
        nsec: micros % 1_000_000 * 1000,
    };
    let length = left;
    // SAFETY: both are timespecs. A signal that interrupts it shortens the wait, no more.
    unsafe { nanosleep(&raw const length, &raw mut left) };
}

/// Inode and length of an open file.
fn identity(file: c_int) -> Option<(i64, i64)> {
    const AT_EMPTY_PATH: c_int = 0x1000;
    const STATX_INO_AND_SIZE: c_int = 0x100 | 0x200;
    // `struct statx` is the same everywhere: 256 bytes, the inode the fifth and the size the sixth
    // of its 64-bit numbers.
    let mut stat = [0_i64; 32];
    let empty = c"".as_ptr();
    // SAFETY: the path ends with NUL, and the kernel writes at most 256 bytes.
    let error = unsafe {
        syscall(
            STATX,
            file,
            empty,
            AT_EMPTY_PATH,
            STATX_INO_AND_SIZE,
            stat.as_mut_ptr(),
        )
    };
    (error == 0).then_some((stat[4], stat[5]))
}

/// Remembers that the file is safe up to `length`. A file has the same place in every process and
/// thread that shares the page: whoever is first takes it.
fn note(page: &Page, inode: i64, length: i64) {
    for n in 0..FILES_MAX {
        let at = FILES + n * FILE_WORDS;
        let taken = page[at].compare_exchange(0, inode, Ordering::AcqRel, Ordering::Acquire);
        if taken.is_ok() || taken == Err(inode) {
            page[at + 1].store(length, Ordering::Release);
            return;
        }
    }
    page[FILES_MISSED].fetch_add(1, Ordering::AcqRel);
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::MetadataExt as _;
    use std::sync::atomic::AtomicI64;

    use super::*;

    fn entries(page: &Page) -> Vec<(i64, i64)> {
        let word = |at: usize| page[at].load(Ordering::Relaxed);
        let all = (0..FILES_MAX).map(|n| FILES + n * FILE_WORDS);
        let taken = all.filter(|at| word(*at) != 0);
        taken.map(|at| (word(at), word(at + 1))).collect()
    }

    #[test]
    fn a_file_is_known_by_its_inode_and_safe_as_far_as_it_was_written() {
        let path = std::env::temp_dir().join(format!("lockstorm-shim-{}", std::process::id()));
        let mut file = std::fs::File::create(&path).expect("a temporary file");
        file.write_all(b"seventeen letters").expect("it is written");
        let inode = file.metadata().expect("it is there").ino().cast_signed();
        assert_eq!(identity(file.as_raw_fd()), Some((inode, 17)));
        assert_eq!(fsync(file.as_raw_fd()), 0);
        assert_eq!(fdatasync(file.as_raw_fd()), 0);
        std::fs::remove_file(&path).expect("it was there");
        assert_eq!(fsync(-1), -1, "no file");
        assert_eq!(identity(-1), None);
    }

    #[test]
    fn each_file_has_one_place_and_those_beyond_the_table_are_counted() {
        let page: Page = std::array::from_fn(|_| AtomicI64::new(0));
        note(&page, 7, 100);
        note(&page, 8, 5);
        note(&page, 7, 250);
        assert_eq!(entries(&page), [(7, 250), (8, 5)]);
        for inode in (100..).take(FILES_MAX) {
            note(&page, inode, 1);
        }
        assert_eq!(entries(&page).len(), FILES_MAX);
        assert_eq!(page[FILES_MISSED].load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_slow_disk_is_waited_for_and_counted() {
        let page: Page = std::array::from_fn(|_| AtomicI64::new(0));
        wait(&page);
        assert_eq!(page[SYNCS_DELAYED].load(Ordering::Relaxed), 0);
        page[SYNC_DELAY].store(3000, Ordering::Relaxed);
        let start = std::time::Instant::now();
        wait(&page);
        assert!(start.elapsed() >= std::time::Duration::from_millis(3));
        assert_eq!(page[SYNCS_DELAYED].load(Ordering::Relaxed), 1);
    }
}
