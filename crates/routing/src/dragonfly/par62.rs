//! PAR6/2: progressive adaptive routing that may leave the minimal path at every router (Garcia et al., who name it after its
//! virtual channels: six on local links, two on global ones).
//!
//! At each router a packet looks for another path if packets wait for its minimal output, and takes a random one of those
//! that are open to it and whose queue is less than a share of the minimal one's, of which some flits may not count:
//!
//! * at its source router, by any global link of that router;
//! * after a local hop in its source group, by any global link there, or by one more local hop, from where it must take
//!   some global link of the router it comes to;
//! * in every other group, and inside its group if that is where it goes: if its minimal path begins with a local hop, by
//!   another one, once.
//!
//! So there are at most two local hops in each of three groups, and each hop has a channel of its own, in the order
//! l0 l1 g0 l2 l3 g1 l4 l5: whatever packets do, they use channels in that order. How far a packet has come shows in the
//! channel that it came in by, so its header need not tell. A decision stands once it is made, and routers may sort
//! packets by output as they arrive.

use std::sync::Arc;

use tailback_parameters::{Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, Port, RouterId, Topology};

use super::local_routes::{LocalRoutes, RouteTables};
use super::occupancy;
use crate::registry::{RoutingModel, needs};
use crate::{Agent, Causes, ChannelKind, Header, Hop, Interests, PortSet, PortVc, Routing, Step, VcSequence, View};

/// The channels in the order in which packets use them, and all paths that they take.
const ORDER: &str = "l0 l1 g0 l2 l3 g1 l4 l5";
const PATHS: &[&str] = &["l?l?", "l?l?gl?l?", "l?l?gl?l?gl?l?"];

/// The entry in the list of algorithms.
pub(crate) const PAR62: RoutingModel = RoutingModel {
    name: "par6-2",
    topology: "dragonfly",
    summary: "PAR6/2: minimal, or at every router by another global or local link that has a much shorter queue",
    parameters: &[
        Parameter {
            name: "share",
            kind: Kind::Integer { min: 0, max: 1000 },
            default: Some("50"),
            help: "percent of the minimal queue that the queue of another path must stay below",
        },
        Parameter {
            name: "packet",
            kind: Kind::Integer { min: 1, max: 1 << 14 },
            default: Some("8"),
            help: "flits that must wait for the minimal path before it is left, and that another path must have room for",
        },
        Parameter {
            name: "threshold",
            kind: Kind::Integer { min: 0, max: 1 << 20 },
            default: Some("0"),
            help: "flits of the minimal queue that do not count when another path's is compared with a share of it",
        },
        occupancy::QUEUE,
    ],
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&PAR62, topology)) };
        let integer = |name| values.integer(name);
        let rule = Rule { share: integer("share"), packet: integer("packet"), threshold: integer("threshold") };
        let sequence = VcSequence::parse(ORDER, PATHS).expect("there is a channel for each hop");
        let tables = Arc::new(RouteTables::new(Arc::clone(topology), sequence));
        Ok(Arc::new(Par62 { tables, rule, interests: occupancy::interests_in_queues(values) }))
    },
};

/// When a packet leaves its minimal path.
#[derive(Clone, Copy, Debug)]
struct Rule {
    share: u32,
    packet: u32,
    threshold: u32,
}

impl Rule {
    /// Whether there is room for a packet behind a channel.
    fn has_room(self, view: &dyn View, step: &Step) -> bool {
        view.capacity(step.port, step.vc) >= view.occupancy(step.port, step.vc) + self.packet
    }

    /// Whether another path will do instead of a minimal one for which so many flits wait.
    fn accepts(self, view: &dyn View, minimal: u32, step: &Step) -> bool {
        let counted = minimal.saturating_sub(self.threshold);
        self.has_room(view, step)
            && 100 * u64::from(view.waiting(step.port)) < u64::from(self.share) * u64::from(counted)
    }
}

#[derive(Debug)]
struct Par62 {
    tables: Arc<RouteTables>,
    rule: Rule,
    interests: Interests,
}

impl Routing for Par62 {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.tables.virtual_channels()
    }

    fn interests(&self) -> Interests {
        self.interests
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        let alternatives = Alternatives { routes: self.tables.routes(router) };
        Box::new(Par62Agent { alternatives, rule: self.rule, found: Vec::new() })
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.tables.sequence.moves(PATHS)
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let alternatives = Alternatives { routes: self.tables.routes(router) };
        for header in self.tables.headers(header) {
            if alternatives.must_leave(entry, &header) {
                alternatives.others(entry, header, None, Causes::NONE, |step| steps.push(step));
                continue;
            }
            let mut minimal = Vec::new();
            alternatives.routes.minimal_steps(entry, header, &mut minimal);
            for step in minimal {
                alternatives.others(entry, header, Some(step.port), Causes::NONE, |step| steps.push(step));
                steps.push(step);
            }
        }
    }

    fn describe(&self) -> String {
        let Rule { share, packet, threshold } = self.rule;
        let beyond = if threshold > 0 { format!(", of which {threshold} do not count") } else { String::new() };
        format!(
            "PAR6/2, others with less than {share} % of a queue of {packet} flits or more{beyond}{}, virtual channels {ORDER}",
            occupancy::describe_queue(self.interests)
        )
    }
}

/// The paths that lead on from a router.
struct Alternatives {
    routes: LocalRoutes,
}

impl Alternatives {
    /// The global hops that a packet has made, and the local ones in the group it is in.
    fn hops(&self, entry: PortVc) -> (u8, u8) {
        match self.routes.kind(entry.port) {
            None => (0, 0),
            Some(Hop::Local) => (entry.vc / 2, entry.vc % 2 + 1),
            Some(Hop::Global) => (entry.vc + 1, 0),
        }
    }

    /// Whether a packet has to leave its source group from here, by whatever link.
    fn must_leave(&self, entry: PortVc, header: &Header) -> bool {
        let (group, _, _) = Dragonfly::locate(header.destination());
        self.hops(entry) == (0, 2) && group != self.routes.group
    }

    /// Shows all steps that a packet may make instead of the minimal one by port `minimal`; none where it must leave.
    fn others(&self, entry: PortVc, header: Header, minimal: Option<Port>, cause: Causes, mut show: impl FnMut(Step)) {
        let routes = &self.routes;
        let (group, _, _) = Dragonfly::locate(header.destination());
        let minimal_is_local = minimal.is_some_and(|port| routes.kind(port) == Some(Hop::Local));
        let (global, local) = match self.hops(entry) {
            (0, locals) if group != routes.group => {
                let local = if locals == 1 { self.routes.ports_to_gateways() } else { PortSet::default() };
                (self.routes.ports(Hop::Global), local)
            }
            (_, 0) if minimal_is_local => (PortSet::default(), routes.ports(Hop::Local)),
            _ => return,
        };
        let is_other = |port: &Port| Some(*port) != minimal;
        for port in global.iter().filter(is_other) {
            let leaves = routes.group_behind(port) != group;
            let cause = if leaves { cause } else { Causes::NONE };
            let header = Header { nonminimal: header.nonminimal.with(cause), ..header };
            show(routes.step(entry, Hop::Global, port, header));
        }
        let header = Header { nonminimal: header.nonminimal.with(cause.inside()), ..header };
        for port in local.iter().filter(is_other) {
            show(routes.step(entry, Hop::Local, port, header));
        }
    }
}

struct Par62Agent {
    alternatives: Alternatives,
    rule: Rule,
    /// The paths that will do for the packet that is being routed.
    found: Vec<Step>,
}

impl Par62Agent {
    /// A step to another group, by any link: by one with room if there is one.
    fn leave(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        let Self { alternatives, rule, found } = self;
        alternatives.others(entry, *header, None, Causes::QUEUES, |step| found.push(step));
        if found.iter().any(|step| rule.has_room(view, step)) {
            found.retain(|step| rule.has_room(view, step));
        }
        self.draw(random).expect("it came by way of a router that has links to other groups")
    }

    fn draw(&mut self, random: &mut Stream) -> Option<Step> {
        let drawn = (!self.found.is_empty()).then(|| self.found[random.below(self.found.len() as u32) as usize]);
        self.found.clear();
        drawn
    }
}

impl Agent for Par62Agent {
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        if self.alternatives.must_leave(entry, header) {
            return self.leave(entry, header, view, random);
        }
        let minimal = self.alternatives.routes.minimal_step(entry, *header, random);
        if self.alternatives.routes.kind(minimal.port).is_none() {
            return minimal;
        }
        let queue = view.waiting(minimal.port);
        if queue >= self.rule.packet {
            let Self { alternatives, rule, found } = self;
            let accepts = |step: &Step| rule.accepts(view, queue, step);
            alternatives.others(entry, *header, Some(minimal.port), Causes::QUEUES, |step| {
                if accepts(&step) {
                    found.push(step);
                }
            });
        }
        self.draw(random).unwrap_or(minimal)
    }

    fn ejects(&self, entry: PortVc, header: &Header) -> bool {
        self.alternatives.routes.is_last(header) && !self.alternatives.must_leave(entry, header)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tailback_topology::{Arrangement, Peer};

    use super::super::sketch::Sketch;
    use super::*;

    const RULE: Rule = Rule { share: 50, packet: 8, threshold: 0 };

    fn routing(a: u32, h: u32, g: u32) -> Par62 {
        let topology = Arc::new(Dragonfly::new(2, a, h, g, Arrangement::Palmtree).expect("it exists"));
        let sequence = VcSequence::parse(ORDER, PATHS).expect("it is long enough");
        let tables = Arc::new(RouteTables::new(topology, sequence));
        Par62 { tables, rule: RULE, interests: Interests::default() }
    }

    /// The ports and channels that packets from router 0 of group 0 to a node take, in many draws.
    fn taken(node: u32, entry: PortVc, view: &Sketch) -> BTreeSet<(Port, u8)> {
        taken_by(RULE, node, entry, view)
    }

    fn taken_by(rule: Rule, node: u32, entry: PortVc, view: &Sketch) -> BTreeSet<(Port, u8)> {
        let routing = Par62 { rule, ..routing(4, 2, 9) };
        let (mut agent, mut random) = (routing.agent(0), Stream::new(1, 0, 0));
        let header = Header::new(routing.tables.topology.locator(node));
        let mut route = || agent.route(entry, &header, view, &mut random);
        (0..200).map(|_| route()).map(|step| (step.port, step.vc)).collect()
    }

    const NODE: PortVc = PortVc { port: 0, vc: 0 };
    /// A packet for group 8, which router 0 has a link to by port 5, and one for the next router, behind port 2.
    const FAR: u32 = 64;
    const NEAR: u32 = 2;

    #[test]
    fn an_idle_router_is_crossed_minimally() {
        let busy = Sketch::new().with([5], Sketch::ROUND_TRIP + RULE.packet - 1);
        for view in [Sketch::new(), busy] {
            assert_eq!(taken(FAR, NODE, &view), BTreeSet::from([(5, 0)]));
            assert_eq!(taken(FAR, PortVc { port: 3, vc: 0 }, &view), BTreeSet::from([(5, 0)]));
        }
        assert_eq!(taken(0, PortVc { port: 6, vc: 1 }, &Sketch::new()), BTreeSet::from([(0, 0)]));
    }

    #[test]
    fn a_queue_is_left_where_that_is_allowed() {
        let queue = |port| Sketch::new().with([port], Sketch::ROUND_TRIP + RULE.packet);
        // At its source, by a global link; a hop later also by a local one.
        assert_eq!(taken(FAR, NODE, &queue(5)), BTreeSet::from([(6, 0)]));
        assert_eq!(taken(FAR, PortVc { port: 3, vc: 0 }, &queue(5)), BTreeSet::from([(6, 0), (2, 1), (3, 1), (4, 1)]));
        // After two hops it must leave, whatever the queues.
        let everywhere = Sketch::new().with(2..7, Sketch::CAPACITY);
        assert_eq!(taken(FAR, PortVc { port: 3, vc: 1 }, &everywhere), BTreeSet::from([(5, 0), (6, 0)]));
        assert_eq!(taken(FAR, PortVc { port: 3, vc: 1 }, &Sketch::new().with([5], 93)), BTreeSet::from([(6, 0)]));
        // In the group where it ends, by a local link, once.
        assert_eq!(taken(NEAR, NODE, &queue(2)), BTreeSet::from([(3, 0), (4, 0)]));
        assert_eq!(taken(NEAR, PortVc { port: 6, vc: 0 }, &queue(2)), BTreeSet::from([(3, 2), (4, 2)]));
        let local = Sketch::new().with([2], 90);
        assert_eq!(taken(NEAR, PortVc { port: 3, vc: 0 }, &local), BTreeSet::from([(2, 1)]));
        // In another group, where the path on is a global link, not at all.
        assert_eq!(taken(FAR, PortVc { port: 6, vc: 0 }, &Sketch::new().with([5], 90)), BTreeSet::from([(5, 1)]));
    }

    #[test]
    fn another_way_must_be_much_better() {
        let minimal = Sketch::ROUND_TRIP + 40;
        let other = |flits| taken(FAR, NODE, &Sketch::new().with([5], minimal).with([6], Sketch::ROUND_TRIP + flits));
        assert_eq!(other(19), BTreeSet::from([(6, 0)]));
        assert_eq!(other(20), BTreeSet::from([(5, 0)]));
        // Room is that of the channel, where the queue is that of the port.
        let mut view = Sketch::new().with([6], Sketch::CAPACITY - RULE.packet + 1);
        view.used.insert((5, 0), 90);
        view.used.insert((5, 1), 90);
        view.used.insert((5, 2), 90);
        assert_eq!(taken(FAR, NODE, &view), BTreeSet::from([(5, 0)]));
        view.used.insert((6, 0), Sketch::CAPACITY - RULE.packet);
        assert_eq!(taken(FAR, NODE, &view), BTreeSet::from([(6, 0)]));
    }

    /// With half and a threshold of 16 it is more than twice what waits for the other one and 16 flits, as in UGAL.
    #[test]
    fn flits_below_the_threshold_do_not_count() {
        let rule = Rule { threshold: 16, ..RULE };
        let taken = |minimal, other| {
            let view = Sketch::new().with([5], Sketch::ROUND_TRIP + minimal).with([6], Sketch::ROUND_TRIP + other);
            taken_by(rule, FAR, NODE, &view)
        };
        assert_eq!(taken(40, 11), BTreeSet::from([(6, 0)]));
        assert_eq!(taken(40, 12), BTreeSet::from([(5, 0)]));
        assert_eq!(taken(17, 0), BTreeSet::from([(6, 0)]));
        assert_eq!(taken(16, 0), BTreeSet::from([(5, 0)]));
        assert_eq!(taken(RULE.packet, 0), BTreeSet::from([(5, 0)]), "fewer wait than the threshold");
    }

    /// Follows all that packets may do, also where few groups leave ports open: they arrive after at most eight hops, no
    /// step leads nowhere, and there is always one.
    #[test]
    fn whatever_packets_do_they_arrive() {
        for (a, h, g) in [(4, 2, 9), (3, 1, 3), (3, 1, 4), (4, 1, 2), (4, 2, 4), (2, 1, 1)] {
            let routing = routing(a, h, g);
            let topology = &routing.tables.topology;
            let mut here: BTreeSet<(RouterId, PortVc, Header)> = (0..topology.nodes())
                .flat_map(|to| (0..topology.routers()).map(move |from| (from, to)))
                .map(|(from, to)| (from, NODE, Header::new(topology.locator(to))))
                .collect();
            for _ in 0..=8 {
                let mut next = BTreeSet::new();
                for (router, entry, header) in here {
                    let mut steps = Vec::new();
                    routing.possible(router, entry, header, &mut steps);
                    assert!(!steps.is_empty(), "a packet is caught in router {router}: {header:?} by {entry:?}");
                    next.extend(steps.into_iter().filter_map(|step| match topology.peer(router, step.port) {
                        Peer::Router { router, port } => Some((router, PortVc { port, vc: step.vc }, step.header)),
                        Peer::Node(node) => {
                            assert_eq!(topology.locator(node), header.destination());
                            None
                        }
                        Peer::Nothing => panic!("port {} of router {router} is open", step.port),
                    }));
                }
                here = next;
            }
            assert!(here.is_empty(), "{} packets are still on their way", here.len());
        }
    }
}
