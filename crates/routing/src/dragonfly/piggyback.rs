//! PiggyBack: routers of a group tell each other which of their global links are saturated, and a packet at its source
//! router takes a non-minimal path when its minimal global link is, or when the queues there say so as in UGAL (Jiang, Kim, Dally).

use std::ops::RangeInclusive;
use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, Port, RouterId, Topology};

use super::local_routes::LocalRoutes;
use super::nonminimal::{self, Candidate, NonminimalPaths, START, Undecided, straight_on};
use super::occupancy::{self, Occupancy};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, Causes, Changes, ChannelKind, Header, Hop, Interests, Notice, PortVc, Routing, Step, View};

/// The entry in the list of algorithms.
pub(crate) const PIGGYBACK: RoutingModel = RoutingModel {
    name: "piggyback",
    topology: "dragonfly",
    summary: "PB: misroutes when the minimal global link is saturated, as routers of the group tell each other, or by UGAL",
    parameters: &[
        Parameter {
            name: "saturation",
            kind: Kind::Integer { min: 0, max: 1000 },
            default: Some("125"),
            help: "percent of the mean occupancy of the global links of its router that a saturated one exceeds",
        },
        Parameter {
            name: "saturation_margin",
            kind: Kind::Integer { min: 0, max: 1 << 20 },
            default: Some("24"),
            help: "flits by which it exceeds them on top",
        },
        occupancy::threshold("24"),
        Parameter {
            name: occupancy::NAME,
            kind: Kind::Choice(&[
                Choice { word: "channel", help: "that of the first virtual channel of a global link" },
                Choice { word: "port", help: "the mean of all its virtual channels" },
            ]),
            default: Some("\"channel\""),
            help: "whose buffers tell of saturation",
        },
        nonminimal::PARAMETERS[0],
        nonminimal::PARAMETERS[1],
        nonminimal::PARAMETERS[2],
    ],
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&PIGGYBACK, topology)) };
        let links = topology.global_links_per_router();
        if links > u64::BITS {
            let message = format!("PB tells of at most {} global links of a router, here are {links}", u64::BITS);
            return Err(BuildError::new(message).help("use a dragonfly with a smaller h, or another routing"));
        }
        let rule = Rule {
            saturation: values.integer("saturation"),
            margin: values.integer("saturation_margin"),
            threshold: values.integer("threshold"),
            occupancy: Occupancy::build(values),
        };
        Ok(Arc::new(Piggyback { paths: NonminimalPaths::build(topology, values)?, rule }))
    },
};

/// When a link is saturated, and when a packet takes a non-minimal path.
#[derive(Clone, Copy, Debug)]
struct Rule {
    saturation: u32,
    margin: u32,
    threshold: u32,
    /// What saturation goes by.
    occupancy: Occupancy,
}

#[derive(Debug)]
struct Piggyback {
    paths: NonminimalPaths,
    rule: Rule,
}

impl Routing for Piggyback {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.paths.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.paths.tables.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        let routes = self.paths.tables.routes(router);
        let used = vec![0; self.paths.tables.topology.global_links_per_router() as usize];
        let links = routes.ports(Hop::Global).runs();
        let (paths, rule) = (self.paths.clone(), self.rule);
        Box::new(PiggybackAgent { routes, paths, rule, links, used, saturated: 0, drawn: Vec::new() })
    }

    fn revises(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        let changes = Changes::At(Dragonfly::GLOBAL);
        Interests { changes, notices: Some(Dragonfly::LOCAL), ..Interests::default() }
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.paths.moves()
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        // Minimal paths are among the non-minimal ones: by way of where the packet already is.
        self.paths.possible(router, entry, header, steps);
    }

    fn describe(&self) -> String {
        let Rule { saturation, margin, threshold, .. } = self.rule;
        format!(
            "PiggyBack, saturated above {saturation} % of the mean and {margin} flits, threshold {threshold} flits, by {}",
            self.paths.describe()
        )
    }
}

struct PiggybackAgent {
    routes: LocalRoutes,
    paths: NonminimalPaths,
    rule: Rule,
    /// The ports with global links, from the first to the last of neighbours: in dragonflies of few groups some between are open.
    links: Vec<RangeInclusive<Port>>,
    /// By port for a global link: the flits that count, when it looked the last time; none where it is open.
    used: Vec<u32>,
    /// Set of the global links of this router that are saturated.
    saturated: u64,
    /// By queue of a node, for the head of each: by way of where it would go.
    drawn: Vec<(u32, u32)>,
}

impl PiggybackAgent {
    /// By way of where the head of a queue would go: drawn once.
    fn via(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> (u32, u32) {
        let queue = entry.place();
        match self.drawn.get(queue) {
            Some(&via) if !view.is_first_time() => via,
            _ => self.draw_via(queue, entry, header, random),
        }
    }

    #[inline(never)]
    fn draw_via(&mut self, queue: usize, entry: PortVc, header: &Header, random: &mut Stream) -> (u32, u32) {
        if self.drawn.len() <= queue {
            self.drawn.resize(queue + 1, (0, 0));
        }
        self.drawn[queue] = self.paths.choice.draw(&self.routes, entry, header, random);
        self.drawn[queue]
    }

    /// The step by which a packet leaves its source router, which is not its last, as things are now.
    fn decide(&mut self, entry: PortVc, header: Header, view: &dyn View, random: &mut Stream) -> Step {
        let via = self.via(entry, &header, view, random);
        let packet = Undecided { routes: &self.routes, entry, header, via };
        let minimal = self.paths.minimal(&packet, random);
        if let Some(cause) = self.minimal_link_is_saturated(&header, view) {
            return self.paths.other(&packet, random).because(cause).step;
        }
        let queue = |candidate: &Candidate| view.occupancy(candidate.step.port, candidate.step.vc);
        let other = self.paths.other_if_worth_it(&packet, &minimal, self.rule.threshold, queue, random);
        other.unwrap_or(minimal).step
    }

    /// Whether the global link of a minimal path to another group is saturated, as far as this router has heard: what says so.
    fn minimal_link_is_saturated(&self, header: &Header, view: &dyn View) -> Option<Causes> {
        let (group, _, _) = Dragonfly::locate(header.destination());
        let (in_group, offset) = self.routes.gateway(group)?;
        let (saturated, cause) = if in_group == self.routes.in_group {
            (self.saturated, Causes::QUEUES)
        } else {
            (view.board().word(in_group as usize), Causes::TOLD)
        };
        (saturated & 1 << offset != 0).then_some(cause)
    }
}

impl Agent for PiggybackAgent {
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        if header.leg == START && !self.routes.is_last(header) {
            return self.decide(entry, *header, view, random);
        }
        let header = if header.leg == START { straight_on(*header) } else { *header };
        let settled = !self.paths.draws(&self.routes, header);
        self.paths.follow(&self.routes, entry, header, random).settled(settled)
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        self.routes.is_last(header) && (header.leg == START || self.paths.ejects(&self.routes, header))
    }

    fn look(&mut self, view: &dyn View) -> Option<Notice> {
        let first = self.routes.first_port(Hop::Global);
        for ports in &self.links {
            let places = usize::from(ports.start() - first)..=usize::from(ports.end() - first);
            self.rule.occupancy.means(view, *ports.start(), 0, &mut self.used[places]);
        }
        let (sum, links) = (self.used.iter().sum::<u32>(), self.routes.ports(Hop::Global).len());
        let percent = u64::from(self.rule.saturation) * u64::from(sum);
        let limit = percent / (100 * u64::from(links.max(1))) + u64::from(self.rule.margin);
        // A router has at most as many global links as the set of those that are saturated has bits: others are refused.
        let is_above = |used: &u32| u64::from(u64::from(*used) > limit);
        let saturated = (0..).zip(&self.used).fold(0, |set, (offset, used)| set | is_above(used) << offset);
        let news = saturated != self.saturated;
        self.saturated = saturated;
        news.then(|| Notice { word: saturated, list: Vec::new() })
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.saturated.to_le_bytes());
        bytes.extend((self.drawn.len() as u64).to_le_bytes());
        for &(group, in_group) in &self.drawn {
            bytes.extend(group.to_le_bytes());
            bytes.extend(in_group.to_le_bytes());
        }
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let mut word = || {
            let (word, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*word))
        };
        self.saturated = word()?;
        let count = word()?;
        self.drawn.clear();
        for _ in 0..count {
            let pair = word()?;
            self.drawn.push((pair as u32, (pair >> 32) as u32));
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use tailback_parameters::Values;
    use tailback_topology::{Arrangement, Peer};

    use super::super::intermediates::{IntermediateChoice, Intermediates, ValiantTarget};
    use super::super::sketch::Sketch;
    use super::*;
    use crate::VcSequence;

    /// What a packet has drawn says by way of which routers it goes, if it leaves its minimal path.
    #[test]
    fn a_packet_draws_once_where_else_it_could_go() {
        let topology = Arc::new(Dragonfly::new(2, 4, 2, 9, Arrangement::Palmtree).expect("it exists"));
        let header = Header::new(topology.locator(71));
        let choice = IntermediateChoice { target: ValiantTarget::Router, intermediates: Intermediates::OtherGroups };
        let sequence = VcSequence::parse("l0 g0 l1 l2 g1 l3", &[]).expect("it is a sequence");
        let paths = NonminimalPaths::new(topology, choice, sequence);
        let rule = Rule { saturation: 100, margin: 1000, threshold: 0, occupancy: Occupancy::Channel };
        let (mut agent, mut random) = (Piggyback { paths, rule }.agent(0), Stream::new(1, 2, 3));
        let minimal = agent.route(PortVc::OWN, &header, &Sketch::new(), &mut random);
        // Its minimal path is as full as can be, so it takes the other one.
        let mut view = Sketch::new();
        view.used.insert((minimal.port, minimal.vc), Sketch::CAPACITY);
        let mut via = |first_time: bool| {
            view.first_time = first_time;
            let mut places = [(); 64].map(|()| agent.route(PortVc::OWN, &header, &view, &mut random).header.via());
            places.sort_unstable();
            places.iter().zip(&places[1..]).filter(|(place, next)| place != next).count() + 1
        };
        assert!(via(true) > 4, "each new head draws");
        assert_eq!(via(false), 1, "one that is asked again does not");
    }

    /// What is asked about an open port would be a number without meaning.
    #[test]
    fn ports_without_a_link_are_not_looked_at() {
        let topology = Arc::new(Dragonfly::new(3, 3, 3, 9, Arrangement::Palmtree).expect("it exists"));
        let choice = IntermediateChoice { target: ValiantTarget::Router, intermediates: Intermediates::OtherGroups };
        let sequence = VcSequence::parse("l0 g0 l1 l2 g1 l3", &[]).expect("it is a sequence");
        let paths = NonminimalPaths::new(Arc::clone(&topology), choice, sequence);
        let rule = Rule { saturation: 100, margin: 0, threshold: 0, occupancy: Occupancy::Channel };
        let piggyback = Piggyback { paths, rule };
        let first = 3 + 2;
        let is_open = |router: &RouterId, port: Port| topology.peer(*router, port) == Peer::Nothing;
        let (router, open) = (0..topology.routers())
            .find_map(|router| Some((router, (first..first + 3).find(|&port| is_open(&router, port))?)))
            .expect("each group has a port that is open");
        let mut view = Sketch::new();
        for port in first..first + 3 {
            view.used.insert((port, 0), if port == open { 1_000_000 } else { u32::from(port) });
        }
        // Above the mean of the links is the one of the larger number.
        let saturated = (first..first + 3).rev().find(|&port| port != open).expect("others have links") - first;
        let told = piggyback.agent(router).look(&view).expect("it is news");
        assert_eq!(told.word, 1 << saturated);
    }

    #[test]
    fn more_links_than_routers_can_tell_of_are_refused() {
        let topology = Arc::new(Dragonfly::new(1, 2, 65, 131, Arrangement::Palmtree).expect("it exists"));
        let error =
            (PIGGYBACK.build)(&AnyTopology::Dragonfly(topology), &Values::default()).expect_err("65 are too many");
        assert_eq!(error.message, "PB tells of at most 64 global links of a router, here are 65");
    }
}
