//! The routing of a single switch: straight to the destination's port.

use std::sync::Arc;

use tailback_parameters::{Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Port, RouterId, SingleSwitch, Topology};

use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, PortVc, Routing, Step, Validity, View};

/// The entry in the list of algorithms.
pub(crate) const DIRECT: RoutingModel = RoutingModel {
    name: "direct",
    topology: "single-switch",
    summary: "straight to the destination's port",
    parameters: &[Parameter {
        name: "vcs",
        kind: Kind::Integer { min: 1, max: 16 },
        default: Some("1"),
        help: "virtual channels on each link; any of them will do for any packet",
    }],
    build: |topology, values| {
        let AnyTopology::SingleSwitch(topology) = topology else { return Err(needs(&DIRECT, topology)) };
        Ok(Arc::new(Direct::new(Arc::clone(topology), values.integer("vcs") as u8)))
    },
};

/// Straight to the destination's port.
#[derive(Clone, Debug)]
pub struct Direct {
    topology: Arc<SingleSwitch>,
    vcs: u8,
}

impl Direct {
    /// On `topology`, with `vcs` virtual channels, all of which will do for any packet.
    #[must_use]
    pub fn new(topology: Arc<SingleSwitch>, vcs: u8) -> Self {
        Self { topology, vcs }
    }

    fn step(&self, header: Header) -> Step {
        Step { port: header.destination().0 as Port, vc: 0, vcs: self.vcs, validity: Validity::Always, header }
    }
}

impl Routing for Direct {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        vec![self.vcs]
    }

    fn agent(&self, _router: RouterId) -> Box<dyn Agent> {
        Box::new(self.clone())
    }

    fn is_oblivious(&self) -> bool {
        true
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        Vec::new()
    }

    fn possible(&self, _router: RouterId, _entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        if header.is_anywhere() {
            let destinations = (0..self.topology.nodes()).map(|node| self.topology.locator(node));
            steps.extend(destinations.map(|destination| self.step(header.towards(destination))));
        } else {
            steps.push(self.step(header));
        }
    }

    fn describe(&self) -> String {
        format!("straight to the destination's port, any of {} virtual channels", self.vcs)
    }
}

impl Agent for Direct {
    fn route(&mut self, _entry: PortVc, header: &Header, _view: &dyn View, _random: &mut Stream) -> Step {
        self.step(*header)
    }

    fn ejects(&self, _entry: PortVc, _header: &Header) -> bool {
        true
    }

    fn only_port(&self, _entry: PortVc, header: &Header) -> Option<Port> {
        Some(self.step(*header).port)
    }
}
