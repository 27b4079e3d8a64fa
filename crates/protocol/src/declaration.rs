//! What a protocol declares, once, when a network is built.

use std::fmt::Debug;
use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};

use crate::{PacketKind, Sink, Source, Switch};

/// A class of traffic: packets that share virtual channels and a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficClass {
    /// Its name.
    pub name: &'static str,
    /// Classes with a larger number go first wherever packets compete.
    pub priority: u8,
    /// How its packets are routed.
    pub way: Way,
    /// Whether routers may drop its packets.
    pub lossy: Lossy,
}

/// How packets of a class are routed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As the scenario says.
    Chosen,
    /// The shortest way.
    Minimal,
}

/// Whether routers may drop the packets of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lossy {
    /// Never.
    No,
    /// Only in their last router.
    AtLastHop,
    /// There, and anywhere once they have waited in input buffers for more ticks than this.
    After(u64),
}

impl TrafficClass {
    /// A class of lossless data.
    #[must_use]
    pub const fn data(priority: u8) -> Self {
        Self { name: "data", priority, way: Way::Chosen, lossy: Lossy::No }
    }

    /// A class of control packets.
    #[must_use]
    pub const fn control(name: &'static str, priority: u8, way: Way) -> Self {
        Self { name, priority, way, lossy: Lossy::No }
    }
}

/// What routers and interfaces have to tell machines. Nothing of it costs anything unless it is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Interfaces keep messages until all their packets are forgotten: [`SourceAction`](crate::SourceAction)s other than
    /// control packets are possible only then.
    pub copies: bool,
    /// Sources are told when packets leave: [`Source::sent`].
    pub departures: bool,
    /// Routers ask about lossy packets that are in their last router: [`Switch::drops`].
    pub last_hop: bool,
    /// Routers ask about reservations that are in their last router: [`Switch::takes`].
    pub reservations: bool,
    /// Routers ask about data packets that leave a buffer: [`Switch::marks`].
    pub marks: bool,
}

/// Where a machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Ticks from one flit to the next on the way to a node.
    pub flit_ticks: u64,
    /// Flits of the largest packet.
    pub packet_flits_max: u16,
    /// Nodes that hang on the router.
    pub endpoints: u32,
}

/// A congestion control protocol for one network.
pub trait Protocol: Send + Sync + Debug {
    /// Its traffic classes; lossless data packets are of the first.
    fn classes(&self) -> Vec<TrafficClass>;

    /// The kinds of packets that it sends beside lossless data.
    fn kinds(&self) -> Vec<PacketKind>;

    /// What its machines want to know.
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    /// The machine that sends; without one, messages are sent as lossless data as soon as they can, and forgotten.
    fn source(&self, _station: &Station) -> Option<Box<dyn Source>> {
        None
    }

    /// The machine that receives, if anything is to be answered.
    fn sink(&self, _station: &Station) -> Option<Box<dyn Sink>> {
        None
    }

    /// The machine of a router, if routers are to do anything.
    fn switch(&self, _station: &Station) -> Option<Box<dyn Switch>> {
        None
    }

    /// One line with its parameters, for people.
    fn describe(&self) -> String;
}

/// Whether routers send control packets of their own: NACKs to the sources of what they drop, or answers to reservations.
#[must_use]
pub fn routers_send(protocol: &dyn Protocol) -> bool {
    let station = Station { flit_ticks: 1, packet_flits_max: 1, endpoints: 1 };
    let lossy = protocol.classes().iter().any(|class| class.lossy != Lossy::No);
    (lossy || protocol.hooks().reservations) && protocol.switch(&station).is_some()
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
    /// Builds it.
    pub build: fn(&Values) -> Result<Arc<dyn Protocol>, BuildError>,
}

/// The parameter that says how control packets are routed.
#[must_use]
pub const fn way_parameter(default: &'static str) -> Parameter {
    Parameter {
        name: "control_routing",
        kind: Kind::Choice(&[
            Choice { word: "minimal", help: "the shortest way, on as few virtual channels as that needs" },
            Choice { word: "as-data", help: "as data packets" },
        ]),
        default: Some(default),
        help: "how control packets are routed",
    }
}

/// The value of [`way_parameter`].
#[must_use]
pub fn way(values: &Values) -> Way {
    if values.text("control_routing") == "minimal" { Way::Minimal } else { Way::Chosen }
}
