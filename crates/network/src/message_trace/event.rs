//! What can happen to a message that is traced: plain data, to be put into words by others.

use tailback_engine::Tick;
use tailback_protocol::{Moment, PacketKind, PacketRef, PortVc};
use tailback_topology::{NodeId, RouterId};
use tailback_workload::Part;

use crate::packet::Packet;
use crate::time::Time;

/// Something that has happened to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When.
    pub tick: Tick,
    /// Where.
    pub place: Place,
    /// To what.
    pub subject: Subject,
    /// What.
    pub what: Occurrence,
}

/// Where something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a router.
    Router(RouterId),
    /// In the interface of a node.
    Node(NodeId),
}

/// What it happens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The message as a whole.
    Message,
    /// A packet of it, or a control packet about it.
    Packet {
        /// Its kind.
        kind: PacketKind,
        /// Its index in the message, or that of the packet that it is about.
        index: u32,
        /// When it left: tells packets apart that are sent again.
        injected: Tick,
        /// Who sent it.
        source: NodeId,
        /// What that calls its message, or the one that it is about.
        message: u32,
    },
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// The message is offered; so many others wait at its node.
    Offered {
        /// What it is of those that cross the network for it.
        part: Part,
        /// The index of its flow in the workload.
        traffic: u16,
        /// Its size.
        flits: u32,
        /// Other messages that wait.
        waiting: u32,
        /// Whether it is lost, as too many wait.
        lost: bool,
    },
    /// Its next packet, by index, has its turn and may not leave: until a tick, or until the source says so.
    Held {
        /// The packet.
        index: u32,
        /// Until when.
        until: Option<Tick>,
    },
    /// What has not been sent leaves the send queue.
    Withheld,
    /// What was withheld is sent from a tick on.
    Resumed(Tick),
    /// A packet is sent again from a tick on.
    Resent {
        /// The packet.
        packet: PacketRef,
        /// As what.
        kind: PacketKind,
        /// From when on.
        at: Tick,
    },
    /// The source sets a timer as it is told of the message.
    Timer(Tick),
    /// All packets have left and are acknowledged, or need not be: the source's interface forgets the message.
    Forgotten,
    /// A packet leaves a node on a virtual channel.
    Sent {
        /// The channel, counted through all classes.
        vc: u8,
        /// Its size.
        flits: u16,
        /// When it came to be; of data, when its message did.
        created: Tick,
        /// The index of its flow in the workload.
        traffic: u16,
        /// What it has waited for in the interface, where packets are traced and not a message.
        story: Story,
        /// Whether it is control, and what it says.
        says: Option<String>,
    },
    /// A router passes a packet on, or has it.
    Hop(Hop),
    /// A router sends a control packet.
    Injected {
        /// What it says.
        says: String,
    },
    /// The protocol says what it decides.
    Decided(String),
    /// A packet's marks change.
    Marked {
        /// From what.
        before: u8,
        /// To what.
        after: u8,
    },
    /// A router drops a packet.
    Dropped(Moment),
    /// A router cuts a packet's data off.
    Trimmed(Moment),
    /// A control packet ends in a router.
    Absorbed(Moment),
    /// The last flit of a packet arrives at a node.
    Received {
        /// When its first flit left.
        injected: Tick,
        /// How much later than its first flit that is.
        tail_lag: Tick,
        /// The links between routers that it has taken.
        hops: u8,
        /// What it says, if it is control.
        says: Option<String>,
    },
    /// All packets of the message have arrived.
    Complete {
        /// What it is of those that cross the network for it.
        part: Part,
        /// When it was offered.
        created: Tick,
    },
}

/// A packet in a router, from the arrival of its first flit on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Where it has come in.
    pub input: PortVc,
    /// For what it has waited.
    pub waits: Waits,
    /// The same in order of time.
    pub story: Story,
    /// What it waits for, and since when, unless it has left its buffer.
    pub blocked: Option<(Blocked, Tick)>,
    /// Where it goes, once it has crossed.
    pub crossing: Option<Crossing>,
}

/// A packet that leaves its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// When it starts to cross.
    pub at: Tick,
    /// Where it leaves.
    pub output: PortVc,
    /// When the link starts to send it, if that is known.
    pub link_at: Option<Tick>,
}

/// What a packet waits for in an input buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The packets before it in its queue.
    Behind,
    /// The stages of the router before the crossbar.
    Pipeline,
    /// Its input's connection to the crossbar.
    Input,
    /// Routing, which has decided to wait.
    Routing,
    /// A virtual channel of its own.
    VirtualChannel,
    /// The crossbar's connection to its output.
    Output,
    /// Its node, which has paused the link that leads there.
    Paused,
    /// Room in the output queue.
    OutputQueue,
    /// Room in the next buffer.
    Credits,
    /// The allocator, which has chosen another packet.
    Allocation,
    /// The source of the protocol, which holds it back in its interface.
    Protocol,
}

impl Blocked {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Behind,
        Self::Pipeline,
        Self::Input,
        Self::Routing,
        Self::VirtualChannel,
        Self::Output,
        Self::Paused,
        Self::OutputQueue,
        Self::Credits,
        Self::Allocation,
        Self::Protocol,
    ];
}

/// Ticks that a packet has waited, by what it waited for. What it waits for is noted whenever it tries to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits([u64; Blocked::ALL.len()]);

impl Waits {
    /// Those that are not 0.
    pub fn each(&self) -> impl Iterator<Item = (Blocked, u64)> {
        Blocked::ALL.into_iter().zip(self.0).filter(|&(_, ticks)| ticks > 0)
    }
}

/// The most changes that a story has. What comes after the last of them is told as more of it.
pub const STORY_CHANGES_MAX: usize = 256;

/// What a packet waits for, in order: each until the next one begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story(Vec<(Blocked, Tick)>);

impl Story {
    /// What it waits for, and from when on.
    #[must_use]
    pub fn changes(&self) -> &[(Blocked, Tick)] {
        &self.0
    }

    /// It waits for something from a tick on. What was to begin later does not.
    pub(crate) fn turn(&mut self, blocked: Blocked, from: Tick) {
        while self.0.last().is_some_and(|&(_, since)| since >= from) {
            self.0.pop();
        }
        let is_new = self.0.last().is_none_or(|&(last, _)| last != blocked);
        if is_new && self.0.len() < STORY_CHANGES_MAX {
            self.0.push((blocked, from));
        }
    }
}

impl Hop {
    /// It waits for something from a tick on.
    pub(super) fn waits_for(&mut self, blocked: Blocked, from: Time) {
        self.settle(from);
        self.blocked = Some((blocked, from.into()));
        self.story.turn(blocked, from.into());
    }

    /// What it has waited for until now is over.
    pub(super) fn settle(&mut self, now: Time) {
        if let Some((blocked, since)) = self.blocked {
            self.waits.0[blocked as usize] += u64::from(now).saturating_sub(since);
        }
    }
}

impl Subject {
    /// A packet.
    pub(crate) fn of(packet: &Packet) -> Self {
        let &Packet { kind, source, message, .. } = packet;
        Self::Packet { kind, index: packet.index(), injected: packet.injected(), source, message }
    }
}

impl TraceEvent {
    /// The events of all regions in order, and whether there were more than `most`: by time and place. In a node they are in
    /// the order in which they happened; in a router, where packets are handled in no particular order, packet by packet.
    pub fn in_order<'a>(regions: impl Iterator<Item = &'a [Self]>, most: usize) -> (Vec<Self>, bool) {
        let mut events: Vec<Self> = regions.flatten().cloned().collect();
        events.sort_by_key(|event| {
            let packet = matches!(event.place, Place::Router(_)).then_some(event.subject);
            (event.tick, event.place, packet)
        });
        let cut = events.len() > most;
        events.truncate(most);
        (events, cut)
    }
}
