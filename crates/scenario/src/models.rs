//! Everything that a scenario file can name, as data.

use tailback_parameters::Parameter;
use tailback_programs::COLLECTIVES;
use tailback_protocol::FormulaResult;
use tailback_routing::ROUTINGS;
use tailback_topology::TOPOLOGIES;
use tailback_workload::{ARRIVALS, PATTERNS, SIZES};

use crate::choice::{FORMULA, FORMULAS, MIX, PROTOCOLS};
use crate::sections::SECTIONS;
use crate::traffic::SHARE;

/// A model or a section, for people.
#[derive(Clone, Copy, Debug)]
pub struct ModelSummary {
    /// What it is: `topology`, `routing`, …; `section` for sections whose keys are plain parameters.
    pub kind: &'static str,
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What its table holds besides.
    pub keys: &'static [Key],
    /// Lines of a scenario file that use it; none where its parameters say it all.
    pub example: Option<&'static str>,
    /// The numbers that it gives, if it is a formula.
    pub results: &'static [FormulaResult],
}

/// A key whose value is no plain parameter: a model, or tables.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What values it takes, in words.
    pub values: &'static str,
    /// What holds if it is not given, in words; without that it must be given.
    pub default: Option<&'static str>,
    /// One sentence.
    pub help: &'static str,
}

/// The pattern that is made of others, which is read by rules of its own.
const MIXTURE: ModelSummary = ModelSummary {
    kind: "pattern",
    name: MIX,
    summary: "each message by one of several patterns, drawn by their shares; a list of tables",
    parameters: SHARE,
    keys: &[Key {
        name: "pattern",
        values: "a pattern",
        default: Some("\"uniform\""),
        help: "where the messages of this share go",
    }],
    example: Some("pattern.mix = [{ share = 3, pattern = \"uniform\" }, { share = 1, pattern.hot-spot.to = [0, 1] }]"),
    results: &[],
};

/// Everything that a scenario file can name.
pub fn models() -> impl Iterator<Item = ModelSummary> {
    macro_rules! all {
        ($kind:literal, $list:expr, $($example:tt)+) => {
            $list.iter().map(|model| ModelSummary {
                kind: $kind,
                name: model.name,
                summary: model.summary,
                parameters: model.parameters,
                keys: &[],
                example: all!(@ model $($example)+),
                results: &[],
            })
        };
        (@ $model:ident plain) => { None };
        (@ $model:ident with_example) => { Some($model.example) };
    }
    let sections = SECTIONS.iter().map(|section| ModelSummary {
        kind: "section",
        name: section.name,
        summary: section.summary,
        parameters: section.parameters,
        keys: section.keys,
        example: section.example,
        results: &[],
    });
    all!("topology", TOPOLOGIES, plain)
        .chain(all!("routing", ROUTINGS, plain))
        .chain(all!("protocol", PROTOCOLS, plain))
        .chain(all!("pattern", PATTERNS, with_example))
        .chain([MIXTURE])
        .chain(all!("size", SIZES, with_example))
        .chain(all!("arrival", ARRIVALS, with_example))
        .chain(all!("collective", COLLECTIVES, with_example))
        .chain(sections)
}

/// Everything that figures can compute instead of running a network.
pub fn formulas() -> impl Iterator<Item = ModelSummary> {
    FORMULAS.iter().map(|formula| ModelSummary {
        kind: FORMULA,
        name: formula.name,
        summary: formula.summary,
        parameters: formula.parameters,
        keys: &[],
        example: None,
        results: formula.results,
    })
}
