//! What a network is made of, in plain numbers: ticks and flits.

use serde::{Deserialize, Serialize};

/// The largest number of virtual channels per port.
pub const VCS_MAX: usize = 32;

/// Everything about a network but its graph, its routing and its traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSpec {
    /// Ticks per link cycle: the internal speedup of the routers. A power of two.
    pub ticks_per_cycle: u32,
    /// Links by link class. For terminals this is the way from the router to the node.
    pub links: Vec<LinkSpec>,
    /// The way from a node to its router.
    pub injection: LinkSpec,
    /// Flits of an input buffer per virtual channel, by the link class that feeds it.
    pub input_buffers: Vec<u16>,
    /// The traffic classes, data first.
    pub classes: Vec<ClassSpec>,
    /// Flits of the largest packet.
    pub packet_flits_max: u16,
    /// Flits of the smallest data packet that the workload can cause.
    pub packet_flits_min: u16,
    /// What a router does.
    pub router: RouterSpec,
    /// What a network interface does.
    pub nic: NicSpec,
}

impl NetworkSpec {
    /// Virtual channels in use per port, the most of any link class.
    #[must_use]
    pub fn vcs(&self) -> usize {
        let end = |link_class: usize| self.classes.iter().map(move |class| class.channels(link_class).end);
        (0..self.links.len()).flat_map(end).max().unwrap_or(1).max(1)
    }

    /// Packets that an output queue can hold, if it has a bound.
    #[must_use]
    pub fn output_queue_packets(&self) -> Option<u32> {
        let smallest = if self.classes.len() > 1 { 1 } else { u32::from(self.packet_flits_min) };
        self.router.output_queues.flits.map(|flits| flits / smallest)
    }

    /// Routes that the packets of each flow take in turn: virtual channels of injection, where they take turns; otherwise 1.
    #[must_use]
    pub fn routes(&self) -> u32 {
        if self.nic.vc_choice.takes_turns() { self.classes[0].vcs[0].into() } else { 1 }
    }

    /// Whether all flows take these routes in step, from the first one on.
    #[must_use]
    pub fn routes_in_step(&self) -> bool {
        self.nic.vc_choice == InjectionVc::Rotation { in_step: true }
    }

    /// Ticks from one flit to the next of a packet that leaves its node; 0 where all leave at once.
    #[inline]
    #[must_use]
    pub fn injection_flit_ticks(&self) -> u32 {
        if self.nic.side_by_side { self.ticks_per_cycle } else { self.injection.flit_ticks.into() }
    }

    /// Ticks from one flit to the next on the line by which data goes to a host in order.
    #[must_use]
    pub fn line_flit_ticks(&self) -> u32 {
        self.nic.line_flit_ticks.unwrap_or_else(|| self.links[0].flit_ticks.into())
    }
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// Ticks from the moment a flit is sent to the moment it has arrived.
    pub latency: u32,
    /// Ticks from one flit to the next, a multiple of a cycle. 0 stands for a whole packet at once, at most one
    /// per cycle; only injection may do that.
    pub flit_ticks: u16,
}

/// A traffic class: its virtual channels and its priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassSpec {
    /// Classes with a larger number go first.
    pub priority: u8,
    /// Whether its packets are control packets.
    pub is_control: bool,
    /// The first of its virtual channels, by link class.
    pub first_vc: Vec<u8>,
    /// How many virtual channels it has, by link class.
    pub vcs: Vec<u8>,
}

impl ClassSpec {
    /// Its virtual channels on links of a class, counted through all traffic classes.
    #[must_use]
    pub fn channels(&self, link_class: usize) -> std::ops::Range<usize> {
        let first = usize::from(self.first_vc[link_class]);
        first..first + usize::from(self.vcs[link_class])
    }
}

/// What a router does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterSpec {
    /// How long a packet is at the head of its queue before it may ask for the crossbar: route computation and the
    /// like.
    pub head_delay: u32,
    /// From the grant to the arrival of the first flit in the output queue; at least 1.
    pub crossbar_delay: u32,
    /// Ticks from one allocation to the next: 1, or a link cycle.
    pub allocation_period: u32,
    /// How many rounds of requests and grants an allocation has.
    pub iterations: u32,
    /// Which side chooses first.
    pub order: AllocationOrder,
    /// In which rounds of an allocation arbiters that go round move on.
    pub turns_move: TurnsMove,
    /// For what such arbiters keep a turn of its own.
    pub turns_kept: TurnsKept,
    /// How an input chooses among its queues.
    pub input_arbiter: Arbiter,
    /// What an input whose arbiter goes round takes turns among.
    pub input_turns: InputTurns,
    /// When an input counts a queue as served.
    pub input_served: InputServed,
    /// How an output chooses among inputs.
    pub output_arbiter: Arbiter,
    /// Whether packets in transit go before packets that enter the network.
    pub transit_first: bool,
    /// Whether a packet first acquires a virtual channel of its output for itself, one tick before it may ask for
    /// the crossbar, and holds it until its last flit has crossed.
    pub vc_allocation: bool,
    /// What has a connection to the crossbar of its own on the input side.
    pub crossbar_inputs: CrossbarPorts,
    /// The same on the output side.
    pub crossbar_outputs: CrossbarPorts,
    /// How long a packet keeps its connection to an output.
    pub output_held: OutputHeld,
    /// Whether input buffers are split into a queue per output.
    pub virtual_output_queues: bool,
    /// Flits that input buffers hold for each node of the network, in a queue and with credits of their own.
    pub destination_queue: Option<u16>,
    /// The queues behind the crossbar.
    pub output_queues: OutputQueueSpec,
    /// Where a packet claims space in the buffer at the other end of a link.
    pub credits: CreditCheck,
    /// Ticks between two credits that an input sends back at least.
    pub credit_interval: u32,
    /// When packets cross to the output queue of a node.
    pub ejection: Ejection,
    /// Virtual channels of the way to a node: a packet takes any of those of its class.
    pub ejection_vcs: u8,
}

/// Which side of a separable allocator chooses first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationOrder {
    /// Each input chooses one of its packets, then each output one of the inputs that ask for it.
    InputFirst,
    /// Each output chooses one of all packets that could leave by it, then each input one of its grants.
    OutputFirst,
}

/// In which rounds of an allocation arbiters that go round move on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnsMove {
    /// In all.
    EveryRound,
    /// In the first, as in iSLIP: so nobody starves whom the first round would serve.
    FirstRound,
}

/// For what arbiters that go round keep a turn of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnsKept {
    /// For all packets together.
    Together,
    /// For packets of each priority, and, where packets in transit go first, for those that enter the network.
    ByPriority,
}

/// How one of several requests is chosen, among those of equal priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arbiter {
    /// The first after the last that was served, in order.
    RoundRobin,
    /// The one that was served longest ago.
    LeastRecentlyServed,
    /// The one whose message is the oldest.
    Oldest,
}

/// What an input whose arbiter goes round takes turns among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputTurns {
    /// Its queues.
    Queues,
    /// The outputs that its packets want. Queues for the same output take turns among themselves.
    Outputs,
}

/// When an input counts a queue as served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputServed {
    /// When its packet is granted.
    Granted,
    /// When it is chosen to ask, whatever becomes of it.
    Asked,
}

/// When packets cross to the output queue of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ejection {
    /// When it has room, one after the other, as at any other port.
    Room,
    /// When it has room and the node is receiving nothing. Inputs do not know that when they choose.
    Idle,
}

/// What has a connection to the crossbar of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossbarPorts {
    /// Each port: its virtual channels take turns.
    PerPort,
    /// Each virtual channel of each port.
    PerChannel,
}

/// How long a packet keeps its connection from the crossbar to an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputHeld {
    /// Until its last flit has crossed.
    Crossing,
    /// As long as a packet takes all of whose flits are there. One that crosses as it arrives leaves flits of another room
    /// between its own.
    FullRate,
}

/// The queues between crossbar and link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputQueueSpec {
    /// Their size in flits; `None` for as much as it takes.
    pub flits: Option<u32>,
    /// What has a queue of its own at each port.
    pub per: QueuePer,
    /// When a departing packet makes room.
    pub release: Release,
    /// How the link chooses among queues of equal priority.
    pub link_arbiter: LinkArbiter,
    /// Flits of control packets that the link sends while data packets could leave, before one of these goes first; `None` for as many
    /// as there are.
    pub control_limit: Option<u32>,
}

/// What has an output queue of its own at each port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePer {
    /// The port: one queue for all.
    Port,
    /// Each traffic class.
    Class,
    /// Each virtual channel.
    Channel,
}

/// When a departing packet makes room in its output queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// When its first flit leaves.
    Start,
    /// When its last flit has left.
    End,
}

/// How a link chooses among the output queues of its port, among those of equal priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkArbiter {
    /// The packet that has been ready for longest.
    Oldest,
    /// The first queue after the last that was served, in order.
    RoundRobin,
}

/// Where a packet claims space in the buffer at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditCheck {
    /// Before it crosses the crossbar: output queues then never block.
    Crossbar,
    /// Before it leaves on the link.
    Link,
}

/// What a network interface does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicSpec {
    /// In which order waiting messages are sent.
    pub queues: SourceQueues,
    /// How packets are dealt out to the virtual channels of injection.
    pub vc_choice: InjectionVc,
    /// How many messages may wait at a node; further ones are lost.
    pub queue_limit: Option<u32>,
    /// When data that has arrived is handed to the host.
    pub delivery: Delivery,
    /// Ticks from one flit to the next on the line to the host, where data goes there in order: as on the link from the router if none.
    pub line_flit_ticks: Option<u32>,
    /// Flits that are in order and wait for that line, with more of which a node has its router send it nothing; none for as many as come.
    pub pause_flits: Option<u32>,
    /// Whether packets that injection sends whole arrive flit by flit all the same, several of them side by side.
    pub side_by_side: bool,
}

/// In which order waiting messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceQueues {
    /// A queue for each destination, served in turn packet by packet.
    PerDestination,
    /// A queue for each destination: of those whose next packet may be sent the next one by number, whatever channel it takes.
    InTurn,
    /// One queue: first come, first served.
    Fifo,
}

/// When data that has arrived is handed to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// As it arrives.
    Arrival,
    /// In the order in which it was sent, of each source for itself, by a line of its own. As many packets
    /// can wait for others as have to, unless the protocol promises that they do not become more than some.
    InOrder,
}

/// How packets are dealt out to the virtual channels of injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionVc {
    /// In turn, skipping those without room.
    RoundRobin,
    /// One at random; a packet waits for its own.
    Random,
    /// By destination: equal consecutive shares of all nodes; a packet waits for its own.
    ByDestination,
    /// In turn within each flow; a packet waits for its own, and holds up nothing of other flows. Only with a queue for each
    /// destination.
    Rotation {
        /// Whether all flows begin at the first one, and not each at one that is drawn for it.
        in_step: bool,
    },
}

impl InjectionVc {
    /// Whether packets of a flow take channels in turn.
    #[must_use]
    pub fn takes_turns(self) -> bool {
        matches!(self, Self::Rotation { .. })
    }
}
