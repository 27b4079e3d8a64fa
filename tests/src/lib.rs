//! Tests that span crates.
//!
//! What one crate promises is tested in that crate. Here belongs what only several together can keep or break:
//!
//! * the rules about who may depend on whom and on what (`tests/all/dependency_rules`), about what simulations must not
//!   touch (`clippy_files`) and where `unsafe` may stand (`unsafe_code`);
//! * the digest matrix (`determinism`): each scenario of `scenarios/` gives one result, whatever executor, number of
//!   threads, partition or restart it is run with, and always the one in `golden/digests.txt`; together these scenarios
//!   name everything that exists (`coverage`);
//! * the files that people start from (`configs`).
//!
//! All are modules of one test binary, `tests/all`, so that they are linked once; what they share with the tests of other
//! packages is in this library.
//!
//! `cargo test -p tailback-tests`
//!
//! # Golden files
//!
//! What a program says is compared with what it said when somebody last looked at it. After a change that is meant to
//! change it, run the tests again with `TAILBACK_UPDATE_GOLDEN=1`: they write the files anew and pass, and `git diff`
//! shows what has become different. That holds for this package and for `tailback-cli`:
//!
//! `TAILBACK_UPDATE_GOLDEN=1 cargo test -p tailback-tests -p tailback-cli`
//!
//! # What a machine cannot test
//!
//! Tests that need more of a machine than others have say `SKIPPED`, with their names and why, where they cannot be carried out. With
//! `TAILBACK_CHECKS=all` they fail there, with `TAILBACK_CHECKS="all but control-groups"` all others do. The scripts that
//! check deployments do the same, by `.ci/skip`.

mod golden;
mod programs;
mod skipped;

pub use golden::{UPDATE, compare, updating};
pub use programs::write_program;
pub use skipped::{CHECKS, skip};
