//! One switch with a node on each port.

use crate::{LinkClass, Locator, NodeId, Peer, Port, RouterId, Topology, TopologyError, in_range, radix_fits};

/// One switch with a node on each port: the smallest network there is, and the one that textbooks analyse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleSwitch {
    nodes: u32,
}

impl SingleSwitch {
    /// A switch for `nodes` nodes.
    ///
    /// # Errors
    /// When there are no nodes or more than ports.
    pub fn new(nodes: u32) -> Result<Self, TopologyError> {
        in_range("nodes", nodes, 1, u32::MAX)?;
        radix_fits(nodes.into())?;
        Ok(Self { nodes })
    }
}

impl Topology for SingleSwitch {
    fn name(&self) -> &'static str {
        "single-switch"
    }

    fn describe(&self) -> String {
        format!("single switch with {} nodes", self.nodes)
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn routers(&self) -> u32 {
        1
    }

    fn ports(&self, _router: RouterId) -> u32 {
        self.nodes
    }

    fn radix(&self) -> u32 {
        self.nodes
    }

    fn peer(&self, _router: RouterId, port: Port) -> Peer {
        Peer::Node(port.into())
    }

    fn link_class(&self, _router: RouterId, _port: Port) -> LinkClass {
        LinkClass::TERMINAL
    }

    fn link_classes(&self) -> &[&'static str] {
        &["terminal"]
    }

    fn attachment(&self, node: NodeId) -> (RouterId, Port) {
        (0, node as Port)
    }

    fn locator(&self, node: NodeId) -> Locator {
        Locator(node)
    }

    fn distance(&self, _from: RouterId, _to: RouterId) -> u32 {
        0
    }

    fn domains(&self) -> u32 {
        1
    }

    fn domain(&self, _router: RouterId) -> u32 {
        0
    }

    fn channel_class(&self, _router: RouterId, _port: Port) -> u8 {
        0
    }

    fn channel_class_name(&self, _class: u8) -> String {
        "terminal".to_owned()
    }
}
