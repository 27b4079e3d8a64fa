//! The sections whose keys are plain parameters.

use tailback_parameters::{Choice, Kind, Parameter};

use crate::clock::CLOCK_KEYS;
use crate::models::Key;
use crate::sampling::{LINKS, TREES};
use crate::{program, traffic};

/// A section of a scenario file, for people.
#[derive(Clone, Copy, Debug)]
pub struct SectionModel {
    /// Its name.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What it holds besides.
    pub keys: &'static [Key],
    /// Lines of a file that use it; none where its parameters say it all.
    pub example: Option<&'static str>,
}

/// A section of parameters and nothing else.
const PLAIN: SectionModel = SectionModel { name: "", summary: "", parameters: &[], keys: &[], example: None };

pub(crate) const MEASURE: &[Parameter] = &[
    Parameter {
        name: "warmup",
        kind: Kind::Time,
        default: Some("5000"),
        help: "how long the network runs before anything is measured, in whole cycles",
    },
    Parameter {
        name: "cycles",
        kind: Kind::Time,
        default: Some("10000"),
        help: "how long it is measured, in whole cycles; at most, if it ends before",
    },
    Parameter {
        name: "until",
        kind: Kind::Choice(&[
            Choice { word: "cycles", help: "it is measured for all of these cycles" },
            Choice {
                word: "drained",
                help: "it ends before if all messages have arrived of the flows with `count` or `at`",
            },
        ]),
        default: Some("\"cycles\""),
        help: "when measuring ends",
    },
    Parameter {
        name: "series",
        kind: Kind::IntegerOr { min: 1, max: 1 << 32, word: "off" },
        default: Some("\"off\""),
        help: "cycles from one point of the time series to the next",
    },
    Parameter {
        name: "series_by",
        kind: Kind::Choice(&[
            Choice { word: "delivery", help: "when packets and messages arrive" },
            Choice { word: "creation", help: "when the message was created that they belong to" },
        ]),
        default: Some("\"delivery\""),
        help: "where in the time series latencies and non-minimal paths are shown",
    },
    Parameter {
        name: "by_source",
        kind: Kind::Flag,
        default: Some("false"),
        help: "whether what arrives is also counted by source, which gives the least accepted load and the standard deviation",
    },
    Parameter {
        name: "messages",
        kind: Kind::Flag,
        default: Some("false"),
        help: "whether each message of flows and programs that end is written down, which `run --out` and servers keep as messages.csv and .parquet",
    },
];

pub(crate) const EXECUTION: &[Parameter] = &[
    Parameter {
        name: "threads",
        kind: Kind::IntegerOr { min: 0, max: 1024, word: "all" },
        default: Some("\"all\""),
        help: "threads to simulate on; 0 for the sequential executor",
    },
    Parameter {
        name: "partition",
        kind: Kind::Choice(&[
            Choice { word: "auto", help: "as many regions as pay off, by links, size and threads" },
            Choice { word: "domain", help: "a region for each natural piece of the topology, such as a group" },
            Choice { word: "router", help: "a region for each router" },
            Choice { word: "single", help: "one region" },
        ]),
        default: Some("\"auto\""),
        help: "how routers are dealt out to regions",
    },
    Parameter {
        name: "regions",
        kind: Kind::IntegerOr { min: 1, max: 1 << 20, word: "any" },
        default: Some("\"any\""),
        help: "the most regions there may be, made of whole domains",
    },
    Parameter {
        name: "memory_gib",
        kind: Kind::IntegerOr { min: 1, max: 1 << 16, word: "available" },
        default: Some("\"available\""),
        help: "GiB that a run may take, by the estimate that is made before it starts",
    },
    Parameter {
        name: "deadlock_after",
        kind: Kind::Time,
        default: Some("100000"),
        help: "how long packets may stand still everywhere before the run is given up",
    },
];

/// The sections whose keys are plain parameters, in the order of the resolved text.
pub const SECTIONS: &[SectionModel] = &[
    SectionModel {
        name: "clock",
        summary: "how long a link cycle is, and how large a flit",
        keys: CLOCK_KEYS,
        example: Some("[clock]\nflit = \"64 B\"\nlink = \"400 Gb/s\""),
        ..PLAIN
    },
    SectionModel {
        name: "links.injection",
        summary: "links from nodes to their routers",
        parameters: tailback_hardware::parameters::INJECTION,
        ..PLAIN
    },
    SectionModel {
        name: "links.ejection",
        summary: "links from routers to their nodes",
        parameters: tailback_hardware::parameters::EJECTION,
        ..PLAIN
    },
    SectionModel {
        name: "links.local",
        summary: "links between the routers of a group",
        parameters: tailback_hardware::parameters::LOCAL,
        ..PLAIN
    },
    SectionModel {
        name: "links.global",
        summary: "links between groups",
        parameters: tailback_hardware::parameters::GLOBAL,
        ..PLAIN
    },
    SectionModel {
        name: "links.inter-cluster",
        summary: "channels between clusters",
        parameters: tailback_hardware::parameters::OTHER,
        ..PLAIN
    },
    SectionModel {
        name: "links.level1, links.level2, …",
        summary: "links of a tree, from the bottom up",
        parameters: tailback_hardware::parameters::OTHER,
        ..PLAIN
    },
    SectionModel {
        name: "links.stage1, links.stage2, …",
        summary: "links of a unidirectional network, into each stage behind the first",
        parameters: tailback_hardware::parameters::OTHER,
        ..PLAIN
    },
    SectionModel {
        name: "router",
        summary: "what routers do",
        parameters: tailback_hardware::parameters::ROUTER,
        ..PLAIN
    },
    SectionModel {
        name: "nic",
        summary: "what network interfaces do",
        parameters: tailback_hardware::parameters::NIC,
        ..PLAIN
    },
    SectionModel {
        name: "[traffic]",
        summary: "a flow: who sends how much to whom",
        parameters: traffic::TRAFFIC,
        keys: traffic::TRAFFIC_KEYS,
        example: Some(
            "[[traffic]]\nname = \"hot\"\nfrom = \"8..16\"\npattern.hot-spot.to = [0, 1]\nsize = 4\nload = 0.5\n\
             saturates = true",
        ),
    },
    SectionModel {
        name: "[traffic.phases]",
        summary: "what a flow does from some time on; what a phase does not say stays as it was",
        parameters: traffic::PHASE_FROM,
        keys: traffic::PHASE_KEYS,
        example: Some("phases = [{ from = 5000, load = 0.5 }, { from = 8000, load = 0 }]"),
    },
    SectionModel {
        name: "[program]",
        summary: "a program: nodes whose messages wait for each other's",
        parameters: program::PROGRAM,
        keys: program::PROGRAM_KEYS,
        example: Some(
            "[[program]]\nname = \"training\"\ncollective.allreduce-ring = { nodes = \"0..16\", bytes = 4096 }\n\
             map = \"random\"\nrepeat = 2",
        ),
    },
    SectionModel { name: "measure", summary: "when to measure", parameters: MEASURE, ..PLAIN },
    SectionModel {
        name: "measure.trees",
        summary: "congestion trees: what stands behind links that are sent more than they can take, which `run --out` and servers keep as trees.csv and .parquet; looked for only if it is there",
        parameters: TREES,
        ..PLAIN
    },
    SectionModel {
        name: "measure.links",
        summary: "a series of each link, which `run --out` and servers keep as links.csv and .parquet; written down only if it is there",
        parameters: LINKS,
        ..PLAIN
    },
    SectionModel {
        name: "execution",
        summary: "how to run it; nothing here can change results",
        parameters: EXECUTION,
        ..PLAIN
    },
];
