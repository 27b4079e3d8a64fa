//! Tests that span crates, all in one binary.

mod adaptive;
mod as_shipped;
mod claims;
mod clippy_files;
mod combinations;
mod configs;
mod control_limit;
mod coverage;
mod dependency_rules;
mod determinism;
mod ecn;
mod endpoint;
mod evidence;
mod flows_that_end;
mod long_messages;
mod marking;
mod papers;
mod peers;
mod programs;
mod scenarios;
mod sources;
mod trace;
mod unsafe_code;
mod windows;
mod wire_types;
mod workspace;
