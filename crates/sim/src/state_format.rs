//! The format that the state of a run is written in.

use tailback_engine::{SnapshotError, StateSource, take_value, write_value};

/// The format that [`Run::save`](crate::Run::save) writes, and the only one that [`Run::load`](crate::Run::load) reads.
///
/// It counts up whenever any part of a simulation writes something else, or means something else by the same bytes; also
/// when it simulates something else from there on, because a run that goes on must find what an undisturbed one finds. A
/// test fails until that is done.
pub const STATE_FORMAT: u32 = 38;

/// What a state begins with.
pub(crate) fn write(bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
    write_value(&STATE_FORMAT, bytes)
}

/// Takes it from the front of a state, which must have this format.
pub(crate) fn check(source: &mut dyn StateSource) -> Result<(), SnapshotError> {
    let (found, expected) = (take_value::<u32>(source, NUMBER_BYTES_MAX)?.into(), STATE_FORMAT.into());
    if found == expected { Ok(()) } else { Err(SnapshotError::Mismatch { what: "as its format", found, expected }) }
}

/// The number of a format takes no more bytes.
const NUMBER_BYTES_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use tailback_report::Digest;
    use tailback_scenario::Document;

    use super::*;
    use crate::Run;

    /// What the states of these scenarios are in this format. Where they differ, [`STATE_FORMAT`] counts up, and this is
    /// the digest that goes with the new number.
    const RECORDED: (u32, &str) = (38, "e8550812696f6e23d38921fe6d4f1b456dcba58e1b0679bca9d06cb819326704");

    /// Together they have all protocols, and parts of all topologies.
    const SCENARIOS: [&str; 15] = [
        include_str!("../../../tests/scenarios/dragonfly-piggyback.toml"),
        include_str!("../../../tests/scenarios/dragonfly-ectn.toml"),
        include_str!("../../../tests/scenarios/protocol-comprehensive.toml"),
        include_str!("../../../tests/scenarios/protocol-crp-ring.toml"),
        include_str!("../../../tests/scenarios/protocol-lhrp-fabric.toml"),
        include_str!("../../../tests/scenarios/protocol-smsrp.toml"),
        include_str!("../../../tests/scenarios/protocol-mvcm.toml"),
        include_str!("../../../tests/scenarios/clos-central.toml"),
        include_str!("../../../tests/scenarios/clos-distributed.toml"),
        include_str!("../../../tests/scenarios/clos-end-to-end.toml"),
        include_str!("../../../tests/scenarios/clos-inputs.toml"),
        include_str!("../../../tests/scenarios/clos-slots.toml"),
        include_str!("../../../tests/scenarios/fly-ecn.toml"),
        include_str!("../../../tests/scenarios/switch-bursts.toml"),
        include_str!("../../../tests/scenarios/switch-islip.toml"),
    ];

    fn state(text: &str) -> Vec<u8> {
        // States are of regions one by one, and how many pay off is no part of the format.
        let document = Document::read("scenario.toml", text).with("execution.partition=domain");
        let scenario = document.resolve().expect("it has no mistakes");
        let mut run = Run::new(&scenario, 0).expect("it can be started");
        run.advance(250, |_| std::ops::ControlFlow::Continue(())).expect("it goes well");
        run.save().expect("it can be written")
    }

    #[test]
    fn another_encoding_has_another_number() {
        let words = |state: &[u8]| -> Vec<u64> {
            let word = |bytes: &[u8]| bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
            state.chunks(8).map(word).collect()
        };
        let digest = SCENARIOS.iter().fold(Digest::new(), |digest, text| {
            let state = state(text);
            words(&state).into_iter().fold(digest.number(state.len() as u64), Digest::number)
        });
        let found = (STATE_FORMAT, digest.hex());
        assert_eq!((found.0, found.1.as_str()), RECORDED, "the states of runs have changed: count STATE_FORMAT up");
    }

    #[test]
    fn the_guide_names_the_format() {
        let guide = include_str!("../../../docs/guide.md");
        let named: Vec<&str> = guide.split("(format ").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert_eq!(named, [&STATE_FORMAT.to_string(); 2], "where it speaks of checkpoints");
    }

    #[test]
    fn other_formats_are_not_read() {
        let scenario = Document::read("scenario.toml", SCENARIOS[6]).resolve().expect("it has no mistakes");
        let mut run = Run::new(&scenario, 0).expect("it can be started");
        let mut other = Vec::new();
        write_value(&(STATE_FORMAT + 1), &mut other).expect("it can be written");
        other.extend(&state(SCENARIOS[6])[1..]);
        let refused = run.load(&other).expect_err("it has another format").to_string();
        assert!(refused.contains("as its format"), "{refused}");
    }
}
