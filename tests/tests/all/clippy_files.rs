//! Each simulation crate has a `clippy.toml` that keeps clocks, files, sockets, the environment and unsteady maps out of
//! it. Clippy reads the file in the directory of the crate that it checks.

use std::fs;

use crate::workspace::{Package, Workspace};

/// The crates that are no part of a simulation.
const FREE: &[&str] = &["api", "service", "cli", "tests", "benches"];

/// What the file of each other crate must refuse.
const REFUSED: &[&str] = &[
    "std::time::Instant",
    "std::time::SystemTime",
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::hash::RandomState",
    "std::fs::File",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::net::TcpStream",
    "std::env::var",
    "std::thread::sleep",
    "rand::rng",
];

/// A crate that may use something all the same, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "network",
    "std::collections::HashMap",
    "interfaces look up queues and messages by key, with a hasher of their own; its file refuses going through a map",
)];

fn missing(package: &Package) -> Vec<String> {
    let name = package.name();
    let Ok(text) = fs::read_to_string(package.directory().join("clippy.toml")) else {
        return vec![format!("crate {name} has no clippy.toml: copy that of crates/engine, or name it in FREE")];
    };
    let excepted = |path: &str| EXCEPTIONS.iter().any(|&(holder, what, _)| (holder, what) == (name, path));
    let wanted = REFUSED.iter().filter(|path| !excepted(path));
    let absent = wanted.filter(|path| !text.contains(&format!("path = \"{path}\"")));
    absent.map(|path| format!("crates/{name}/clippy.toml does not refuse {path}")).collect()
}

#[test]
fn each_simulation_crate_refuses_what_makes_runs_differ() {
    let workspace = Workspace::load();
    let simulation = workspace.packages.iter().filter(|package| !FREE.contains(&package.name()));
    let missing: Vec<String> = simulation.flat_map(missing).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
