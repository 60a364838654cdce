//! Our own events in an array.
#![no_main]

use lockstorm_checker::history::Format;
use lockstorm_checker_fuzz::survive;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| survive(bytes, Some(Format::Json)));
