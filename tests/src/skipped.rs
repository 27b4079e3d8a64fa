//! Tests that a machine may be unable to carry out.

use std::fs::OpenOptions;
use std::io::Write as _;

/// What is not to be skipped: nothing by default, `all`, or `all but control-groups,own-mounts`.
pub const CHECKS: &str = "TAILBACK_CHECKS";
/// The file in which is kept what is skipped, if there is one.
const KEPT: &str = "TAILBACK_SKIPPED";

/// Says that what is called `name` is not tested on this machine, and why not, where everybody sees it. Fails where
/// [`CHECKS`] wants it tested.
///
/// # Panics
/// If it must not be skipped.
pub fn skip(name: &str, why: &str) {
    // What is printed by macros is shown of tests that fail only.
    let line = format!("SKIPPED {name}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("somebody reads what tests say");
    if let Some(path) = std::env::var_os(KEPT) {
        let kept = OpenOptions::new().create(true).append(true).open(path);
        kept.and_then(|mut kept| kept.write_all(line.as_bytes())).expect("it can be kept");
    }
    let wanted = std::env::var(CHECKS).unwrap_or_default();
    assert!(!must_be_tested(name, &wanted), "{CHECKS}=\"{wanted}\", and {name} cannot be tested here: {why}");
}

/// Whether checks that are `wanted` include what is called `name`.
fn must_be_tested(name: &str, wanted: &str) -> bool {
    match wanted.strip_prefix("all") {
        Some(rest) => !rest.trim().trim_start_matches("but ").split(',').any(|other| other.trim() == name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_must_be_tested() {
        assert!(!must_be_tested("slurm", ""));
        assert!(must_be_tested("slurm", "all"));
        assert!(must_be_tested("slurm", "all but own-mounts,control-groups"));
        assert!(!must_be_tested("control-groups", "all but own-mounts,control-groups"));
    }
}
