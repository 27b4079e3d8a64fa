//! The state of a run between two windows, as a file.
//!
//! It is read back only by the program that wrote it: another version may hold its state in another shape. Whatever is
//! wrong with a checkpoint, the run can start again, and finds the same.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::access::hexadecimal;
use crate::descriptors;
use crate::store::{StoreError, files};

/// The state of a run between two windows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Checkpoint {
    /// The link cycle that was reached.
    pub cycle: u64,
    /// The wall time that it took to get there.
    pub wall: Duration,
    /// The processor time of all its threads.
    pub processor: Duration,
    /// The state, as the simulator writes it.
    pub state: Vec<u8>,
}

/// What stands before the state, in a line of its own.
#[derive(Deserialize, Serialize)]
struct Heading {
    /// The program that wrote it.
    program: String,
    /// The scenario.
    scenario_digest: String,
    cycle: u64,
    wall_ms: u64,
    processor_ms: u64,
    /// SHA-256 of the state.
    sha256: String,
}

impl Checkpoint {
    /// Writes it, in place of the one before.
    pub(super) fn write(&self, path: &Path, program: &str, scenario_digest: &str) -> Result<(), StoreError> {
        let heading = Heading {
            program: program.to_owned(),
            scenario_digest: scenario_digest.to_owned(),
            cycle: self.cycle,
            wall_ms: self.wall.as_millis() as u64,
            processor_ms: self.processor.as_millis() as u64,
            sha256: hexadecimal(&Sha256::digest(&self.state)),
        };
        let heading = serde_json::to_string(&heading).expect("plain data");
        files::write(path, &[heading.as_bytes(), b"\n", &self.state])
    }

    /// Reads the checkpoint of a scenario, if there is one that can be used.
    ///
    /// # Errors
    /// When too many files are open: there may well be one that can be used, a moment later.
    pub(super) fn read(path: &Path, program: &str, scenario_digest: &str) -> Result<Option<Self>, StoreError> {
        let bytes = match std::fs::read(path) {
            Err(error) if descriptors::is_shortage(&error) => return Err(files::broken("read", path, &error)),
            bytes => bytes.ok(),
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let found = parse(bytes, program, scenario_digest);
        if let Err(reason) = &found {
            tracing::warn!(path = %path.display(), reason, "a checkpoint is not used");
        }
        Ok(found.ok())
    }
}

fn parse(mut bytes: Vec<u8>, program: &str, scenario_digest: &str) -> Result<Checkpoint, &'static str> {
    let end = bytes.iter().position(|&byte| byte == b'\n').ok_or("it has no heading")?;
    let state = bytes.split_off(end + 1);
    let heading: Heading = serde_json::from_slice(&bytes).map_err(|_| "its heading cannot be read")?;
    if heading.program != program {
        return Err("another version of the program wrote it");
    }
    if heading.scenario_digest != scenario_digest {
        return Err("it is of another scenario");
    }
    if heading.sha256 != hexadecimal(&Sha256::digest(&state)) {
        return Err("it is damaged");
    }
    let [wall, processor] = [heading.wall_ms, heading.processor_ms].map(Duration::from_millis);
    Ok(Checkpoint { cycle: heading.cycle, wall, processor, state })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_written_is_read_back_by_the_same_program() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("7");
        let [wall, processor] = [1500, 2800].map(Duration::from_millis);
        let written = Checkpoint { cycle: 300, wall, processor, state: b"a\nb\0c".to_vec() };
        written.write(&path, "1.0", "abc").expect("it can be written");
        assert_eq!(Checkpoint::read(&path, "1.0", "abc"), Ok(Some(written)));
        assert_eq!(Checkpoint::read(&path, "1.1", "abc"), Ok(None));
        assert_eq!(Checkpoint::read(&path, "1.0", "abd"), Ok(None));
        assert_eq!(Checkpoint::read(&folder.path().join("8"), "1.0", "abc"), Ok(None));
    }

    proptest! {
        #[test]
        fn damaged_files_are_never_taken_for_good_ones(at in any::<prop::sample::Index>(), with: u8) {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let path = folder.path().join("7");
            let (wall, processor) = (Duration::ZERO, Duration::ZERO);
            let written = Checkpoint { cycle: 300, wall, processor, state: vec![1; 64] };
            written.write(&path, "1.0", "abc").expect("it can be written");
            let mut bytes = std::fs::read(&path).expect("it is there");
            let at = at.index(bytes.len());
            bytes[at] = with;
            std::fs::write(&path, bytes).expect("it can be written");
            if let Ok(Some(read)) = Checkpoint::read(&path, "1.0", "abc") {
                prop_assert_eq!(read.state, written.state);
            }
        }
    }
}
