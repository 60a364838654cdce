//! A reader that computes the SHA-256 of all that is read through it.
//!
//! For: naming a history by its bytes, in the same pass that judges it; `sha256sum` says the same.

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// A reader and the hash of what was read so far.
pub struct Hashed<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Hashed<R> {
    /// Nothing is read yet.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
        }
    }

    /// The hash of all that was read, in hexadecimal digits.
    pub fn hash(self) -> String {
        let mut digits = String::new();
        for byte in self.hash.finalize() {
            let _ = write!(digits, "{byte:02x}");
        }
        digits
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_all_bytes_however_they_are_read() {
        let mut reader = Hashed::new(&b"abc"[..]);
        let mut one = [0; 1];
        while reader.read(&mut one).unwrap() > 0 {}
        // The first test vector of the standard, FIPS 180-2.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(reader.hash(), expected);
    }
}
