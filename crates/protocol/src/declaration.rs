//! What a protocol declares, once, when a network is built.

use std::fmt::Debug;
use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};

use crate::{
    Clock, Control, ControlNetwork, Controller, InjectionTime, KindDeclaration, Routes, Sink, Source, Switch,
    SwitchNeeds, Watch,
};

/// A class of traffic: packets that share virtual channels and a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficClass {
    /// Its name.
    pub name: &'static str,
    /// Classes with a larger number go first wherever packets compete.
    pub priority: u8,
    /// How its packets are routed.
    pub routing: ClassRouting,
    /// Whether its packets are control packets.
    pub is_control: bool,
    /// How long a packet may wait, all in all, before it expires. Only waiting counts, not flying: otherwise no packet with a short
    /// timeout would survive a long link.
    pub queueing_timeout: Option<QueueingTimeout>,
}

/// How long packets of a class may wait. They expire in input buffers, whatever counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueingTimeout {
    /// Ticks.
    pub ticks: u64,
    /// Whether waiting in output queues counts, too, and not in input buffers only.
    pub in_output_queues: bool,
}

impl QueueingTimeout {
    /// So many ticks in input buffers.
    #[must_use]
    pub const fn at_inputs(ticks: u64) -> Self {
        Self { ticks, in_output_queues: false }
    }
}

/// How packets of a class are routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassRouting {
    /// As the scenario says.
    Chosen,
    /// Minimal paths.
    Minimal,
}

impl TrafficClass {
    /// A class of lossless data.
    #[must_use]
    pub const fn data(priority: u8) -> Self {
        Self { name: "data", priority, routing: ClassRouting::Chosen, is_control: false, queueing_timeout: None }
    }

    /// A class of control packets.
    #[must_use]
    pub const fn control(name: &'static str, priority: u8, routing: ClassRouting) -> Self {
        Self { name, priority, routing, is_control: true, queueing_timeout: None }
    }
}

/// Marks that reports count packets by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkDeclaration {
    /// What packets with exactly these marks are called in reports, such as `marked_packets`.
    pub name: &'static str,
    /// The marks.
    pub marks: u8,
}

/// What network interfaces keep and tell sources. Nothing of it costs anything unless it is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Interfaces keep messages until all their packets are forgotten: [`SourceAction`](crate::SourceAction)s about messages and
    /// packets are possible only then.
    pub copies: bool,
    /// Lossless data is not acknowledged: where copies are kept, interfaces forget its packets as they leave, for the first time or
    /// again, and tell sources: [`Source::gone`].
    pub unacknowledged: bool,
    /// Sources are told when packets leave: [`Source::sent`].
    pub departures: bool,
    /// Sources are told when messages are offered: [`Source::offered`].
    pub offers: bool,
    /// Data reaches sinks in the order in which it was first sent, of each source for itself; so many packets at most may wait at a node
    /// for others before them. The network refuses nothing: that they do not become more is up to the protocol, and a run in
    /// which they do ends.
    pub resequencing: Option<u32>,
    /// Sources give data packets entropy values: [`Source::entropy`].
    pub entropy: bool,
}

impl Hooks {
    /// Whether messages have names that are never used again: packets may be forgotten before sinks are told of them, be it that nobody
    /// acknowledges them or that they wait for their order after they were acknowledged.
    #[must_use]
    pub const fn names_are_unique(self) -> bool {
        self.unacknowledged || self.resequencing.is_some()
    }
}

/// Where a part of a protocol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Ticks from one flit to the next on the way to a node: on the line of its host, where that is slower than the link.
    pub flit_ticks: u64,
    /// How long packets take on the way from a node, whose link may be faster or slower than the way to it.
    pub injection: InjectionTime,
    /// Flits of the largest packet.
    pub packet_flits_max: u16,
    /// Ports of the largest router.
    pub ports: u32,
    /// Routers of the network.
    pub routers: u32,
    /// Nodes of the router by which the first one enters and leaves the network; 0 where these are two.
    pub nodes_per_router: u32,
    /// Nodes of the network.
    pub nodes: u32,
    /// Routes that the packets of each flow take in turn; one where routing is free to choose.
    pub routes: Routes,
}

/// A congestion control protocol for one network.
pub trait Protocol: Send + Sync + Debug {
    /// Its traffic classes; lossless data packets are of the first.
    fn classes(&self) -> Vec<TrafficClass>;

    /// The kinds of packets; the first is [`KindDeclaration::DATA`].
    fn kinds(&self) -> Vec<KindDeclaration>;

    /// What interfaces keep for its sources, and tell them.
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    /// What data packets can be marked with when they arrive, each with a name: reports count packets by flow and mark.
    fn marks(&self) -> Vec<MarkDeclaration> {
        Vec::new()
    }

    /// The marks of congestion: reports count the packets of each flow that arrive with any of them. They are no part of what
    /// results are compared by, where those of [`Protocol::marks`] are.
    fn congestion_marks(&self) -> u8 {
        0
    }

    /// What its switches are asked about.
    fn watches(&self) -> Vec<Watch> {
        Vec::new()
    }

    /// What its switches look at, and do.
    fn switch_needs(&self) -> SwitchNeeds {
        SwitchNeeds::default()
    }

    /// What sends; without it, messages are sent as lossless data as soon as they can, and forgotten.
    fn source(&self, _station: &Station) -> Option<Box<dyn Source>> {
        None
    }

    /// What receives, if anything is to be answered.
    fn sink(&self, _station: &Station) -> Option<Box<dyn Sink>> {
        None
    }

    /// Its part of a router, if routers are to do anything.
    fn switch(&self, _station: &Station) -> Option<Box<dyn Switch>> {
        None
    }

    /// The network beside the data network by which controllers are reached, if it needs one.
    fn control_network(&self, _station: &Station) -> Option<ControlNetwork> {
        None
    }

    /// A controller, by its number.
    fn controller(&self, _number: u32, _station: &Station) -> Option<Box<dyn Controller>> {
        None
    }

    /// Whether its parameters suit a network.
    ///
    /// # Errors
    /// Says which does not, with the numbers.
    fn fits(&self, _station: &Station) -> Result<(), BuildError> {
        Ok(())
    }

    /// One line with its parameters, for people.
    fn describe(&self) -> String;

    /// What a control packet says, beside its kind, whom it is for and the packet that it is about: for people who trace a message.
    /// Nothing if there is nothing more.
    fn describe_control(&self, control: &Control, _station: &Station, clock: Clock) -> String {
        let about = (control.flits > 0).then(|| format!("about {} flits", control.flits));
        let names = control.time.map(|tick| format!("names cycle {}", clock.cycles(tick)));
        let marks = (control.marks != 0).then(|| format!("marks {:#x}", control.marks));
        [about, names, marks].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// What it keeps and sends in a network, with numbers: a line each, for people.
    fn explain(&self, _station: &Station) -> Vec<String> {
        Vec::new()
    }
}

/// A protocol with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolModel {
    /// Its name in scenario files.
    pub name: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The names of all kinds of control packets that it may send.
    pub control_kinds: &'static [&'static str],
    /// Builds it.
    pub build: fn(&Values) -> Result<Arc<dyn Protocol>, BuildError>,
}

/// The parameter that says how control packets are routed.
#[must_use]
pub const fn control_routing_parameter(default: &'static str) -> Parameter {
    Parameter {
        name: "control_routing",
        kind: Kind::Choice(&[
            Choice { word: "minimal", help: "the shortest path, on as few virtual channels as that needs" },
            Choice { word: "as-data", help: "as data packets" },
        ]),
        default: Some(default),
        help: "how control packets are routed",
    }
}

/// The value of [`control_routing_parameter`].
#[must_use]
pub fn control_routing(values: &Values) -> ClassRouting {
    if values.text("control_routing") == "minimal" { ClassRouting::Minimal } else { ClassRouting::Chosen }
}
