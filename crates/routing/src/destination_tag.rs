//! The routing of a butterfly: each stage chooses one digit of the destination's number.

use std::sync::Arc;

use tailback_parameters::{Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Butterfly, LinkClass, Port, RouterId, Topology};

use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, PortVc, Routing, Step, Validity, View};

/// The entry in the list of algorithms.
pub(crate) const DESTINATION_TAG: RoutingModel = RoutingModel {
    name: "destination-tag",
    topology: "k-ary-n-fly",
    summary: "by the digits of the destination's number, one per stage: the only path there is",
    parameters: &[Parameter {
        name: "vcs",
        kind: Kind::Integer { min: 1, max: 16 },
        default: Some("1"),
        help: "virtual channels on each link; any of them will do for any packet",
    }],
    build: |topology, values| {
        let AnyTopology::Butterfly(topology) = topology else { return Err(needs(&DESTINATION_TAG, topology)) };
        Ok(Arc::new(DestinationTag::new(Arc::clone(topology), values.integer("vcs") as u8)))
    },
};

/// Destination-tag routing.
#[derive(Clone, Debug)]
pub struct DestinationTag {
    topology: Arc<Butterfly>,
    vcs: u8,
}

impl DestinationTag {
    /// On `topology`, with `vcs` virtual channels, all of which will do for any packet.
    #[must_use]
    pub fn new(topology: Arc<Butterfly>, vcs: u8) -> Self {
        Self { topology, vcs }
    }

    fn make_agent(&self, router: RouterId) -> TagAgent {
        let is_last = self.topology.link_class(router, 0) == LinkClass::TERMINAL;
        TagAgent {
            topology: Arc::clone(&self.topology),
            stage: self.topology.stage(router),
            is_last,
            vcs: if is_last { 1 } else { self.vcs },
        }
    }
}

impl Routing for DestinationTag {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        let mut channels = vec![self.vcs; self.topology.link_classes().len()];
        channels[LinkClass::TERMINAL.index()] = 1;
        channels
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(self.make_agent(router))
    }

    fn is_oblivious(&self) -> bool {
        true
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        // The channels into a stage are of one class, in the order of the stages.
        let mut moves = Vec::new();
        for into in 1..(self.topology.stages() as u8).saturating_sub(1) {
            for (from, to) in (0..self.vcs).flat_map(|from| (0..self.vcs).map(move |to| (from, to))) {
                moves.push((ChannelKind { class: into, vc: from }, ChannelKind { class: into + 1, vc: to }));
            }
        }
        moves
    }

    fn possible(&self, router: RouterId, _entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let agent = self.make_agent(router);
        if header.is_anywhere() {
            // The last digit matters only behind the last stage.
            let nodes = (0..self.topology.nodes()).step_by(self.topology.k() as usize);
            steps.extend(nodes.map(|node| agent.step(header.towards(self.topology.locator(node)))));
        } else {
            steps.push(agent.step(header));
        }
    }

    fn describe(&self) -> String {
        format!("destination tag, any of {} virtual channels", self.vcs)
    }
}

struct TagAgent {
    topology: Arc<Butterfly>,
    stage: u32,
    /// Whether its outputs lead to nodes.
    is_last: bool,
    /// Virtual channels of its outputs.
    vcs: u8,
}

impl TagAgent {
    #[inline]
    fn step(&self, header: Header) -> Step {
        let port = self.topology.output(self.stage, header.destination());
        Step { port, vc: 0, vcs: self.vcs, validity: Validity::Always, header }
    }
}

impl Agent for TagAgent {
    fn route(&mut self, _entry: PortVc, header: &Header, _view: &dyn View, _random: &mut Stream) -> Step {
        self.step(*header)
    }

    fn ejects(&self, _entry: PortVc, _header: &Header) -> bool {
        self.is_last
    }

    fn only_port(&self, _entry: PortVc, header: &Header) -> Option<Port> {
        Some(self.step(*header).port)
    }
}
