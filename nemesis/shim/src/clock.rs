//! The wall clock: `clock_gettime`, `gettimeofday` and `time`.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use crate::control::{Page, page};
use crate::layout::{AHEAD, CLOCK, READINGS, SHOWN, SINCE, SPEED, clock};
use crate::system::{
    CLOCK_GETTIME, CLOCK_REALTIME, CLOCK_REALTIME_COARSE, Timespec, Timeval, syscall,
};

const SECOND: i64 = 1_000_000_000;

/// Returns the time that a clock shows at the true time `now`, both in nanoseconds since 1970.
const fn shown(now: i64, since: i64, shown: i64, speed_percent: i64) -> i64 {
    // Split, because nanoseconds times percent outgrow 64 bits after a few years.
    let passed = now.saturating_sub(since);
    let (hundreds, rest) = (passed / 100, passed % 100);
    shown
        .saturating_add(hundreds.saturating_mul(speed_percent))
        .saturating_add(rest * speed_percent / 100)
}

/// Returns the time that the clock of this process shows at the true time `now`; an answer that is
/// wrong is noted, as the proof that somebody was told so.
fn warped(page: &Page, now: i64) -> i64 {
    let at = match page[CLOCK].load(Ordering::Acquire) {
        1 => clock(1),
        2 => clock(2),
        _ => return now,
    };
    let number = |field: usize| page[at + field].load(Ordering::Relaxed);
    let told = shown(now, number(SINCE), number(SHOWN), number(SPEED));
    page[AHEAD].store(told.saturating_sub(now), Ordering::Relaxed);
    page[READINGS].fetch_add(1, Ordering::Release);
    told
}

/// The time that the process is told, of a wall clock of the kernel.
fn told(id: c_int) -> Result<Timespec, c_int> {
    let mut time = Timespec::default();
    // SAFETY: the kernel writes one timespec.
    let error = unsafe { syscall(CLOCK_GETTIME, id, &raw mut time) };
    if error != 0 {
        return Err(-1);
    }
    let wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    let Some(page) = page().filter(|_| wall) else {
        return Ok(time);
    };
    let now = warped(page, time.sec * SECOND + time.nsec);
    Ok(Timespec {
        sec: now.div_euclid(SECOND),
        nsec: now.rem_euclid(SECOND),
    })
}

/// As in POSIX.
///
/// # Safety
/// `time` points to a `struct timespec`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn clock_gettime(id: c_int, time: *mut Timespec) -> c_int {
    match told(id) {
        Ok(now) => {
            // SAFETY: the caller's promise.
            unsafe { time.write(now) };
            0
        }
        Err(error) => error,
    }
}

/// As in POSIX; time zones have long been none of its business.
///
/// # Safety
/// `time` is null or points to a `struct timeval`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn gettimeofday(time: *mut Timeval, _zone: *mut c_void) -> c_int {
    match told(CLOCK_REALTIME) {
        Ok(now) => {
            let (sec, usec) = (now.sec, now.nsec / 1000);
            if !time.is_null() {
                // SAFETY: the caller's promise.
                unsafe { time.write(Timeval { sec, usec }) };
            }
            0
        }
        Err(error) => error,
    }
}

/// As in POSIX.
///
/// # Safety
/// `time` is null or points to a `time_t`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn time(time: *mut i64) -> i64 {
    match told(CLOCK_REALTIME) {
        Ok(now) => {
            if !time.is_null() {
                // SAFETY: the caller's promise.
                unsafe { time.write(now.sec) };
            }
            now.sec
        }
        Err(error) => i64::from(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicI64;

    use super::*;

    fn page_with(chosen: i64, since: i64, shown: i64, speed: i64) -> Page {
        let page: Page = std::array::from_fn(|_| AtomicI64::new(0));
        page[CLOCK].store(chosen, Ordering::Relaxed);
        for (field, number) in [(SINCE, since), (SHOWN, shown), (SPEED, speed)] {
            page[clock(2) + field].store(number, Ordering::Relaxed);
        }
        page
    }

    #[test]
    fn an_empty_page_shows_the_true_time() {
        let page = page_with(0, 0, 0, 0);
        assert_eq!(
            warped(&page, 1_795_000_000 * SECOND),
            1_795_000_000 * SECOND
        );
    }

    #[test]
    fn a_clock_goes_on_from_what_it_showed_at_its_own_speed() {
        let since = 1_795_000_000 * SECOND;
        let ahead = since + 2 * SECOND;
        let later = since + 10 * SECOND + 50;
        assert_eq!(
            warped(&page_with(2, since, ahead, 100), later),
            later + 2 * SECOND
        );
        assert_eq!(warped(&page_with(2, since, ahead, 0), later), ahead);
        assert_eq!(
            warped(&page_with(2, since, since, 50), later),
            since + 5 * SECOND + 25
        );
        assert_eq!(
            warped(&page_with(2, since, since, 200), later),
            since + 20 * SECOND + 100
        );
    }

    #[test]
    fn without_a_page_the_functions_tell_the_time_of_the_kernel() {
        let mut span = (Timespec::default(), Timespec::default());
        let mut of_day = Timeval::default();
        // SAFETY: each gets a value of its own type to write to.
        let seconds = unsafe {
            assert_eq!(clock_gettime(CLOCK_REALTIME, &raw mut span.0), 0);
            assert_eq!(gettimeofday(&raw mut of_day, std::ptr::null_mut()), 0);
            let seconds = time(std::ptr::null_mut());
            assert_eq!(clock_gettime(CLOCK_REALTIME, &raw mut span.1), 0);
            seconds
        };
        assert!(span.0.sec <= of_day.sec && of_day.sec <= span.1.sec);
        assert!(span.0.sec <= seconds && seconds <= span.1.sec);
        // SAFETY: as above.
        let error = unsafe { clock_gettime(-77, &raw mut span.0) };
        assert_eq!(error, -1, "a clock that the kernel does not know");
    }
}
