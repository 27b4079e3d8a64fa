//! What cargo says about this workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The part of `cargo metadata` that is needed here.
#[derive(Debug, Deserialize)]
pub struct Workspace {
    pub packages: Vec<Package>,
    pub workspace_root: PathBuf,
}

/// A member of the workspace.
#[derive(Debug, Deserialize)]
pub struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// None for a normal one, `dev` or `build`.
    kind: Option<String>,
}

impl Workspace {
    pub fn load() -> Self {
        let json = cargo(&["metadata", "--no-deps", "--offline", "--format-version", "1"]);
        serde_json::from_str(&json).expect("cargo metadata is JSON")
    }

    /// All members but this package and the benches, which may use anything.
    pub fn crates(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| !["tests", "benches"].contains(&package.name()))
    }

    /// The names of all members.
    pub fn names(&self) -> BTreeSet<&str> {
        self.packages.iter().map(Package::name).collect()
    }

    /// The member of this name.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name() == name)
    }
}

impl Package {
    /// Its name, without `tailback-`.
    pub fn name(&self) -> &str {
        short(&self.name)
    }

    /// Its name, as cargo knows it.
    pub fn full_name(&self) -> &str {
        &self.name
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        self.manifest_path.parent().expect("a manifest is in a directory")
    }

    /// Whether it is a family of protocols.
    pub fn is_protocol_family(&self) -> bool {
        self.directory().parent().is_some_and(|parent| parent.ends_with("crates/protocols"))
    }

    /// The names of what it is built from, without `tailback-`: development dependencies do not count.
    pub fn dependencies(&self) -> BTreeSet<&str> {
        let built_from = self.dependencies.iter().filter(|dependency| dependency.kind.as_deref() != Some("dev"));
        built_from.map(|dependency| short(&dependency.name)).collect()
    }

    /// The names of everything that it is built from, directly or not.
    pub fn all_dependencies(&self) -> BTreeSet<String> {
        let arguments = ["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
        let lines = cargo(&[&arguments[..], &["--package", &self.name]].concat());
        let names = lines.lines().filter_map(|line| line.split(' ').next());
        names.map(|name| short(name).to_owned()).filter(|name| name != self.name()).collect()
    }
}

fn short(name: &str) -> &str {
    name.strip_prefix("tailback-").unwrap_or(name)
}

/// This package, by which cargo finds the workspace.
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

/// Runs cargo on this workspace.
fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).args(["--manifest-path", MANIFEST]).output();
    let output = output.expect("cargo can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {} fails:\n{errors}", arguments.join(" "));
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}
