//! A fast hash for small keys that nobody chooses to collide.
//!
//! Multiply and rotate, as in the hash of the Rust compiler. Equality is always checked as well: a
//! collision costs time, and no answer.

use std::hash::{BuildHasherDefault, Hasher};

/// A map with the fast hash.
pub(super) type FastMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<FastHasher>>;

/// An odd number without pattern: the golden ratio, in 64 bits.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Clone, Copy, Default)]
pub(super) struct FastHasher(u64);

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(FACTOR);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        // The multiplication leaves its best bits at the top; tables look at both ends.
        self.0 ^ (self.0 >> 32)
    }
}
