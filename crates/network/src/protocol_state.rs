//! The protocol's part of a region, and what passes between it and packets.
//!
//! **What this module must never know:** what any protocol makes of it.
//!
//! **The invariant it keeps:** a protocol that has no part of some kind has none here, and nobody is asked.

use tailback_protocol::{
    Control, Direction, KindDeclaration, PacketKind, PacketRef, PathUse, RecordedPath, Sink, SinkAction, Source,
    SourceAction, Switch, SwitchAction, remember, write_down,
};
use tailback_random::Stream;
use tailback_routing::Header;
use tailback_topology::RouterId;

use crate::fabric::Fabric;
use crate::packet::{NONE, Packet, UNNAMED, index_and_flags};
use crate::payload::Payloads;
use crate::time::Time;

/// The purpose of the random streams of switches; entities are routers.
const SWITCHES: u64 = 1 << 34;

/// The protocol's part of a region.
#[derive(Default)]
pub struct ProtocolState {
    /// By node; none if messages are sent as soon as they can.
    pub sources: Vec<Box<dyn Source>>,
    /// By node; none if nothing is answered.
    pub sinks: Vec<Box<dyn Sink>>,
    /// By router; none if routers do nothing.
    pub switches: Vec<Box<dyn Switch>>,
    /// The random streams of the switches, by router, if they draw.
    pub streams: Vec<Stream>,
    /// Packets that routers have dropped in this tick.
    pub dropped: Vec<Packet>,
    /// What is wanted done, for the moment.
    pub actions: Vec<SourceAction>,
    pub sink_actions: Vec<SinkAction>,
    pub switch_actions: Vec<SwitchAction>,
}

impl ProtocolState {
    pub fn new(fabric: &Fabric, nodes: usize, routers: &[RouterId]) -> Self {
        let (protocol, station) = (fabric.protocol.as_ref(), fabric.station());
        let stream = |&router: &RouterId| Stream::new(fabric.seed, router.into(), SWITCHES);
        Self {
            sources: (0..nodes).filter_map(|_| protocol.source(&station)).collect(),
            sinks: (0..nodes).filter_map(|_| protocol.sink(&station)).collect(),
            switches: routers.iter().filter_map(|_| protocol.switch(&station)).collect(),
            streams: if protocol.switch_needs().random { routers.iter().map(stream).collect() } else { Vec::new() },
            ..Self::default()
        }
    }

    pub fn save(&self, bytes: &mut Vec<u8>) {
        self.sources.iter().for_each(|source| source.save(bytes));
        self.sinks.iter().for_each(|sink| sink.save(bytes));
        self.switches.iter().for_each(|switch| switch.save(bytes));
        write_down(&self.streams, bytes);
    }

    pub fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.sources.iter_mut().try_for_each(|source| source.load(bytes))?;
        self.sinks.iter_mut().try_for_each(|sink| sink.load(bytes))?;
        self.switches.iter_mut().try_for_each(|switch| switch.load(bytes))?;
        self.streams = remember(bytes)?;
        Some(())
    }
}

impl Packet {
    /// What its source calls it.
    #[inline]
    pub(crate) fn name(&self) -> PacketRef {
        PacketRef { message: self.message, index: self.index() }
    }

    /// What it says, if it is a control packet; `slot` is where it is in the pool.
    pub(crate) fn control(&self, slot: u32, payloads: &Payloads, fabric: &Fabric) -> Option<Control> {
        let declaration = &fabric.kinds[self.kind.index()];
        let (flits, time) = match declaration.direction {
            Direction::Data | Direction::LossyData => return None,
            Direction::Request | Direction::Trimmed => (self.word, None),
            Direction::Feedback | Direction::Nack => {
                (self.about_flits.into(), (self.word != UNNAMED).then_some(self.word.into()))
            }
        };
        let Self { kind, source, destination, marks, header: Header { entropy, .. }, .. } = *self;
        let payload = payloads.of(slot, declaration.payload_words).to_vec();
        let path = match declaration.path {
            PathUse::None => RecordedPath::default(),
            PathUse::Records | PathUse::Follows => payloads.path(slot, declaration),
        };
        Some(Control {
            kind,
            from: source,
            to: destination,
            about: self.name(),
            flits,
            time,
            marks,
            entropy,
            payload,
            path,
        })
    }

    /// Its data is cut off: it goes on as a packet of another kind, from the router that has done that.
    pub(crate) fn trim(&mut self, kind: PacketKind, fabric: &Fabric, now: Time) {
        let &KindDeclaration { direction, class, flits, .. } = &fabric.kinds[kind.index()];
        assert!(direction == Direction::Trimmed, "a packet is trimmed to {direction:?}");
        let header = Header::new(self.header.destination()).with_entropy(self.header.entropy);
        let index_and_flags = index_and_flags(self.index(), self.is_last());
        let (word, vc) = (self.flits.into(), fabric.spec.classes[usize::from(class)].first_vc[0]);
        let traced = self.is_traced();
        *self =
            Self { kind, class, flits, header, index_and_flags, word, vc, head_at: now, tail_lag: 0, ..self.clone() };
        self.set_traced(traced);
    }

    /// A control packet that begins its way now.
    pub(crate) fn of_control(control: &Control, fabric: &Fabric, now: Time) -> Self {
        let &Control { kind, from, to, about, flits, time, marks, entropy, .. } = control;
        let declaration = &fabric.kinds[kind.index()];
        // A tick beyond the end of time is never reached, whichever it is.
        let tick = |tick: u64| u32::try_from(tick).map_or(UNNAMED - 1, |tick| tick.min(UNNAMED - 1));
        let (about_flits, word) = match declaration.direction {
            Direction::Request | Direction::Trimmed => (0, flits),
            _ => (flits as u16, time.map_or(UNNAMED, tick)),
        };
        Self {
            created: now,
            injected: now,
            head_at: now,
            tail_lag: 0,
            next: NONE,
            source: from,
            destination: to,
            message: about.message,
            index_and_flags: index_and_flags(about.index, true),
            header: Header::new(fabric.locator(to)).with_entropy(entropy),
            flits: declaration.flits,
            traffic: 0,
            class: declaration.class,
            vc: 0,
            vcs: 1,
            hops: 0,
            kind,
            marks,
            about_flits,
            word,
        }
    }
}
