//! Everything that a scenario file can name, as data.

use tailback_parameters::Parameter;
use tailback_routing::ROUTINGS;
use tailback_topology::TOPOLOGIES;
use tailback_workload::{ARRIVALS, PATTERNS, SIZES};

use crate::choice::PROTOCOLS;
use crate::sections::SECTIONS;

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
}

/// Everything that a scenario file can name.
pub fn models() -> impl Iterator<Item = ModelSummary> {
    macro_rules! all {
        ($kind:literal, $list:expr) => {
            $list.iter().map(|model| ModelSummary {
                kind: $kind,
                name: model.name,
                summary: model.summary,
                parameters: model.parameters,
            })
        };
    }
    all!("topology", TOPOLOGIES)
        .chain(all!("routing", ROUTINGS))
        .chain(all!("protocol", PROTOCOLS))
        .chain(all!("pattern", PATTERNS))
        .chain(all!("size", SIZES))
        .chain(all!("arrival", ARRIVALS))
        .chain(all!("section", SECTIONS))
}
