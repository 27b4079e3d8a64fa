//! The sending side: a request for each segment of a message, and speculative packets until it is granted.
//!
//! ```text
//!                first turn: request            NACK
//!   (not begun) ────────────────────► speculating ────► held
//!        │ small                        │  ▲ retry: asks   │  ▲ the same
//!        │                              │  └──────┘ again   │  └──┘
//!        ▼                        grant ▼                   ▼ grant
//!   lossless at once            granted: what was dropped and what is left, lossless, from its time on
//! ```
//!
//! A send queue has one segment under way. It is over when each of its packets has been acknowledged or has left as lossless data, and
//! the next one begins. With requests on NACKs only, a segment asks when its first packet has been dropped.
//!
//! What was granted goes before what is speculative: while a segment sends in its time, others of the node send nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailback_protocol::{
    Control, Outgoing, PacketKind, PacketRef, Source, SourceAction, Verdict, remember, write_down,
};
use tailback_random::scramble;
use tailback_reservation::{Lead, resend};

use crate::table::{Grid, Slots};
use crate::{SMALL, kind};

/// When a segment asks for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskWhen {
    /// Before its first packet.
    AtOnce,
    /// When its first packet has been dropped.
    OnNack,
}

/// When, and for how much, sources ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    /// Segments of fewer flits take no part.
    pub smallest: u32,
    /// Flits of the largest segment.
    pub largest: u32,
    /// When a segment asks.
    pub when: AskWhen,
    /// Slots that each channel reserves eagerly for a request.
    pub eager: u8,
    /// Retries of a segment after which each further one has one more slot reserved.
    pub more_eager_after: Option<u32>,
    /// Ticks from a retry to the next request.
    pub retry_after: u64,
    /// Ticks that are added to those by chance, at most.
    pub retry_spread: u64,
    /// When what was granted is sent.
    pub lead: Lead,
}

/// What a segment does with its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// They are sent speculatively.
    Speculating,
    /// One has been dropped: no more are sent.
    Held,
    /// They are sent as lossless data, from a tick on.
    Granted(u64),
}

/// What a segment has heard of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Request {
    /// It has not asked.
    Unasked,
    /// Nothing yet.
    Asked,
    /// It is to ask again at a tick.
    Again(u64),
    /// It has been granted.
    Granted,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Segment {
    source: u32,
    message: u32,
    /// Its first packet, and how many there are.
    first: u32,
    packets: u32,
    flits: u32,
    phase: Phase,
    request: Request,
    /// Requests so far.
    asked: u32,
    /// Packets that were dropped before it was granted.
    dropped: Vec<u32>,
    /// Packets that have neither been acknowledged nor left as lossless data.
    open: u32,
    /// Packets that have not left.
    unsent: u32,
    /// When it asked last, and how long the answer took to a request before that.
    asked_at: u64,
    round_trip: u64,
}

impl Segment {
    fn has(&self, packet: PacketRef) -> bool {
        packet.message == self.message && (self.first..self.first + self.packets).contains(&packet.index)
    }

    /// The value by which routing chooses the channel of its request and of its lossless data.
    fn entropy(&self) -> u16 {
        let name = u64::from(self.source) << 32 | u64::from(self.message);
        ((scramble(scramble(name) ^ u64::from(self.first)) >> 48) as u16).max(1)
    }
}

/// The source of CRP.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    asking: Asking,
    grid: Grid,
    packet_flits: u32,
    /// By destination, the segment that is under way.
    segments: BTreeMap<u32, Segment>,
    /// By destination, from when on a granted segment sends that has packets left.
    reserved: BTreeMap<u32, u64>,
    /// Destinations whose speculative packets wait until such a segment has sent them.
    outranked: Vec<u32>,
}

impl Sender {
    pub fn new(asking: Asking, grid: Grid, packet_flits: u16) -> Self {
        Self {
            asking,
            grid,
            packet_flits: packet_flits.into(),
            segments: BTreeMap::new(),
            reserved: BTreeMap::new(),
            outranked: Vec::new(),
        }
    }

    /// The segment that begins with a packet, unless it is too small to take part.
    fn segment_of(&self, packet: &Outgoing) -> Option<Segment> {
        let packets_max = (self.asking.largest / self.packet_flits).max(1);
        let first = packet.packet.index - packet.packet.index % packets_max;
        let flits = (packet.message_flits - first * self.packet_flits).min(packets_max * self.packet_flits);
        let packets = flits.div_ceil(self.packet_flits);
        (flits >= self.asking.smallest).then(|| Segment {
            source: packet.source,
            message: packet.packet.message,
            first,
            packets,
            flits,
            phase: Phase::Speculating,
            request: Request::Unasked,
            asked: 0,
            dropped: Vec::new(),
            open: packets,
            unsent: packets,
            asked_at: 0,
            round_trip: 0,
        })
    }

    /// The segment under way to a destination asks.
    fn ask(&mut self, destination: u32, now: u64, actions: &mut Vec<SourceAction>) {
        let segment = self.segments.get_mut(&destination).expect("a segment asks that is under way");
        let more = self.asking.more_eager_after.map_or(0, |after| segment.asked.saturating_sub(after));
        let eager = u32::from(self.asking.eager).saturating_add(more).min(self.grid.cells) as u8;
        segment.asked += 1;
        (segment.request, segment.asked_at) = (Request::Asked, now);
        let about = PacketRef { message: segment.message, index: segment.first };
        let ask = Control::new(kind::REQUEST, segment.source, destination, about);
        // Slots that are over when the answer is back are of no use to a channel on the way.
        let back = if segment.round_trip < self.grid.slot_ticks() { now } else { now + segment.round_trip };
        let ask = ask.flits(segment.flits).payload(&Slots::from_tick(self.grid, now, back).words());
        actions.push(SourceAction::Control(Control { marks: eager, entropy: segment.entropy(), ..ask }));
    }

    /// The segment under way to a destination may send from a tick on.
    fn granted(&mut self, destination: u32, at: u64, actions: &mut Vec<SourceAction>) {
        let segment = self.segments.get_mut(&destination).expect("a segment is granted that is under way");
        (segment.request, segment.phase) = (Request::Granted, Phase::Granted(at));
        segment.dropped.sort_unstable();
        let message = segment.message;
        actions.extend(segment.dropped.drain(..).map(|index| resend(PacketRef { message, index }, at)));
        if segment.unsent > 0 {
            self.reserved.insert(destination, at);
        }
        actions.push(SourceAction::Open { destination });
    }

    /// The answer to the verdict about a speculative packet: it waits while a granted segment sends.
    fn speculate(&mut self, destination: u32, now: u64) -> Verdict {
        if self.sends_reserved(now) {
            self.outranked.push(destination);
            return Verdict::Hold;
        }
        Verdict::Send { kind: kind::SPECULATIVE, marks: 0 }
    }

    /// Whether a segment has packets left that it sends now as they were granted.
    fn sends_reserved(&self, now: u64) -> bool {
        self.reserved.values().any(|&at| at <= now)
    }

    /// When a segment asks again that was told to, perhaps so that the request comes at a tick.
    fn next_request(&self, segment: &Segment, retry: &Control, latency: u64, now: u64) -> u64 {
        let name = u64::from(segment.source) << 32 | u64::from(segment.message);
        let draw = scramble(scramble(name) ^ u64::from(segment.asked));
        let by_chance = draw % (self.asking.retry_spread + 1);
        let to_come_then = retry.time.map_or(0, |tick| tick.saturating_sub(latency));
        to_come_then.max(now + self.asking.retry_after + by_chance)
    }

    fn nacked(&mut self, packet: PacketRef, destination: u32, now: u64, actions: &mut Vec<SourceAction>) {
        let segment = self.segments.get_mut(&destination).filter(|segment| segment.has(packet));
        let segment = segment.expect("what is dropped is of the segment that is under way");
        if let Phase::Granted(at) = segment.phase {
            return actions.push(resend(packet, at.max(now)));
        }
        segment.phase = Phase::Held;
        segment.dropped.push(packet.index);
        if segment.request == Request::Unasked {
            self.ask(destination, now, actions);
        }
    }

    /// A packet has been acknowledged, or has left as lossless data.
    fn settle(&mut self, packet: PacketRef, destination: u32, actions: &mut Vec<SourceAction>) {
        let Some(segment) = self.segments.get_mut(&destination).filter(|segment| segment.has(packet)) else { return };
        segment.open -= 1;
        if segment.open == 0 {
            self.segments.remove(&destination);
            actions.push(SourceAction::Open { destination });
        }
    }
}

impl Source for Sender {
    fn may_send(&mut self, packet: &Outgoing, now: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        let destination = packet.destination;
        let Some(segment) = self.segments.get(&destination) else {
            let Some(segment) = self.segment_of(packet) else {
                return Verdict::Send { kind: PacketKind::DATA, marks: SMALL };
            };
            self.segments.insert(destination, segment);
            if self.asking.when == AskWhen::AtOnce {
                self.ask(destination, now, actions);
            }
            return self.speculate(destination, now);
        };
        match segment.phase {
            _ if !segment.has(packet.packet) => Verdict::Hold,
            Phase::Speculating => self.speculate(destination, now),
            Phase::Held => Verdict::Hold,
            Phase::Granted(at) if now < at => Verdict::NotBefore(at),
            Phase::Granted(_) => Verdict::Send { kind: PacketKind::DATA, marks: 0 },
        }
    }

    /// Lossless data takes the channel that its request has asked; what is speculative or takes no part takes any.
    fn entropy(&mut self, packet: &Outgoing, _now: u64) -> u16 {
        let segment = self.segments.get(&packet.destination).filter(|segment| segment.has(packet.packet));
        match segment {
            Some(segment) if matches!(segment.phase, Phase::Granted(_)) => segment.entropy(),
            _ => 0,
        }
    }

    fn sent(&mut self, packet: &Outgoing, _now: u64) {
        let segment = self.segments.get_mut(&packet.destination).filter(|segment| segment.has(packet.packet));
        let Some(segment) = segment else { return };
        segment.unsent -= 1;
        if segment.unsent == 0 {
            self.reserved.remove(&packet.destination);
        }
    }

    fn gone(&mut self, packet: &Outgoing, now: u64, actions: &mut Vec<SourceAction>) {
        self.settle(packet.packet, packet.destination, actions);
        if !(self.outranked.is_empty() || self.sends_reserved(now)) {
            actions.extend(self.outranked.drain(..).map(|destination| SourceAction::Open { destination }));
        }
    }

    fn on_control(&mut self, control: &Control, latency: u64, now: u64, actions: &mut Vec<SourceAction>) {
        let (packet, destination) = (control.about, control.from);
        match control.kind {
            kind::NACK => self.nacked(packet, destination, now, actions),
            kind::ACKNOWLEDGEMENT => {
                actions.push(SourceAction::Forget(packet));
                self.settle(packet, destination, actions);
            }
            answer => {
                // A segment may have got through before its answer is here: then nobody waits for that.
                let lead = self.asking.lead;
                let waits = |segment: &&Segment| segment.first == packet.index && segment.has(packet);
                let Some(segment) = self.segments.get(&destination).filter(waits) else { return };
                if answer == kind::GRANT {
                    let at = lead.start(control.time.unwrap_or(now), latency, now);
                    return self.granted(destination, at, actions);
                }
                let at = self.next_request(segment, control, latency, now);
                let round_trip = now - segment.asked_at;
                let segment = Segment { request: Request::Again(at), round_trip, ..segment.clone() };
                self.segments.insert(destination, segment);
                actions.push(SourceAction::Timer { at, token: destination });
            }
        }
    }

    fn on_timer(&mut self, token: u32, now: u64, actions: &mut Vec<SourceAction>) {
        let due = |segment: &Segment| matches!(segment.request, Request::Again(at) if at <= now);
        if self.segments.get(&token).is_some_and(due) {
            self.ask(token, now, actions);
        }
    }

    fn is_idle(&self) -> bool {
        self.segments.is_empty()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.segments, &self.reserved, &self.outranked), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.segments, self.reserved, self.outranked) = remember(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests;
