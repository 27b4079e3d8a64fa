//! The state of single links.

use serde::{Deserialize, Serialize};
use tailback_engine::Simulation;
use tailback_topology::{Peer, Port, RouterId, Topology};

use crate::router::{Microarchitecture, PortId};
use crate::time::time;
use crate::{NetworkRegion, Observer};

/// Not among the selected links.
const NONE: u32 = u32::MAX;

/// Links that leave routers, by router and port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedLinks {
    /// The links.
    links: Vec<(RouterId, Port)>,
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
            for port in (0..topology.ports(router)).map(|port| port as Port) {
                let exists = topology.peer(router, port) != Peer::Nothing;
                let is_selected = exists && classes & 1 << topology.link_class(router, port).0 != 0;
                selected.places.push(if is_selected { selected.links.len() as u32 } else { NONE });
                if is_selected {
                    selected.links.push((router, port));
                }
            }
        }
        selected
    }

    /// All of them, in order.
    #[must_use]
    pub fn links(&self) -> &[(RouterId, Port)] {
        &self.links
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
        for (number, &router) in (0..).zip(&region.router_ids) {
            for port in (0..fabric.topology.ports(router)).map(|port| port as Port) {
                let Some(place) = selected.place(router, port) else { continue };
                let id = PortId { router: number, port };
                states.sent[place] = region.routers.flits_sent_before(id, now);
                if !matches!(fabric.topology.peer(router, port), Peer::Router { .. }) {
                    continue;
                }
                let class = fabric.topology.link_class(router, port).0;
                for (vc, taken) in states.taken[place * vcs..][..vcs].iter_mut().enumerate() {
                    *taken = fabric.capacity(class, vc).saturating_sub(region.routers.credits(id, vc as u8));
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
