//! Experiment files.
//!
//! A [`Document`] is the text of a scenario file with overrides laid over it. [`Document::resolve`] reads it by the
//! declarations of the models that it names, and gives a [`Scenario`] in which nothing is left open: all defaults
//! filled in, all times in ticks, all models built, and the proof that packets cannot wait for each other in a circle.
//! A document with mistakes gives [`Diagnostics`] instead, all of them at once, each with the place it is about.
//!
//! **What this crate must never know:** how a scenario is run, where files are, what results look like.
//!
//! **The invariant it keeps:** what a run can depend on is in the resolved text, and the digest is taken of
//! nothing else. The resolved text is itself a scenario file, and resolves to itself.

mod bounds;
mod choice;
mod clock;
mod decimal;
mod diagnostic;
mod digest;
mod document;
mod files;
mod formula;
mod models;
mod naming;
mod nearest;
mod network;
mod nodes;
mod overrides;
mod parameters;
mod print;
mod program;
mod protocol;
mod quantity;
mod reader;
mod renamed;
mod resolve;
mod resolved_text;
mod sampling;
mod scenario;
mod sections;
mod sweep;
mod traffic;
mod tree;
mod wanted;

/// Reading files that are written like scenarios, as strictly as those.
pub mod reading {
    pub use crate::nearest::nearest;
    pub use crate::reader::{Reading, TableReader, list};
    pub use crate::sweep::{assignments, axes, seeds, sweep, variants};
    pub use crate::tree::{Entry, Item, Node, Table};
}

pub use bounds::{Bounded, Bounds, Excess};
pub use choice::control_kinds;
pub use diagnostic::{Diagnostic, Diagnostics, Source, Span};
pub use document::Document;
pub use files::{BufferedScratch, Files, Scratch, sha256_of_schedule};
pub use formula::{Formula, formula_results};
pub use models::{Key, ModelSummary, formulas, models};
pub use network::Routings;
pub use scenario::{Chosen, Clock, Execution, LinkRows, LinkSampling, Measure, PartitionChoice, Scenario};
pub use sections::{SECTIONS, SectionModel};
pub use sweep::{Axis, Point, SEEDS_MAX, Sweep, SweepRun, Variant};
pub use tailback_goal::ReadAt;
pub use tailback_parameters::{Choice, Kind, Parameter};
