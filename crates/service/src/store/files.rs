//! Files beside the database. Their paths are made of numbers and of names that the server gives.
//!
//! **The invariant it keeps:** but for attempts, whose folders count for nothing before they are taken in as a whole, a file is there as a
//! whole or not at all. What may be removed at all is said in [`quarantine`](super::quarantine).

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use super::StoreError;
use super::private::make_or_empty_file;
use crate::descriptors;

/// What is given back when the disk is full, so that the database can still be written to.
const RESERVE_BYTES: usize = 4 << 20;
/// The file of that.
pub(super) const RESERVE: &str = "reserve";
/// The ending of files that are not there as a whole yet.
pub(super) const UNFINISHED: &str = "unfinished";

/// The folders of all artifacts, of all checkpoints, and of attempts to carry out runs that have not ended yet.
pub(crate) const ARTIFACTS: &str = "artifacts";
pub(crate) const CHECKPOINTS: &str = "checkpoints";
pub(crate) const ATTEMPTS: &str = "attempts";
/// The folder of files that were uploaded.
pub(crate) const UPLOADS: &str = "files";

/// The folder of a run's artifacts.
pub(crate) fn artifacts(folder: &Path, number: i64) -> PathBuf {
    folder.join(ARTIFACTS).join(number.to_string())
}

/// The checkpoint of a run.
pub(crate) fn checkpoint(folder: &Path, number: i64) -> PathBuf {
    folder.join(CHECKPOINTS).join(number.to_string())
}

/// Writes a file as a whole or not at all.
pub(crate) fn write(path: &Path, parts: &[&[u8]]) -> Result<(), StoreError> {
    fill(path, |file| parts.iter().try_for_each(|part| file.write_all(part)))
}

/// Writes all files of an attempt into its folder; they are on disk afterwards. If the process is killed meanwhile, some of them, or a part of
/// one, may stay there until the folder is removed.
pub(super) fn fill_attempt<'f>(
    folder: &Path,
    files: impl Iterator<Item = (&'static str, &'f [u8])> + Clone,
) -> Result<(), StoreError> {
    let mut written = Vec::new();
    let filled = files.clone().try_for_each(|(name, bytes)| {
        let path = folder.join(name);
        let write = || -> io::Result<File> {
            let mut file = make_or_empty_file(&path)?;
            file.write_all(bytes)?;
            begin_writing_back(&file);
            Ok(file)
        };
        write().map(|file| written.push((path.clone(), file))).map_err(|error| broken("write", &path, &error))
    });
    let sync = |(path, file): &(PathBuf, File)| file.sync_all().map_err(|error| broken("sync", path, &error));
    let filled = filled.and_then(|()| written.iter().try_for_each(sync));
    if filled.is_err() {
        // Their room may be what others lack.
        files.for_each(|(name, _)| drop(fs::remove_file(folder.join(name))));
    }
    filled.and_then(|()| sync_folder(folder))
}

/// Has the system begin to put a file on disk where it can be told to. Of several files that are begun so and synced later, it makes one change
/// of its own records; of those synced one by one a change each, which takes nearly twice as long.
fn begin_writing_back(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Writes what is read, as a whole or not at all.
pub(crate) fn copy(mut from: impl Read, path: &Path) -> Result<(), StoreError> {
    fill(path, |file| io::copy(&mut from, file).map(drop))
}

fn fill(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), StoreError> {
    let unfinished = path.with_extension(UNFINISHED);
    let written = begin(&unfinished).and_then(|mut file| fill(&mut file).map(|()| file));
    put_in_place(written, &unfinished, path)
}

/// A new file, with its folder. As long as somebody writes it, it is locked where files can be: one that is not was left behind.
pub(crate) fn begin(unfinished: &Path) -> io::Result<File> {
    fs::create_dir_all(unfinished.parent().unwrap_or(Path::new(".")))?;
    let file = make_or_empty_file(unfinished)?;
    let _ = file.try_lock();
    Ok(file)
}

/// Gives a file that was written its name, and removes one that could not be.
pub(crate) fn put_in_place(written: io::Result<File>, unfinished: &Path, path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let put = |file: File| -> io::Result<()> {
        file.sync_all()?;
        // It may be another one than that in which it was written.
        fs::create_dir_all(folder)?;
        fs::rename(unfinished, path)?;
        File::open(folder)?.sync_all()
    };
    written.and_then(put).map_err(|error| {
        let _ = fs::remove_file(unfinished);
        broken("write", path, &error)
    })
}

/// Makes a folder for an attempt to carry out a run, which no other attempt has.
pub(crate) fn make_attempt(folder: &Path, number: i64, count: u64) -> Result<PathBuf, StoreError> {
    let path = folder.join(ATTEMPTS).join(format!("{number}-{count}"));
    // Of a process that was killed, say.
    remove_all(&path);
    fs::create_dir_all(&path).map_err(|error| broken("make", &path, &error))?;
    Ok(path)
}

/// Removes what there is of a run; tells whether nothing of it is left.
pub(crate) fn remove_run(folder: &Path, number: i64) -> bool {
    // Both, whatever becomes of the first.
    let removed = [artifacts(folder, number), checkpoint(folder, number)].map(|path| remove_all(&path));
    removed == [true, true]
}

/// Removes a file, or a folder with all that is in it; tells whether nothing is there any more.
pub(crate) fn remove_all(path: &Path) -> bool {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, path = %path.display(), "cannot be removed; the next start will try again");
            false
        }
        _ => true,
    }
}

/// What is in a folder, by name; nothing if there is no such folder.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let mut found =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        found.sort();
        Ok(found)
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        found => found.map_err(|error| broken("read", folder, &error)),
    }
}

/// Whether a file has the name of one that was not written to its end.
pub(super) fn is_unfinished(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == UNFINISHED)
}

/// What a folder lists is on disk afterwards.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| broken("sync", folder, &error))
}

/// Keeps some room on the disk.
pub(crate) fn make_reserve(folder: &Path) {
    let path = reserve(folder);
    if !path.exists()
        && let Err(error) = write(&path, &[&vec![0xa5; RESERVE_BYTES]])
    {
        tracing::warn!(%error, "cannot keep room on the disk for when it is full");
    }
}

/// Gives it back.
pub(crate) fn release_reserve(folder: &Path) {
    tracing::error!("the disk is full");
    remove_all(&reserve(folder));
}

/// Removes what a killed process has left of it.
pub(super) fn forget_unfinished_reserve(folder: &Path) {
    remove_all(&reserve(folder).with_extension(UNFINISHED));
}

fn reserve(folder: &Path) -> PathBuf {
    folder.join(RESERVE)
}

/// What is wrong with a file.
pub(crate) fn broken(what: &str, path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full,
        _ if descriptors::is_shortage(error) => {
            StoreError::Descriptors(format!("cannot {what} {}: {error}", path.display()))
        }
        _ => StoreError::Broken(format!("cannot {what} {}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_files_that_cannot_all_be_written_none_is_left() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path();
        let files = [("a", &b"first"[..]), ("b", b"second"), ("c", b"")];
        fill_attempt(path, files.into_iter()).expect("all can be written");
        let found = files.map(|(name, _)| fs::read(path.join(name)).expect("it is there"));
        assert_eq!(found, files.map(|(_, bytes)| bytes.to_vec()));
        // What is in the way of the last one stays.
        files.iter().for_each(|(name, _)| fs::remove_file(path.join(name)).expect("it is there"));
        fs::create_dir(path.join("c")).expect("nothing is there");
        let error = fill_attempt(path, files.into_iter()).expect_err("one cannot");
        assert!(error.to_string().contains("cannot write"), "{error}");
        assert_eq!(entries(path).expect("it can be read"), [path.join("c")]);
    }
}
