//! Bytes in whichever format they are taken for.
#![no_main]

use lockstorm_checker_fuzz::survive;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| survive(bytes, None));
