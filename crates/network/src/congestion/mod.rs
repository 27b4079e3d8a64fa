//! Congestion trees: what stands behind a link that cannot take what it is sent; and the state of single links.
//!
//! All of it is found by looking at a network between two ticks, so it costs nothing at other times. These are the terms:
//!
//! * A queue of an input **waits** if its head has been routed and has not begun to cross. A head that is there for a cycle and has
//!   not been routed, as others of its port cross, is taken to wait for what the packet before it did; but no link is a root
//!   because of one such queue alone.
//! * A buffer, that of a virtual channel of an input, is **full** if a queue of it waits and whatever feeds it lacks the
//!   credits of a packet of the largest size. It is **stopped** if at least a quarter of the room that is taken is taken by packets in
//!   the buffer, and not by what is on the link or comes back as credits: a short buffer at the end of a long link, from
//!   which packets go on at once, holds nobody up.
//! * A queue **waits for buffers** if all buffers are full that its head may go to next, and otherwise **for the link**.
//! * A link is the **root** of a tree if a stopped buffer has a queue that waits for it, so others are held up, and it is busy while
//!   one of those that wait has the credits that it needs, or packets of its output queue that have taken them wait for it: it is fed
//!   faster than it can send. It is also one, by lack of credits, if all that wait lack credits and nothing has them on this side of the
//!   link: the buffer at its other end drains, but is too short for the link.
//! * The **tree** has all queues that wait for the root, then all that wait for a full buffer of a queue of the tree, and so on.
//!   A queue that could be of several trees is of the one whose root is nearest, then of the root that comes first by router
//!   and port. How often that step was taken is the **depth**.
//! * A packet of the tree is a **victim** if no minimal path from where it is to its destination takes the root. Where
//!   there are several minimal paths it may take another one and is no victim all the same, so victims are at least so many.
//!
//! **The invariant it keeps:** what is found depends on the state of the network alone, not on how it is dealt out to regions.

mod grow;
mod links;
mod paths;
mod snapshot;

use std::collections::BTreeSet;

use tailback_engine::Simulation;
use tailback_topology::{LinkClass, NodeId, Peer, Port, RouterId};

pub use self::links::{LinkStates, SelectedLinks, link_states};
pub use self::paths::Paths;
use self::snapshot::Snapshot;
use crate::router::Microarchitecture;
use crate::time::time;
use crate::{NetworkRegion, Observer};

/// Why a link is a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It sends all the time.
    Rate,
    /// It lacks credits of a buffer that drains.
    Credits,
}

/// What stands behind a link at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionTree {
    /// The root: a router, and the port that the link leaves by.
    pub router: RouterId,
    /// The port.
    pub port: Port,
    /// What class of links the root is of.
    pub class: LinkClass,
    /// The node that the root leads to, if it leads to one.
    pub node: Option<NodeId>,
    /// Why it is the root.
    pub cause: Cause,
    /// Buffers of virtual channels with queues of the tree.
    pub buffers: u32,
    /// Flits in these queues.
    pub flits: u64,
    /// Buffers one behind the other, at most.
    pub depth: u32,
    /// Flits of victims, at least.
    pub victim_flits: u64,
}

/// All congestion trees of a network as it is now, by root.
pub fn congestion_trees<O: Observer, M: Microarchitecture>(
    simulation: &Simulation<NetworkRegion<O, M>>,
    paths: &mut Paths,
) -> Vec<CongestionTree> {
    let regions: Vec<_> = simulation.regions().collect();
    let Some(first) = regions.first() else { return Vec::new() };
    let (topology, now) = (first.fabric.topology.as_ref(), time(simulation.now()));
    let snapshot = Snapshot::new(&regions, now);
    let cause = |waiting: &[u32]| {
        // What has not been routed and has no rival may go elsewhere than the packet before it.
        let queues = || waiting.iter().map(|&queue| &snapshot.queues[queue as usize]);
        if waiting.len() == 1 && queues().all(|queue| queue.follows) {
            return None;
        }
        let (region, output) = snapshot.output_of(waiting[0] as usize);
        if queues().all(|queue| !queue.has_credits && !queue.follows) {
            // What has the credits may be on this side of the link, and wait for nothing else.
            let most = first.fabric.spec.packet_flits_max;
            let is_fed_too_fast = regions[region].routers.link_has_backlog(output, most, now);
            return Some(if is_fed_too_fast { Cause::Rate } else { Cause::Credits });
        }
        regions[region].routers.is_sending(output, now).then_some(Cause::Rate)
    };
    let describe = |grown: grow::Grown| {
        let (router, port) = snapshot.port(grown.root);
        let peer = topology.peer(router, port);
        let mut tree = CongestionTree {
            router,
            port,
            class: topology.link_class(router, port),
            node: if let Peer::Node(node) = peer { Some(node) } else { None },
            cause: grown.cause,
            buffers: 0,
            flits: 0,
            depth: grown.depth,
            victim_flits: 0,
        };
        let mut buffers = BTreeSet::new();
        for member in grown.members {
            let queue = &snapshot.queues[member as usize];
            buffers.insert(queue.buffer);
            let (pool, here) = (&regions[queue.region as usize].pool, snapshot.router(queue.buffer));
            for slot in pool.list(queue.head) {
                let packet = &pool[slot];
                tree.flits += u64::from(packet.flits);
                let uses_root = match peer {
                    Peer::Router { router: far, .. } => {
                        // Of the router of the root the choice of heads is known.
                        let chose = slot == queue.head && here == router;
                        let end = topology.attachment(packet.destination).0;
                        if chose { queue.to == port } else { paths.lead_by(topology, here, (router, far), end) }
                    }
                    peer => peer == Peer::Node(packet.destination),
                };
                tree.victim_flits += if uses_root { 0 } else { u64::from(packet.flits) };
            }
        }
        CongestionTree { buffers: buffers.len() as u32, ..tree }
    };
    grow::grow(&snapshot.states(), &snapshot.stopped, cause).into_iter().map(describe).collect()
}
