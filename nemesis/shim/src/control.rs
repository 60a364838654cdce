//! The page by which the harness steers this process, mapped before `main`.

use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

use crate::layout::{ATTACHED, PAGE_VARIABLE, WORDS};
use crate::system;

/// The page as this process sees it.
pub(crate) type Page = [AtomicI64; WORDS];

static PAGE: AtomicPtr<Page> = AtomicPtr::new(std::ptr::null_mut());

/// The page, once it is mapped: without it everything is as without the shim.
pub(crate) fn page() -> Option<&'static Page> {
    let page = PAGE.load(Ordering::Acquire);
    // SAFETY: it is null or a mapping of this very size that is never unmapped, and all access to
    // it is atomic.
    unsafe { page.as_ref() }
}

// Run by the dynamic loader, after the C library is ready and before `main`.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static ATTACH: extern "C" fn() = attach;

/// Maps the page whose path the environment holds. Where that fails the process goes on as it is,
/// and the harness sees that nobody has attached.
#[cfg_attr(test, expect(dead_code, reason = "tests have no loader that calls it"))]
extern "C" fn attach() {
    const READ_WRITE_CLOEXEC: i32 = 0o2 | 0o2_000_000;
    const PROT_READ_WRITE: i32 = 1 | 2;
    const MAP_SHARED: i32 = 1;
    // SAFETY: both strings end with NUL; the file is ours to close, and the mapping is used only
    // if it was made.
    let page = unsafe {
        let path = system::getenv(PAGE_VARIABLE.as_ptr());
        if path.is_null() {
            return;
        }
        let file = system::open(path, READ_WRITE_CLOEXEC);
        if file < 0 {
            return;
        }
        let length = size_of::<Page>();
        let null = std::ptr::null_mut();
        let page = system::mmap(null, length, PROT_READ_WRITE, MAP_SHARED, file, 0);
        system::close(file);
        page
    };
    // MAP_FAILED is the address of all ones.
    if page.addr() == usize::MAX {
        return;
    }
    PAGE.store(page.cast(), Ordering::Release);
    if let Some(page) = self::page() {
        page[ATTACHED].store(i64::from(std::process::id()), Ordering::Release);
    }
}
