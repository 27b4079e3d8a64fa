//! The triggers, and their entries in the list of algorithms.

use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_random::Stream;
use tailback_topology::AnyTopology;

use super::credits::Credits;
use super::trigger::{DecisionContext, Stay, Trigger};
use super::{InTransit, LOCAL, Probe};
use crate::registry::{RoutingModel, needs};
use crate::{Causes, Interests, PortVc, Routing};

const fn percent(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integer { min: 0, max: 1000 }, default: Some(default), help }
}

const fn packets(name: &'static str, default: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integer { min: 0, max: 10_000 }, default: Some(default), help }
}

const PROBE: Parameter = Parameter {
    name: "candidates",
    kind: Kind::Choice(&[
        Choice { word: "all", help: "a random one of all that will do" },
        Choice { word: "one", help: "one at random, which will do or not; the minimal one may be drawn, and will not" },
    ]),
    default: Some("\"all\""),
    help: "how another path is chosen",
};

const MINIMUM: Parameter =
    percent("minimum", "0", "percent of its buffer that the minimal path must occupy for credits to count");
const SIBLINGS: Parameter = percent(
    "siblings",
    "150",
    "percent of the mean occupancy of all global links of a router that a minimal one must exceed for credits to count",
);
const MARGIN: Parameter = packets("siblings_margin", "40", "flits by which it must exceed them on top");

const OCCUPANCY: Parameter = Parameter {
    name: "occupancy",
    kind: Kind::Choice(&[
        Choice { word: "channel", help: "that of the virtual channel that the packet would use" },
        Choice { word: "port", help: "the mean of all virtual channels of the port" },
    ]),
    default: Some("\"channel\""),
    help: "whose buffers credits are about",
};

const fn share(default: &'static str) -> Parameter {
    percent("share", default, "percent of the occupancy of the minimal path that another path may have at most")
}

const fn threshold(default: &'static str) -> Parameter {
    packets("threshold", default, "packets that want the minimal output from which on it is contended")
}

fn credits(values: &Values) -> Credits {
    Credits {
        minimum: values.integer("minimum"),
        share: values.integer("share"),
        siblings: values.integer("siblings"),
        siblings_margin: values.integer("siblings_margin"),
        whole_port: values.text("occupancy") == "port",
    }
}

/// Builds a mechanism on a dragonfly.
fn build<T: Trigger>(
    model: &RoutingModel,
    topology: &AnyTopology,
    values: &Values,
    trigger: T,
) -> Result<Arc<dyn Routing>, BuildError> {
    let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(model, topology)) };
    if trigger.interests().heads && topology.joins_groups_by_several_links() {
        let message = format!("`{}` counts who wants the link to a group, and here several lead to some", model.name);
        let groups = topology.routers_per_group() * topology.global_links_per_router() + 1;
        return Err(BuildError::new(message).help(format!("give it {groups} groups, or use `olm` or `piggyback`")));
    }
    let probe = if values.text("candidates") == "one" { Probe::One } else { Probe::All };
    Ok(Arc::new(InTransit::new(Arc::clone(topology), trigger, probe)))
}

const COUNTED_UNTIL: Parameter = Parameter {
    name: "counted_until",
    kind: Kind::Choice(&[
        Choice { word: "tail", help: "its tail has left its input queue" },
        Choice { word: "in-order", help: "that, and no packet counts any more that began to cross before it" },
    ]),
    default: Some("\"tail\""),
    help: "until when a packet counts for its minimal output",
};

fn is_in_order(values: &Values) -> bool {
    values.text("counted_until") == "in-order"
}

/// Told of heads, and of their crossings where these count in order.
fn heads(in_order: bool) -> Interests {
    Interests { heads: true, crossings: in_order, ..Interests::default() }
}

/// OLM: misroutes when the minimal path is congested by what credits tell.
pub(crate) const OLM: RoutingModel = RoutingModel {
    name: "olm",
    topology: "dragonfly",
    summary: "OLM: leaves the minimal path in transit when credits tell of congestion, with opportunistic local hops",
    parameters: &[share("50"), OCCUPANCY, MINIMUM, SIBLINGS, MARGIN, PROBE],
    build: |topology, values| build(&OLM, topology, values, Olm(credits(values))),
};

#[derive(Clone, Copy, Debug)]
struct Olm(Credits);

impl Trigger for Olm {
    fn describe(&self) -> String {
        format!("OLM, other paths with at most {} % of the minimal one's occupancy", self.0.share)
    }

    fn interests(&self) -> Interests {
        Interests { rivals: true, ..Interests::default() }
    }

    fn cause(&self, _context: &DecisionContext<'_>, _group: impl FnOnce() -> Option<u32>) -> Causes {
        Causes::QUEUES
    }

    #[inline]
    fn stays(&self, context: &DecisionContext<'_>, _random: &mut Stream) -> Option<Stay> {
        self.0.stay(context)
    }

    #[inline]
    fn used_max(&self, context: &DecisionContext<'_>) -> Option<u32> {
        self.0.used_max(context)
    }

    #[inline]
    fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool {
        self.0.accepts(context, candidate)
    }
}

/// Base: misroutes when many packets want the minimal output.
pub(crate) const BASE: RoutingModel = RoutingModel {
    name: "base",
    topology: "dragonfly",
    summary: "Base: leaves the minimal path when a contention counter reaches a threshold",
    parameters: &[threshold("6"), COUNTED_UNTIL, PROBE],
    build: |topology, values| build(&BASE, topology, values, base(values)),
};

#[derive(Clone, Copy, Debug)]
struct Base {
    threshold: u32,
    in_order: bool,
}

fn base(values: &Values) -> Base {
    Base { threshold: values.integer("threshold"), in_order: is_in_order(values) }
}

impl Trigger for Base {
    fn describe(&self) -> String {
        format!("contention counters, threshold {}", self.threshold)
    }

    fn interests(&self) -> Interests {
        heads(self.in_order)
    }

    fn cause(&self, _context: &DecisionContext<'_>, _group: impl FnOnce() -> Option<u32>) -> Causes {
        Causes::CONTENTION
    }

    #[inline]
    fn fires_at(&self, count: impl FnOnce() -> u32, _group_count: impl FnOnce() -> Option<u32>) -> Option<bool> {
        Some(count() >= self.threshold)
    }

    #[inline]
    fn is_reached(&self, count: u32, _group_count: impl FnOnce() -> Option<u32>) -> bool {
        count == self.threshold
    }

    #[inline]
    fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool {
        context.contention.count(candidate.port) < self.threshold
    }
}

/// Hybrid: contention counters or credits.
pub(crate) const HYBRID: RoutingModel = RoutingModel {
    name: "hybrid",
    topology: "dragonfly",
    summary: "Hybrid: leaves the minimal path when a contention counter or credits say so",
    parameters: &[threshold("7"), COUNTED_UNTIL, share("35"), OCCUPANCY, MINIMUM, SIBLINGS, MARGIN, PROBE],
    build: |topology, values| build(&HYBRID, topology, values, Hybrid { base: base(values), credits: credits(values) }),
};

#[derive(Clone, Copy, Debug)]
struct Hybrid {
    base: Base,
    credits: Credits,
}

impl Hybrid {
    #[inline]
    fn is_contended(&self, context: &DecisionContext<'_>) -> bool {
        context.contention.count(context.minimal.port) >= self.base.threshold
    }
}

impl Trigger for Hybrid {
    fn describe(&self) -> String {
        format!("contention counters, threshold {}, or credits, at most {} %", self.base.threshold, self.credits.share)
    }

    fn interests(&self) -> Interests {
        Interests { rivals: true, ..self.base.interests() }
    }

    fn cause(&self, context: &DecisionContext<'_>, _group: impl FnOnce() -> Option<u32>) -> Causes {
        if self.is_contended(context) { Causes::CONTENTION } else { Causes::QUEUES }
    }

    #[inline]
    fn is_reached(&self, count: u32, _group_count: impl FnOnce() -> Option<u32>) -> bool {
        self.base.is_reached(count, || None)
    }

    #[inline]
    fn stays(&self, context: &DecisionContext<'_>, _random: &mut Stream) -> Option<Stay> {
        if self.is_contended(context) { None } else { self.credits.stay(context) }
    }

    #[inline]
    fn used_max(&self, context: &DecisionContext<'_>) -> Option<u32> {
        // Where contention is the cause, any path that is open is better.
        if self.is_contended(context) { None } else { self.credits.used_max(context) }
    }

    #[inline]
    fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool {
        self.is_contended(context) || self.credits.accepts(context, candidate)
    }
}

/// ECtN: contention counters of all routers of a group, for packets at their source router.
pub(crate) const ECTN: RoutingModel = RoutingModel {
    name: "ectn",
    topology: "dragonfly",
    summary: "ECtN: Base, and routers of a group tell each other their contention for each other group",
    parameters: &[
        threshold("6"),
        COUNTED_UNTIL,
        packets("combined_threshold", "10", "packets of the whole group from which on a group is contended"),
        Parameter {
            name: "period",
            kind: Kind::Integer { min: 1, max: 1 << 20 },
            default: Some("100"),
            help: "link cycles from one broadcast to the next",
        },
        packets("overhead", "0", "flits that a broadcast takes on each local link; the paper has it free"),
        PROBE,
    ],
    build: |topology, values| {
        let trigger = Ectn {
            base: base(values),
            combined: values.integer("combined_threshold"),
            period: values.integer("period"),
            overhead: values.integer("overhead") as u16,
        };
        build(&ECTN, topology, values, trigger)
    },
};

#[derive(Clone, Copy, Debug)]
struct Ectn {
    base: Base,
    combined: u32,
    period: u32,
    overhead: u16,
}

impl Trigger for Ectn {
    fn describe(&self) -> String {
        let (local, combined, period) = (self.base.threshold, self.combined, self.period);
        format!("explicit contention notification every {period} cycles, thresholds {local} and {combined}")
    }

    fn interests(&self) -> Interests {
        let (notices, broadcast_cycles) = (Some(LOCAL), Some(self.period));
        Interests { notices, broadcast_cycles, broadcast_flits: self.overhead, ..self.base.interests() }
    }

    fn cause(&self, context: &DecisionContext<'_>, group: impl FnOnce() -> Option<u32>) -> Causes {
        // What this router counts itself comes first: of the others it need not have heard then.
        let own = group().map_or(0, |group| context.contention.partial(group));
        if context.contention.count(context.minimal.port) >= self.base.threshold || own >= self.combined {
            Causes::CONTENTION
        } else {
            Causes::TOLD
        }
    }

    #[inline]
    fn fires_at(&self, count: impl FnOnce() -> u32, group_count: impl FnOnce() -> Option<u32>) -> Option<bool> {
        Some(count() >= self.base.threshold || group_count().is_some_and(|count| count >= self.combined))
    }

    #[inline]
    fn is_reached(&self, count: u32, group_count: impl FnOnce() -> Option<u32>) -> bool {
        self.base.is_reached(count, || None) || group_count() == Some(self.combined)
    }

    #[inline]
    fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool {
        self.base.accepts(context, candidate)
    }
}

/// The trigger that the contention paper describes and leaves to others.
pub(crate) const STATISTICAL: RoutingModel = RoutingModel {
    name: "statistical",
    topology: "dragonfly",
    summary: "Base with chance: the higher a counter above its threshold, the more packets leave the minimal path",
    parameters: &[
        threshold("4"),
        packets("certain", "10", "packets from which on every packet leaves the minimal path if it can"),
        PROBE,
    ],
    build: |topology, values| {
        let (threshold, certain) = (values.integer("threshold"), values.integer("certain"));
        if certain <= threshold {
            return Err(BuildError::at("certain", format!("{certain} is not above the threshold, {threshold}"))
                .help("with equal numbers this would be the routing `base`"));
        }
        build(&STATISTICAL, topology, values, Statistical { base: Base { threshold, in_order: false }, certain })
    },
};

#[derive(Clone, Copy, Debug)]
struct Statistical {
    base: Base,
    certain: u32,
}

impl Trigger for Statistical {
    const DRAWS: bool = true;

    fn describe(&self) -> String {
        let (threshold, certain) = (self.base.threshold, self.certain);
        format!("contention counters by chance, from {threshold} packets on, certain from {certain} on")
    }

    fn interests(&self) -> Interests {
        self.base.interests()
    }

    fn cause(&self, _context: &DecisionContext<'_>, _group: impl FnOnce() -> Option<u32>) -> Causes {
        Causes::CONTENTION
    }

    #[inline]
    fn stays(&self, context: &DecisionContext<'_>, random: &mut Stream) -> Option<Stay> {
        let count = context.contention.count(context.minimal.port);
        let Some(above) = (count + 1).checked_sub(self.base.threshold).filter(|&above| above > 0) else {
            return Some(Stay::Once);
        };
        let steps = self.certain + 1 - self.base.threshold;
        let looks = above >= steps || random.below(steps) < above;
        (!looks).then_some(Stay::Once)
    }

    #[inline]
    fn accepts(&self, context: &DecisionContext<'_>, candidate: PortVc) -> bool {
        self.base.accepts(context, candidate)
    }
}
