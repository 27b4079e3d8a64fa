//! `unsafe` stands only in modules that are listed here, at most one per crate.

use std::fs;

use crate::sources::{lines_with, sources};
use crate::workspace::Workspace;

/// The modules that may hold `unsafe` code, by path from the root, and why they must.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/engine/src/crew.rs", "threads stay for a run and are lent jobs that live as long as a call"),
    ("crates/service/src/allocator.rs", "the allocator of the system is told to give back what is freed"),
];

#[test]
fn unsafe_code_is_only_where_it_is_listed() {
    let workspace = Workspace::load();
    let mut files = Vec::new();
    for package in &workspace.packages {
        sources(package.directory(), &mut files);
    }
    assert!(files.len() > 50, "only {} files were found", files.len());
    let mut broken = Vec::new();
    for file in files {
        let path = file.strip_prefix(&workspace.workspace_root).expect("members are in the workspace");
        let path = path.display().to_string();
        let lines = lines_with("unsafe", &fs::read_to_string(&file).expect("sources can be read"));
        if !lines.is_empty() && ALLOWED.iter().all(|(allowed, _)| *allowed != path) {
            broken.push(format!("{path}, line {lines:?}"));
        }
    }
    assert!(broken.is_empty(), "unsafe code outside the listed modules:\n  {}", broken.join("\n  "));
}

#[test]
fn listed_modules_exist_and_are_one_per_crate() {
    let workspace = Workspace::load();
    for package in &workspace.packages {
        let inside = |path: &&str| workspace.workspace_root.join(path).starts_with(package.directory().join("src"));
        let listed: Vec<_> = ALLOWED.iter().map(|(path, _)| *path).filter(inside).collect();
        assert!(listed.len() <= 1, "{} has several modules with unsafe code: {listed:?}", package.name());
    }
    for (path, _) in ALLOWED {
        let text = fs::read_to_string(workspace.workspace_root.join(path)).expect("a listed module exists");
        assert!(!lines_with("unsafe", &text).is_empty(), "{path} has no unsafe code any more: take it off the list");
    }
}
