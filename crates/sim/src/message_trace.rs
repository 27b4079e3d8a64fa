//! The trace of a message, for people: a line for all that happened to its packets, and to the control packets about it.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use tailback_network::{
    Blocked, Crossing, Hop, Occurrence, Place, Subject, TRACE_EVENTS_MAX, TraceEvent, TracedMessage, Waits,
};
use tailback_protocol::{Clock, KindDeclaration, Moment, PacketKind};
use tailback_scenario::Scenario;
use tailback_topology::{Peer, RouterId};

/// The trace of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTrace {
    /// What happened, in order of time.
    pub lines: Vec<TraceLine>,
    /// Whether more happened than a trace has lines.
    pub is_cut: bool,
    /// Whether the message has neither arrived nor been lost, as far as the lines tell.
    pub is_under_way: bool,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceLine {
    /// When, in link cycles.
    pub cycle: f64,
    /// The same in nanoseconds, if the scenario has a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns: Option<f64>,
    /// Where: a router or the interface of a node.
    pub place: String,
    /// To what: the message, or a packet by its kind and its number in the message.
    pub packet: String,
    /// What.
    pub event: String,
}

impl MessageTrace {
    /// The trace of a message of a scenario, from what all regions have noted.
    pub(crate) fn new<'a>(
        scenario: &Scenario,
        message: &TracedMessage,
        regions: impl Iterator<Item = &'a [TraceEvent]>,
    ) -> Self {
        let (events, is_cut) = TraceEvent::in_order(regions);
        let mut teller = Teller::new(scenario, message);
        let is_over =
            |event: &TraceEvent| matches!(event.what, Occurrence::Complete | Occurrence::Offered { lost: true, .. });
        let is_under_way = !events.iter().any(is_over);
        Self { lines: events.iter().map(|event| teller.line(event)).collect(), is_cut, is_under_way }
    }
}

impl fmt::Display for MessageTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |title: &str, text: &dyn Fn(&TraceLine) -> usize| {
            self.lines.iter().map(text).max().unwrap_or(0).max(title.len())
        };
        let ns = |line: &TraceLine| line.ns.map_or_else(String::new, |ns| format!("{ns:.1}"));
        let cycle_width = width("cycle", &|line| line.cycle.to_string().len());
        let ns_width = width("ns", &|line| ns(line).len());
        let place_width = width("place", &|line| line.place.len());
        let packet_width = width("packet", &|line| line.packet.len());
        let has_clock = self.lines.iter().any(|line| line.ns.is_some());
        let mut row = |cycle: &str, ns: &str, place: &str, packet: &str, event: &str| {
            write!(f, "{cycle:>cycle_width$}  ")?;
            if has_clock {
                write!(f, "{ns:>ns_width$}  ")?;
            }
            writeln!(f, "{place:place_width$}  {packet:packet_width$}  {event}")
        };
        row("cycle", "ns", "place", "packet", "event")?;
        for line in &self.lines {
            row(&line.cycle.to_string(), &ns(line), &line.place, &line.packet, &line.event)?;
        }
        if self.is_cut {
            writeln!(f, "The trace goes on: it is cut off after {TRACE_EVENTS_MAX} lines.")?;
        } else if self.is_under_way {
            writeln!(f, "The simulation ends before the message is complete.")?;
        }
        Ok(())
    }
}

/// Puts events into words.
struct Teller<'s> {
    scenario: &'s Scenario,
    kinds: Vec<KindDeclaration>,
    clock: Clock,
    /// When the message was offered.
    created: u64,
    flow: &'s str,
    /// Packets of the message that have been sent.
    sent: BTreeSet<u32>,
}

impl<'s> Teller<'s> {
    fn new(scenario: &'s Scenario, message: &TracedMessage) -> Self {
        Self {
            scenario,
            kinds: scenario.protocol.built.kinds(),
            clock: Clock { ticks_per_cycle: scenario.clock.ticks_per_cycle },
            created: message.created,
            flow: &scenario.workload.flows[usize::from(message.traffic)].name,
            sent: BTreeSet::new(),
        }
    }

    fn line(&mut self, event: &TraceEvent) -> TraceLine {
        let cycle = event.tick as f64 / f64::from(self.clock.ticks_per_cycle);
        TraceLine {
            cycle,
            ns: self.scenario.clock.cycle_fs.map(|fs| cycle * fs as f64 / 1e6),
            place: match event.place {
                Place::Router(router) => format!("router {router}"),
                Place::Node(node) => format!("node {node}"),
            },
            packet: match event.subject {
                Subject::Message => "message".to_owned(),
                Subject::Packet { kind, index, .. } => format!("{} {index}", self.kind(kind).singular()),
            },
            event: self.words(event),
        }
    }

    fn kind(&self, kind: PacketKind) -> &KindDeclaration {
        &self.kinds[kind.index()]
    }

    /// A duration with its unit.
    fn long(&self, ticks: u64) -> String {
        let plural = if ticks == u64::from(self.clock.ticks_per_cycle) { "" } else { "s" };
        format!("{} cycle{plural}", self.clock.cycles(ticks))
    }

    fn words(&mut self, event: &TraceEvent) -> String {
        let cycles = |ticks| self.clock.cycles(ticks);
        match &event.what {
            &Occurrence::Offered { flits, waiting, lost } => self.offered(flits, waiting, lost),
            Occurrence::Held { index, until: Some(tick) } => {
                format!("packet {index} has its turn: not before cycle {}", cycles(*tick))
            }
            Occurrence::Held { index, until: None } => format!("packet {index} has its turn: held by the source"),
            Occurrence::Withheld => "what has not been sent leaves the send queue and waits for a time".to_owned(),
            Occurrence::Resumed(tick) => format!("what was withheld may leave from cycle {} on", cycles(*tick)),
            Occurrence::Resent { packet, kind, at } => {
                let name = self.kind(*kind).singular();
                format!("packet {} is to leave again as {name}, from cycle {} on", packet.index, cycles(*at))
            }
            Occurrence::Timer(tick) => format!("the source sets a timer for cycle {}", cycles(*tick)),
            Occurrence::Forgotten => "all packets are through: the source's interface forgets the message".to_owned(),
            &Occurrence::Sent { vc, flits, created, says: None } => {
                let again = if self.sent_before(event.subject) { "again " } else { "" };
                let wait = self.long(event.tick - created);
                format!("sent {again}on VC {vc}: {flits} flits, {wait} after the message was offered")
            }
            Occurrence::Sent { vc, created, says: Some(says), .. } => {
                let wait = match event.tick - created {
                    0 => String::new(),
                    ticks => format!(" after {} in the interface", self.long(ticks)),
                };
                with(format!("sent on VC {vc}{wait}"), says)
            }
            Occurrence::Hop(hop) => self.hop(event, hop),
            Occurrence::Injected { says } => with("sent by the router".to_owned(), says),
            Occurrence::Decided(text) => text.clone(),
            Occurrence::Marked { before, after } => format!("marks {before:#x} become {after:#x}"),
            Occurrence::Dropped(moment) => format!("dropped {}", self.at_moment(event.subject, *moment)),
            Occurrence::Trimmed(moment) => format!("trimmed {}", self.at_moment(event.subject, *moment)),
            Occurrence::Absorbed(_) => "ends here: the router answers".to_owned(),
            Occurrence::Received { injected, hops, says: None } => {
                let links = if *hops == 1 { "link" } else { "links" };
                format!("received {} after its first flit left, over {hops} {links}", self.long(event.tick - injected))
            }
            Occurrence::Received { injected, says: Some(says), .. } => {
                with(format!("received after {}", self.long(event.tick - injected)), says)
            }
            Occurrence::Complete => {
                format!("complete {} after the message was offered", self.long(event.tick - self.created))
            }
        }
    }

    fn offered(&self, flits: u32, waiting: u32, lost: bool) -> String {
        let others = match waiting {
            0 => "nothing else waits at its node".to_owned(),
            1 => "1 other message waits at its node".to_owned(),
            _ => format!("{waiting} other messages wait at its node"),
        };
        let offered = format!("offered: {flits} flits of flow `{}`; {others}", self.flow);
        if lost { format!("{offered}, as many as may: it is lost") } else { offered }
    }

    /// Whether a packet of the message has been sent before, as this kind or another; it has now.
    fn sent_before(&mut self, subject: Subject) -> bool {
        matches!(subject, Subject::Packet { index, .. } if !self.sent.insert(index))
    }

    /// Why a packet ends.
    fn at_moment(&self, subject: Subject, moment: Moment) -> String {
        match (moment, subject) {
            (Moment::Arrives, _) => "on arrival".to_owned(),
            (Moment::Expires, Subject::Packet { kind, .. }) => {
                let class = usize::from(self.kind(kind).class);
                let timeout = self.scenario.protocol.built.classes()[class].queueing_timeout;
                let timeout = timeout.map_or_else(String::new, |ticks| format!(" {}", self.clock.cycles(ticks)));
                format!("after more than{timeout} cycles in input buffers")
            }
            _ => "as it asks for the crossbar".to_owned(),
        }
    }

    fn hop(&self, event: &TraceEvent, hop: &Hop) -> String {
        let Place::Router(router) = event.place else { unreachable!("hops are in routers") };
        let input = format!("port {} VC {}", hop.input.port, hop.input.vc);
        let waits = self.waits(&hop.waits);
        let Some(Crossing { at, output, link_at }) = hop.crossing else {
            return match hop.blocked {
                Some((blocked, since)) => {
                    let since = self.clock.cycles(since);
                    format!("{input}: still there; waits{waits}, since cycle {since} for {}", name(blocked))
                }
                None if waits.is_empty() => format!("{input}: ends here at once"),
                None => format!("{input}: waits{waits} and ends here"),
            };
        };
        let crosses = match at - event.tick {
            0 => "crosses at once".to_owned(),
            ticks => format!("crosses at {} after {}{waits}", self.clock.cycles(at), self.clock.cycles(ticks)),
        };
        let link = match link_at {
            Some(tick) => format!("on the link at {}{}", self.clock.cycles(tick), self.queued(at, tick)),
            None => "still in the output queue".to_owned(),
        };
        let (port, vc) = (output.port, output.vc);
        format!("{input} → port {port} VC {vc} {}: {crosses}, {link}", self.far_end(router, port))
    }

    /// What a packet waited for in an output queue, beyond the time that it needs to get there.
    fn queued(&self, crossed: u64, link_at: u64) -> String {
        let period = u64::from(self.clock.ticks_per_cycle);
        let earliest = (crossed + u64::from(self.scenario.network.router.crossbar_delay)).next_multiple_of(period);
        match link_at.saturating_sub(earliest) {
            0 => String::new(),
            ticks => format!(" after {} in the output queue", self.clock.cycles(ticks)),
        }
    }

    fn waits(&self, waits: &Waits) -> String {
        let each: Vec<String> =
            waits.each().map(|(blocked, ticks)| format!("{} {}", name(blocked), self.clock.cycles(ticks))).collect();
        if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) }
    }

    /// Where a port leads.
    fn far_end(&self, router: RouterId, port: u8) -> String {
        let graph = self.scenario.topology.built.graph();
        match graph.peer(router, port) {
            Peer::Node(node) => format!("to node {node}"),
            Peer::Router { router: next, .. } => {
                let class = graph.link_classes()[graph.link_class(router, port).index()];
                format!("to router {next} ({class})")
            }
            Peer::Nothing => "to nothing".to_owned(),
        }
    }
}

/// Something, and what it says, if it says anything.
fn with(what: String, says: &str) -> String {
    if says.is_empty() { what } else { format!("{what}: {says}") }
}

/// What a packet waits for.
fn name(blocked: Blocked) -> &'static str {
    match blocked {
        Blocked::Behind => "packets before it",
        Blocked::Pipeline => "pipeline",
        Blocked::Input => "crossbar input",
        Blocked::Routing => "routing",
        Blocked::VirtualChannel => "virtual channel",
        Blocked::Output => "crossbar output",
        Blocked::OutputQueue => "output queue",
        Blocked::Credits => "credits",
        Blocked::Allocation => "allocation",
    }
}
