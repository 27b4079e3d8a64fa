//! Scenario files, good and bad.

mod bad;
mod good;
mod hostile;
mod programs;
mod renamed;

/// A dragonfly of 72 nodes.
const SMALL: &str = r#"
routing = "minimal"
[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9
[[traffic]]
load = 0.3
"#;
