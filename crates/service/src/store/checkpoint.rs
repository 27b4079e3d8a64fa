//! The state of a run between two windows, as a file.
//!
//! It is used by a program of the same version that writes states in the same format. Whatever is wrong with a checkpoint, the
//! run can start again, and finds the same.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tailback_sim::STATE_FORMAT;

use super::state_file::{Unfit, read_state, refuse_other_programs, write_state};
use super::{StoreError, files, quarantine};
use crate::descriptors;

/// The state of a run between two windows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// The link cycle that was reached.
    pub cycle: u64,
    /// The wall time that it took to get there.
    pub wall: Duration,
    /// The processor time of all its threads.
    pub processor: Duration,
    /// The state, as the simulator writes it.
    pub state: Vec<u8>,
}

/// What it is called in the folder of its attempt, as long as it is not there as a whole.
const UNFINISHED: &str = "checkpoint";

/// What stands before the state, in a line of its own.
#[derive(Deserialize, Serialize)]
struct Heading {
    /// The format of the state.
    format: u32,
    /// The version of the program that wrote it.
    version: String,
    /// The scenario.
    scenario_digest: String,
    cycle: u64,
    wall_ms: u64,
    processor_ms: u64,
}

impl Checkpoint {
    /// Writes that of a run, in place of the one before, by way of the folder of an attempt, which must be there: of an attempt that is over it is not.
    pub(crate) fn write(
        &self,
        folder: &Path,
        number: i64,
        attempt: &Path,
        version: &str,
        scenario_digest: &str,
    ) -> Result<(), StoreError> {
        if !attempt.is_dir() {
            return Err(StoreError::Broken(format!("{} is gone", attempt.display())));
        }
        let heading = Heading {
            format: STATE_FORMAT,
            version: version.to_owned(),
            scenario_digest: scenario_digest.to_owned(),
            cycle: self.cycle,
            wall_ms: self.wall.as_millis() as u64,
            processor_ms: self.processor.as_millis() as u64,
        };
        write_state(&attempt.join(UNFINISHED), &files::checkpoint(folder, number), &heading, &self.state)
    }

    /// Reads that of a run, if there is one that can be used. One that is damaged is set aside.
    ///
    /// # Errors
    /// When too many files are open: there may well be one that can be used, a moment later.
    pub(crate) fn read(
        folder: &Path,
        number: i64,
        version: &str,
        scenario_digest: &str,
    ) -> Result<Option<Self>, StoreError> {
        let path = files::checkpoint(folder, number);
        let bytes = match std::fs::read(&path) {
            Err(error) if descriptors::is_shortage(&error) => return Err(files::broken("read", &path, &error)),
            bytes => bytes.ok(),
        };
        let Some(bytes) = bytes else { return Ok(None) };
        match read_state(&bytes).and_then(|(heading, state)| used_by(&heading, state, version, scenario_digest)) {
            Ok(checkpoint) => return Ok(Some(checkpoint)),
            Err(Unfit::Other(reason)) => {
                tracing::warn!(path = %path.display(), reason, "a checkpoint is not used; the run starts again");
            }
            Err(Unfit::Damaged(reason)) => {
                if let Err(error) = quarantine::put(folder, &path, &format!("checkpoint-{number}"), &reason) {
                    tracing::warn!(%error, "a damaged checkpoint is not used, and cannot be set aside");
                }
            }
        }
        Ok(None)
    }
}

/// What is wrong with a checkpoint, whoever may use it.
pub(super) fn damage(path: &Path) -> Option<String> {
    let found = std::fs::read(path).map_err(|error| Unfit::Damaged(error.to_string()));
    match found.and_then(|bytes| read_state::<Heading>(&bytes).map(drop)) {
        Err(Unfit::Damaged(reason)) => Some(reason),
        _ => None,
    }
}

fn used_by(heading: &Heading, state: Vec<u8>, version: &str, scenario_digest: &str) -> Result<Checkpoint, Unfit> {
    refuse_other_programs((heading.format, &heading.version), (STATE_FORMAT, version))?;
    if heading.scenario_digest != scenario_digest {
        return Err(Unfit::Other("it is of another scenario".to_owned()));
    }
    let [wall, processor] = [heading.wall_ms, heading.processor_ms].map(Duration::from_millis);
    Ok(Checkpoint { cycle: heading.cycle, wall, processor, state })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::access::hexadecimal;

    fn checkpoint() -> Checkpoint {
        let [wall, processor] = [1500, 2800].map(Duration::from_millis);
        Checkpoint { cycle: 300, wall, processor, state: b"a\nb\0c".to_vec() }
    }

    #[test]
    fn what_was_written_is_read_back_by_the_same_version() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let read = |number, version, digest| {
            Checkpoint::read(folder.path(), number, version, digest).expect("files can be read")
        };
        checkpoint().write(folder.path(), 7, folder.path(), "1.0", "abc").expect("it can be written");
        assert_eq!(read(7, "1.1", "abc"), None);
        assert_eq!(read(7, "1.0", "abd"), None);
        assert_eq!(read(8, "1.0", "abc"), None);
        assert_eq!(read(7, "1.0", "abc"), Some(checkpoint()), "it is still there");
    }

    #[test]
    fn other_formats_are_not_used_and_left_where_they_are() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        checkpoint().write(folder.path(), 7, folder.path(), "1.0", "abc").expect("it can be written");
        let path = files::checkpoint(folder.path(), 7);
        let other = Heading {
            format: STATE_FORMAT + 1,
            version: "1.0".to_owned(),
            scenario_digest: "abc".to_owned(),
            cycle: 300,
            wall_ms: 0,
            processor_ms: 0,
        };
        write_state(&folder.path().join("unfinished"), &path, &other, b"state").expect("it can be written");
        let other = std::fs::read(&path).expect("it is there");
        // As the versions before wrote them, whose first line was the heading, or a checksum of all the rest.
        let rest = b"{\"format\":8}\nstate";
        let earlier = [format!("{}\n", hexadecimal(&Sha256::digest(rest))).as_bytes(), rest].concat();
        for file in [other, earlier, rest.to_vec()] {
            std::fs::write(&path, &file).expect("it can be written");
            assert_eq!(Checkpoint::read(folder.path(), 7, "1.0", "abc"), Ok(None));
            assert_eq!(std::fs::read(&path).expect("it is there"), file);
        }
    }

    proptest! {
        #[test]
        fn damaged_files_are_never_taken_for_good_ones(at in any::<prop::sample::Index>(), with: u8) {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            checkpoint().write(folder.path(), 7, folder.path(), "1.0", "abc").expect("it can be written");
            let path = files::checkpoint(folder.path(), 7);
            let whole = std::fs::read(&path).expect("it is there");
            let mut bytes = whole.clone();
            let at = at.index(bytes.len());
            bytes[at] = with;
            std::fs::write(&path, &bytes).expect("it can be written");
            let read = Checkpoint::read(folder.path(), 7, "1.0", "abc");
            prop_assert_eq!(read.expect("files can be read").is_some(), bytes == whole);
            let aside = folder.path().join(quarantine::QUARANTINE).join("checkpoint-7");
            let kept = [path, aside].into_iter().find_map(|path| std::fs::read(path).ok());
            prop_assert_eq!(kept, Some(bytes));
        }
    }
}
