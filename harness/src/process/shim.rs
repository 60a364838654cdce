//! The library that stands between a process and its C library, and the page that steers it.
//!
//! For: the faults of clocks and disks, of servers and of clients that are processes, and only in
//! runs that have some. The library is carried inside this program; it and the pages live in
//! memory of this process, where the others find them by way of `/proc`. So nothing is written
//! anywhere, and nothing is left, however a run ends.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use lockstorm_nemesis::{Clock, Readings};
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::clock::wall_ns;

#[path = "../../../nemesis/shim/src/layout.rs"]
mod layout;

/// The library, as the build script made it.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/lockstorm_shim.so"));

/// Folders below a server's own that are looked into; its append-only files are one down.
const FOLDERS_DEEP_MAX: u32 = 4;

const WORD_BYTES: u64 = 8;

/// The library, ready to be loaded.
#[derive(Clone, Debug)]
pub struct Shim {
    library: Arc<File>,
}

impl Shim {
    /// Puts the library into memory.
    ///
    /// # Errors
    /// When the system gives no such memory.
    pub fn new() -> io::Result<Self> {
        let mut library = in_memory(c"lockstorm-shim")?;
        library.write_all(LIBRARY)?;
        Ok(Self {
            library: Arc::new(library),
        })
    }

    /// A page for one process, in which nothing is broken.
    ///
    /// # Errors
    /// When the system gives no such memory.
    pub fn page(&self) -> io::Result<Page> {
        let page = in_memory(c"lockstorm-page")?;
        page.set_len(layout::WORDS as u64 * WORD_BYTES)?;
        Ok(Page {
            shim: self.clone(),
            page,
        })
    }
}

/// Name of the library among what a process has mapped.
const MAPPED_AS: &str = "/memfd:lockstorm-shim ";

/// A file that has no name and is gone with this process, which alone inherits it.
fn in_memory(name: &std::ffi::CStr) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MFdFlags::MFD_CLOEXEC)?))
}

/// Path at which another process of the same user finds an open file of ours.
fn path(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

/// The clock and the disk of one server or client. They outlive its process, as those of a machine
/// do.
#[derive(Debug)]
pub struct Page {
    shim: Shim,
    page: File,
}

impl Page {
    /// Has `command` start with the library.
    pub fn preload(&self, command: &mut Command) {
        let mut libraries = std::ffi::OsString::from(path(&self.shim.library));
        if let Some(others) = std::env::var_os("LD_PRELOAD") {
            libraries.push(":");
            libraries.push(others);
        }
        let variable = layout::PAGE_VARIABLE.to_str().expect("it is plain ASCII");
        command
            .env("LD_PRELOAD", libraries)
            .env(variable, path(&self.page));
    }

    /// The process that loaded the library last, if any did.
    ///
    /// # Errors
    /// As any reading of memory: never.
    pub fn attached(&self) -> io::Result<i64> {
        self.read(layout::ATTACHED)
    }

    /// Tells whether the program that a process runs now has the library. One that was started by
    /// another, as by a shell script, may have none though the other had.
    pub fn is_loaded_by(process: i32) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps"));
        maps.is_ok_and(|maps| maps.contains(MAPPED_AS))
    }

    /// Puts the clock wrong, or with `None` right again.
    ///
    /// # Errors
    /// As any writing of memory: never.
    pub fn set_clock(&self, clock: Option<Clock>) -> io::Result<()> {
        let Some(clock) = clock else {
            return self.write(layout::CLOCK, 0);
        };
        // Whoever is reading the one in use must not see half of another.
        let free: i64 = if self.read(layout::CLOCK)? == 1 { 2 } else { 1 };
        let at = layout::clock(free as usize);
        let now = wall_ns();
        self.write(at + layout::SINCE, now)?;
        self.write(at + layout::SHOWN, now.saturating_add(clock.jump_ns))?;
        self.write(at + layout::SPEED, i64::from(clock.speed_percent))?;
        self.write(layout::CLOCK, free)
    }

    /// `true` if the clock is right.
    ///
    /// # Errors
    /// As any reading of memory: never.
    pub fn clock_is_right(&self) -> io::Result<bool> {
        Ok(self.read(layout::CLOCK)? == 0)
    }

    /// Readings that the process was given while the clock was wrong.
    ///
    /// # Errors
    /// As any reading of memory: never.
    pub fn wrong_readings(&self) -> io::Result<Readings> {
        Ok(Readings {
            count: self.read(layout::READINGS)?.cast_unsigned(),
            ahead_ns: self.read(layout::AHEAD)?,
        })
    }

    /// Lets each synchronisation wait so long.
    ///
    /// # Errors
    /// As any writing of memory: never.
    pub fn slow_syncs(&self, by: Duration) -> io::Result<()> {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.write(layout::SYNC_DELAY, micros)
    }

    /// Number of synchronisations that have had to wait.
    ///
    /// # Errors
    /// As any reading of memory: never.
    pub fn syncs_slowed(&self) -> io::Result<u64> {
        Ok(self.read(layout::SYNCS_DELAYED)?.cast_unsigned())
    }

    /// Cuts each file below `folder` to the length up to which it was synchronised, and gives how
    /// many bytes were lost. The process that wrote them must be dead.
    ///
    /// # Errors
    /// When a file cannot be cut, or it is not known of each file how much of it is safe.
    pub fn lose_unsynced(&self, folder: &Path) -> io::Result<u64> {
        if self.read(layout::FILES_MISSED)? > 0 {
            let most = layout::FILES_MAX;
            return Err(io::Error::other(format!(
                "it synchronised more than {most} files, and not all are known"
            )));
        }
        let safe = self.safe_lengths()?;
        let mut lost = 0;
        for file in files_below(folder, FOLDERS_DEEP_MAX)? {
            let file = File::options().write(true).open(file)?;
            let about = file.metadata()?;
            let known = safe.iter().find(|(inode, _)| *inode == about.ino());
            let length = known.map_or(0, |(_, length)| *length);
            if about.len() > length {
                lost += about.len() - length;
                file.set_len(length)?;
            }
        }
        Ok(lost)
    }

    /// Forgets which files were synchronised, because there are none any more: the next files may
    /// get their inodes.
    ///
    /// # Errors
    /// As any writing of memory: never.
    pub fn forget_files(&self) -> io::Result<()> {
        self.write(layout::FILES_MISSED, 0)?;
        for word in layout::FILES..layout::WORDS {
            self.write(word, 0)?;
        }
        Ok(())
    }

    /// Inode and safe length of each file that was synchronised.
    fn safe_lengths(&self) -> io::Result<Vec<(u64, u64)>> {
        let mut all = Vec::new();
        for n in 0..layout::FILES_MAX {
            let at = layout::FILES + n * layout::FILE_WORDS;
            let inode = self.read(at)?.cast_unsigned();
            if inode == 0 {
                break;
            }
            all.push((inode, self.read(at + 1)?.cast_unsigned()));
        }
        Ok(all)
    }

    fn read(&self, word: usize) -> io::Result<i64> {
        let mut bytes = [0; WORD_BYTES as usize];
        self.page
            .read_exact_at(&mut bytes, word as u64 * WORD_BYTES)?;
        Ok(i64::from_ne_bytes(bytes))
    }

    fn write(&self, word: usize, number: i64) -> io::Result<()> {
        self.page
            .write_all_at(&number.to_ne_bytes(), word as u64 * WORD_BYTES)
    }
}

fn files_below(folder: &Path, deep: u32) -> io::Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    if deep == 0 || !folder.exists() {
        return Ok(files);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(files_below(&entry.path(), deep - 1)?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}
