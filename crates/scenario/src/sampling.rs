//! What is looked at now and again while a network runs: `[measure.trees]` and `[measure.links]`.

use tailback_parameters::{Choice, Kind, Parameter, Values};
use tailback_topology::{Peer, Port, Topology};

use crate::diagnostic::Diagnostic;
use crate::network::place_of;
use crate::parameters::{Context, read_parameters};
use crate::reader::{Reading, TableReader};
use crate::scenario::{LinkRows, LinkSampling, Measure};
use crate::tree::{Item, Table};

/// The most times at which anything is looked at.
const INSTANTS_MAX: u64 = 1 << 20;

pub(crate) const TREES: &[Parameter] = &[Parameter {
    name: "every",
    kind: Kind::Time,
    default: Some("1000"),
    help: "how often congestion trees are looked for, from the start of the run, in whole cycles",
}];

pub(crate) const LINKS: &[Parameter] = &[
    Parameter {
        name: "every",
        kind: Kind::Time,
        default: Some("1000"),
        help: "from one row of a link to the next, from the start of the run, in whole cycles",
    },
    Parameter {
        name: "select",
        kind: Kind::Text,
        default: Some("\"all\""),
        help: "which links: \"all\", or one or several of \"ejection\" and the kinds of links between routers, as in \"ejection global\"",
    },
    Parameter { name: "by", kind: Kind::Choice(BY), default: Some("\"auto\""), help: "what has a row of its own" },
];

const BY: &[Choice] = &[
    Choice { word: "auto", help: "each link or, if there were too many rows, the links of a kind that leave a router" },
    Choice { word: "link", help: "each link" },
    Choice {
        word: "router",
        help: "the links of a kind that leave a router, together: mean and largest utilisation, sums of all else",
    },
];

/// The most rows of links, of all instants.
const LINK_ROWS_MAX: u64 = 1 << 22;

/// What `[measure]` says of both. A section that is not there is left out of the resolved text, so that scenarios without it keep
/// their digests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sampling {
    pub trees_every: Option<u64>,
    pub links: Option<LinkSampling>,
}

/// Reads both sections of `measure`, of a run of so many cycles. `link_classes` are those of the topology, terminals first. None if something
/// is wrong.
pub(crate) fn read_sampling(
    measure: &mut TableReader<'_>,
    cycles: u64,
    topology: Option<&dyn Topology>,
    link_classes: &[&'static str],
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<Sampling> {
    let trees = optional(measure, "trees", TREES, context, reading);
    let links = optional(measure, "links", LINKS, context, reading);
    let trees_every = match trees {
        None => None,
        Some(values) => Some(whole(measure.table, "trees", values?.ticks("every"), context, reading)?),
    };
    let links = match links {
        None => None,
        Some(values) => {
            let values = values?;
            let every = whole(measure.table, "links", values.ticks("every"), context, reading)?;
            let classes = selected(measure.table, values.text("select"), link_classes, reading)?;
            let all = LinkSampling { every, classes, rows: LinkRows::Links };
            let are_too_many = || topology.is_some_and(|topology| all.rows_of(topology, cycles) > LINK_ROWS_MAX);
            let rows = match values.text("by") {
                "router" => LinkRows::Routers,
                "auto" if are_too_many() => LinkRows::Routers,
                _ => LinkRows::Links,
            };
            Some(LinkSampling { rows, ..all })
        }
    };
    Some(Sampling { trees_every, links })
}

/// The values of a section, if it is there: none of them if something is wrong.
fn optional(
    measure: &mut TableReader<'_>,
    key: &'static str,
    parameters: &'static [Parameter],
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<Option<Values>> {
    let mut section = measure.section(key, reading);
    measure.table.get(key)?;
    let values = read_parameters(&mut section, parameters, context, reading);
    let resolved = section.finish(reading);
    measure.resolved.put(key, Item::Table(resolved));
    Some(values)
}

/// A time of at least a cycle, in cycles.
fn whole(measure: &Table, section: &str, ticks: u64, context: &Context<'_>, reading: &mut Reading) -> Option<u64> {
    let per_cycle = u64::from(context.scale.ticks_per_cycle);
    if ticks > 0 && ticks.is_multiple_of(per_cycle) {
        return Some(ticks / per_cycle);
    }
    let message = format!("`measure.{section}.every` is not a whole number of link cycles, at least one");
    blame(measure, section, "every", message, "round it", reading);
    None
}

/// The set of the classes of links that are chosen, as bits.
fn selected(measure: &Table, text: &str, link_classes: &[&'static str], reading: &mut Reading) -> Option<u64> {
    let known = || ["all", "ejection"].into_iter().chain(link_classes.iter().skip(1).copied());
    let mut classes = 0;
    for word in text.split_whitespace() {
        classes |= match known().position(|class| class == word) {
            Some(0) => u64::MAX,
            Some(place) => 1 << (place - 1),
            None => {
                let known: Vec<_> = known().map(|class| format!("\"{class}\"")).collect();
                let message = format!("unknown links \"{word}\"");
                let help = format!("there are {}", known.join(", "));
                blame(measure, "links", "select", message, &help, reading);
                return None;
            }
        };
    }
    if classes == 0 {
        let message = "`measure.links.select` selects no links".to_owned();
        blame(measure, "links", "select", message, "say which, or leave `links` out", reading);
    }
    (classes != 0).then_some(classes)
}

/// Checks that a run does not stop to look more often than it can, and that what it writes down of links has room.
pub(crate) fn check_sampling(root: &Table, measure: &Measure, topology: Option<&dyn Topology>, reading: &mut Reading) {
    let cycles = measure.warmup + measure.cycles;
    if let (Some(sampling), Some(topology)) = (measure.links, topology) {
        let rows = sampling.rows_of(topology, cycles);
        if rows > LINK_ROWS_MAX {
            let span = place_of(root, "measure.links", "every");
            let (at_once, what) = (sampling.rows_at_once(topology), sampling.rows.words());
            let message = format!(
                "`measure.links` writes {rows} rows, of {at_once} {what} at {} times, the limit is {LINK_ROWS_MAX}",
                cycles / sampling.every
            );
            let every = cycles.saturating_mul(at_once).div_ceil(LINK_ROWS_MAX);
            let fewer = if sampling.rows == LinkRows::Links { ", or write `by = \"router\"`" } else { "" };
            let help = format!("look every {every} cycles, or select fewer links{fewer}");
            reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(help) });
            return;
        }
    }
    let sections = [("trees", measure.trees_every), ("links", measure.links.map(|links| links.every))];
    for (section, every) in sections.into_iter().filter_map(|(section, every)| Some((section, every?))) {
        let instants = cycles / every;
        if instants > INSTANTS_MAX {
            let span = place_of(root, &format!("measure.{section}"), "every");
            let message = format!("`measure.{section}` looks {instants} times, the limit is {INSTANTS_MAX}");
            let help = format!("look every {} cycles, or measure for a shorter time", cycles.div_ceil(INSTANTS_MAX));
            reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(help) });
        }
    }
}

impl LinkSampling {
    /// How many rows there are at each instant.
    #[must_use]
    pub fn rows_at_once(&self, topology: &dyn Topology) -> u64 {
        let is_there = |router, port| topology.peer(router, port) != Peer::Nothing;
        let class = |router, port| 1 << topology.link_class(router, port).0;
        let of = |router| {
            let ports = (0..topology.ports(router)).map(|port| port as Port);
            let classes = ports.filter(|&port| is_there(router, port)).map(|port| class(router, port) & self.classes);
            match self.rows {
                LinkRows::Links => classes.filter(|&class| class != 0).count() as u64,
                LinkRows::Routers => u64::from(classes.fold(0_u64, |all, class| all | class).count_ones()),
            }
        };
        (0..topology.routers()).map(of).sum()
    }

    /// How many rows a run of so many cycles has.
    fn rows_of(&self, topology: &dyn Topology, cycles: u64) -> u64 {
        (cycles / self.every).saturating_mul(self.rows_at_once(topology))
    }
}

impl LinkRows {
    /// What has a row.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Routers => "kinds of links of routers",
        }
    }
}

fn blame(measure: &Table, section: &str, key: &str, message: String, help: &str, reading: &mut Reading) {
    let span = place_of(measure, section, key);
    reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(help) });
}
