//! The files that scenarios name.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tailback_scenario::{BufferedScratch, Files, ReadAt, Scratch};

/// Files beside a scenario: their names are taken from the folder that it is in.
#[derive(Debug)]
pub struct Beside(PathBuf);

impl Beside {
    /// Those beside a file.
    pub fn of(file: &Path) -> Self {
        Self(file.parent().unwrap_or_else(|| Path::new("")).to_owned())
    }
}

impl Files for Beside {
    fn open(&self, name: &str) -> io::Result<Arc<dyn ReadAt>> {
        OnDisk::of(File::open(self.0.join(name))?)
    }

    /// Schedules may be larger than memory: their binary form is made in a file without a name.
    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(BufferedScratch::new(tempfile::tempfile()?, OnDisk::of)))
    }
}

/// The same, where it is noted which were opened: a server needs them.
#[derive(Debug)]
pub struct Noted {
    beside: Beside,
    opened: Mutex<BTreeMap<String, PathBuf>>,
}

impl Noted {
    /// Those beside a file.
    pub fn of(file: &Path) -> Self {
        Self { beside: Beside::of(file), opened: Mutex::default() }
    }

    /// Where the files are that were opened, by the names that the scenario has for them.
    pub fn opened(&self) -> BTreeMap<String, PathBuf> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Files for Noted {
    fn open(&self, name: &str) -> io::Result<Arc<dyn ReadAt>> {
        let file = self.beside.open(name)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.insert(name.to_owned(), self.beside.0.join(name));
        Ok(file)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        self.beside.scratch()
    }
}

/// A file that is read at any place.
#[derive(Debug)]
struct OnDisk {
    file: File,
    bytes: u64,
}

impl OnDisk {
    fn of(file: File) -> io::Result<Arc<dyn ReadAt>> {
        let bytes = file.metadata()?.len();
        Ok(Arc::new(Self { file, bytes }))
    }
}

impl ReadAt for OnDisk {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }
}
