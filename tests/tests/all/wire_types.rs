//! The service knows the messages of the interface at its edge only: what lies behind it, and what is kept on disk, must not
//! change because a message does.

use std::fs;

use crate::sources::{lines_with, sources};
use crate::workspace::Workspace;

/// The parts of the service that are made for these messages.
const EDGE: &[&str] = &["rpc", "wire"];

/// What other parts must not name besides: what makes messages, and what carries them.
const INSIDE: &[(&str, &[&str])] = &[
    ("domain", &["prost", "prost_types", "tonic"]),
    ("engine", &["prost", "prost_types", "tonic"]),
    // It reads the messages that earlier versions have kept, by definitions of its own.
    ("store", &["prost_types", "tonic"]),
];

#[test]
fn messages_of_the_interface_stay_at_the_edge_of_the_service() {
    let source = Workspace::load().workspace_root.join("crates/service/src");
    for part in EDGE.iter().chain(INSIDE.iter().map(|(part, _)| part)) {
        assert!(source.join(part).is_dir(), "there is no {part} any more: take it off the list");
    }
    let mut files = Vec::new();
    sources(&source, &mut files);
    let mut broken = Vec::new();
    for file in files {
        let path = file.strip_prefix(&source).expect("it was found there");
        if EDGE.iter().any(|part| path.starts_with(part)) {
            continue;
        }
        let inside = INSIDE.iter().filter(|(part, _)| path.starts_with(part)).flat_map(|(_, words)| *words);
        let text = fs::read_to_string(&file).expect("sources can be read");
        for word in inside.chain([&"tailback_api"]) {
            let lines = lines_with(word, &text);
            if !lines.is_empty() {
                broken.push(format!("{}, line {lines:?}: {word}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "the edge of the service is crossed:\n  {}", broken.join("\n  "));
}
