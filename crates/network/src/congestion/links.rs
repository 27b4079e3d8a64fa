//! The state of single links.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tailback_engine::Simulation;
use tailback_topology::{LinkClass, Peer, Port, RouterId, Topology};

use crate::router::{Microarchitecture, PortId};
use crate::time::time;
use crate::{NetworkRegion, Observer};

/// Not among the selected links.
const NONE: u32 = u32::MAX;

/// Links that leave routers, by router and port, with what of them never changes: looking at them is to ask the topology nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedLinks {
    /// The links.
    links: Vec<(RouterId, Port)>,
    /// By link: its class if it leads to a router, whose buffers it fills.
    fills: Vec<Option<LinkClass>>,
    /// By router: where its links begin; at the end how many links there are.
    begins: Vec<u32>,
    /// By router: where its ports begin in `places`, and by port the place of its link.
    first: Vec<u32>,
    places: Vec<u32>,
}

impl SelectedLinks {
    /// The links of some classes, given as bits.
    #[must_use]
    pub fn of_classes(topology: &dyn Topology, classes: u64) -> Self {
        let mut selected = Self::default();
        for router in 0..topology.routers() {
            selected.first.push(selected.places.len() as u32);
            selected.begins.push(selected.links.len() as u32);
            for port in (0..topology.ports(router)).map(|port| port as Port) {
                let (peer, class) = (topology.peer(router, port), topology.link_class(router, port));
                let is_selected = peer != Peer::Nothing && classes & 1 << class.0 != 0;
                selected.places.push(if is_selected { selected.links.len() as u32 } else { NONE });
                if is_selected {
                    selected.links.push((router, port));
                    selected.fills.push(matches!(peer, Peer::Router { .. }).then_some(class));
                }
            }
        }
        selected.begins.push(selected.links.len() as u32);
        selected
    }

    /// All of them, in order.
    #[must_use]
    pub fn links(&self) -> &[(RouterId, Port)] {
        &self.links
    }

    /// The places of the links of a router.
    fn of_router(&self, router: RouterId) -> Range<usize> {
        let [begin, end] = [router, router + 1].map(|router| self.begins[router as usize] as usize);
        begin..end
    }

    fn place(&self, router: RouterId, port: Port) -> Option<usize> {
        let place = self.places[self.first[router as usize] as usize + usize::from(port)];
        (place != NONE).then_some(place as usize)
    }
}

/// What selected links look like between two ticks: by link, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkStates {
    /// Flits that it has sent while it was measured, to a packet.
    pub sent: Vec<u32>,
    /// Heads of queues that are routed to it and have not begun to cross.
    pub blocked_heads: Vec<u16>,
    /// Those of them for which no channel has the credits that they need.
    pub stalled_heads: Vec<u16>,
    /// By link and virtual channel: room of the buffer at its end that is taken as far as the link knows, by packets in the buffer or on the
    /// link, or whose credits are on their way. Of links to nodes 0.
    pub taken: Vec<u16>,
    /// Virtual channels of each link.
    pub vcs: usize,
}

impl LinkStates {
    /// Adds those of other regions, which have other links of those that were selected.
    pub fn merge(&mut self, other: &Self) {
        fn add<N: Copy + Default + std::ops::AddAssign>(mine: &mut Vec<N>, theirs: &[N]) {
            mine.resize(mine.len().max(theirs.len()), N::default());
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += *theirs);
        }
        add(&mut self.sent, &other.sent);
        add(&mut self.blocked_heads, &other.blocked_heads);
        add(&mut self.stalled_heads, &other.stalled_heads);
        add(&mut self.taken, &other.taken);
        self.vcs = self.vcs.max(other.vcs);
    }
}

/// What some links look like now: zeros are said of those that are in regions which are not held here.
pub fn link_states<O: Observer, M: Microarchitecture>(
    simulation: &Simulation<NetworkRegion<O, M>>,
    selected: &SelectedLinks,
) -> LinkStates {
    let now = time(simulation.now());
    let (count, vcs) = (selected.links.len(), simulation.regions().next().map_or(0, |region| region.fabric.shape.vcs));
    let counts = || vec![0; count];
    let (sent, taken) = (vec![0; count], vec![0; count * vcs]);
    let mut states = LinkStates { sent, blocked_heads: counts(), stalled_heads: counts(), taken, vcs };
    for region in simulation.regions() {
        let fabric = region.fabric.as_ref();
        let capacity = |class: usize| (0..vcs).map(move |vc| fabric.capacity(class as u8, vc));
        let capacities: Vec<u16> = (0..fabric.spec.input_buffers.len()).flat_map(capacity).collect();
        for (number, &router) in (0..).zip(&region.router_ids) {
            for place in selected.of_router(router) {
                let id = PortId { router: number, port: selected.links[place].1 };
                states.sent[place] = region.routers.flits_sent_before(id, now);
                let Some(class) = selected.fills[place] else { continue };
                let capacities = &capacities[class.index() * vcs..][..vcs];
                for ((vc, taken), capacity) in (0..).zip(&mut states.taken[place * vcs..][..vcs]).zip(capacities) {
                    *taken = capacity.saturating_sub(region.routers.credits(id, vc));
                }
            }
        }
        region.routers.visit_input_queues(&region.pool, now, fabric.spec.ticks_per_cycle, &mut |queue| {
            let Some((to, ..)) = queue.wants.filter(|_| queue.is_routed) else { return };
            let router = region.router_ids[queue.port.router as usize];
            let Some(place) = selected.place(router, to) else { return };
            states.blocked_heads[place] += 1;
            states.stalled_heads[place] += u16::from(!region.routers.has_credits(&queue));
        });
    }
    states
}
