//! Tests that span crates, all in one binary.

mod clippy_files;
mod dependency_rules;
mod unsafe_code;
mod workspace;
