//! Non-minimal paths: minimally to an intermediate router, then minimally to the destination.
//!
//! All algorithms that choose a non-minimal path at the source router, or one hop after it, follow it from there on by what this
//! module says, and weigh it against the minimal path as a [`Candidate`].

use std::sync::Arc;

use tailback_parameters::{BuildError, Kind, Parameter, Values};
use tailback_random::Stream;
use tailback_topology::{Dragonfly, RouterId};

use super::intermediates::{INTERMEDIATES, IntermediateChoice, TARGET, ValiantTarget};
use super::local_routes::{LocalRoutes, RouteTables};
use crate::{Causes, ChannelKind, Header, PortVc, Step, VcSequence};

/// What the parameters of the algorithms with non-minimal paths have in common.
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

/// Legs of a path, as in [`Header::leg`].
pub(super) const START: u8 = 0;
const NONMINIMAL: u8 = 1;
pub(super) const STRAIGHT: u8 = 2;

/// The non-minimal paths of a dragonfly.
#[derive(Clone, Debug)]
pub(super) struct NonminimalPaths {
    pub(super) tables: Arc<RouteTables>,
    pub(super) choice: IntermediateChoice,
}

/// The most links of a minimal path: local, global, local.
const MINIMAL_LINKS_MAX: u32 = 3;

/// One of the paths that a packet may take from where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Its first step.
    pub(super) step: Step,
    /// Where it leaves the minimal path, if it does: a group and a router in it.
    pub(super) via: Option<(u32, u32)>,
}

impl Candidate {
    /// The same for a cause, instead of those that its packet has.
    pub(super) fn because(mut self, cause: Causes) -> Self {
        self.step.header.nonminimal = cause;
        self
    }
}

/// A packet that has not decided, at the router with these routes, and by way of where it could go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undecided<'a> {
    pub(super) routes: &'a LocalRoutes,
    pub(super) entry: PortVc,
    pub(super) header: Header,
    pub(super) via: (u32, u32),
}

impl NonminimalPaths {
    pub(super) fn new(topology: Arc<Dragonfly>, choice: IntermediateChoice, sequence: VcSequence) -> Self {
        Self { tables: Arc::new(RouteTables::new(topology, sequence)), choice }
    }

    /// As [`PARAMETERS`] say.
    pub(super) fn build(topology: &Arc<Dragonfly>, values: &Values) -> Result<Self, BuildError> {
        let choice = IntermediateChoice::build(topology, values)?;
        let default = default_sequence(choice.target);
        let sequence = match values.text("vcs") {
            "" => default,
            text => text,
        };
        let sequence = VcSequence::parse(sequence, paths(choice.target))
            .map_err(|error| BuildError::at("vcs", error.to_string()).help(format!("the default is `{default}`")))?;
        Ok(Self::new(Arc::clone(topology), choice, sequence))
    }

    pub(super) fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.tables.sequence.moves(paths(self.choice.target))
    }

    /// The header of a packet that sets out for `via`.
    pub(super) fn set_out(&self, header: Header, via: (u32, u32), cause: Causes) -> Header {
        Header { leg: NONMINIMAL, nonminimal: header.nonminimal.with(cause), ..header.by_way_of(via.0 << 16 | via.1) }
    }

    /// The minimal path of a packet.
    #[inline]
    pub(super) fn minimal(&self, packet: &Undecided<'_>, random: &mut Stream) -> Candidate {
        let &Undecided { routes, entry, header, .. } = packet;
        Candidate { step: routes.minimal_step(entry, straight_on(header), random), via: None }
    }

    /// Its other path.
    pub(super) fn other(&self, packet: &Undecided<'_>, random: &mut Stream) -> Candidate {
        let &Undecided { routes, entry, via, .. } = packet;
        Candidate { step: self.follow(routes, entry, self.setting_out(packet), random), via: Some(via) }
    }

    fn setting_out(&self, packet: &Undecided<'_>) -> Header {
        self.set_out(packet.header, packet.via, Causes::QUEUES)
    }

    /// Its other path, if that promises the shorter wait: if the queue of the minimal path exceeds its own by more than
    /// `threshold`, each weighted with the links of its path.
    pub(super) fn other_if_worth_it(
        &self,
        packet: &Undecided<'_>,
        minimal: &Candidate,
        threshold: u32,
        queue: impl Fn(&Candidate) -> u32,
        random: &mut Stream,
    ) -> Option<Candidate> {
        let length = queue(minimal);
        // A minimal path has few links, and any has one. What cannot be worth it is not looked at, unless its first link is drawn.
        let may_be = length * MINIMAL_LINKS_MAX > threshold;
        if !may_be && !self.draws(packet.routes, self.setting_out(packet)) {
            return None;
        }
        let candidate = self.other(packet, random);
        let other = queue(&candidate);
        // Links are counted only where it depends on them.
        let is_worth_it = length * MINIMAL_LINKS_MAX > other * Self::global_links_of_other(packet) + threshold
            && length * self.links(packet.routes, minimal) > other * self.links(packet.routes, &candidate) + threshold;
        is_worth_it.then_some(candidate)
    }

    /// The global links of the other path of a packet: it has as many links at least.
    fn global_links_of_other(packet: &Undecided<'_>) -> u32 {
        let (destination, _, _) = Dragonfly::locate(packet.header.destination());
        u32::from(packet.via.0 != packet.routes.group) + u32::from(packet.via.0 != destination)
    }

    /// The number of links of a path, the hop inside the intermediate group among them (which FOGSim leaves out).
    fn links(&self, routes: &LocalRoutes, candidate: &Candidate) -> u32 {
        let (group, in_group, _) = Dragonfly::locate(candidate.step.header.destination());
        let (here, destination) = ((routes.group, routes.in_group), (group, in_group));
        let Some(via) = candidate.via else { return self.tables.distance(here, destination) };
        let turn = match self.choice.target {
            ValiantTarget::Group => (via.0, routes.entrance(via.0)),
            ValiantTarget::Router | ValiantTarget::Node => via,
        };
        self.tables.distance(here, turn) + self.tables.distance(turn, destination)
    }

    /// The next step of a packet, by the routes of its router.
    #[inline(always)]
    pub(super) fn follow(&self, routes: &LocalRoutes, entry: PortVc, header: Header, random: &mut Stream) -> Step {
        if let Some((group, in_group)) = self.ahead(routes, header) {
            let (hop, port) = routes.towards(group, in_group, random).expect("the non-minimal path goes on");
            return routes.step(entry, hop, port, header);
        }
        routes.minimal_step(entry, straight_on(header), random)
    }

    /// Whether a packet is at the router of its destination and has decided to go nowhere else before.
    pub(super) fn ejects(&self, routes: &LocalRoutes, header: &Header) -> bool {
        header.leg != START && routes.is_last(header) && self.ahead(routes, *header).is_none()
    }

    /// Whether [`NonminimalPaths::follow`] draws the next step among several.
    #[inline]
    pub(super) fn draws(&self, routes: &LocalRoutes, header: Header) -> bool {
        if !routes.draws {
            return false;
        }
        let destination = || Dragonfly::locate(header.destination()).0;
        routes.draws_towards(self.ahead(routes, header).map_or_else(destination, |(group, _)| group))
    }

    /// All steps that a packet may make which starts on a non-minimal path or is on one.
    pub(super) fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let routes = self.tables.routes(router);
        if header.leg != START {
            return self.possible_beyond_source(&routes, entry, header, steps);
        }
        let targets_per_group = match self.choice.target {
            ValiantTarget::Group => 1,
            ValiantTarget::Router | ValiantTarget::Node => self.tables.topology.routers_per_group(),
        };
        for group in 0..self.tables.topology.groups() {
            for in_group in 0..targets_per_group {
                self.possible_beyond_source(
                    &routes,
                    entry,
                    self.set_out(header, (group, in_group), Causes::NONE),
                    steps,
                );
            }
        }
    }

    fn possible_beyond_source(&self, routes: &LocalRoutes, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        if let Some((group, in_group)) = self.ahead(routes, header) {
            let hops = routes.all_towards(group, in_group);
            steps.extend(hops.into_iter().map(|(hop, port)| routes.step(entry, hop, port, header)));
            return;
        }
        for header in self.tables.headers(straight_on(header)) {
            routes.minimal_steps(entry, header, steps);
        }
    }

    /// Where a packet on a non-minimal path turns, unless it is there or past it.
    #[inline]
    fn ahead(&self, routes: &LocalRoutes, header: Header) -> Option<(u32, u32)> {
        let (group, in_group) = (header.via() >> 16, header.via() & 0xffff);
        let reached =
            group == routes.group && (self.choice.target == ValiantTarget::Group || in_group == routes.in_group);
        (header.leg == NONMINIMAL && !reached).then_some((group, in_group))
    }

    pub(super) fn describe(&self) -> String {
        format!("{}, virtual channels {}", self.choice.describe(), self.tables.sequence)
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

/// All paths of packets. A leg to the group or router that the packet is in already is empty.
fn paths(target: ValiantTarget) -> &'static [&'static str] {
    match target {
        ValiantTarget::Group => &["l", "l?gl?", "l?gl?gl?"],
        ValiantTarget::Router | ValiantTarget::Node => &["l", "ll", "l?gl?", "ll?gl?", "l?gl?l", "l?gl?l?gl?"],
    }
}

#[cfg(test)]
mod tests {
    use tailback_topology::{Arrangement, Topology};

    use super::super::intermediates::Intermediates;
    use super::*;

    /// Links are not counted where so few would not do, so these must be no more than there are.
    #[test]
    fn other_paths_have_their_global_links_at_least() {
        let topology = Arc::new(Dragonfly::new(1, 4, 1, 5, Arrangement::Palmtree).expect("it exists"));
        let routers = topology.routers();
        for target in [ValiantTarget::Group, ValiantTarget::Router, ValiantTarget::Node] {
            let choice = IntermediateChoice { target, intermediates: Intermediates::Anywhere };
            let sequence = VcSequence::parse(default_sequence(target), &[]).expect("it is a sequence");
            let paths = NonminimalPaths::new(Arc::clone(&topology), choice, sequence);
            for (source, destination, by) in
                (0..routers).flat_map(|a| (0..routers).flat_map(move |b| (0..routers).map(move |c| (a, b, c))))
            {
                let header = Header::new(topology.locator(destination));
                let (routes, via) = (&paths.tables.routes(source), topology.position(by));
                let packet = Undecided { routes, entry: PortVc::OWN, header, via };
                let candidate = Candidate { step: Step::none_yet(header), via: Some(via) };
                let (least, links) = (NonminimalPaths::global_links_of_other(&packet), paths.links(routes, &candidate));
                assert!(least <= links, "{target:?}: {source} to {destination} by way of {by}");
                assert!(links <= least * 2 + 2, "at most a local link before, between and behind these");
            }
        }
    }
}
