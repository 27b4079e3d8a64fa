//! The rules about who may depend on whom: change them here, on purpose, or not at all.
//!
//! They restate section 2 of the design. Names are those of crates without `tailback-`.

/// A crate, the layer it is in, and the crates of this workspace that it may be built from.
pub struct Row {
    pub name: &'static str,
    pub layer: u8,
    pub may_use: &'static [&'static str],
}

const fn row(name: &'static str, layer: u8, may_use: &'static [&'static str]) -> Row {
    Row { name, layer, may_use }
}

/// All crates. A crate may be planned and not exist yet; one that exists must be here.
pub const CRATES: &[Row] = &[
    // The seams, and what they are written in.
    row("random", 0, &[]),
    row("parameters", 0, &[]),
    row("engine", 0, &["random"]),
    row("topology", 0, &["parameters"]),
    row("protocol", 0, &["parameters", "random"]),
    // Models, what feeds them and what they leave behind.
    row("mpi", 1, &["engine"]),
    row("phold", 1, &["engine"]),
    row("goal", 1, &[]),
    row("hardware", 1, &["parameters", "topology"]),
    row("routing", 1, &["parameters", "random", "topology"]),
    row("workload", 1, &["parameters", "random"]),
    row("programs", 1, &["goal", "parameters", "workload"]),
    row("network", 1, &["engine", "hardware", "protocol", "random", "routing", "topology", "workload"]),
    row("report", 1, &[]),
    // Families of protocols: those that others name, or that use more than the row below says, are here.
    row("buffer-reservation", 1, &["parameters", "protocol", "random"]),
    row("crp", 1, &["parameters", "protocol", "random", "reservation"]),
    row("ecn", 1, PROTOCOL_FAMILY.may_use),
    row("marking", 1, PROTOCOL_FAMILY.may_use),
    row("reservation", 1, PROTOCOL_FAMILY.may_use),
    row(
        "scenario",
        1,
        &[
            "buffer-reservation",
            "crp",
            "ecn",
            "goal",
            "hardware",
            "marking",
            "parameters",
            "programs",
            "protocol",
            "random",
            "reservation",
            "routing",
            "topology",
            "workload",
        ],
    ),
    // The facade.
    row(
        "sim",
        2,
        &[
            "engine",
            "hardware",
            "network",
            "parameters",
            "protocol",
            "random",
            "report",
            "routing",
            "scenario",
            "topology",
            "workload",
        ],
    ),
    // What is made of its reports.
    row("reproduce", 2, &["report", "scenario"]),
    // What people and programs talk to.
    row("api", 3, &[]),
    row("service", 3, &["api", "report", "scenario", "sim"]),
    row("cli", 4, &["api", "mpi", "report", "reproduce", "scenario", "service", "sim"]),
];

/// Any crate under `crates/protocols`: it knows the seam and nothing else, so it needs no row of its own unless somebody may use it or it
/// uses what another family shares.
pub const PROTOCOL_FAMILY: Row = row("a family of protocols", 1, &["parameters", "protocol"]);

/// What a crate must never know, not even through others: the last column of the design's table.
pub const NEVER: &[(&str, &[&str])] = &[
    ("engine", &["hardware", "network", "phold", "protocol", "routing", "topology", "workload"]),
    ("topology", &["engine", "hardware", "network", "protocol", "routing"]),
    ("protocol", &["engine", "hardware", "network", "routing", "topology"]),
    ("mpi", &["hardware", "network", "phold", "protocol", "routing", "topology", "workload"]),
    ("phold", &["hardware", "network", "protocol", "routing", "topology", "workload"]),
    ("hardware", &["engine", "network", "protocol", "routing", "workload"]),
    ("routing", &["engine", "hardware", "network", "protocol", "workload"]),
    ("workload", &["engine", "network", "routing", "topology"]),
    ("programs", &["engine", "network", "routing", "topology"]),
    ("network", &["report", "scenario", "sim"]),
    ("report", &["engine", "network", "scenario", "sim"]),
    ("scenario", &["engine", "network", "report", "sim"]),
    ("sim", &["api", "cli", "service"]),
    ("reproduce", &["engine", "network", "sim"]),
    ("api", &["engine", "network", "scenario", "sim"]),
];

/// Crates of other people that only some of ours may be built from, directly or not.
pub const FENCED: &[(&[&str], &[&str])] = &[
    (&["tokio", "tonic", "prost", "axum", "hyper", "tower", "rusqlite"], &["api", "service", "cli"]),
    (&["clap", "indicatif"], &["cli"]),
    // What compiles the interface while `api` is built brings it along.
    (&["miette"], &["api", "service", "cli"]),
];

/// Crates of other people that only some of ours may name: whoever stands on those gets them as well.
pub const NAMED_ONLY_BY: &[(&str, &[&str])] = &[("rayon", &["engine"]), ("rand_pcg", &["random"])];
