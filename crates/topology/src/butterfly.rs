//! The k-ary n-fly: a unidirectional butterfly.
//!
//! It has n stages, 0 to n − 1, of kⁿ⁻¹ switches with k inputs and k outputs. Nodes inject into stage 0 and eject behind
//! stage n − 1, so a packet crosses every stage once, and there is one path between two nodes. The wiring is that of Dally
//! and Towles ("Principles and Practices of Interconnection Networks", chapter 4): the k outputs of the switches of a stage
//! have addresses of n digits, the last of which is the port. Between stages i − 1 and i digit n − i and digit 0 change places.
//! Behind stage n − 1, and before stage 0, the address is the number of the node. So stage i chooses digit n − 1 − i of the
//! destination, the most significant digit first.

use crate::{
    LinkClass, Locator, NODES_MAX, NodeId, Peer, Port, RADIX_MAX, RouterId, Topology, TopologyError, at_most, in_range,
};

/// A k-ary n-fly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Butterfly {
    k: u32,
    stages: u32,
    nodes: u32,
    /// Switches of a stage.
    switches: u32,
    /// Bits of a digit in a locator.
    digit_bits: u32,
}

impl Butterfly {
    /// The names of the kinds of links: those to nodes, those into stage 1, into stage 2, and so on.
    pub const LINK_CLASSES: &[&str] = &[
        "terminal", "stage1", "stage2", "stage3", "stage4", "stage5", "stage6", "stage7", "stage8", "stage9",
        "stage10", "stage11", "stage12", "stage13", "stage14", "stage15",
    ];

    /// The most stages there can be.
    pub const STAGES_MAX: u32 = Self::LINK_CLASSES.len() as u32;

    /// `n` stages of switches with `k` inputs and `k` outputs.
    ///
    /// # Errors
    /// When there are no nodes, or too many.
    pub fn new(k: u32, n: u32) -> Result<Self, TopologyError> {
        in_range("k", k, 1, RADIX_MAX)?;
        in_range("n", n, 1, Self::STAGES_MAX)?;
        let nodes = u64::from(k).checked_pow(n).unwrap_or(u64::MAX);
        at_most("nodes", nodes, NODES_MAX)?;
        let switches = nodes / u64::from(k);
        at_most("routers", switches * u64::from(n), 1 << 28)?;
        let digit_bits = k.next_power_of_two().trailing_zeros();
        in_range("bits of a node's address", n * digit_bits, 0, 32)?;
        Ok(Self { k, stages: n, nodes: nodes as u32, switches: switches as u32, digit_bits })
    }

    /// How many inputs and outputs a switch has.
    #[must_use]
    pub fn k(&self) -> u32 {
        self.k
    }

    /// How many stages there are.
    #[must_use]
    pub fn stages(&self) -> u32 {
        self.stages
    }

    /// The stage of a switch.
    #[must_use]
    pub fn stage(&self, router: RouterId) -> u32 {
        router / self.switches
    }

    /// The output that switches of a stage send packets for `destination` by.
    #[inline]
    #[must_use]
    pub fn output(&self, stage: u32, destination: Locator) -> Port {
        (destination.0 >> self.digit_shift(self.stages - 1 - stage) & ((1 << self.digit_bits) - 1)) as Port
    }

    /// Where digit `digit` of a node's number is in its locator; digit 0 is the least significant.
    fn digit_shift(&self, digit: u32) -> u32 {
        digit * self.digit_bits
    }

    /// The address of a port among those of its stage.
    fn address(&self, router: RouterId, port: Port) -> u32 {
        router % self.switches * self.k + u32::from(port)
    }

    /// The port of stage `stage` with an address.
    fn port_at(&self, stage: u32, address: u32) -> Peer {
        Peer::Router { router: stage * self.switches + address / self.k, port: (address % self.k) as Port }
    }

    /// The wiring between a stage and the one before, in both directions: exchanges a digit of an address and the last one.
    fn exchange(&self, stage: u32, address: u32) -> u32 {
        let place = self.k.pow(self.stages - stage);
        let (digit, last) = (address / place % self.k, address % self.k);
        address - digit * place - last + last * place + digit
    }
}

impl Topology for Butterfly {
    fn name(&self) -> &'static str {
        "k-ary-n-fly"
    }

    fn describe(&self) -> String {
        let Self { k, stages, switches, .. } = self;
        format!("{k}-ary {stages}-fly: {stages} stages of {switches} unidirectional {k} × {k} switches")
    }

    fn nodes(&self) -> u32 {
        self.nodes
    }

    fn routers(&self) -> u32 {
        self.stages * self.switches
    }

    fn ports(&self, _router: RouterId) -> u32 {
        self.k
    }

    fn radix(&self) -> u32 {
        self.k
    }

    fn peer(&self, router: RouterId, port: Port) -> Peer {
        if u32::from(port) >= self.k {
            return Peer::Nothing;
        }
        let (address, next) = (self.address(router, port), self.stage(router) + 1);
        if next == self.stages { Peer::Node(address) } else { self.port_at(next, self.exchange(next, address)) }
    }

    fn feeder(&self, router: RouterId, port: Port) -> Peer {
        if u32::from(port) >= self.k {
            return Peer::Nothing;
        }
        let (address, stage) = (self.address(router, port), self.stage(router));
        if stage == 0 { Peer::Node(address) } else { self.port_at(stage - 1, self.exchange(stage, address)) }
    }

    fn link_class(&self, router: RouterId, _port: Port) -> LinkClass {
        LinkClass(((self.stage(router) + 1) % self.stages) as u8)
    }

    fn link_classes(&self) -> &[&'static str] {
        &Self::LINK_CLASSES[..self.stages as usize]
    }

    fn attachment(&self, node: NodeId) -> (RouterId, Port) {
        ((self.stages - 1) * self.switches + node / self.k, (node % self.k) as Port)
    }

    fn injection(&self, node: NodeId) -> (RouterId, Port) {
        (node / self.k, (node % self.k) as Port)
    }

    /// From a stage but the first a packet reaches only nodes whose first digits are those of the switch.
    fn routers_reach_all_nodes(&self) -> bool {
        self.stages == 1
    }

    fn locator(&self, node: NodeId) -> Locator {
        let digit = |digit: u32| (node / self.k.pow(digit) % self.k) << self.digit_shift(digit);
        Locator((0..self.stages).fold(0, |bits, number| bits | digit(number)))
    }

    fn distance(&self, _from: RouterId, _to: RouterId) -> u32 {
        self.stages - 1
    }

    /// Stages 1 to n − 1 are k butterflies of one stage less, and nothing joins them. With each goes a part of stage 0, such
    /// that nodes inject and eject in the same domain.
    fn domains(&self) -> u32 {
        if self.stages == 1 { 1 } else { self.k }
    }

    fn domain(&self, router: RouterId) -> u32 {
        router % self.switches / (self.switches / self.domains())
    }

    fn channel_class(&self, router: RouterId, port: Port) -> u8 {
        self.link_class(router, port).0
    }

    fn channel_class_name(&self, class: u8) -> String {
        if class == 0 { "terminal".to_owned() } else { format!("into stage {class}") }
    }

    fn router_name(&self, router: RouterId) -> String {
        format!("router {router} (stage {}, switch {})", self.stage(router), router % self.switches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_well_known_butterflies() {
        let size = |k, n| {
            let topology = Butterfly::new(k, n).unwrap();
            (topology.nodes(), topology.routers(), topology.radix(), topology.domains())
        };
        assert_eq!(size(2, 3), (8, 12, 2, 2));
        assert_eq!(size(4, 3), (64, 48, 4, 4));
        assert_eq!(size(8, 2), (64, 16, 8, 8));
        assert_eq!(size(16, 1), (16, 1, 16, 1));
    }

    /// The 2-ary 3-fly, as the textbook draws it.
    #[test]
    fn the_wiring_is_that_of_the_textbook() {
        let topology = Butterfly::new(2, 3).unwrap();
        let behind = |stage: u32| {
            let leads_to = |address: u32| match topology.peer(stage * 4 + address / 2, (address % 2) as Port) {
                Peer::Router { router, port } => (router - (stage + 1) * 4) * 2 + u32::from(port),
                peer => panic!("{peer:?}"),
            };
            (0..8).map(leads_to).collect::<Vec<_>>()
        };
        // Digits 2 and 0 change places, then digits 1 and 0.
        assert_eq!(behind(0), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(behind(1), [0, 2, 1, 3, 4, 6, 5, 7]);
    }

    /// Following the digits of the destination, the most significant first, leads there from everywhere.
    #[test]
    fn the_digits_of_a_destination_lead_to_it() {
        for (k, n) in [(1, 3), (2, 4), (3, 3), (5, 2), (7, 1)] {
            let topology = Butterfly::new(k, n).unwrap();
            for (source, destination) in (0..topology.nodes()).flat_map(|s| (0..topology.nodes()).map(move |d| (s, d)))
            {
                let (mut router, _) = topology.injection(source);
                let peer = (0..n).map(|stage| {
                    assert_eq!(topology.stage(router), stage);
                    let peer = topology.peer(router, topology.output(stage, topology.locator(destination)));
                    if let Peer::Router { router: next, .. } = peer {
                        router = next;
                    }
                    peer
                });
                assert_eq!(peer.last(), Some(Peer::Node(destination)), "{k}-ary {n}-fly from {source}");
            }
        }
    }

    #[test]
    fn nodes_inject_and_eject_in_the_same_domain() {
        let topology = Butterfly::new(3, 4).unwrap();
        for node in 0..topology.nodes() {
            let (injects, ejects) = (topology.injection(node).0, topology.attachment(node).0);
            assert_ne!(injects, ejects);
            assert_eq!(topology.domain(injects), topology.domain(ejects));
        }
    }

    #[test]
    fn impossible_butterflies_are_refused() {
        let message = |k, n| Butterfly::new(k, n).unwrap_err().to_string();
        assert_eq!(message(64, 6), "the network would have 68719476736 nodes, the limit is 268435456");
        assert_eq!(message(257, 1), "k = 257 is outside 1..=256");
        assert_eq!(message(2, 17), "n = 17 is outside 1..=16");
        assert_eq!(message(5, 11), "bits of a node's address = 33 is outside 0..=32");
    }
}
