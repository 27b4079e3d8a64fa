//! The receiving side of a node.

use crate::{Clock, Control, PacketKind, PacketRef, Party, Words};

/// A data packet that has arrived, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival<'a> {
    /// Its kind.
    pub kind: PacketKind,
    /// The node that sent it.
    pub from: u32,
    /// The node that received it.
    pub to: u32,
    /// What its source calls it.
    pub packet: PacketRef,
    /// Its size.
    pub flits: u16,
    /// What it was marked with on its way.
    pub marks: u8,
    /// Its entropy value: [`Source::entropy`](crate::Source::entropy).
    pub entropy: u16,
    /// When its first flit left its source.
    pub sent_at: u64,
    /// The links between routers that it has taken.
    pub hops: u8,
    /// The words that its kind declares as payload.
    pub payload: &'a [u64],
}

impl Arrival<'_> {
    /// What acknowledges it, with its marks and its entropy value.
    #[must_use]
    #[inline]
    pub fn acknowledgement(&self, kind: PacketKind) -> Control {
        Control { marks: self.marks, entropy: self.entropy, ..Control::new(kind, self.to, self.from, self.packet) }
    }
}

/// What a sink wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkAction {
    /// A control packet is to be sent.
    Control(Control),
    /// [`Sink::on_timer`] is to be called at a tick, which lies ahead.
    Timer {
        /// When.
        at: u64,
        /// What the sink knows it by.
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

/// What answers the packets that arrive at a node.
pub trait Sink: Send {
    /// A data packet has arrived, which may have to wait for others before it. Told only where
    /// [`crate::Hooks::resequencing`] has it wait.
    fn on_arrival(&mut self, _arrival: &Arrival<'_>, _now: u64, _actions: &mut Vec<SinkAction>) {}

    /// A data packet has arrived, and in order if [`crate::Hooks::resequencing`] says so.
    fn on_data(&mut self, arrival: &Arrival<'_>, now: u64, actions: &mut Vec<SinkAction>);

    /// A request has arrived, or what is left of a packet that was trimmed.
    fn on_request(&mut self, _request: &Control, _now: u64, _actions: &mut Vec<SinkAction>) {}

    /// What it will answer to a request, and why: for people who trace a message. Asked just before [`Sink::on_request`], and only
    /// where somebody traces the message.
    fn foretell(&self, _request: &Control, _now: u64, _clock: Clock) -> Option<String> {
        None
    }

    /// A timer is due.
    fn on_timer(&mut self, _token: u32, _now: u64, _actions: &mut Vec<SinkAction>) {}

    /// A message has arrived on the control network.
    fn on_message(&mut self, _from: Party, _words: &[u64], _now: u64, _actions: &mut Vec<SinkAction>) {}

    /// Appends what it remembers to `bytes`, if it remembers anything.
    fn save(&self, _bytes: &mut Vec<u8>) {}

    /// Takes from the front of `bytes` what [`Sink::save`] has written. `None` if it is not there.
    fn load(&mut self, _bytes: &mut &[u8]) -> Option<()> {
        Some(())
    }
}
