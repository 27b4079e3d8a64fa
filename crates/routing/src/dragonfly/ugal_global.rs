//! UGAL-G: UGAL that knows the queues of all global links of its group.
//!
//! The ideal of Kim, Dally, Scott and Abts weighs the queue of the global link by which the minimal path leaves the group
//! against that of the non-minimal one's, whichever routers they hang on, as it is the load of global links that is to be
//! balanced. Nobody can know the present state of another router; here routers tell the others of their group when
//! a queue of a global link of theirs has changed, and all know it after the latency of a local link, at no cost. A
//! router's own queues are known as they are. A path that does not leave the group is judged by its first link.

use std::sync::Arc;

use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, RouterId, Topology};

use super::nonminimal::{Candidate, NonminimalPaths};
use super::ugal::{PARAMETERS, Queues, Rule, UgalState};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, Causes, Changes, ChannelKind, Header, Hop, Interests, Notice, PortVc, Routing, Step, View};

/// The entry in the list of algorithms.
pub(crate) const UGAL_GLOBAL: RoutingModel = RoutingModel {
    name: "ugal-g",
    topology: "dragonfly",
    summary: "UGAL-G: as UGAL-L, by the queues of all global links of the group, as its routers tell each other",
    parameters: PARAMETERS,
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&UGAL_GLOBAL, topology)) };
        Ok(Arc::new(UgalGlobal { paths: NonminimalPaths::build(topology, values)?, rule: Rule::build(values) }))
    },
};

#[derive(Debug)]
struct UgalGlobal {
    paths: NonminimalPaths,
    rule: Rule,
}

impl Routing for UgalGlobal {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.paths.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.paths.tables.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        let sequence = &self.paths.tables.sequence;
        Box::new(UgalGlobalAgent {
            state: UgalState::new(router, &self.paths, self.rule),
            transit_vc: sequence.next(Hop::Local, sequence.first(Hop::Local), Hop::Global),
            told: vec![0; self.paths.tables.topology.global_links_per_router() as usize],
        })
    }

    fn interests(&self) -> Interests {
        Interests { changes: Changes::Anywhere, notices: Some(Dragonfly::LOCAL), ..Interests::default() }
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.paths.moves()
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        // Minimal paths are among the non-minimal ones: by way of where the packet already is.
        self.paths.possible(router, entry, header, steps);
    }

    fn describe(&self) -> String {
        format!("UGAL-G {}, by {}", self.rule.describe(), self.paths.describe())
    }
}

struct UgalGlobalAgent {
    state: UgalState,
    /// The channel of global links that packets take after a local hop in their source group.
    transit_vc: u8,
    /// By global link of this router: the queue that was told last.
    told: Vec<u16>,
}

/// Those of the global links of a group, as far as its routers have told.
struct GroupQueues<'a> {
    state: &'a UgalState,
    transit_vc: u8,
    view: &'a dyn View,
}

impl Queues for GroupQueues<'_> {
    /// That of the global link by which the path leaves the group; of several, their mean.
    fn length(&self, candidate: &Candidate) -> u32 {
        let &Self { state: UgalState { routes, rule, .. }, transit_vc, view } = self;
        let Step { port, vc, .. } = candidate.step;
        let (destination, _, _) = Dragonfly::locate(candidate.step.header.destination());
        let group = candidate.via.map(|(group, _)| group).filter(|&group| group != routes.group).unwrap_or(destination);
        if group == routes.group || routes.kind(port) == Some(Hop::Global) {
            return rule.occupancy.sum(view, port, vc);
        }
        let (mut sum, mut count) = (0, 0);
        for link in routes.exits(routes.place_behind(port), group) {
            sum += if link.router == routes.in_group {
                rule.occupancy.sum(view, link.port, transit_vc)
            } else {
                view.board().number(link.router as usize, routes.number(link.port)).into()
            };
            count += 1;
        }
        sum / count
    }

    /// Others tell, where the path leaves the group by a link of theirs.
    fn cause(&self, minimal: &Candidate) -> Causes {
        let routes = &self.state.routes;
        let (group, _, _) = Dragonfly::locate(minimal.step.header.destination());
        let is_own = group == routes.group || routes.kind(minimal.step.port) == Some(Hop::Global);
        if is_own { Causes::QUEUES } else { Causes::TOLD }
    }
}

impl Agent for UgalGlobalAgent {
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        let Self { state, transit_vc, .. } = self;
        state.route(entry, *header, &GroupQueues { state, transit_vc: *transit_vc, view }, random)
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        self.state.ejects(header)
    }

    fn look(&mut self, view: &dyn View) -> Option<Notice> {
        let UgalState { routes, rule, .. } = &self.state;
        let queue = |port| rule.occupancy.sum(view, port, self.transit_vc).min(u16::MAX.into()) as u16;
        let queues = || routes.global_ports().map(queue);
        if queues().eq(self.told.iter().copied()) {
            return None;
        }
        self.told = queues().collect();
        Some(Notice { word: 0, list: self.told.clone() })
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.told.iter().flat_map(|queue| queue.to_le_bytes()));
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        for queue in &mut self.told {
            let (word, rest) = bytes.split_first_chunk()?;
            (*queue, *bytes) = (u16::from_le_bytes(*word), rest);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use tailback_topology::Arrangement;

    use super::super::intermediates::{IntermediateChoice, Intermediates, ValiantTarget};
    use super::super::occupancy::Occupancy;
    use super::super::sketch::Sketch;
    use super::*;
    use crate::VcSequence;

    /// The group that packets are for, and the router and port of the link by which group 0 reaches it.
    const GROUP: u32 = 2;
    const GATEWAY: (u32, u8) = (3, 5);
    const DRAWS: u32 = 400;

    fn dragonfly() -> Arc<Dragonfly> {
        Arc::new(Dragonfly::new(2, 4, 2, 9, Arrangement::Palmtree).expect("it exists"))
    }

    fn agent(router: RouterId) -> UgalGlobalAgent {
        let choice = IntermediateChoice { target: ValiantTarget::Router, intermediates: Intermediates::OtherGroups };
        let sequence = VcSequence::parse("l0 g0 l1 l2 g1 l3", &[]).expect("it is a sequence");
        let paths = NonminimalPaths::new(dragonfly(), choice, sequence);
        let rule = Rule { threshold: 0, occupancy: Occupancy::Channel };
        UgalGlobalAgent { state: UgalState::new(router, &paths, rule), transit_vc: 0, told: vec![0; 2] }
    }

    /// How many of many packets from a router of group 0 take non-minimal paths.
    fn nonminimal(router: RouterId, view: &Sketch) -> u32 {
        let (mut agent, mut random) = (agent(router), Stream::new(3, 0, 0));
        let header = Header::new(dragonfly().locator(GROUP * 8 + 5));
        let mut route =
            || agent.route(PortVc { port: 0, vc: 0 }, &header, view, &mut random).header.nonminimal.is_nonminimal();
        (0..DRAWS).filter(|_| route()).count() as u32
    }

    #[test]
    fn it_goes_by_the_queues_of_global_links_wherever_they_are() {
        let links = dragonfly().global_links(0, GROUP);
        assert_eq!(links.iter().map(|link| (link.router, link.port)).collect::<Vec<_>>(), [GATEWAY]);
        // Local queues are of no interest, as long as global links are involved.
        let local = || Sketch::new().with(2..5, 90);
        assert_eq!(nonminimal(0, &local()), 0);
        // A long queue at the minimal global link, once it has been told: other groups are better, and they are seven of eight.
        let mut told = local();
        told.board.post(GATEWAY.0 as usize, Notice { word: 0, list: vec![50, 0] });
        let found = nonminimal(0, &told);
        assert!((DRAWS * 3 / 4..DRAWS * 19 / 20).contains(&found), "{found} of {DRAWS}");
        // Where all queues are as long, non-minimal paths are longer.
        (0..4).for_each(|in_group| told.board.post(in_group, Notice { word: 0, list: vec![50, 50] }));
        assert_eq!(nonminimal(0, &told.with([5, 6], 50)), 0);
        // At the gateway itself nobody needs to be told.
        assert!(nonminimal(GATEWAY.0, &Sketch::new().with([GATEWAY.1], 50)) > DRAWS * 3 / 4);
        assert_eq!(nonminimal(GATEWAY.0, &Sketch::new()), 0);
    }

    #[test]
    fn it_tells_what_has_changed() {
        let (mut agent, mut view) = (agent(0), Sketch::new());
        assert_eq!(agent.look(&view), None);
        view = view.with([6], 17);
        assert_eq!(agent.look(&view), Some(Notice { word: 0, list: vec![0, 17] }));
        assert_eq!(agent.look(&view), None);
        let mut bytes = Vec::new();
        agent.save(&mut bytes);
        let mut twin = self::agent(0);
        assert_eq!((twin.load(&mut bytes.as_slice()), twin.look(&view)), (Some(()), None));
        assert_eq!(agent.look(&Sketch::new()), Some(Notice { word: 0, list: vec![0, 0] }));
    }
}
