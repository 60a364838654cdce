//! Bytes as the history of others, in which what is nearly one of our words is refused.
#![no_main]

use lockstorm_checker_fuzz::survive_strictly;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| survive_strictly(bytes));
