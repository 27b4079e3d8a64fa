//! The ways of packets that are traced, as stretches of time one behind the other.
//!
//! **The invariant it keeps:** the stretches of a packet have no gaps and do not overlap: together they are as long as it took from its
//! creation to its end.

use std::collections::BTreeMap;
use std::fmt;

use tailback_network::{Blocked, Crossing, Hop, Occurrence, Place, Subject, TraceEvent};
use tailback_scenario::Scenario;
use tailback_topology::Port;

use crate::trace_words::{Teller, name, stretches};

/// The way of a packet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PacketPath {
    /// What it is called: its kind and its index in its message.
    pub name: String,
    /// The flow of its message, if that is known.
    pub flow: Option<String>,
    pub flits: u16,
    /// When its message was offered; of control, when it came to be.
    pub created: u64,
    /// When it left its node.
    pub sent: u64,
    /// When its last flit arrived, or it ended otherwise; none if it is still there.
    pub ended: Option<u64>,
    /// Whether it arrived.
    pub arrived: bool,
    /// Where it was, in order.
    pub stretches: Vec<Stretch>,
    /// Where its way ends as far as it is known, to go on from there.
    open: Option<(Place, Track)>,
}

/// A stretch of time of a packet, which is never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub from: u64,
    pub to: u64,
    pub place: Place,
    pub track: Track,
    /// What the packet does there, or waits for.
    pub what: &'static str,
}

/// Where in a router or an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Track {
    /// Among what waits to be sent.
    SendQueue,
    /// On the link from a node.
    Injection,
    /// In a buffer.
    Input { port: Port, vc: u8 },
    /// On the way to a port, and in its queue.
    Output { port: Port },
    /// On the link of a port.
    Link { port: Port },
    /// At the node that it is for.
    Delivery,
}

impl fmt::Display for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SendQueue => f.write_str("send queue"),
            Self::Injection => f.write_str("injection link"),
            Self::Input { port, vc } => write!(f, "input port {port} VC {vc}"),
            Self::Output { port } => write!(f, "output port {port}"),
            Self::Link { port } => write!(f, "link of port {port}"),
            Self::Delivery => f.write_str("delivery"),
        }
    }
}

impl Track {
    /// The part of a packet's way that it is.
    pub fn part(self) -> &'static str {
        match self {
            Self::SendQueue => "send queue",
            Self::Injection => "injection link",
            Self::Input { .. } => "input buffer",
            Self::Output { .. } => "output",
            Self::Link { .. } => "link",
            Self::Delivery => "delivery",
        }
    }
}

impl PacketPath {
    /// How long it took, or has taken until `now`.
    pub fn duration(&self, now: u64) -> u64 {
        self.ended.unwrap_or(now) - self.created
    }

    fn end(&self) -> u64 {
        self.stretches.last().map_or(self.created, |last| last.to)
    }

    /// It is somewhere until a tick.
    fn stay(&mut self, to: u64, place: Place, track: Track, what: &'static str) {
        let from = self.end();
        if from < to {
            self.stretches.push(Stretch { from, to, place, track, what });
        }
    }

    /// What it was on its way over is over.
    fn come(&mut self, at: u64) {
        if let Some((place, track)) = self.open.take() {
            let what = if track == Track::Injection { "on the injection link" } else { "on the link" };
            self.stay(at, place, track, what);
        }
    }

    /// It is in a router from a tick on, and leaves its buffer at `left`.
    fn hop(&mut self, event: &TraceEvent, hop: &Hop, left: u64, scenario: &Scenario) {
        self.come(event.tick);
        let input = Track::Input { port: hop.input.port, vc: hop.input.vc };
        for (why, _, to) in stretches(&hop.story, Blocked::Behind, (event.tick, left)) {
            self.stay(to, event.place, input, name(why));
        }
        let Some(Crossing { at, output, link_at }) = hop.crossing else { return };
        let output = Track::Output { port: output.port };
        let period = u64::from(scenario.clock.ticks_per_cycle);
        let crossed = (at + u64::from(scenario.network.router.crossbar_delay)).next_multiple_of(period);
        let Some(link_at) = link_at else {
            self.open = Some((event.place, output));
            return;
        };
        self.stay(crossed.min(link_at), event.place, output, "crossbar");
        self.stay(link_at, event.place, output, "output queue");
        self.open = match output {
            Track::Output { port } => Some((event.place, Track::Link { port })),
            _ => None,
        };
    }
}

/// The ways of all packets of which events tell, by when they appear first, and of each event which packet it is about. `now` is the end
/// of what was simulated.
pub(crate) fn packet_paths(
    scenario: &Scenario,
    events: &[TraceEvent],
    now: u64,
) -> (Vec<PacketPath>, Vec<Option<usize>>) {
    let teller = Teller::new(scenario, None);
    let (mut paths, mut known) = (Vec::<PacketPath>::new(), BTreeMap::new());
    // What ends a packet in a router is in another event than its way there.
    let mut ends = BTreeMap::new();
    for event in events {
        if let Occurrence::Dropped(_) | Occurrence::Trimmed(_) | Occurrence::Absorbed(_) = event.what {
            ends.insert((key(event.subject), event.place), event.tick);
        }
    }
    let mut about = Vec::new();
    for event in events {
        let Some(key) = key(event.subject) else {
            about.push(None);
            continue;
        };
        let number = *known.entry(key).or_insert(paths.len());
        if number == paths.len() {
            paths.push(begin(&teller, event));
        }
        about.push(Some(number));
        let path = &mut paths[number];
        match &event.what {
            Occurrence::Hop(hop) => {
                let end = ends.get(&(Some(key), event.place)).copied().filter(|&end| end >= event.tick);
                let left = hop.crossing.map(|crossing| crossing.at).or(end).unwrap_or(now);
                path.hop(event, hop, left, scenario);
            }
            Occurrence::Received { tail_lag, .. } => {
                path.come(event.tick - tail_lag);
                path.stay(event.tick, event.place, Track::Delivery, "the rest of its flits");
                (path.ended, path.arrived) = (Some(event.tick), true);
            }
            Occurrence::Dropped(_) | Occurrence::Absorbed(_) => path.ended = Some(event.tick),
            _ => {}
        }
    }
    paths.iter_mut().filter(|path| path.ended.is_none()).for_each(|path| path.leave_off(now));
    (paths, about)
}

impl PacketPath {
    /// It is still somewhere at the end.
    fn leave_off(&mut self, now: u64) {
        // When its link starts to send it may be known before that happens.
        self.stretches.retain(|stretch| stretch.from < now);
        self.stretches.iter_mut().for_each(|stretch| stretch.to = stretch.to.min(now));
        match self.open.take() {
            Some((place, track @ Track::Output { .. })) => self.stay(now, place, track, "output queue"),
            Some((place, track)) => self.stay(now, place, track, "on the link"),
            None => {}
        }
    }
}

/// A packet that appears: it leaves its node, or a router sends it.
fn begin(teller: &Teller<'_>, event: &TraceEvent) -> PacketPath {
    let Occurrence::Sent { flits, created, traffic, ref story, ref says, .. } = event.what else {
        let (flow, flits, open) = (None, 0, None);
        let (created, sent, ended, arrived) = (event.tick, event.tick, None, false);
        let name = teller.packet(event.subject);
        return PacketPath { name, flow, flits, created, sent, ended, arrived, stretches: Vec::new(), open };
    };
    let mut path = PacketPath {
        name: teller.packet(event.subject),
        flow: says.is_none().then(|| teller.flow(traffic).to_owned()),
        flits,
        created,
        sent: event.tick,
        ended: None,
        arrived: false,
        stretches: Vec::new(),
        open: None,
    };
    for (why, _, to) in stretches(story, Blocked::Behind, (created, event.tick)) {
        path.stay(to, event.place, Track::SendQueue, name(why));
    }
    path.open = Some((event.place, Track::Injection));
    path
}

/// What tells packets apart: who sent it and when, and its index in its message. Its kind may change on the way.
fn key(subject: Subject) -> Option<(u32, u64, u32)> {
    match subject {
        Subject::Message => None,
        Subject::Packet { source, injected, index, .. } => Some((source, injected, index)),
    }
}
