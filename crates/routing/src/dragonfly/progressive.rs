//! Progressive adaptive routing: as UGAL-L, but a decision for the minimal way holds only until the next router of the
//! source group, where the packet may still detour (Jiang, Kim, Dally).

use std::sync::Arc;

use tailback_parameters::{BuildError, Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, RouterId, Topology};

use super::compass::Compass;
use super::detours::{Detours, START, STRAIGHT, straight_on};
use super::intermediates::{INTERMEDIATES, Turns, ValiantTarget};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, Hop, Interests, Lane, Routing, Step, VcSequence, View};

/// The entry in the list of algorithms.
pub(crate) const PROGRESSIVE: RoutingModel = RoutingModel {
    name: "par",
    topology: "dragonfly",
    summary: "PAR: as UGAL-L, and a packet on its minimal way may still detour after one hop in its source group",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: Kind::Integer { min: 0, max: 1 << 20 },
            default: Some("8"),
            help: "flits by which the minimal queue must exceed twice that of the detour, beyond what is on the links",
        },
        INTERMEDIATES,
        Parameter {
            name: "vcs",
            kind: Kind::Text,
            default: Some("\"l0 l1 g0 l2 l3 g1 l4\""),
            help: "the order in which packets use virtual channels of local (l) and global (g) links",
        },
    ],
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&PROGRESSIVE, topology)) };
        let turns = Turns::to(ValiantTarget::Router, topology, values)?;
        let sequence = VcSequence::parse(values.text("vcs"), PATHS)
            .map_err(|error| BuildError::at("vcs", error.to_string()).help("the default is `l0 l1 g0 l2 l3 g1 l4`"))?;
        let detours = Detours::new(Arc::clone(topology), turns, sequence);
        Ok(Arc::new(Progressive { detours, threshold: values.integer("threshold") }))
    },
};

/// All paths of packets: a detour begins at the source router, or one local hop later.
const PATHS: &[&str] = &["l", "ll", "l?gl?", "l?l?gl?l?gl?", "l?l?l?gl?", "l?l?gl?l?"];

/// The leg of a packet on its minimal way that has not left its source group.
const PROVISIONAL: u8 = 3;

#[derive(Debug)]
struct Progressive {
    detours: Detours,
    threshold: u32,
}

impl Routing for Progressive {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.detours.chart.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.detours.chart.virtual_channels()
    }

    fn interests(&self) -> Interests {
        Interests { queues: true, ..Interests::default() }
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        let compass = self.detours.chart.compass(router);
        Box::new(ProgressiveAgent { compass, detours: self.detours.clone(), threshold: self.threshold })
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.detours.chart.sequence.moves(PATHS)
    }

    fn possible(&self, router: RouterId, entry: Lane, header: Header, steps: &mut Vec<Step>) {
        if header.leg != START && header.leg != PROVISIONAL {
            return self.detours.possible(router, entry, header, steps);
        }
        let compass = self.detours.chart.compass(router);
        for header in self.detours.chart.headers(header) {
            let start = Header { leg: START, ..header };
            self.possible_detours(&compass, router, entry, start, steps);
            let first = steps.len();
            compass.minimal_steps(entry, start, steps);
            for step in &mut steps[first..] {
                let stays = compass.kind(step.port) == Some(Hop::Local) && header.leg == START;
                step.header.leg = if stays { PROVISIONAL } else { STRAIGHT };
            }
        }
    }

    fn describe(&self) -> String {
        format!("progressive, threshold {} flits, by {}", self.threshold, self.detours.describe())
    }
}

impl Progressive {
    /// All steps with which a packet may set out on a detour: to routers of third groups.
    fn possible_detours(&self, compass: &Compass, router: RouterId, entry: Lane, start: Header, steps: &mut Vec<Step>) {
        let topology = &self.detours.chart.topology;
        let (group, _, _) = Dragonfly::locate(start.destination());
        for via in (0..topology.groups()).filter(|&via| via != compass.group && via != group) {
            if group == compass.group {
                continue; // packets that stay in their group go straight
            }
            for place in 0..topology.routers_per_group() {
                self.detours.possible(router, entry, self.detours.set_out(start, (via, place)), steps);
            }
        }
    }
}

struct ProgressiveAgent {
    compass: Compass,
    detours: Detours,
    threshold: u32,
}

impl ProgressiveAgent {
    /// The header with which a packet leaves this router.
    fn decide(&self, entry: Lane, header: Header, view: &dyn View, random: &mut Stream) -> Header {
        let (group, _, _) = Dragonfly::locate(header.destination());
        if group == self.compass.group {
            return straight_on(header);
        }
        let via = self.detours.turns.draw(&self.compass, entry, &header, random);
        if via.0 == self.compass.group || via.0 == group {
            return stay(header);
        }
        let fork = self.detours.fork(&self.compass, entry, header, via, random);
        let [minimal, other] = [fork.straight, fork.detour].map(|way| view.waiting(way.step.port));
        if minimal > 2 * other + self.threshold { fork.detour.header } else { stay(header) }
    }
}

/// The header of a packet that stays on the minimal way, for now where it is the first decision.
fn stay(header: Header) -> Header {
    Header { leg: if header.leg == START { PROVISIONAL } else { STRAIGHT }, ..header }
}

impl Agent for ProgressiveAgent {
    fn route(&mut self, entry: Lane, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        let undecided = header.leg == START || header.leg == PROVISIONAL;
        let header = if undecided { self.decide(entry, *header, view, random) } else { *header };
        if header.leg == PROVISIONAL {
            let step = self.compass.minimal_step(entry, header, random);
            // A packet that leaves its group has decided.
            let stays = self.compass.kind(step.port) == Some(Hop::Local);
            return Step { header: Header { leg: if stays { PROVISIONAL } else { STRAIGHT }, ..header }, ..step };
        }
        self.detours.follow(&self.compass, entry, header, random)
    }

    fn ejects(&self, _entry: Lane, header: &Header) -> bool {
        // Packets that stay in their group go straight.
        let undecided = header.leg == START || header.leg == PROVISIONAL;
        if undecided { self.compass.is_last(header) } else { self.detours.ejects(&self.compass, header) }
    }
}
