//! Progressive adaptive routing: as UGAL-L, but a decision for the minimal path holds only until the next router of the
//! source group, where the packet may still take a non-minimal path (Jiang, Kim, Dally).

use std::sync::Arc;

use tailback_parameters::{BuildError, Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, RouterId, Topology};

use super::intermediates::{INTERMEDIATES, IntermediateChoice, ValiantTarget};
use super::local_routes::LocalRoutes;
use super::nonminimal::{Candidate, NonminimalPaths, START, STRAIGHT, Undecided, straight_on};
use super::occupancy;
use crate::registry::{RoutingModel, needs};
use crate::{Agent, Causes, ChannelKind, Header, Hop, Interests, PortVc, Routing, Step, VcSequence, View};

/// The entry in the list of algorithms.
pub(crate) const PROGRESSIVE: RoutingModel = RoutingModel {
    name: "par",
    topology: "dragonfly",
    summary: "PAR: as UGAL-L, and a packet on its minimal path may still be misrouted after one hop in its source group",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: Kind::Integer { min: 0, max: 1 << 20 },
            default: Some("8"),
            help: "flits by which the minimal queue must exceed twice that of the non-minimal path, beyond what is on the links",
        },
        INTERMEDIATES,
        occupancy::QUEUE,
        Parameter {
            name: "vcs",
            kind: Kind::Text,
            default: Some("\"l0 l1 g0 l2 l3 g1 l4\""),
            help: "the order in which packets use virtual channels of local (l) and global (g) links",
        },
    ],
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&PROGRESSIVE, topology)) };
        let choice = IntermediateChoice::to(ValiantTarget::Router, topology, values)?;
        let sequence = VcSequence::parse(values.text("vcs"), PATHS)
            .map_err(|error| BuildError::at("vcs", error.to_string()).help("the default is `l0 l1 g0 l2 l3 g1 l4`"))?;
        let paths = NonminimalPaths::new(Arc::clone(topology), choice, sequence);
        let (threshold, interests) = (values.integer("threshold"), occupancy::interests_in_queues(values));
        Ok(Arc::new(Progressive { paths, threshold, interests }))
    },
};

/// All paths of packets: a non-minimal one begins at the source router, or one local hop later.
const PATHS: &[&str] = &["l", "ll", "l?gl?", "l?l?gl?l?gl?", "l?l?l?gl?", "l?l?gl?l?"];

/// The leg of a packet on its minimal path that has not left its source group.
const PROVISIONAL: u8 = 3;

#[derive(Debug)]
struct Progressive {
    paths: NonminimalPaths,
    threshold: u32,
    interests: Interests,
}

impl Routing for Progressive {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.paths.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.paths.tables.virtual_channels()
    }

    fn interests(&self) -> Interests {
        self.interests
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        let routes = self.paths.tables.routes(router);
        Box::new(ProgressiveAgent { routes, paths: self.paths.clone(), threshold: self.threshold })
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.paths.tables.sequence.moves(PATHS)
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        if header.leg != START && header.leg != PROVISIONAL {
            return self.paths.possible(router, entry, header, steps);
        }
        let routes = self.paths.tables.routes(router);
        for header in self.paths.tables.headers(header) {
            let start = Header { leg: START, ..header };
            self.possible_nonminimal(&routes, router, entry, start, steps);
            let first = steps.len();
            routes.minimal_steps(entry, start, steps);
            for step in &mut steps[first..] {
                let stays = routes.kind(step.port) == Some(Hop::Local) && header.leg == START;
                step.header.leg = if stays { PROVISIONAL } else { STRAIGHT };
            }
        }
    }

    fn describe(&self) -> String {
        let (threshold, queue) = (self.threshold, occupancy::describe_queue(self.interests));
        format!("progressive, threshold {threshold} flits{queue}, by {}", self.paths.describe())
    }
}

impl Progressive {
    /// All steps with which a packet may set out on a non-minimal path: to routers of third groups.
    fn possible_nonminimal(
        &self,
        routes: &LocalRoutes,
        router: RouterId,
        entry: PortVc,
        start: Header,
        steps: &mut Vec<Step>,
    ) {
        let topology = &self.paths.tables.topology;
        let (group, _, _) = Dragonfly::locate(start.destination());
        for via in (0..topology.groups()).filter(|&via| via != routes.group && via != group) {
            if group == routes.group {
                continue; // packets that stay in their group go straight
            }
            for in_group in 0..topology.routers_per_group() {
                self.paths.possible(router, entry, self.paths.set_out(start, (via, in_group), Causes::NONE), steps);
            }
        }
    }
}

struct ProgressiveAgent {
    routes: LocalRoutes,
    paths: NonminimalPaths,
    threshold: u32,
}

impl ProgressiveAgent {
    /// The step by which a packet leaves this router: that whose queue has decided it.
    fn decide(&self, entry: PortVc, header: Header, view: &dyn View, random: &mut Stream) -> Step {
        let (group, _, _) = Dragonfly::locate(header.destination());
        if group == self.routes.group {
            return self.paths.follow(&self.routes, entry, straight_on(header), random);
        }
        let via = self.paths.choice.draw(&self.routes, entry, &header, random);
        let packet = Undecided { routes: &self.routes, entry, header, via };
        let minimal = self.paths.minimal(&packet, random);
        if via.0 == self.routes.group || via.0 == group {
            return self.stay(header, minimal.step);
        }
        let other = self.paths.other(&packet, random);
        let queue = |candidate: &Candidate| view.waiting(candidate.step.port);
        if queue(&minimal) > 2 * queue(&other) + self.threshold { other.step } else { self.stay(header, minimal.step) }
    }

    /// The minimal step of a packet that stays on its path. One that leaves its group, or has decided for the second time, has decided for good.
    fn stay(&self, header: Header, minimal: Step) -> Step {
        if header.leg != START || self.routes.kind(minimal.port) != Some(Hop::Local) {
            return minimal;
        }
        Step { header: Header { leg: PROVISIONAL, ..header }, ..minimal }
    }
}

impl Agent for ProgressiveAgent {
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        if header.leg == START || header.leg == PROVISIONAL {
            return self.decide(entry, *header, view, random);
        }
        self.paths.follow(&self.routes, entry, *header, random)
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        // Packets that stay in their group go straight.
        let undecided = header.leg == START || header.leg == PROVISIONAL;
        if undecided { self.routes.is_last(header) } else { self.paths.ejects(&self.routes, header) }
    }
}
