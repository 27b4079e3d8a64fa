//! The sending side of a node.

use crate::{Clock, Control, PacketKind, PacketRef, Party, Words};

/// A packet that could be sent for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// What it is called.
    pub packet: PacketRef,
    /// The node that sends it.
    pub source: u32,
    /// The node it is for.
    pub destination: u32,
    /// Its size.
    pub flits: u16,
    /// The size of its message.
    pub message_flits: u32,
}

/// A message that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The node that is to send it.
    pub source: u32,
    /// The node it is for.
    pub destination: u32,
    /// Its size.
    pub flits: u32,
}

/// What is decided about the next packet of a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may leave, as one or the other kind of data. It is asked about again if there is no room for it now.
    Send {
        /// As what.
        kind: PacketKind,
        /// The marks that it starts with.
        marks: u8,
    },
    /// Nothing more for its destination before this tick; then it is asked about again.
    NotBefore(u64),
    /// Nothing more for its destination until [`SourceAction::Open`] or [`SourceAction::OpenAll`].
    Hold,
}

/// What a source wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceAction {
    /// A control packet is to be sent.
    Control(Control),
    /// A packet will not be sent again.
    Forget(PacketRef),
    /// What has not been sent of a message leaves its send queue; the next message for that node is next.
    Withhold {
        /// The message.
        message: u32,
    },
    /// What was withheld of a message is to be sent from a tick on, as lossless data.
    Resume {
        /// The message.
        message: u32,
        /// From when on.
        at: u64,
    },
    /// A packet is to be sent again from a tick on.
    Resend {
        /// The packet.
        packet: PacketRef,
        /// As what.
        kind: PacketKind,
        /// From when on.
        at: u64,
    },
    /// A destination that is held is asked about again.
    Open {
        /// The destination.
        destination: u32,
    },
    /// All destinations that are held are asked about again, in the order in which they were held.
    OpenAll,
    /// [`Source::on_timer`] is to be called at a tick.
    Timer {
        /// When.
        at: u64,
        /// What the source knows it by.
        token: u32,
    },
    /// A message is to be sent on the control network: [`crate::Protocol::control_network`].
    Tell {
        /// To whom.
        to: Party,
        /// What it says.
        words: Words,
        /// Ticks that it takes beyond the latency of the control network.
        after: u64,
    },
}

/// What decides when the packets of a node may leave.
pub trait Source: Send {
    /// A message is offered. Told only where [`crate::Hooks::offers`] says so.
    fn offered(&mut self, _message: &Offered, _now: u64, _actions: &mut Vec<SourceAction>) {}

    /// Whether the next packet of a send queue may leave. Control packets that the source sends now leave before it. It opens no other queue
    /// now: with `nic.queues = "in-turn"` that one might have its turn before.
    fn may_send(&mut self, packet: &Outgoing, now: u64, actions: &mut Vec<SourceAction>) -> Verdict;

    /// Writes the payload of a data packet that is about to leave, for the first time or again. Called only for kinds that declare
    /// payload, with all words 0.
    fn write_payload(&mut self, _packet: &Outgoing, _now: u64, _payload: &mut [u64]) {}

    /// The entropy value of a data packet that is about to leave, for the first time or again: routing that hashes packets to
    /// paths may send those of different values by different ones. Asked only where [`crate::Hooks::entropy`] says so.
    fn entropy(&mut self, _packet: &Outgoing, _now: u64) -> u16 {
        0
    }

    /// A packet has left for the first time. Told only where [`crate::Hooks::departures`] says so.
    fn sent(&mut self, _packet: &Outgoing, _now: u64) {}

    /// A packet has left as lossless data, for the first time or again, and its interface has forgotten it. Told only where
    /// [`crate::Hooks::unacknowledged`] says so.
    fn gone(&mut self, _packet: &Outgoing, _now: u64, _actions: &mut Vec<SourceAction>) {}

    /// A control packet for this source has arrived, `latency` ticks after it left.
    fn on_control(&mut self, control: &Control, latency: u64, now: u64, actions: &mut Vec<SourceAction>);

    /// What it will do about a control packet, beyond what its actions and verdicts show: for people who trace a message. Asked just
    /// before [`Source::on_control`], and only where somebody traces the message.
    fn foretell(&self, _control: &Control, _now: u64, _clock: Clock) -> Option<String> {
        None
    }

    /// A timer is due.
    fn on_timer(&mut self, _token: u32, _now: u64, _actions: &mut Vec<SourceAction>) {}

    /// A message has arrived on the control network.
    fn on_message(&mut self, _from: Party, _words: &[u64], _now: u64, _actions: &mut Vec<SourceAction>) {}

    /// All packets of a message are forgotten: its name will be used again.
    fn done(&mut self, _message: u32) {}

    /// Whether it waits for nothing.
    fn is_idle(&self) -> bool;

    /// Appends what it remembers to `bytes`.
    fn save(&self, bytes: &mut Vec<u8>);

    /// Takes from the front of `bytes` what [`Source::save`] has written. `None` if it is not there.
    fn load(&mut self, bytes: &mut &[u8]) -> Option<()>;
}
