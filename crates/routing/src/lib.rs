//! Routing algorithms.
//!
//! An algorithm is a [`Routing`]: it says how many virtual channels it needs on each kind of link, makes an
//! [`Agent`] for each router, and names all moves that its packets may make from channel to channel, from
//! which [`deadlock`] proves that packets cannot wait for each other in a circle.
//!
//! **What this crate must never know:** congestion control protocols, what hangs behind a terminal, and how
//! routers are simulated; it sees a router through its [`View`].
//!
//! **The invariant it keeps:** an agent makes only moves that its algorithm has named. The network checks
//! that at each hop in builds with debug assertions, so what the proof covers is what packets do.
//!
//! To add an algorithm, copy `dragonfly/minimal.rs`, the shortest, and add a line to `registry.rs`; `docs/add-a-routing.md` adds one, step
//! by step.

mod board;
pub mod deadlock;
mod destination_tag;
mod direct;
mod dragonfly;
mod fat_tree;
mod header;
mod multi_cluster;
mod ports;
mod registry;
pub mod reverse;
mod rivals;
mod sequence;
mod view;

use std::fmt::Debug;
use std::sync::Arc;

pub use board::{Board, Notice};
pub use destination_tag::DestinationTag;
pub use direct::Direct;
pub use dragonfly::Minimal;
pub use fat_tree::{Clos, ClosQueues, NearestCommonAncestor, UpChoice};
pub use header::{ANYWHERE, Causes, Header};
pub use multi_cluster::{ChannelChoice, ClusterRing};
pub use ports::PortSet;
pub use registry::{ROUTINGS, RoutingModel, minimal};
pub use rivals::{Better, Rivals};
pub use sequence::{Hop, SequenceError, VcSequence};
use tailback_random::Stream;
use tailback_topology::{LinkClass, Port, RouterId, Topology};
use view::Unseen;
pub use view::{OpenPorts, View, flits_of_use};

/// How a packet came into a router, or how it leaves: a port and a virtual channel of its traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortVc {
    /// The port.
    pub port: Port,
    /// The virtual channel, counted inside the traffic class.
    pub vc: u8,
}

impl PortVc {
    /// How a packet came in that the router itself sends: like those of nodes it has not taken a link. The first port leads to a
    /// node wherever an algorithm tells nodes from links by the port; in the spines of a tree it does not, and is not looked at.
    pub const OWN: Self = Self { port: 0, vc: 0 };

    /// The most virtual channels that a port may have.
    pub const VCS_MAX: usize = 32;

    /// Its place in a table of all virtual channels of all ports.
    #[inline]
    #[must_use]
    pub fn place(self) -> usize {
        usize::from(self.port) * Self::VCS_MAX + usize::from(self.vc)
    }
}

/// How long a decision is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// Only now.
    Once,
    /// Until [`Agent::head_arrived`] names the port that it is for ([`FirstLook::named`]), or, if agents broadcast, until this router
    /// hears one.
    UntilNamed,
    /// So long, and until others are better, which [`Agent::rivals`] names. If the packet can leave by its step it does; if not, the
    /// decision is the same while no more of the buffer behind its channel is in use than when it decided, and no rival is better.
    UntilRivaled,
    /// For ever: it is settled.
    Always,
}

/// What an agent wants for a packet: one of some virtual channels of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The port.
    pub port: Port,
    /// The first of the virtual channels that will do, counted inside the traffic class.
    pub vc: u8,
    /// How many channels from that one on will do.
    pub vcs: u8,
    /// How long the decision is the same at each attempt of the packet to leave, and draws nothing. Only algorithms that
    /// revise their decisions are asked again when it may be another one.
    pub validity: Validity,
    /// What the packet's header becomes when it makes this step.
    pub header: Header,
}

impl Step {
    /// A step by exactly one channel.
    #[must_use]
    pub fn by(output: PortVc, header: Header) -> Self {
        Self { port: output.port, vc: output.vc, vcs: 1, validity: Validity::Once, header }
    }

    /// The same step, settled if `settled`.
    #[must_use]
    pub fn settled(self, settled: bool) -> Self {
        if settled { self.valid(Validity::Always) } else { self }
    }

    /// The same step, which is valid so long.
    #[must_use]
    pub fn valid(self, validity: Validity) -> Self {
        Self { validity, ..self }
    }

    /// No step for now: the packet asks again at the next attempt. Only algorithms that revise their decisions may say so.
    #[must_use]
    pub fn none_yet(header: Header) -> Self {
        Self { port: 0, vc: 0, vcs: 0, validity: Validity::Once, header }
    }
}

/// What an agent says when it is told of a new head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstLook {
    /// The port for which decisions that are valid [`Validity::UntilNamed`] are not any more, if there is one.
    pub named: Option<Port>,
    /// What [`Agent::route`] would say of the head, if that is known without looking around, and is valid for longer than now. The head
    /// may be routed by that, or asked about all the same.
    pub step: Option<Step>,
}

/// What an algorithm wants to know beside the packets that it is asked about. Nothing of it costs anything unless it is
/// wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// Agents are told of the heads of all queues: [`Agent::head_arrived`] and [`Agent::tail_left`].
    pub heads: bool,
    /// Agents say that decisions are valid [`Validity::UntilRivaled`].
    pub rivals: bool,
    /// Of the heads agents are told too when they start to cross: [`Agent::head_crosses`].
    pub crossings: bool,
    /// Agents look around before an allocation when something has changed at one of these outputs: [`Agent::look`].
    pub changes: Changes,
    /// Agents ask what waits for links: [`View::waiting`].
    pub queues: bool,
    /// That includes packets at inputs that are routed to them, for which routers have to route packets as they arrive.
    pub queues_at_inputs: bool,
    /// What agents tell each other takes as long as a link of this class is long.
    pub notices: Option<LinkClass>,
    /// Link cycles from one [`Agent::broadcast`] of all agents to the next.
    pub broadcast_cycles: Option<u32>,
    /// Flits that a broadcast takes on each link that notices take.
    pub broadcast_flits: u16,
}

/// The outputs at which a packet that starts to cross, or credits that come, are a change to an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Changes {
    /// None.
    #[default]
    Nowhere,
    /// Those with a link of this class.
    At(LinkClass),
    /// All.
    Anywhere,
}

impl Changes {
    /// The set of the link classes of these outputs.
    #[must_use]
    pub fn link_classes(self) -> u32 {
        match self {
            Self::Nowhere => 0,
            Self::At(class) => 1 << class.index(),
            Self::Anywhere => u32::MAX,
        }
    }
}

/// A kind of channel: the class that the topology puts it in, and the virtual channel on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelKind {
    /// [`Topology::channel_class`] of the channel.
    pub class: u8,
    /// The virtual channel, counted inside the traffic class.
    pub vc: u8,
}

/// A routing algorithm for one network.
pub trait Routing: Send + Sync + Debug {
    /// The graph it routes on.
    fn topology(&self) -> Arc<dyn Topology>;

    /// How many virtual channels a traffic class needs on each kind of link, by link class. What it says for
    /// terminals is the least that injection needs.
    fn virtual_channels(&self) -> Vec<u8>;

    /// Whether the channel that a packet is injected by says where it goes, so that there may be no more of them than
    /// [`Routing::virtual_channels`] says.
    fn names_injection_channels(&self) -> bool {
        false
    }

    /// Makes the agent of `router`.
    fn agent(&self, router: RouterId) -> Box<dyn Agent>;

    /// Whether a decision is made anew at each attempt of a packet to leave. If not, it is made once, when the
    /// packet reaches the head of its queue.
    fn revises(&self) -> bool {
        false
    }

    /// Whether its agents decide where packets go by their headers, by chance and by what they remember alone. They are asked by [`Agent::route_unseeing`] then.
    fn is_oblivious(&self) -> bool {
        false
    }

    /// What its agents want to know.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// All pairs of kinds of channels such that a packet on the first may next wait for the second. Terminals
    /// do not count: packets leave through them for good, and nothing waits for a packet that has not started.
    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)>;

    /// Further pairs that packets use only when there is room for all of them at once, so that they never wait there. A
    /// packet that has done so must be able to go on by one of [`Routing::moves`].
    fn opportunities(&self) -> Vec<(ChannelKind, ChannelKind)> {
        Vec::new()
    }

    /// The most routers on a path, if they are fewer than a packet could meet that went through all kinds of channels in the
    /// order that [`Routing::moves`] allows.
    fn path_routers_max(&self) -> Option<usize> {
        None
    }

    /// All steps that an agent of `router` could choose for a packet with `header` that came in by `entry`.
    ///
    /// A packet that starts has the header [`ANYWHERE`]: then these are the steps towards all destinations.
    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>);

    /// One line with its parameters, for people.
    fn describe(&self) -> String;
}

/// An algorithm at one router.
pub trait Agent: Send {
    /// Where the packet with `header`, which came in by `entry`, shall go next.
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step;

    /// What the decision depends on that it has made last, if that is valid [`Validity::UntilRivaled`].
    fn rivals(&self) -> Rivals {
        Rivals::NONE
    }

    /// The same as [`Agent::route`] of an algorithm that is oblivious ([`Routing::is_oblivious`]): nothing is made for it to look at.
    ///
    /// # Panics
    /// When it looks at its view all the same.
    fn route_unseeing(&mut self, entry: PortVc, header: &Header, random: &mut Stream) -> Step {
        self.route(entry, header, &Unseen, random)
    }

    /// Whether the packet with `header`, which has come in by `entry`, is known to leave by the port of its node: it has nothing but
    /// its destination ahead, and is there.
    fn ejects(&self, entry: PortVc, header: &Header) -> bool;

    /// The port by which the packet with `header`, which has come in by `entry`, leaves, if there is only one by which it can,
    /// whatever happens until it is routed.
    fn only_port(&self, _entry: PortVc, _header: &Header) -> Option<Port> {
        None
    }

    /// The packet with `header`, which came in by `entry`, is now head of its queue: its first flit has arrived, and the
    /// last one of the packet before it has left. `told` is what the routers of the domain have told each other.
    fn head_arrived(&mut self, _entry: PortVc, _header: &Header, _told: &Board) -> FirstLook {
        FirstLook::default()
    }

    /// The head of a queue starts to cross the crossbar.
    fn head_crosses(&mut self, _entry: PortVc) {}

    /// The last flit of the head of a queue has left it.
    fn tail_left(&mut self, _entry: PortVc) {}

    /// Something has changed at an output since it was asked the last time. What it returns is told to the other routers of
    /// the domain.
    fn look(&mut self, _view: &dyn View) -> Option<Notice> {
        None
    }

    /// It is time for all agents to tell the others something. Nothing, if that is what was told the last time.
    fn broadcast(&mut self) -> Option<Notice> {
        None
    }

    /// How many packets want the output of a port, if it counts them: for whoever compares that with the packets there are.
    fn wanting(&self, _port: Port) -> Option<u32> {
        None
    }

    /// Appends what it remembers to `bytes`, if it remembers anything.
    fn save(&self, _bytes: &mut Vec<u8>) {}

    /// Takes from the front of `bytes` what [`Agent::save`] has written. `None` if it is not there.
    fn load(&mut self, _bytes: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

/// The algorithm that the documents add, compiled and proved free of deadlock.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/add-a-routing.md")]
struct AddARouting;
