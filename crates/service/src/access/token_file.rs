//! Changing a file of tokens.
//!
//! **The invariant it keeps:** the file can be read by [`Tokens::read`](super::Tokens::read) before and after, and is there
//! as a whole at any time. Comments and the order of lines stay.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::tokens::{Entry, TokenError};

/// What a change has done beside what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// How many entries were added or removed.
    pub entries: usize,
    /// Whether others could read the file before.
    pub was_open: bool,
}

/// Adds a line to a file of tokens, which is made if it is not there. Nobody but its owner, and its group if that could read
/// it before, can read it afterwards.
///
/// # Errors
/// When the file cannot be read or written.
pub fn add_line(path: &Path, line: &str) -> Result<Changed, TokenError> {
    change(path, |text| {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        (format!("{text}{end}{line}\n"), 1)
    })
}

/// Removes all lines of a name.
///
/// # Errors
/// When the file cannot be read or written.
pub fn remove_name(path: &Path, name: &str) -> Result<Changed, TokenError> {
    change(path, |text| {
        // Of a line that is damaged nobody knows whose it is: it stays, and the server names it.
        let is_of_name = |line: &str| matches!(Entry::parse(line), Ok(Some(entry)) if entry.name == name);
        let (gone, kept): (Vec<&str>, Vec<&str>) = text.split_inclusive('\n').partition(|line| is_of_name(line));
        (kept.concat(), gone.len())
    })
}

fn change(path: &Path, change: impl FnOnce(&str) -> (String, usize)) -> Result<Changed, TokenError> {
    let failed = |verb| move |error| TokenError::File { verb, file: path.display().to_string(), error };
    // One after the other, or what one adds would be lost when the other replaces the file. Of the folder, which stays.
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let lock = File::open(folder).map_err(failed("write"))?;
    lock.lock().map_err(failed("write"))?;
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.map_err(failed("read"))?,
    };
    let was_open = is_open(path);
    let (text, entries) = change(&text);
    if entries > 0 {
        replace(path, &text).map_err(failed("write"))?;
    }
    Ok(Changed { entries, was_open })
}

/// Puts a new file in place of the old one, private from the start.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // What a link leads to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let unfinished = PathBuf::from(format!("{}.unfinished", path.display()));
    // One that was left behind may have been made by others, or be open to them.
    if let Err(error) = fs::remove_file(&unfinished)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&unfinished)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(&path) {
        keep_owner(&file, &old)?;
    }
    file.sync_all()?;
    fs::rename(&unfinished, &path)
}

/// A server that runs as somebody else, or reads the file by way of its group, must find it as before.
#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(fs::Permissions::from_mode(0o600 | old.mode() & 0o040))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o037 != 0)
}

#[cfg(not(unix))]
fn is_open(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Role, Tokens, new_token};

    #[test]
    fn lines_come_and_go_and_the_rest_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("tokens");
        let line = |name| new_token(name, &Role::Read.into()).expect("there are random bytes").1;
        let (alice, bob, again) = (line("alice"), line("bob"), line("alice"));
        for line in [&alice, &bob, &again] {
            let changed = add_line(&path, line).expect("it can be written");
            assert_eq!(changed, Changed { entries: 1, was_open: false });
        }
        let text = fs::read_to_string(&path).expect("it is there");
        assert_eq!(text, format!("{alice}\n{bob}\n{again}\n"));
        // As an editor may leave it: with a comment, and without an end of the last line.
        fs::write(&path, format!("# alice\n{alice}\n{bob}")).expect("it can be written");
        add_line(&path, &again).expect("it can be written");
        assert_eq!(remove_name(&path, "nobody").expect("it can be read").entries, 0);
        assert_eq!(remove_name(&path, "alice").expect("it can be written").entries, 2);
        assert_eq!(fs::read_to_string(&path).expect("it is there"), format!("# alice\n{bob}\n"));
        assert!(Tokens::read(&path).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_private_from_the_start_and_made_so_if_it_is_not() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (path, link) = (folder.path().join("tokens"), folder.path().join("link"));
        let mode = || fs::metadata(&path).expect("it is there").permissions().mode() & 0o777;
        let line = new_token("alice", &Role::Read.into()).expect("there are random bytes").1;
        add_line(&path, &line).expect("it can be written");
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        assert!(!add_line(&path, &line).expect("it can be written").was_open);
        assert_eq!(mode(), 0o640, "the group of a server may read it");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o606)).expect("it is ours");
        std::os::unix::fs::symlink(&path, &link).expect("a link can be made");
        // Somebody else's, who waits for it to be written to.
        let trap = folder.path().join("trap");
        fs::write(&trap, "").expect("it can be written");
        std::os::unix::fs::symlink(&trap, folder.path().join("tokens.unfinished")).expect("a link can be made");
        assert!(add_line(&link, &line).expect("it can be written").was_open);
        assert_eq!((mode(), fs::read_to_string(&trap).expect("it is there").as_str()), (0o600, ""));
        assert!(link.is_symlink());
    }
}
