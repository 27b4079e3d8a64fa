//! Directories of results.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use tailback_report::{Report, Table};

use crate::complaint::Complaint;

/// A directory that results go to.
#[derive(Debug)]
pub struct Directory(PathBuf);

/// The name of a report in its directory.
pub const REPORT: &str = "report.json";
/// The name of the report of a run that was interrupted. It is no result, and nothing looks for it.
pub const INTERRUPTED: &str = "interrupted.json";
/// The name of the state of a run that is not done.
pub const CHECKPOINT: &str = "checkpoint";
/// The name of what is said about a sweep as a whole.
pub const MANIFEST: &str = "sweep.json";

/// What reports and manifests have in common: whose results they are about.
#[derive(Deserialize)]
struct Owner {
    scenario_digest: String,
}

impl Directory {
    /// A directory that is there or can be made, and that files can be written to: what takes long must not fail in its
    /// end for lack of one. Nothing is left behind yet.
    pub fn at(path: &Path) -> Result<Self, Complaint> {
        // A folder that is not there yet is made in the first one above it that is.
        match path.ancestors().find(|ancestor| ancestor.exists()) {
            Some(ancestor) if !ancestor.is_dir() => {
                return Err(Complaint::bad_input(format!("{} is a file, not a directory", ancestor.display())));
            }
            _ => {}
        }
        let cannot = |error: io::Error| {
            // Without the name of a folder that was made for a trial.
            let error = error.raw_os_error().map_or(error, io::Error::from_raw_os_error);
            Complaint::bad_input(format!("cannot write into {}: {error}", path.display()))
        };
        try_to_write(path).map_err(cannot)?;
        Ok(Self(path.to_owned()))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Refuses if another scenario has left its results here, by a run or a sweep.
    pub fn refuse_others(&self, scenario_digest: &str) -> Result<(), Complaint> {
        for name in [REPORT, INTERRUPTED, MANIFEST] {
            let path = self.path(name);
            if !path.exists() {
                continue;
            }
            let owner = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Owner>(&bytes).ok());
            let problem = match owner {
                Some(owner) if owner.scenario_digest == scenario_digest => continue,
                Some(owner) => {
                    let digest = owner.scenario_digest.get(..12).unwrap_or_default();
                    format!("{} holds results of another scenario (digest {digest}…)", self.0.display())
                }
                None => format!("{} is damaged", path.display()),
            };
            let help = "choose another directory, or remove it".to_owned();
            return Err(Complaint::BadInput(problem, Some(help)));
        }
        Ok(())
    }

    /// Refuses a run where a sweep has left its results, which go by the same names in part, as histograms do.
    pub fn refuse_sweep(&self) -> Result<(), Complaint> {
        self.refuse_beside(&[MANIFEST], "a sweep, whose files a run would overwrite")
    }

    /// Refuses a sweep where a run has left its results, or what there is of them.
    pub fn refuse_run(&self) -> Result<(), Complaint> {
        self.refuse_beside(&[REPORT, INTERRUPTED, CHECKPOINT], "a run, whose files a sweep would overwrite")
    }

    fn refuse_beside(&self, names: &[&str], whose: &str) -> Result<(), Complaint> {
        let Some(path) = names.iter().map(|name| self.path(name)).find(|path| path.exists()) else { return Ok(()) };
        let help = "choose another directory with `--out`".to_owned();
        Err(Complaint::BadInput(format!("{} is of {whose}", path.display()), Some(help)))
    }

    /// Refuses if a run has left a checkpoint here: it can go on.
    pub fn refuse_unfinished(&self) -> Result<(), Complaint> {
        let path = self.path(CHECKPOINT);
        if !path.exists() {
            return Ok(());
        }
        let help = format!("go on with `tailback run --resume {}`, or remove it to start again", self.0.display());
        Err(Complaint::BadInput(format!("{} is of a run that is not done", path.display()), Some(help)))
    }

    /// A report, if there is one that can be read.
    pub fn read_report(&self, name: &str) -> Option<Report> {
        Report::read_json(fs::File::open(self.path(name)).ok()?).ok()
    }

    /// Writes a file as a whole or not at all. Others, on other machines, may write the same one at the same time.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Complaint> {
        let path = self.path(name);
        let write = || -> io::Result<()> {
            let folder = path.parent().unwrap_or(&self.0);
            // As anybody may read it who may read what programs write here.
            let readable = fs::Permissions::from_mode(0o666);
            let mut unfinished = tempfile::Builder::new();
            unfinished.prefix(name_of(&path)).suffix(".unfinished").permissions(readable);
            fs::create_dir_all(folder)?;
            let mut file = unfinished.tempfile_in(folder)?;
            file.as_file_mut().write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|error| Complaint::failed(format!("cannot write {}: {error}", path.display())))
    }

    /// Removes a file that may be there.
    pub fn remove(&self, name: &str) -> Result<(), Complaint> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Complaint::failed(format!("cannot remove {}: {error}", path.display())))
            }
            _ => Ok(()),
        }
    }

    /// Writes a table as CSV and as Parquet.
    pub fn write_table(&self, name: &str, table: &Table) -> Result<(), Complaint> {
        let (mut csv, mut parquet) = (Vec::new(), Vec::new());
        table.write_csv(&mut csv).map_err(|error| Complaint::failed(error.to_string()))?;
        table.write_parquet(&mut parquet).map_err(|error| Complaint::failed(error.to_string()))?;
        self.write(&format!("{name}.csv"), &csv)?;
        self.write(&format!("{name}.parquet"), &parquet)
    }
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// Tries whether a file can be made in a folder. Where that is not there yet, folders of the same names are made beside the place that it
/// would have, and removed: others who try the same at the same time, or write already, never see them come and go.
fn try_to_write(folder: &Path) -> io::Result<()> {
    // A link that leads nowhere is there: no folder can be made in its place.
    let above = folder.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok()).unwrap_or(Path::new(""));
    let missing = folder.strip_prefix(above).unwrap_or(folder).components();
    let missing: PathBuf = missing.filter(|name| matches!(name, Component::Normal(_))).collect();
    let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
    if missing.as_os_str().is_empty() {
        return tempfile::tempfile_in(above).map(drop);
    }
    let beside = tempfile::Builder::new().prefix(".trial").tempdir_in(above)?;
    let trial = beside.path().join(&missing);
    fs::create_dir_all(&trial)?;
    tempfile::tempfile_in(&trial)?;
    beside.close()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder is there");
        let mut names: Vec<_> =
            entries.map(|entry| entry.expect("it has a name").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// As the shares of a sweep do that begin at once.
    #[test]
    fn several_try_whether_they_can_write_and_write() {
        const FOLDERS: usize = 100;
        let temporary = tempfile::tempdir().expect("a temporary folder can be made");
        let above = temporary.path();
        let folder = move |number: usize| above.join(format!("{number}/some/where"));
        std::thread::scope(|scope| {
            for share in ["a", "b", "c"] {
                scope.spawn(move || {
                    for number in 0..FOLDERS {
                        let directory = Directory::at(&folder(number)).expect("it can be made");
                        directory.write(share, b"result").unwrap_or_else(|error| panic!("{error:?}"));
                    }
                });
            }
        });
        assert_eq!(names_in(above).len(), FOLDERS);
        for number in 0..FOLDERS {
            assert_eq!(names_in(&folder(number)), ["a", "b", "c"]);
        }
    }

    #[test]
    fn nothing_is_left_of_a_trial() {
        let above = tempfile::tempdir().expect("a temporary folder can be made");
        for folder in ["some/where", "some/../where", "some/../../where", "."] {
            Directory::at(&above.path().join("in").join(folder)).expect("it can be made");
            assert_eq!(names_in(above.path()), [""; 0], "{folder}");
        }
        let too_long = "a".repeat(300);
        Directory::at(&above.path().join("some").join(too_long)).expect_err("no file system has names as long");
        assert_eq!(names_in(above.path()), [""; 0]);
    }

    #[test]
    fn nothing_can_be_written_where_a_link_leads_nowhere() {
        let above = tempfile::tempdir().expect("a temporary folder can be made");
        std::os::unix::fs::symlink("nowhere", above.path().join("link")).expect("a link can be made");
        for folder in ["link", "link/results"] {
            Directory::at(&above.path().join(folder)).expect_err("no folder can be made there");
        }
        assert_eq!(names_in(above.path()), ["link"]);
    }
}
