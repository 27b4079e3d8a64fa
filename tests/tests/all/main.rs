//! Tests that span crates, all in one binary.

mod adaptive;
mod clippy_files;
mod configs;
mod coverage;
mod dependency_rules;
mod determinism;
mod papers;
mod peers;
mod scenarios;
mod unsafe_code;
mod windows;
mod workspace;
