//! The bytes of an input: those of a file or of the standard input, unpacked where they are gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// The standard input, where a file is asked for.
pub const STDIN: &str = "-";

/// Number of bytes read at once, enough that system calls cost next to nothing.
const READ_BYTES: usize = 256 * 1024;

/// Most bytes that a packed input may unpack to. It is the history of some fifteen million
/// operations; without a limit a small file could keep the reader busy for days.
const UNPACKED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// First bytes of a packed input.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The bytes of an input as they lie there.
pub type Raw = BufReader<Box<dyn Read>>;

/// Opens what `path` names.
///
/// # Errors
/// When it cannot be opened.
pub fn open(path: &Path) -> io::Result<Raw> {
    if path == Path::new(STDIN) {
        return Ok(raw(io::stdin()));
    }
    File::open(path).map(raw)
}

/// The bytes of a reader.
pub fn raw(reader: impl Read + 'static) -> Raw {
    BufReader::with_capacity(READ_BYTES, Box::new(reader))
}

/// Returns the bytes of `raw`, unpacked if they are packed.
///
/// # Errors
/// When they cannot be read.
pub fn unpacked(raw: Raw) -> io::Result<Box<dyn BufRead>> {
    unpacked_up_to(raw, UNPACKED_BYTES_MAX)
}

fn unpacked_up_to(mut raw: Raw, bytes_max: u64) -> io::Result<Box<dyn BufRead>> {
    if !raw.fill_buf()?.starts_with(GZIP) {
        return Ok(Box::new(raw));
    }
    let limited = Limited {
        reader: MultiGzDecoder::new(raw),
        left: bytes_max,
    };
    Ok(Box::new(BufReader::with_capacity(READ_BYTES, limited)))
}

/// Fails where more comes than may.
struct Limited<R> {
    reader: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(
                "it unpacks to more than 4 GiB; unpack it, and check it piece by piece",
            )
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("memory can be written");
        encoder.finish().expect("memory can be written")
    }

    fn read(bytes: Vec<u8>, bytes_max: u64) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        unpacked_up_to(raw(io::Cursor::new(bytes)), bytes_max)?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn packed_bytes_are_unpacked_also_one_after_another_and_others_stay_as_they_are() {
        let two = [packed(b"one\n"), packed(b"two\n")].concat();
        assert_eq!(read(two, 8).expect("it fits"), b"one\ntwo\n");
        assert_eq!(read(b"plain".to_vec(), 1).expect("no limit"), b"plain");
        assert_eq!(read(Vec::new(), 1).expect("nothing"), b"");
    }

    #[test]
    fn what_unpacks_to_more_than_the_limit_is_an_error_and_so_is_what_is_cut_short() {
        let many = packed(&vec![b' '; 1 << 20]);
        let error = read(many, 1 << 19).expect_err("it is too much");
        assert!(error.to_string().contains("unpacks to more"), "{error}");
        let mut cut = packed(b"some lines of a history");
        cut.truncate(cut.len() - 9);
        assert!(read(cut, 1 << 20).is_err());
    }
}
