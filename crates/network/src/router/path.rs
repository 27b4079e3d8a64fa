//! Recorded paths: routers record the ports by which requests come in, and answers leave by these ports in reverse.
//!
//! **The invariant it keeps:** packets on recorded paths make only moves that the routing of their traffic class has named.

use tailback_protocol::PathUse;
use tailback_routing::{ChannelKind, PortVc, Step, Validity};
use tailback_topology::Peer;

use super::state::QueueId;
use super::{Microarchitecture, Routers, Surroundings};

impl<M: Microarchitecture> Routers<M> {
    /// Sees to the path of a packet that has just come in.
    pub(super) fn note_path(&self, id: QueueId, packet: u32, around: &mut Surroundings<'_>) {
        let kind = &around.fabric.kinds[around.pool[packet].kind.index()];
        if kind.path == PathUse::None {
            return;
        }
        let mut path = around.payloads.path(packet, kind);
        if kind.path == PathUse::Records {
            assert!(!self.is_internal(id.index), "the path of a request begins at a node");
            path.record(id.port);
        } else {
            path.step_back().expect("an answer takes the path of a request");
        }
        around.payloads.set_path(packet, kind, &path);
    }

    /// The port by which a packet leaves that takes a recorded path.
    pub(super) fn recorded_port(&self, packet: u32, around: &Surroundings<'_>) -> Option<u8> {
        if !Self::unless_plain(self.rules.records_paths) {
            return None;
        }
        let kind = &around.fabric.kinds[around.pool[packet].kind.index()];
        (kind.path == PathUse::Follows).then(|| around.payloads.path(packet, kind).port())
    }

    /// The step of such a packet, and its channel counted through all classes.
    pub(super) fn step_on_path(&self, id: QueueId, packet: u32, port: u8, around: &Surroundings<'_>) -> (Step, u8) {
        let (fabric, record) = (around.fabric, &around.pool[packet]);
        let input = &self.inputs[id.index as usize];
        let (router, class) = (around.router_ids[input.router as usize], record.class);
        let output = &self.outputs[input.first_port as usize + usize::from(port)];
        let topology = fabric.topology.as_ref();
        let entry = PortVc { port: id.port, vc: id.vc - fabric.first_vc(class, input.link_class) };
        let (vc, vcs) = if output.is_terminal() {
            (0, self.rules.ejection_vcs)
        } else {
            let feeder = if self.is_internal(id.index) { Peer::Nothing } else { topology.feeder(router, id.port) };
            let held = match feeder {
                Peer::Router { router, port } => {
                    Some(ChannelKind { class: topology.channel_class(router, port), vc: entry.vc })
                }
                Peer::Node(_) | Peer::Nothing => None,
            };
            (fabric.reverse_vc(class, held, topology.channel_class(router, port)), 1)
        };
        let step = Step { port, vc, vcs, validity: Validity::Always, header: record.header };
        if cfg!(debug_assertions) && !self.is_internal(id.index) {
            around.assert_named(input.router, class, entry, &step);
        }
        (step, fabric.first_vc(class, output.link_class) + vc)
    }
}
