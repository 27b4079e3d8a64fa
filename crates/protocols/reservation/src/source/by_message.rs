//! SRP: one reservation per message, asked for before its first packet.
//!
//! ```text
//!                 first turn: reservation            NACK
//!   (not begun) ───────────────────────► speculating ───────► held
//!        │ small                              │ grant           │ grant
//!        ▼                                    ▼                 ▼
//!   lossless at once                      granted: what was dropped and what is left, lossless, from its time on
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailback_protocol::{
    Control, Outgoing, PacketKind, PacketRef, Source, SourceAction, Verdict, remember, write_down,
};

use super::resend;
use crate::schedule::Lead;
use crate::{RESERVED, kind};

/// What a message with a reservation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// A grant; its packets are sent speculatively meanwhile.
    Speculating,
    /// A grant; a packet has been dropped, and no more are sent.
    Held,
    /// Nothing: it has a time.
    Granted(u64),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    phase: Phase,
    /// Packets that were dropped before it was granted.
    dropped: Vec<u32>,
    /// A packet that has arrived and is not forgotten, so that its message is not done before the grant is here: a grant
    /// must not meet another message of the same name.
    anchor: Option<u32>,
}

/// The source of SRP.
#[derive(Clone, Debug)]
pub(crate) struct ByMessage {
    lead: Lead,
    /// Messages of fewer flits are sent without a reservation.
    bypass_below: u32,
    messages: BTreeMap<u32, Message>,
}

impl ByMessage {
    pub fn new(lead: Lead, bypass_below: u32) -> Self {
        Self { lead, bypass_below, messages: BTreeMap::new() }
    }

    /// Whether a message has, or asked for, a reservation of its own.
    pub fn knows(&self, message: u32) -> bool {
        self.messages.contains_key(&message)
    }
}

impl Source for ByMessage {
    fn may_send(&mut self, packet: &Outgoing, _now: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        if packet.message_flits < self.bypass_below {
            return Verdict::Send { kind: PacketKind::DATA, marks: 0 };
        }
        let PacketRef { message, .. } = packet.packet;
        self.messages.entry(message).or_insert_with(|| {
            let from = packet.source;
            let ask = Control::new(kind::RESERVATION, from, packet.destination, packet.packet);
            actions.push(SourceAction::Control(ask.flits(packet.message_flits)));
            Message { phase: Phase::Speculating, dropped: Vec::new(), anchor: None }
        });
        Verdict::Send { kind: kind::SPECULATIVE, marks: RESERVED }
    }

    fn on_control(&mut self, control: &Control, latency: u64, now: u64, actions: &mut Vec<SourceAction>) {
        let packet = control.about;
        let Some(message) = self.messages.get_mut(&packet.message) else {
            // It was sent without a reservation.
            return actions.push(SourceAction::Forget(packet));
        };
        match (control.kind, message.phase) {
            (kind::GRANT, phase) => {
                let at = self.lead.start(control.time.unwrap_or(now), latency, now);
                message.phase = Phase::Granted(at);
                if phase == Phase::Speculating {
                    actions.push(SourceAction::Withhold { message: packet.message });
                }
                message.dropped.sort_unstable();
                let again = message.dropped.drain(..).map(|index| resend(PacketRef { index, ..packet }, at));
                actions.extend(again);
                actions.push(SourceAction::Resume { message: packet.message, at });
                if let Some(index) = message.anchor.take() {
                    actions.push(SourceAction::Forget(PacketRef { index, ..packet }));
                }
            }
            (kind::NACK, Phase::Granted(at)) => actions.push(resend(packet, at.max(now))),
            (kind::NACK, phase) => {
                message.dropped.push(packet.index);
                if phase == Phase::Speculating {
                    message.phase = Phase::Held;
                    actions.push(SourceAction::Withhold { message: packet.message });
                }
            }
            (_, Phase::Speculating | Phase::Held) if message.anchor.is_none() => message.anchor = Some(packet.index),
            _ => actions.push(SourceAction::Forget(packet)),
        }
    }

    fn done(&mut self, message: u32) {
        self.messages.remove(&message);
    }

    fn is_idle(&self) -> bool {
        self.messages.is_empty()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.messages, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.messages = remember(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOUT: PacketRef = PacketRef { message: 7, index: 0 };

    fn source() -> ByMessage {
        ByMessage::new(Lead::Latency, 0)
    }

    fn turn(source: &mut ByMessage, index: u32) -> (Verdict, Vec<SourceAction>) {
        let mut actions = Vec::new();
        let packet = PacketRef { index, ..ABOUT };
        let outgoing = Outgoing { packet, source: 1, destination: 2, flits: 24, message_flits: 100 };
        (source.may_send(&outgoing, 10, &mut actions), actions)
    }

    fn hear(source: &mut ByMessage, kind: PacketKind, index: u32, time: Option<u64>, now: u64) -> Vec<SourceAction> {
        let mut actions = Vec::new();
        let control = Control { time, ..Control::new(kind, 2, 1, PacketRef { index, ..ABOUT }) };
        source.on_control(&control, 50, now, &mut actions);
        actions
    }

    #[test]
    fn a_message_asks_once_and_speculates_until_it_is_granted() {
        let mut source = source();
        let (verdict, actions) = turn(&mut source, 0);
        let speculative = Verdict::Send { kind: kind::SPECULATIVE, marks: RESERVED };
        assert_eq!(verdict, speculative);
        let ask = Control::new(kind::RESERVATION, 1, 2, ABOUT).flits(100);
        assert_eq!(actions, [SourceAction::Control(ask)]);
        assert_eq!(turn(&mut source, 1), (speculative, Vec::new()));
        // Granted for 400, of which word was in flight for 50 ticks: it starts at 350.
        let actions = hear(&mut source, kind::GRANT, 0, Some(400), 100);
        let resume = SourceAction::Resume { message: 7, at: 350 };
        assert_eq!(actions, [SourceAction::Withhold { message: 7 }, resume]);
        // What is dropped later comes again at the same time, or at once.
        assert_eq!(hear(&mut source, kind::NACK, 1, None, 200), [resend(PacketRef { index: 1, ..ABOUT }, 350)]);
        assert_eq!(hear(&mut source, kind::NACK, 0, None, 360), [resend(ABOUT, 360)]);
    }

    #[test]
    fn a_drop_holds_a_message_until_its_grant() {
        let mut source = source();
        turn(&mut source, 0);
        assert_eq!(hear(&mut source, kind::NACK, 1, None, 90), [SourceAction::Withhold { message: 7 }]);
        assert_eq!(hear(&mut source, kind::NACK, 0, None, 91), []);
        let again = [0, 1].map(|index| resend(PacketRef { index, ..ABOUT }, 120));
        let actions = hear(&mut source, kind::GRANT, 0, Some(130), 120);
        assert_eq!(actions[..2], again);
        assert_eq!(actions[2], SourceAction::Resume { message: 7, at: 120 });
    }

    #[test]
    fn a_message_that_got_through_waits_for_its_grant_all_the_same() {
        let mut source = source();
        turn(&mut source, 0);
        assert_eq!(hear(&mut source, kind::ACKNOWLEDGEMENT, 0, None, 90), []);
        let second = PacketRef { index: 1, ..ABOUT };
        assert_eq!(hear(&mut source, kind::ACKNOWLEDGEMENT, 1, None, 90), [SourceAction::Forget(second)]);
        assert!(!source.is_idle());
        let actions = hear(&mut source, kind::GRANT, 0, Some(130), 120);
        assert_eq!(actions.last(), Some(&SourceAction::Forget(ABOUT)));
        source.done(7);
        assert!(source.is_idle());
    }

    #[test]
    fn small_messages_may_go_without_a_reservation() {
        let mut source = ByMessage::new(Lead::Latency, 101);
        assert_eq!(turn(&mut source, 0), (Verdict::Send { kind: PacketKind::DATA, marks: 0 }, Vec::new()));
        assert_eq!(hear(&mut source, kind::ACKNOWLEDGEMENT, 0, None, 90), [SourceAction::Forget(ABOUT)]);
        assert!(source.is_idle());
    }
}
