//! What happens to messages and packets that are traced, in words.

use std::collections::BTreeSet;

use tailback_network::{Blocked, Crossing, Hop, Occurrence, Place, Story, Subject, TraceEvent, TracedMessage, Waits};
use tailback_protocol::{Clock, KindDeclaration, Moment, PacketKind};
use tailback_scenario::Scenario;
use tailback_topology::{NodeId, Peer, RouterId};
use tailback_workload::Part;

use crate::message_trace::TraceLine;

/// What a message is called, of those that cross the network for one.
fn part_name(part: Part) -> &'static str {
    match part {
        Part::Whole | Part::Data(_) => "message",
        Part::Announcement(_) => "announcement",
        Part::Answer(_) => "answer",
    }
}

/// Puts events into words.
pub(crate) struct Teller<'s> {
    scenario: &'s Scenario,
    kinds: Vec<KindDeclaration>,
    clock: Clock,
    /// The message, if one is traced and not packets.
    message: Option<TracedMessage>,
    /// Packets of the message, and of its announcement and the answer, that have been sent: who sent them, of which message, and their indices.
    sent: BTreeSet<(NodeId, u32, u32)>,
}

impl<'s> Teller<'s> {
    pub fn new(scenario: &'s Scenario, message: Option<&TracedMessage>) -> Self {
        Self {
            scenario,
            kinds: scenario.protocol.built.kinds(),
            clock: Clock { ticks_per_cycle: scenario.clock.ticks_per_cycle },
            message: message.copied(),
            sent: BTreeSet::new(),
        }
    }

    /// What happens, in a line.
    pub fn line(&mut self, event: &TraceEvent) -> TraceLine {
        let cycle = event.tick as f64 / f64::from(self.clock.ticks_per_cycle);
        TraceLine {
            cycle,
            ns: self.scenario.clock.cycle_fs.map(|fs| cycle * fs as f64 / 1e6),
            place: match event.place {
                Place::Router(router) => format!("router {router}"),
                Place::Node(node) => format!("node {node}"),
            },
            packet: match event.what {
                Occurrence::Offered { part, .. } | Occurrence::Complete { part, .. } => part_name(part).to_owned(),
                _ => self.packet(event.subject),
            },
            event: self.words(event),
        }
    }

    /// The name of a flow.
    pub fn flow(&self, traffic: u16) -> &'s str {
        &self.scenario.workload.flows[usize::from(traffic)].name
    }

    /// What a packet is called: by its kind and its index in its message.
    pub fn packet(&self, subject: Subject) -> String {
        match subject {
            Subject::Message => "message".to_owned(),
            Subject::Packet { kind, index, .. } => format!("{} {index}", self.kind(kind).singular()),
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
            &Occurrence::Offered { part, traffic, flits, waiting, lost } => {
                let offered = self.offered((traffic, flits), waiting, lost);
                match part {
                    Part::Whole => offered,
                    Part::Announcement(number) | Part::Answer(number) | Part::Data(number) => {
                        format!("{offered}; number {number} between its ranks")
                    }
                }
            }
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
            Occurrence::Sent { vc, flits, created, story, says: None, .. } => {
                let again = if self.sent_before(event.subject) { "again " } else { "" };
                let (wait, why) = (self.long(event.tick - created), self.told(story, *created, event.tick));
                format!("sent {again}on VC {vc}: {flits} flits, {wait} after the message was offered{why}")
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
            Occurrence::Received { injected, hops, says: None, .. } => {
                let links = if *hops == 1 { "link" } else { "links" };
                format!("received {} after its first flit left, over {hops} {links}", self.long(event.tick - injected))
            }
            Occurrence::Received { injected, says: Some(says), .. } => {
                with(format!("received after {}", self.long(event.tick - injected)), says)
            }
            Occurrence::Complete { part, created } => {
                format!("complete {} after the {} was offered", self.long(event.tick - created), part_name(*part))
            }
        }
    }

    fn offered(&self, (traffic, flits): (u16, u32), waiting: u32, lost: bool) -> String {
        let others = match waiting {
            0 => "nothing else waits at its node".to_owned(),
            1 => "1 other message waits at its node".to_owned(),
            _ => format!("{waiting} other messages wait at its node"),
        };
        let flow = self.flow(traffic);
        let offered = format!("offered: {flits} flits of flow `{flow}`; {others}");
        if lost { format!("{offered}, as many as may: it is lost") } else { offered }
    }

    /// Whether a packet of the message has been sent before, as this kind or another; it has now.
    fn sent_before(&mut self, subject: Subject) -> bool {
        let is_again = matches!(subject, Subject::Packet { source, message, index, .. } if !self.sent.insert((source, message, index)));
        // Of packets of several messages it is not told.
        is_again && self.message.is_some()
    }

    /// Why a packet ends.
    fn at_moment(&self, subject: Subject, moment: Moment) -> String {
        match (moment, subject) {
            (Moment::Arrives, _) => "on arrival".to_owned(),
            (Moment::Expires, Subject::Packet { kind, .. }) => {
                let class = usize::from(self.kind(kind).class);
                let timeout = self.scenario.protocol.built.classes()[class].queueing_timeout;
                let cycles =
                    timeout.map_or_else(String::new, |timeout| format!(" {}", self.clock.cycles(timeout.ticks)));
                let queues =
                    if timeout.is_some_and(|timeout| timeout.in_output_queues) { " and output queues" } else { "" };
                format!("after more than{cycles} cycles in input buffers{queues}")
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

    /// What a packet waited for in its interface, from the offer of its message on, if that is known.
    fn told(&self, story: &Story, created: u64, sent: u64) -> String {
        let spans = stretches(story, Blocked::Behind, (created, sent));
        if story.changes().is_empty() || spans.is_empty() {
            return String::new();
        }
        let each: Vec<String> =
            spans.iter().map(|(why, from, to)| format!("{} {}", name(*why), self.clock.cycles(to - from))).collect();
        format!(" ({})", each.join(", "))
    }

    fn waits(&self, waits: &Waits) -> String {
        let each: Vec<String> =
            waits.each().map(|(blocked, ticks)| format!("{} {}", name(blocked), self.clock.cycles(ticks))).collect();
        if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) }
    }

    /// Where a port leads.
    pub fn far_end(&self, router: RouterId, port: u8) -> String {
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

/// What a packet waits for between two ticks, each with its begin and its end, none of them empty: first for `first`, and then for what the
/// story tells.
pub(crate) fn stretches(story: &Story, first: Blocked, (from, to): (u64, u64)) -> Vec<(Blocked, u64, u64)> {
    let changes = [(first, from)].into_iter().chain(story.changes().iter().copied()).collect::<Vec<_>>();
    let ends = changes.iter().skip(1).map(|&(_, next)| next).chain([to]);
    let spans = changes.iter().zip(ends).map(|(&(why, begin), end)| (why, begin.clamp(from, to), end.clamp(from, to)));
    spans.filter(|(_, begin, end)| begin < end).collect()
}

/// What a packet waits for.
pub(crate) fn name(blocked: Blocked) -> &'static str {
    match blocked {
        Blocked::Behind => "packets before it",
        Blocked::Pipeline => "pipeline",
        Blocked::Input => "crossbar input",
        Blocked::Routing => "routing",
        Blocked::VirtualChannel => "virtual channel",
        Blocked::Output => "crossbar output",
        Blocked::Paused => "a pause of its node",
        Blocked::OutputQueue => "output queue",
        Blocked::Credits => "credits",
        Blocked::Allocation => "allocation",
        Blocked::Protocol => "the protocol",
    }
}
