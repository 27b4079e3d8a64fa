//! Detours: minimally to an intermediate place, then minimally to the destination.
//!
//! All algorithms that choose a detour at the source router, or one hop after it, follow it from there on by what this
//! module says, and weigh it against the minimal way as a [`Fork`].

use std::sync::Arc;

use tailback_parameters::{BuildError, Kind, Parameter, Values};
use tailback_random::Stream;
use tailback_topology::{Dragonfly, RouterId};

use super::compass::{Chart, Compass};
use super::intermediates::{INTERMEDIATES, TARGET, Turns, ValiantTarget};
use crate::{ChannelKind, Header, Lane, Step, VcSequence};

/// What the parameters of the algorithms with detours have in common.
pub(super) const PARAMETERS: [Parameter; 3] = [
    TARGET,
    INTERMEDIATES,
    Parameter {
        name: "vcs",
        kind: Kind::Text,
        default: Some("\"\""),
        help: "the order in which packets use virtual channels of local (l) and global (g) links; empty for \
               `l0 g0 l1 g1 l2` to a group and `l0 g0 l1 l2 g1 l3` to a router or node",
    },
];

/// Legs of a way, as in [`Header::leg`].
pub(super) const START: u8 = 0;
const DETOUR: u8 = 1;
pub(super) const STRAIGHT: u8 = 2;

/// The detours of a dragonfly.
#[derive(Clone, Debug)]
pub(super) struct Detours {
    pub(super) chart: Arc<Chart>,
    pub(super) turns: Turns,
}

/// The most links of a minimal way: local, global, local.
const MINIMAL_LINKS_MAX: u32 = 3;

/// One of the ways that a packet may take from where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// The header of a packet that takes it.
    pub(super) header: Header,
    /// Its first step.
    pub(super) step: Step,
    /// Where it turns, if it is a detour: a group and a place in it.
    pub(super) via: Option<(u32, u32)>,
}

/// The two ways that a packet chooses from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fork {
    pub(super) straight: Way,
    pub(super) detour: Way,
}

impl Detours {
    pub(super) fn new(topology: Arc<Dragonfly>, turns: Turns, sequence: VcSequence) -> Self {
        Self { chart: Arc::new(Chart::new(topology, sequence)), turns }
    }

    /// As [`PARAMETERS`] say.
    pub(super) fn build(topology: &Arc<Dragonfly>, values: &Values) -> Result<Self, BuildError> {
        let turns = Turns::build(topology, values)?;
        let default = default_sequence(turns.target);
        let sequence = match values.text("vcs") {
            "" => default,
            text => text,
        };
        let sequence = VcSequence::parse(sequence, paths(turns.target))
            .map_err(|error| BuildError::at("vcs", error.to_string()).help(format!("the default is `{default}`")))?;
        Ok(Self::new(Arc::clone(topology), turns, sequence))
    }

    pub(super) fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.chart.sequence.moves(paths(self.turns.target))
    }

    /// The header of a packet that sets out for `via`.
    pub(super) fn set_out(&self, header: Header, via: (u32, u32)) -> Header {
        Header { leg: DETOUR, detoured: true, ..header.by_way_of(via.0 << 16 | via.1) }
    }

    /// The ways of a packet with `header`, which has not decided: straight on, and by `via`.
    pub(super) fn fork(
        &self,
        compass: &Compass,
        entry: Lane,
        header: Header,
        via: (u32, u32),
        random: &mut Stream,
    ) -> Fork {
        let (straight, detour) = (straight_on(header), self.set_out(header, via));
        let minimal_step = compass.minimal_step(entry, straight, random);
        let detour_step = self.follow(compass, entry, detour, random);
        Fork {
            straight: Way { header: straight, step: minimal_step, via: None },
            detour: Way { header: detour, step: detour_step, via: Some(via) },
        }
    }

    /// Whether a detour promises the shorter wait: whether the queue of the minimal way exceeds that of the detour by more
    /// than `threshold`, each weighted with the links of its way.
    pub(super) fn is_worth_it(
        &self,
        compass: &Compass,
        fork: &Fork,
        threshold: u32,
        queue: impl Fn(&Way) -> u32,
    ) -> bool {
        let [minimal, other] = [&fork.straight, &fork.detour].map(queue);
        // Ways are counted only where it depends on them: a minimal way has few links, and any has one.
        minimal * MINIMAL_LINKS_MAX > other + threshold
            && minimal * self.links(compass, &fork.straight) > other * self.links(compass, &fork.detour) + threshold
    }

    /// The number of links of a way.
    fn links(&self, compass: &Compass, way: &Way) -> u32 {
        let (group, place, _) = Dragonfly::locate(way.header.destination());
        let (here, destination) = ((compass.group, compass.place), (group, place));
        let Some(via) = way.via else { return self.chart.distance(here, destination) };
        let turn = match self.turns.target {
            ValiantTarget::Group => (via.0, compass.entrance(via.0)),
            ValiantTarget::Router | ValiantTarget::Node => via,
        };
        self.chart.distance(here, turn) + self.chart.distance(turn, destination)
    }

    /// The next step of a packet on its way, by `compass`.
    #[inline]
    pub(super) fn follow(&self, compass: &Compass, entry: Lane, header: Header, random: &mut Stream) -> Step {
        if let Some((group, place)) = self.ahead(compass, header) {
            let (hop, port) = compass.towards(group, place, random).expect("the detour goes on");
            return compass.step(entry, hop, port, header);
        }
        compass.minimal_step(entry, straight_on(header), random)
    }

    /// Whether a packet is at the router of its destination and has decided to go nowhere else before.
    pub(super) fn ejects(&self, compass: &Compass, header: &Header) -> bool {
        header.leg != START && compass.is_last(header) && self.ahead(compass, *header).is_none()
    }

    /// Whether [`Detours::follow`] draws the next step among several.
    #[inline]
    pub(super) fn draws(&self, compass: &Compass, header: Header) -> bool {
        let destination = || Dragonfly::locate(header.destination()).0;
        compass.draws_towards(self.ahead(compass, header).map_or_else(destination, |(group, _)| group))
    }

    /// All steps that a packet may make which starts on a detour or is on one.
    pub(super) fn possible(&self, router: RouterId, entry: Lane, header: Header, steps: &mut Vec<Step>) {
        let compass = self.chart.compass(router);
        if header.leg != START {
            return self.possible_on_way(&compass, entry, header, steps);
        }
        let places = match self.turns.target {
            ValiantTarget::Group => 1,
            ValiantTarget::Router | ValiantTarget::Node => self.chart.topology.routers_per_group(),
        };
        for group in 0..self.chart.topology.groups() {
            for place in 0..places {
                self.possible_on_way(&compass, entry, self.set_out(header, (group, place)), steps);
            }
        }
    }

    fn possible_on_way(&self, compass: &Compass, entry: Lane, header: Header, steps: &mut Vec<Step>) {
        if let Some((group, place)) = self.ahead(compass, header) {
            let hops = compass.all_towards(group, place);
            steps.extend(hops.into_iter().map(|(hop, port)| compass.step(entry, hop, port, header)));
            return;
        }
        for header in self.chart.headers(straight_on(header)) {
            compass.minimal_steps(entry, header, steps);
        }
    }

    /// Where a packet on a detour turns, unless it is there or past it.
    #[inline]
    fn ahead(&self, compass: &Compass, header: Header) -> Option<(u32, u32)> {
        let (group, place) = (header.via() >> 16, header.via() & 0xffff);
        let reached = group == compass.group && (self.turns.target == ValiantTarget::Group || place == compass.place);
        (header.leg == DETOUR && !reached).then_some((group, place))
    }

    pub(super) fn describe(&self) -> String {
        format!("{}, virtual channels {}", self.turns.describe(), self.chart.sequence)
    }
}

/// The header of a packet that has nothing but its destination ahead.
#[inline]
pub(super) fn straight_on(header: Header) -> Header {
    Header { leg: STRAIGHT, ..header.by_way_of(0) }
}

fn default_sequence(target: ValiantTarget) -> &'static str {
    match target {
        ValiantTarget::Group => "l0 g0 l1 g1 l2",
        ValiantTarget::Router | ValiantTarget::Node => "l0 g0 l1 l2 g1 l3",
    }
}

/// All paths of packets with detours. A leg to the group or router that the packet is in already is empty.
fn paths(target: ValiantTarget) -> &'static [&'static str] {
    match target {
        ValiantTarget::Group => &["l", "l?gl?", "l?gl?gl?"],
        ValiantTarget::Router | ValiantTarget::Node => &["l", "ll", "l?gl?", "ll?gl?", "l?gl?l", "l?gl?l?gl?"],
    }
}
