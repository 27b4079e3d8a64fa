//! Arrows between crates point down only, and each crate knows no more than the design lets it.

mod table;

use std::collections::BTreeSet;

use self::table::{CRATES, FENCED, NAMED_ONLY_BY, NEVER, PROTOCOL_FAMILY, Row};
use crate::workspace::{Package, Workspace};

/// Where the rules are, for those who break one.
const TABLE: &str = "tests/tests/all/dependency_rules/table.rs";

fn find_row(name: &str) -> Option<&'static Row> {
    CRATES.iter().find(|row| row.name == name)
}

fn row_of(package: &Package) -> &'static Row {
    let name = package.name();
    let family = || package.is_protocol_family().then_some(&PROTOCOL_FAMILY);
    find_row(name)
        .or_else(family)
        .unwrap_or_else(|| panic!("crate {name} has no row in {TABLE}: add it, with what it may use"))
}

/// Fails with all of `broken`, one to a line.
fn nothing(broken: &[String]) {
    assert!(broken.is_empty(), "{} rule(s) broken:\n  {}\n", broken.len(), broken.join("\n  "));
}

#[test]
fn the_table_points_down() {
    for row in CRATES.iter().chain([&PROTOCOL_FAMILY]) {
        for name in row.may_use {
            let used = find_row(name).unwrap_or_else(|| panic!("{} may use {name}, which has no row", row.name));
            assert!(used.layer <= row.layer, "{} in layer {} may use {name} above it", row.name, row.layer);
        }
    }
    let named = NEVER.iter().flat_map(|(name, others)| others.iter().chain([name]));
    for name in named.chain(NAMED_ONLY_BY.iter().flat_map(|(_, crates)| *crates)) {
        assert!(find_row(name).is_some(), "a rule names {name}, which has no row");
    }
}

#[test]
fn each_crate_uses_only_what_it_may() {
    let workspace = Workspace::load();
    let members = workspace.names();
    let mut broken = Vec::new();
    for package in workspace.crates() {
        let row = row_of(package);
        let found = package.dependencies();
        // Others have crates whose names are those of ours without `tailback-`.
        let used = found.intersection(&members).filter(|used| **used != package.name());
        for used in used.filter(|used| !row.may_use.contains(used)) {
            broken.push(format!("{} must not use {used}; it may use {}", package.name(), row.may_use.join(", ")));
        }
    }
    nothing(&broken);
}

#[test]
fn nobody_knows_what_it_must_never_know() {
    let workspace = Workspace::load();
    let mut broken = Vec::new();
    for (name, never) in NEVER {
        let Some(package) = workspace.package(name) else { continue };
        let known = package.all_dependencies();
        for other in never.iter().filter(|other| known.contains(**other)) {
            broken.push(format!("{name} must never know {other}, not even through others"));
        }
    }
    nothing(&broken);
}

#[test]
fn servers_and_terminals_stay_above_the_simulator() {
    let workspace = Workspace::load();
    let mut broken = Vec::new();
    for package in workspace.crates() {
        let known = package.all_dependencies();
        for (fenced, allowed) in FENCED {
            for other in fenced.iter().filter(|other| known.contains(**other) && !allowed.contains(&package.name())) {
                broken.push(format!("{} is built from {other}, which only {allowed:?} may be", package.name()));
            }
        }
    }
    nothing(&broken);
}

#[test]
fn threads_and_random_numbers_have_one_owner() {
    let workspace = Workspace::load();
    let mut broken = Vec::new();
    for package in workspace.crates() {
        let named = package.dependencies();
        for (other, allowed) in NAMED_ONLY_BY {
            if named.contains(other) && !allowed.contains(&package.name()) {
                broken.push(format!("{} names {other}, which only {allowed:?} may", package.name()));
            }
        }
    }
    nothing(&broken);
}

#[test]
fn directories_are_named_as_crates_are() {
    let workspace = Workspace::load();
    let mut broken = Vec::new();
    for package in &workspace.packages {
        let directory = package.directory();
        if !directory.ends_with(package.name()) {
            broken.push(format!("{} is in {}", package.full_name(), directory.display()));
        }
        if package.full_name() == package.name() {
            broken.push(format!("{} should be called tailback-{}", package.name(), package.name()));
        }
    }
    nothing(&broken);
    assert_eq!(workspace.packages.len(), workspace.names().len());
}

/// The test of the tests: without it, a change of cargo's output could make all of the above see nothing.
#[test]
fn what_is_known_to_be_there_is_seen() {
    let workspace = Workspace::load();
    let engine = workspace.package("engine").expect("there is an engine");
    assert!(engine.dependencies().is_superset(&BTreeSet::from(["random", "rayon"])));
    assert!(!engine.dependencies().contains("proptest"), "what only tests use does not count");
    let known = engine.all_dependencies();
    assert!(known.contains("random") && known.contains("crossbeam-deque"), "{known:?}");
    assert!(!known.contains("proptest") && !known.contains("engine"), "{known:?}");
}
