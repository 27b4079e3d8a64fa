//! SMSRP and LHRP: every packet is sent speculatively at once and on its own; only what was dropped needs a time.
//!
//! ```text
//!                 SMSRP: NACK ──► reservation ──► grant ─┐
//!   speculative ─┤                                          ├─► lossless, from its time on
//!                 LHRP:  NACK with a time ───────────────┘
//!                        NACK without ──► speculative again; after several ──► gathered, one reservation for all
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tailback_protocol::{Control, Outgoing, PacketRef, Source, SourceAction, Verdict, remember, write_down};

use super::resend;
use crate::kind;
use crate::schedule::Lead;

/// What a source does about a NACK that names no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnNack {
    /// There is none: all NACKs name one.
    NamesTime,
    /// It asks for a time, packet by packet.
    Reserve,
    /// It speculates again, or asks for a time for several packets at once.
    Escalate(Escalation),
}

/// When a source stops to speculate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Escalation {
    /// After so many NACKs without a time in a row, for one destination.
    pub nacks: u32,
}

/// What is known of a destination that refuses without naming a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Trouble {
    /// NACKs without a time, since a speculative packet had any other answer.
    nacks: u32,
    /// Packets that a reservation is asked for, and those that gather for the next one, with their flits.
    asked: Vec<PacketRef>,
    gathered: Vec<(PacketRef, u32)>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// By destination.
    troubles: BTreeMap<u32, Trouble>,
    /// Packets that are sent again as lossless data: what is said about these says nothing about speculation.
    lossless: BTreeSet<PacketRef>,
}

/// The source of SMSRP and LHRP.
#[derive(Clone, Debug)]
pub(crate) struct ByPacket {
    lead: Lead,
    on_nack: OnNack,
    memory: Memory,
}

impl ByPacket {
    pub fn new(lead: Lead, on_nack: OnNack) -> Self {
        Self { lead, on_nack, memory: Memory::default() }
    }

    /// A packet was dropped, and no time was named.
    fn nacked(&mut self, control: &Control, now: u64, actions: &mut Vec<SourceAction>) {
        let (packet, destination) = (control.about, control.from);
        let escalation = match self.on_nack {
            OnNack::NamesTime => unreachable!("{control:?} names no time"),
            OnNack::Reserve => return actions.push(reservation(control.to, destination, packet, control.flits)),
            OnNack::Escalate(escalation) => escalation,
        };
        let trouble = self.memory.troubles.entry(destination).or_default();
        trouble.nacks += 1;
        if trouble.nacks < escalation.nacks {
            return actions.push(SourceAction::Resend { packet, kind: kind::SPECULATIVE, at: now });
        }
        trouble.gathered.push((packet, control.flits));
        if trouble.asked.is_empty() {
            actions.push(trouble.ask(control.to, destination));
        }
    }

    /// A packet, or several, may come from `at` on.
    fn granted(&mut self, control: &Control, at: u64, actions: &mut Vec<SourceAction>) {
        if self.on_nack == OnNack::Reserve {
            return actions.push(resend(control.about, at));
        }
        let trouble = self.memory.troubles.get_mut(&control.from).expect("a grant was asked for");
        for packet in trouble.asked.drain(..) {
            self.memory.lossless.insert(packet);
            actions.push(resend(packet, at));
        }
        if !trouble.gathered.is_empty() {
            actions.push(trouble.ask(control.to, control.from));
        }
    }

    /// A speculative packet had an answer other than a NACK without a time.
    fn relieved(&mut self, destination: u32) {
        if let Some(trouble) = self.memory.troubles.get_mut(&destination) {
            trouble.nacks = 0;
            if *trouble == Trouble::default() {
                self.memory.troubles.remove(&destination);
            }
        }
    }

    fn escalates(&self) -> bool {
        matches!(self.on_nack, OnNack::Escalate(_))
    }
}

impl Trouble {
    /// One reservation for all that has gathered.
    fn ask(&mut self, source: u32, destination: u32) -> SourceAction {
        let flits = self.gathered.iter().map(|&(_, flits)| flits).sum();
        self.asked = self.gathered.drain(..).map(|(packet, _)| packet).collect();
        reservation(source, destination, self.asked[0], flits)
    }
}

fn reservation(source: u32, destination: u32, about: PacketRef, flits: u32) -> SourceAction {
    let ask = Control::new(kind::RESERVATION, source, destination, about);
    SourceAction::Control(ask.flits(flits))
}

impl Source for ByPacket {
    fn may_send(&mut self, _packet: &Outgoing, _now: u64, _actions: &mut Vec<SourceAction>) -> Verdict {
        Verdict::Send { kind: kind::SPECULATIVE, marks: 0 }
    }

    fn on_control(&mut self, control: &Control, latency: u64, now: u64, actions: &mut Vec<SourceAction>) {
        let packet = control.about;
        match (control.kind, control.time) {
            (kind::NACK, None) => self.nacked(control, now, actions),
            (kind::NACK, Some(time)) => {
                actions.push(resend(packet, self.lead.start(time, latency, now)));
                if self.escalates() {
                    self.memory.lossless.insert(packet);
                    self.relieved(control.from);
                }
            }
            (kind::GRANT, time) => {
                self.granted(control, self.lead.start(time.unwrap_or(now), latency, now), actions);
            }
            _ => {
                if self.escalates() && !self.memory.lossless.remove(&packet) {
                    self.relieved(control.from);
                }
                actions.push(SourceAction::Forget(packet));
            }
        }
    }

    fn is_idle(&self) -> bool {
        let waits = |trouble: &Trouble| !trouble.asked.is_empty() || !trouble.gathered.is_empty();
        self.memory.lossless.is_empty() && !self.memory.troubles.values().any(waits)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.memory, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.memory = remember(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use tailback_protocol::PacketKind;

    use super::*;

    fn packet(message: u32) -> PacketRef {
        PacketRef { message, index: 0 }
    }

    fn hear(source: &mut ByPacket, kind: PacketKind, message: u32, time: Option<u64>) -> Vec<SourceAction> {
        let mut actions = Vec::new();
        let control = Control { time, ..Control::new(kind, 9, 1, packet(message)).flits(4) };
        source.on_control(&control, 50, 100, &mut actions);
        actions
    }

    fn speculative(message: u32) -> SourceAction {
        SourceAction::Resend { packet: packet(message), kind: kind::SPECULATIVE, at: 100 }
    }

    #[test]
    fn smsrp_asks_after_a_drop_and_sends_at_the_time_that_is_granted() {
        let mut source = ByPacket::new(Lead::Latency, OnNack::Reserve);
        assert_eq!(hear(&mut source, kind::NACK, 3, None), [reservation(1, 9, packet(3), 4)]);
        assert_eq!(hear(&mut source, kind::GRANT, 3, Some(400)), [resend(packet(3), 350)]);
        assert_eq!(hear(&mut source, kind::ACKNOWLEDGEMENT, 3, None), [SourceAction::Forget(packet(3))]);
    }

    #[test]
    fn lhrp_sends_at_the_time_that_the_nack_names() {
        let mut source = ByPacket::new(Lead::Latency, OnNack::Escalate(Escalation { nacks: 3 }));
        assert_eq!(hear(&mut source, kind::NACK, 3, Some(120)), [resend(packet(3), 100)]);
        assert!(!source.is_idle());
        assert_eq!(hear(&mut source, kind::ACKNOWLEDGEMENT, 3, None), [SourceAction::Forget(packet(3))]);
        assert!(source.is_idle());
    }

    #[test]
    fn several_nacks_without_a_time_end_in_one_reservation_for_all() {
        let mut source = ByPacket::new(Lead::Latency, OnNack::Escalate(Escalation { nacks: 2 }));
        assert_eq!(hear(&mut source, kind::NACK, 1, None), [speculative(1)]);
        // An answer of another kind begins the count anew.
        hear(&mut source, kind::ACKNOWLEDGEMENT, 8, None);
        assert_eq!(hear(&mut source, kind::NACK, 2, None), [speculative(2)]);
        assert_eq!(hear(&mut source, kind::NACK, 1, None), [reservation(1, 9, packet(1), 4)]);
        // What is refused meanwhile gathers.
        assert_eq!(hear(&mut source, kind::NACK, 2, None), []);
        assert_eq!(hear(&mut source, kind::NACK, 3, None), []);
        let actions = hear(&mut source, kind::GRANT, 1, Some(300));
        assert_eq!(actions, [resend(packet(1), 250), reservation(1, 9, packet(2), 8)]);
        let actions = hear(&mut source, kind::GRANT, 2, Some(300));
        assert_eq!(actions, [resend(packet(2), 250), resend(packet(3), 250)]);
        for message in [1, 2, 3] {
            hear(&mut source, kind::ACKNOWLEDGEMENT, message, None);
        }
        assert!(source.is_idle());
        // Lossless packets that arrive say nothing about the destination: it is still not speculated for.
        assert_eq!(hear(&mut source, kind::NACK, 4, None), [reservation(1, 9, packet(4), 4)]);
    }

    #[test]
    fn what_it_remembers_can_be_written_and_read() {
        let mut source = ByPacket::new(Lead::Latency, OnNack::Escalate(Escalation { nacks: 1 }));
        hear(&mut source, kind::NACK, 1, None);
        let mut bytes = Vec::new();
        source.save(&mut bytes);
        let mut other = ByPacket::new(Lead::Latency, OnNack::Escalate(Escalation { nacks: 1 }));
        assert_eq!(other.load(&mut bytes.as_slice()), Some(()));
        assert_eq!(hear(&mut other, kind::GRANT, 1, Some(300)), [resend(packet(1), 250)]);
        assert_eq!(other.load(&mut [].as_slice()), None);
    }
}
