//! What is kept is for its owner only: others on the same machine cannot look into it.
//!
//! Servers, workers and those who copy data directories say so to the system once, for all files that they make; SQLite makes
//! some of them. Copies are made so by whoever calls, too.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Nobody but its owner can look into anything that this process makes from now on, whatever the system has it do.
pub fn keep_files_private() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Closes to others what an earlier build has left open to them. Its group may be meant to see it.
#[cfg(unix)]
pub(super) fn close_to_others(paths: impl Iterator<Item = PathBuf>) {
    use std::os::unix::fs::PermissionsExt as _;
    for path in paths {
        let Ok(about) = path.symlink_metadata() else { continue };
        let mode = about.permissions().mode();
        if about.is_symlink() || mode & 0o007 == 0 {
            continue;
        }
        match std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode & !0o007)) {
            Ok(()) => tracing::info!(path = %path.display(), "was open to others, and is closed to them now"),
            Err(error) => tracing::warn!(%error, path = %path.display(), "is open to others, and cannot be closed"),
        }
    }
}

/// Elsewhere it is not known.
#[cfg(not(unix))]
pub(super) fn close_to_others(_: impl Iterator<Item = PathBuf>) {}

/// Nobody else can look into folders that are made. One that was there is as its owner wants it.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// Nor into a file that is made: the folder that it is in may have been there.
pub(super) fn make_file(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).create_new(true))
}

/// The same of a file that may be there already, and is emptied then.
pub(super) fn make_or_empty_file(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().write(true).create(true).truncate(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// What is to be said of a folder that others can look into, and how that is mended.
#[cfg(unix)]
pub(super) fn warning(folder: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    // Its group may be meant to see it, as that of a file of tokens.
    let mode = folder.metadata().ok()?.permissions().mode() & 0o7777;
    let path = folder.display();
    (mode & 0o007 != 0)
        .then(|| format!("others can look into {path} (mode {mode:o}); `chmod 700 {path}` keeps them out"))
}

/// Elsewhere it is not known.
#[cfg(not(unix))]
pub(super) fn warning(_: &Path) -> Option<String> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn folders_that_others_can_look_into_are_warned_of() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("data");
        make_folder(&path).expect("there is room");
        assert_eq!(warning(&path), None, "it is made for its owner");
        for (mode, is_open) in [(0o755, true), (0o701, true), (0o704, true), (0o750, false), (0o700, false)] {
            set_permissions(&path, Permissions::from_mode(mode)).expect("it is ours");
            let said = warning(&path);
            assert_eq!(said.is_some(), is_open, "{mode:o}");
            let mended = format!("chmod 700 {}", path.display());
            assert!(said.is_none_or(|said| said.contains(&mended) && said.contains(&format!("{mode:o}"))));
        }
        assert_eq!(warning(&folder.path().join("nothing")), None);
    }
}
