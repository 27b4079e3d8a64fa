//! Which minimal paths take a link.

use std::collections::VecDeque;

use tailback_topology::{Peer, Port, RouterId, Topology};

/// Networks of more routers are not searched: the distances between all of them would take too much room.
const ROUTERS_MAX: u32 = 8192;

/// No path leads there.
const FAR: u16 = u16::MAX;

/// Distances between routers, found when they are asked for.
///
/// Where nodes are attached to all routers they are those of the topology, which may know better than a search which paths
/// are minimal: in a dragonfly, those with at most one global link.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Whether the topology knows all distances, once that is known.
    direct: Option<bool>,
    /// By router: the distances from it to all others, once they were asked for.
    rows: Vec<Vec<u16>>,
}

impl Paths {
    /// Whether a minimal path from router `from` to router `to` takes the link between two others; also if that is not known.
    pub(super) fn lead_by(
        &mut self,
        topology: &dyn Topology,
        from: RouterId,
        (near, far): (RouterId, RouterId),
        to: RouterId,
    ) -> bool {
        let direct = *self.direct.get_or_insert_with(|| has_nodes_everywhere(topology));
        if !direct && topology.routers() > ROUTERS_MAX {
            return true;
        }
        self.rows.resize(topology.routers() as usize, Vec::new());
        let mut distance = |from: RouterId, to: RouterId| {
            if topology.routers() > ROUTERS_MAX {
                return topology.distance(from, to);
            }
            let row = &mut self.rows[from as usize];
            if row.is_empty() {
                *row = if direct {
                    (0..topology.routers()).map(|to| topology.distance(from, to) as u16).collect()
                } else {
                    search(topology, from)
                };
            }
            u32::from(row[to as usize])
        };
        distance(from, near) + 1 + distance(far, to) == distance(from, to)
    }
}

fn has_nodes_everywhere(topology: &dyn Topology) -> bool {
    let mut ejects = vec![false; topology.routers() as usize];
    let mut injects = ejects.clone();
    for node in 0..topology.nodes() {
        ejects[topology.attachment(node).0 as usize] = true;
        injects[topology.injection(node).0 as usize] = true;
    }
    ejects.iter().zip(&injects).all(|(&ejects, &injects)| ejects && injects)
}

/// The fewest links from a router to each other.
fn search(topology: &dyn Topology, from: RouterId) -> Vec<u16> {
    let mut row = vec![FAR; topology.routers() as usize];
    row[from as usize] = 0;
    let mut front = VecDeque::from([from]);
    while let Some(router) = front.pop_front() {
        for port in 0..topology.ports(router) {
            let Peer::Router { router: next, .. } = topology.peer(router, port as Port) else { continue };
            if row[next as usize] == FAR {
                row[next as usize] = row[router as usize] + 1;
                front.push_back(next);
            }
        }
    }
    row
}
