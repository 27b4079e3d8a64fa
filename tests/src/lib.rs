//! Tests that span crates.
//!
//! What one crate promises is tested in that crate. Here belongs what only several together can keep or break: the
//! rules about who may depend on whom and on what (`tests/all/dependency_rules`), about what simulations must not
//! touch (`clippy_files`) and where `unsafe` may stand (`unsafe_code`); later, whole runs from a scenario file to a
//! report, and the digest matrix over executors, threads and partitions. All are modules of one test binary,
//! `tests/all`, so that they are linked once; what they share goes into this library.
//!
//! `cargo test -p tailback-tests`
