//! Valiant routing: minimally to a random intermediate place, then minimally to the destination.

use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, RouterId, Topology};

use super::compass::{Chart, Compass};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, Lane, Routing, Step, VcSequence, View};

/// How far a packet follows its detour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValiantTarget {
    /// Until it is in the intermediate group.
    Group,
    /// Until it is at the intermediate router.
    Router,
}

/// Where intermediate places are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intermediates {
    /// The whole network, source and destination included.
    Anywhere,
    /// All groups but the source's.
    OtherGroups,
    /// All groups but the source's; for packets that stay in their group, that group.
    LikeDestination,
}

/// What the parameters of the algorithms with detours have in common.
pub(super) const DETOUR_PARAMETERS: [Parameter; 3] = [
    Parameter {
        name: "target",
        kind: Kind::Choice(&[
            Choice { word: "router", help: "to a random router" },
            Choice { word: "group", help: "to a random group, whatever the router" },
        ]),
        default: Some("\"router\""),
        help: "how far a detour is followed",
    },
    Parameter {
        name: "intermediates",
        kind: Kind::Choice(&[
            Choice { word: "other-groups", help: "all groups but the source's" },
            Choice { word: "anywhere", help: "the whole network, source and destination included" },
            Choice { word: "like-destination", help: "all groups but the source's; inside a group, that group" },
        ]),
        default: Some("\"other-groups\""),
        help: "where the intermediate place of a detour is drawn from",
    },
    Parameter {
        name: "vcs",
        kind: Kind::Text,
        default: Some("\"\""),
        help: "the order in which packets use virtual channels of local (l) and global (g) links; empty for \
               `l0 g0 l1 l2 g1 l3` to a router and `l0 g0 l1 g1 l2` to a group",
    },
];

/// The entry in the list of algorithms.
pub(crate) const VALIANT: RoutingModel = RoutingModel {
    name: "valiant",
    topology: "dragonfly",
    summary: "VAL: always by way of a random group or router",
    parameters: &DETOUR_PARAMETERS,
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&VALIANT, topology)) };
        Ok(Arc::new(Valiant { detours: Detours::build(topology, values)? }))
    },
};

/// The detours of a dragonfly.
#[derive(Clone, Debug)]
pub(super) struct Detours {
    pub(super) chart: Arc<Chart>,
    target: ValiantTarget,
    intermediates: Intermediates,
}

/// Legs of a way, as in [`Header::leg`].
const START: u8 = 0;
const DETOUR: u8 = 1;
pub(super) const STRAIGHT: u8 = 2;

impl Detours {
    fn new(
        topology: Arc<Dragonfly>,
        target: ValiantTarget,
        intermediates: Intermediates,
        sequence: VcSequence,
    ) -> Self {
        Self { chart: Arc::new(Chart::new(topology, sequence)), target, intermediates }
    }

    pub(super) fn build(topology: &Arc<Dragonfly>, values: &Values) -> Result<Self, BuildError> {
        let target = match values.text("target") {
            "group" => ValiantTarget::Group,
            _ => ValiantTarget::Router,
        };
        let intermediates = intermediates(topology, values)?;
        let sequence = match values.text("vcs") {
            "" => default_sequence(target),
            text => text,
        };
        let sequence = VcSequence::parse(sequence, paths(target)).map_err(|error| {
            BuildError::at("vcs", error.to_string()).help(format!("the default is `{}`", default_sequence(target)))
        })?;
        Ok(Self::new(Arc::clone(topology), target, intermediates, sequence))
    }

    /// For progressive routing: to a router of a group, with channels for a detour that begins one hop later.
    pub(super) fn progressive(topology: &Arc<Dragonfly>, values: &Values) -> Result<Self, BuildError> {
        let intermediates = intermediates(topology, values)?;
        let sequence = VcSequence::parse(values.text("vcs"), super::progressive::PATHS)
            .map_err(|error| BuildError::at("vcs", error.to_string()).help("the default is `l0 l1 g0 l2 l3 g1 l4`"))?;
        Ok(Self::new(Arc::clone(topology), ValiantTarget::Router, intermediates, sequence))
    }

    pub(super) fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.chart.sequence.moves(paths(self.target))
    }

    /// Draws where a packet that starts here shall detour: a group and a place in it.
    pub(super) fn draw(&self, compass: &Compass, header: &Header, random: &mut Stream) -> (u32, u32) {
        let topology = &self.chart.topology;
        let (destination, _, _) = Dragonfly::locate(header.destination());
        let group = match self.intermediates {
            Intermediates::Anywhere => random.below(topology.groups()),
            Intermediates::LikeDestination if destination == compass.group => destination,
            _ => {
                let other = random.below(topology.groups() - 1);
                other + u32::from(other >= compass.group)
            }
        };
        let place = match self.target {
            ValiantTarget::Group => 0,
            ValiantTarget::Router => random.below(topology.routers_per_group()),
        };
        (group, place)
    }

    /// The header of a packet that sets out for `via`.
    pub(super) fn set_out(&self, header: Header, via: (u32, u32)) -> Header {
        Header { via: via.0 << 16 | via.1, leg: DETOUR, detoured: true, ..header }
    }

    /// The number of links of a way by `via` to the router at `to`.
    pub(super) fn length(&self, compass: &Compass, via: (u32, u32), to: (u32, u32)) -> u32 {
        let topology = &self.chart.topology;
        let turn = match self.target {
            ValiantTarget::Router => topology.router_at(via.0, via.1),
            ValiantTarget::Group => compass.entrance(via.0),
        };
        let (group, place) = topology.place(turn);
        compass.distance(group, place) + topology.distance(turn, topology.router_at(to.0, to.1))
    }

    /// The next step of a packet on its way, by `compass`.
    #[inline]
    pub(super) fn follow(&self, compass: &Compass, entry: Lane, header: Header, random: &mut Stream) -> Step {
        if header.leg == DETOUR {
            let (group, place) = self.via(header);
            if !self.reached(compass, group, place) {
                let (hop, port) = compass.towards(group, place, random).expect("the detour goes on");
                return compass.step(entry, hop, port, header);
            }
        }
        compass.minimal_step(entry, Header { via: 0, leg: STRAIGHT, ..header }, random)
    }

    /// All steps that a packet may make which starts on a detour or is on one.
    pub(super) fn possible(&self, router: RouterId, entry: Lane, header: Header, steps: &mut Vec<Step>) {
        let compass = self.chart.compass(router);
        if header.leg != START {
            return self.possible_on_way(&compass, entry, header, steps);
        }
        let places = match self.target {
            ValiantTarget::Group => 1,
            ValiantTarget::Router => self.chart.topology.routers_per_group(),
        };
        for group in 0..self.chart.topology.groups() {
            for place in 0..places {
                self.possible_on_way(&compass, entry, self.set_out(header, (group, place)), steps);
            }
        }
    }

    fn possible_on_way(&self, compass: &Compass, entry: Lane, header: Header, steps: &mut Vec<Step>) {
        if header.leg == DETOUR {
            let (group, place) = self.via(header);
            if !self.reached(compass, group, place) {
                let hops = compass.all_towards(group, place);
                steps.extend(hops.into_iter().map(|(hop, port)| compass.step(entry, hop, port, header)));
                return;
            }
        }
        let header = Header { via: 0, leg: STRAIGHT, ..header };
        if header.is_anywhere() {
            for destination in self.chart.destinations() {
                compass.minimal_steps(entry, header.towards(destination), steps);
            }
        } else {
            compass.minimal_steps(entry, header, steps);
        }
    }

    #[inline]
    fn via(&self, header: Header) -> (u32, u32) {
        (header.via >> 16, header.via & 0xffff)
    }

    #[inline]
    fn reached(&self, compass: &Compass, group: u32, place: u32) -> bool {
        group == compass.group && (self.target == ValiantTarget::Group || place == compass.place)
    }

    pub(super) fn describe(&self) -> String {
        let target = match self.target {
            ValiantTarget::Group => "group",
            ValiantTarget::Router => "router",
        };
        let from = match self.intermediates {
            Intermediates::Anywhere => "anywhere",
            Intermediates::OtherGroups => "the other groups",
            Intermediates::LikeDestination => "the other groups, or the own one for packets that stay in it",
        };
        format!("a random {target} from {from}, virtual channels {}", self.chart.sequence)
    }
}

fn intermediates(topology: &Dragonfly, values: &Values) -> Result<Intermediates, BuildError> {
    let intermediates = match values.text("intermediates") {
        "anywhere" => Intermediates::Anywhere,
        "like-destination" => Intermediates::LikeDestination,
        _ => Intermediates::OtherGroups,
    };
    if intermediates != Intermediates::Anywhere && topology.groups() < 2 {
        return Err(BuildError::at("intermediates", "there is only one group to detour through")
            .help("use `anywhere`, or more groups"));
    }
    Ok(intermediates)
}

fn default_sequence(target: ValiantTarget) -> &'static str {
    match target {
        ValiantTarget::Group => "l0 g0 l1 g1 l2",
        ValiantTarget::Router => "l0 g0 l1 l2 g1 l3",
    }
}

/// All paths of packets with detours. A leg to the group or router that the packet is in already is empty.
fn paths(target: ValiantTarget) -> &'static [&'static str] {
    match target {
        ValiantTarget::Group => &["l", "l?gl?", "l?gl?gl?"],
        ValiantTarget::Router => &["l", "ll", "l?gl?", "ll?gl?", "l?gl?l", "l?gl?l?gl?"],
    }
}

/// Valiant routing.
#[derive(Debug)]
pub struct Valiant {
    detours: Detours,
}

impl Valiant {
    /// On `topology`, with detours to a `target` from `intermediates` and channels in the order of `sequence`.
    #[must_use]
    pub fn new(
        topology: Arc<Dragonfly>,
        target: ValiantTarget,
        intermediates: Intermediates,
        sequence: VcSequence,
    ) -> Self {
        Self { detours: Detours::new(topology, target, intermediates, sequence) }
    }
}

impl Routing for Valiant {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.detours.chart.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.detours.chart.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(ValiantAgent { compass: self.detours.chart.compass(router), detours: self.detours.clone() })
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.detours.moves()
    }

    fn possible(&self, router: RouterId, entry: Lane, header: Header, steps: &mut Vec<Step>) {
        self.detours.possible(router, entry, header, steps);
    }

    fn describe(&self) -> String {
        format!("Valiant, by {}", self.detours.describe())
    }
}

struct ValiantAgent {
    compass: Compass,
    detours: Detours,
}

impl Agent for ValiantAgent {
    fn route(&mut self, entry: Lane, header: &Header, _view: &dyn View, random: &mut Stream) -> Step {
        let mut header = *header;
        if header.leg == START {
            let via = self.detours.draw(&self.compass, &header, random);
            header = self.detours.set_out(header, via);
        }
        self.detours.follow(&self.compass, entry, header, random)
    }
}
