//! Congestion trees, as reports tell of them.

use serde::{Deserialize, Serialize};

use crate::table::significant;

/// What was seen of congestion trees in the measured cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeFigures {
    /// How often it was looked.
    pub instants: u64,
    /// Trees that were seen; one that is there again after it was not counts anew.
    pub count: u64,
    /// The most flits of one of them at any instant.
    pub largest_flits: u64,
    /// Of all flits that were seen in trees at all instants, the share of victims: those that go elsewhere than by the root.
    pub victim_share: Option<f64>,
    /// The tree of the most flits, when it had them; the first if there are several.
    pub largest: Option<LargestTree>,
}

/// A congestion tree at an instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargestTree {
    /// When, in link cycles from the start of the run.
    pub cycle: u64,
    /// The link that it is rooted at, in words.
    pub root: String,
    /// Buffers of virtual channels.
    pub buffers: u64,
    /// Flits in them.
    pub flits: u64,
    /// The same in bytes, if it is known what a flit has.
    pub bytes: Option<u64>,
    /// Buffers one behind the other.
    pub depth: u64,
    /// For how many cycles the root had been seen as one.
    pub age_cycles: u64,
    /// The same in nanoseconds, if that is known.
    pub age_ns: Option<f64>,
    /// The share of the flits that are of victims.
    pub victim_share: f64,
}

impl LargestTree {
    /// What it is, in a sentence without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { root, buffers, flits, bytes, age_cycles, age_ns, victim_share, .. } = self;
        let buffers = if *buffers == 1 { "a buffer".to_owned() } else { format!("{buffers} buffers") };
        let since = match age_ns {
            _ if *age_cycles == 0 => String::new(),
            Some(ns) => format!(" since {}", scaled(*ns, &["ns", "us", "ms", "s"])),
            None => format!(" since {age_cycles} cycles"),
        };
        let held = match bytes {
            Some(bytes) => scaled(*bytes as f64, &["B", "kB", "MB", "GB"]),
            None => format!("{flits} flits"),
        };
        let elsewhere = (100.0 * victim_share).round();
        format!(
            "a tree of {buffers} rooted at the {root}{since} holds {held}; {elsewhere} % of what waits in it goes elsewhere"
        )
    }
}

/// A number in the largest unit of which there is one, each a thousand times the one before.
fn scaled(mut number: f64, units: &[&str]) -> String {
    let mut units = units.iter().peekable();
    while number >= 999.5 && units.len() > 1 {
        (number, _) = (number / 1000.0, units.next());
    }
    format!("{} {}", significant(number, 3), units.next().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_has_units_where_they_are_known() {
        let tree = LargestTree {
            cycle: 40_000,
            root: "ejection link of node 17".to_owned(),
            buffers: 212,
            flits: 48_500,
            bytes: Some(3_104_000),
            depth: 5,
            age_cycles: 31_000,
            age_ns: Some(31_000.0),
            victim_share: 0.84,
        };
        let expected = "a tree of 212 buffers rooted at the ejection link of node 17 since 31.0 us holds 3.10 MB; \
                        84 % of what waits in it goes elsewhere";
        assert_eq!(tree.sentence(), expected);
        let bare = LargestTree { buffers: 1, bytes: None, age_ns: None, age_cycles: 0, victim_share: 0.0, ..tree };
        let expected = "a tree of a buffer rooted at the ejection link of node 17 holds 48500 flits; \
                        0 % of what waits in it goes elsewhere";
        assert_eq!(bare.sentence(), expected);
    }
}
