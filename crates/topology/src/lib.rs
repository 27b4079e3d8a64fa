//! Interconnection network topologies as pure graphs.
//!
//! A [`Topology`] says which routers there are, where the output of each port leads and what feeds its input, how far
//! apart two routers are, and which routers belong together when the network is dealt out to regions. It answers
//! from formulas; nothing is stored per link, so a network of a million nodes costs nothing here.
//!
//! A link is directed: packets go from an output to an input, credits the other way. In most networks the two directions
//! between a pair of ports are two such links. In a unidirectional multistage network they are not: a port may be fed by one
//! router and lead to another, and a node may inject into one router and eject from another.
//!
//! **What this crate must never know:** time, packets, buffers, routing decisions.
//!
//! **The invariant it keeps:** both ends of a link agree. If the output of port `p` of router `r` leads to port `q` of
//! router `s`, then the input of port `q` of `s` is fed by port `p` of `r`, and the other way round; the same holds for nodes.

mod butterfly;
mod dragonfly;
mod fat_tree;
mod multi_cluster;
mod registry;
mod single_switch;

pub use butterfly::Butterfly;
pub use dragonfly::{Arrangement, Dragonfly, GlobalLink};
pub use fat_tree::{FatTree, TreePosition};
pub use multi_cluster::{ClusterAddress, ClusterPosition, ClusterSize, MultiCluster};
pub use registry::{AnyTopology, TOPOLOGIES, TopologyModel};
pub use single_switch::SingleSwitch;

/// A terminal of the network, counted through from 0.
pub type NodeId = u32;

/// A router, counted through from 0.
pub type RouterId = u32;

/// A port of a router: an input and an output, of which either may be missing. The two directions of a bidirectional link
/// have the same port numbers.
pub type Port = u8;

/// The largest number of ports that a router can have.
pub const RADIX_MAX: u32 = 256;

/// The largest number of nodes that a network can have.
pub const NODES_MAX: u64 = 1 << 28;

/// What is at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A terminal.
    Node(NodeId),
    /// A port of another router.
    Router {
        /// The other router.
        router: RouterId,
        /// The port over there.
        port: Port,
    },
    /// Nothing: there is no link.
    Nothing,
}

/// A kind of link, as an index into [`Topology::link_classes`]. Latencies, rates, buffers and virtual
/// channels are given per kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkClass(pub u8);

impl LinkClass {
    /// The links between nodes and their routers, the same in every topology.
    pub const TERMINAL: Self = Self(0);

    /// The index into [`Topology::link_classes`].
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The address of a node in a form that its topology's routing can take apart by shifts and masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator(pub u32);

/// A network as a graph.
pub trait Topology: Send + Sync + std::fmt::Debug {
    /// The name of its kind.
    fn name(&self) -> &'static str;

    /// One line with its parameters, for people.
    fn describe(&self) -> String;

    /// How many nodes there are.
    fn nodes(&self) -> u32;

    /// How many routers there are.
    fn routers(&self) -> u32;

    /// How many ports `router` has, terminals included.
    fn ports(&self, router: RouterId) -> u32;

    /// The largest number of ports of any router.
    fn radix(&self) -> u32;

    /// Where the output of a port leads.
    fn peer(&self, router: RouterId, port: Port) -> Peer;

    /// What feeds the input of a port: where links are symmetric, what its output leads to.
    fn feeder(&self, router: RouterId, port: Port) -> Peer {
        self.peer(router, port)
    }

    /// The kind of link that leaves by a port.
    fn link_class(&self, router: RouterId, port: Port) -> LinkClass;

    /// The kind of link that comes in by a port.
    fn input_class(&self, router: RouterId, port: Port) -> LinkClass {
        match self.feeder(router, port) {
            Peer::Router { router, port } => self.link_class(router, port),
            Peer::Node(_) | Peer::Nothing => LinkClass::TERMINAL,
        }
    }

    /// The names of the kinds of links; the first is `terminal`.
    fn link_classes(&self) -> &[&'static str];

    /// The router that a node ejects from, and the port whose output leads to it.
    fn attachment(&self, node: NodeId) -> (RouterId, Port);

    /// The router that a node injects into, and the port whose input it feeds: where links are symmetric, its attachment.
    fn injection(&self, node: NodeId) -> (RouterId, Port) {
        self.attachment(node)
    }

    /// Whether packets can go from every router to every node: also those that routers send themselves, such as NACKs.
    fn routers_reach_all_nodes(&self) -> bool {
        true
    }

    /// The address of a node.
    fn locator(&self, node: NodeId) -> Locator;

    /// The number of links on a minimal path from a router that nodes inject into to one that they eject from, minimal in
    /// the sense of the topology: that of a dragonfly crosses at most one global link.
    fn distance(&self, from: RouterId, to: RouterId) -> u32;

    /// How many domains there are.
    fn domains(&self) -> u32;

    /// The domain of a router. Domains are the natural pieces of a network: links between them are few and
    /// long. They are dealt out to regions whole unless somebody asks for a finer cut.
    fn domain(&self, router: RouterId) -> u32;

    /// A class of the channel that leaves `router` by `port`, such that routing moves through the classes
    /// in some fixed order. It makes deadlock proofs of large networks short.
    fn channel_class(&self, router: RouterId, port: Port) -> u8;

    /// The name of a channel class, for people.
    fn channel_class_name(&self, class: u8) -> String;

    /// How a person would point at a router.
    fn router_name(&self, router: RouterId) -> String {
        format!("router {router}")
    }
}

/// Why a topology cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// A parameter is outside its range.
    #[error("{parameter} = {value} is outside {min}..={max}")]
    OutOfRange {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: u64,
        /// The smallest allowed.
        min: u64,
        /// The largest allowed.
        max: u64,
    },
    /// Routers would need more ports than can be simulated.
    #[error("a router would need {ports} ports, the limit is {RADIX_MAX}")]
    RadixTooLarge {
        /// The ports needed.
        ports: u64,
    },
    /// A dragonfly has more groups than its global links can join.
    #[error("{groups} groups cannot be joined: a group has a·h = {links} global links and reaches at most {} groups", links + 1)]
    TooManyGroups {
        /// The groups asked for.
        groups: u64,
        /// The global links of a group.
        links: u64,
    },
    /// Neighbours in a ring of clusters are not joined.
    #[error("clusters {one} and {other} are joined by no channel")]
    ClustersWithoutPath {
        /// One of them.
        one: u32,
        /// The next in the ring.
        other: u32,
    },
    /// The leaves of a cluster have too few ports for its channels.
    #[error("cluster {cluster} has {channels} channels to other clusters, and its leaves have places for {places}")]
    ChannelsWithoutLeaf {
        /// The cluster.
        cluster: u32,
        /// Its channels.
        channels: u32,
        /// Those that its leaves may have together.
        places: u64,
    },
    /// Half of a network has half as many links in its last stage, and their number is odd.
    #[error("half of a {k}-ary network would have half of {k} links")]
    OddHalf {
        /// The links of a switch on either side.
        k: u32,
    },
    /// There are more nodes or routers than can be counted.
    #[error("the network would have {count} {what}, the limit is {limit}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many there would be.
        count: u64,
        /// How many there can be.
        limit: u64,
    },
}

/// How many nodes the router has by which the first one enters and leaves the network; 0 where these are two.
#[must_use]
pub fn nodes_of_first_router(topology: &dyn Topology) -> u32 {
    let router = topology.attachment(0).0;
    let is_there = |node| topology.attachment(node).0 == router && topology.injection(node).0 == router;
    (0..topology.nodes()).take_while(|&node| is_there(node)).count() as u32
}

fn in_range(parameter: &'static str, value: u32, min: u32, max: u32) -> Result<(), TopologyError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(TopologyError::OutOfRange { parameter, value: value.into(), min: min.into(), max: max.into() })
}

fn at_most(what: &'static str, count: u64, limit: u64) -> Result<(), TopologyError> {
    if count <= limit { Ok(()) } else { Err(TopologyError::TooLarge { what, count, limit }) }
}

fn radix_fits(ports: u64) -> Result<(), TopologyError> {
    if ports <= u64::from(RADIX_MAX) { Ok(()) } else { Err(TopologyError::RadixTooLarge { ports }) }
}

#[cfg(test)]
mod laws;
