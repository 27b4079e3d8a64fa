//! What the ranks of a run would write each other, found out without building anything.
//!
//! What is to be expected follows from paths: some packets of each flow are drawn as its sources draw them, and taken through an empty network by the
//! routing of the scenario. Each crossing from a region of one rank to one of another is a packet in a letter, and a credit in the letter of the next
//! window in return. Adaptive routing would spread them more in a network that is full.

use std::collections::BTreeMap;
use std::ops::Range;

use tailback_engine::{ENVELOPE_BYTES, Stream};
use tailback_network::{CREDIT_LETTER_BYTES, MAIL_LETTER_BYTES, NetworkPlan, PACKET_LETTER_BYTES};
use tailback_scenario::Scenario;
use tailback_topology::{Peer, Port, RouterId, Topology};
use tailback_workload::{Phase, Traffic};

use crate::trace::Tracer;

/// What a rank sends the others in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mail {
    pub bytes: u64,
    pub bytes_max: u64,
}

/// Packets that are drawn of each phase of a flow: for so many, and so many for each rank.
const PACKETS: usize = 1 << 16;
const PACKETS_PER_RANK: usize = 1 << 10;
/// The last number of the streams that they are drawn from.
const MAIL_STREAM: u64 = u64::MAX;
/// No more than that, however many ranks there are.
const PACKETS_MAX: usize = 1 << 21;

/// What stands before the mail of a region for another one in a letter.
const HEADING_BYTES: u64 = ENVELOPE_BYTES + MAIL_LETTER_BYTES;

/// Who has which router.
struct Owners<'p> {
    plan: &'p NetworkPlan,
    /// By region.
    ranks: Vec<usize>,
}

impl Owners<'_> {
    /// The region of a router, and its rank.
    fn of(&self, router: RouterId) -> (u32, usize) {
        let region = self.plan.partition.region_of(router);
        (region, self.ranks[region as usize])
    }
}

/// Mail of each rank that has these regions.
pub(crate) fn mail(scenario: &Scenario, plan: &NetworkPlan, shares: &[Range<usize>]) -> Vec<Mail> {
    let mut mail = vec![Mail::default(); shares.len()];
    let Some(window) = plan.partition.lookahead(plan.topology.as_ref(), &plan.spec) else { return mail };
    let mut ranks = vec![0; plan.partition.regions() as usize];
    for (rank, regions) in shares.iter().enumerate() {
        ranks[regions.clone()].fill(rank);
    }
    let owners = Owners { plan, ranks };
    busy(&owners, window, &mut mail);
    // Without other ranks that have regions nothing is sent, and nothing has to be drawn.
    if mail.iter().any(|mail| mail.bytes_max > 0) {
        expected(scenario, &owners, window, &mut mail);
    }
    mail
}

/// The router that holds what is behind a port, if there is anything: a node is where it injects.
fn behind(topology: &dyn Topology, router: RouterId, port: Port) -> Option<RouterId> {
    match topology.peer(router, port) {
        Peer::Router { router, .. } => Some(router),
        Peer::Node(node) => Some(topology.injection(node).0),
        Peer::Nothing => None,
    }
}

/// What each rank sends at most: packets of the largest size one after the other on all links to others, and the credits of such packets on all links
/// from them.
fn busy(owners: &Owners<'_>, window: u64, mail: &mut [Mail]) {
    let (topology, spec) = (owners.plan.topology.as_ref(), &owners.plan.spec);
    let mut pairs = BTreeMap::new();
    for router in 0..topology.routers() {
        for port in (0..topology.ports(router)).map(|port| port as Port) {
            let Some(far) = behind(topology, router, port) else { continue };
            let ((region, from), (far_region, to)) = (owners.of(router), owners.of(far));
            if from != to {
                let link = &spec.links[topology.link_class(router, port).index()];
                let packet_ticks = u64::from(link.flit_ticks) * u64::from(spec.packet_flits_max);
                let packets = window.div_ceil(packet_ticks.max(1));
                mail[from].bytes_max += packets * PACKET_LETTER_BYTES;
                mail[to].bytes_max += packets * CREDIT_LETTER_BYTES;
                pairs.insert((region, far_region), from);
                pairs.insert((far_region, region), to);
            }
        }
    }
    pairs.into_values().for_each(|from| mail[from].bytes_max += HEADING_BYTES);
}

/// Packets and credits that a region sends another in a window, on average.
#[derive(Clone, Copy, Default)]
struct Sent {
    packets: f64,
    credits: f64,
}

/// What each rank sends on average.
fn expected(scenario: &Scenario, owners: &Owners<'_>, window: u64, mail: &mut [Mail]) {
    let cycles = scenario.measure.warmup + scenario.measure.cycles;
    let window_cycles = window as f64 / f64::from(scenario.clock.ticks_per_cycle);
    let draws = (PACKETS_PER_RANK * mail.len()).clamp(PACKETS, PACKETS_MAX);
    let mut sent: BTreeMap<(u32, u32), Sent> = BTreeMap::new();
    let mut tracer = Tracer::new(scenario);
    for (number, flow) in scenario.workload.flows.iter().enumerate() {
        // None that the routing draws non-minimal paths from: packets of one source would all take the same.
        let mut random = Stream::new(scenario.seed, number as u64, MAIL_STREAM);
        for (phase, length) in phases(flow, cycles) {
            let messages =
                messages_per_cycle(flow, phase, cycles) * length as f64 / cycles.max(1) as f64 * window_cycles;
            if messages <= 0.0 {
                continue;
            }
            for _ in 0..draws {
                let source = flow.sources.get(random.below(flow.sources.len()));
                let destination = phase.pattern.destination(source, &mut random);
                let flits = flow.size.sample(&mut random);
                let packets = f64::from(flits.div_ceil(u32::from(scenario.network.packet_flits_max)));
                let path = tracer.routers(source, destination).unwrap_or_default();
                cross(owners, &path, destination, messages * packets / draws as f64, &mut sent);
            }
        }
    }
    let mut bytes = vec![0.0; mail.len()];
    for ((from, _), Sent { packets, credits }) in sent {
        // Where letters are few, there is none in most windows.
        let heading = HEADING_BYTES as f64 * (1.0 - (-packets - credits).exp());
        let letters = packets * PACKET_LETTER_BYTES as f64 + credits * CREDIT_LETTER_BYTES as f64;
        bytes[owners.ranks[from as usize]] += letters + heading;
    }
    mail.iter_mut().zip(bytes).for_each(|(mail, bytes)| mail.bytes = bytes.round() as u64);
}

/// The phases of a flow in so many cycles, and how long they are.
fn phases(flow: &Traffic, cycles: u64) -> impl Iterator<Item = (&Phase, u64)> {
    let ends = flow.phases().iter().skip(1).map(|phase| phase.from_cycle).chain([u64::MAX]);
    flow.phases().iter().zip(ends).map(move |(phase, end)| (phase, end.min(cycles).saturating_sub(phase.from_cycle)))
}

/// Messages of all sources in a cycle of a phase.
fn messages_per_cycle(flow: &Traffic, phase: &Phase, cycles: u64) -> f64 {
    match flow.messages() {
        Some(messages) if flow.is_timed() => messages as f64 / cycles.max(1) as f64,
        messages => {
            let by_load = phase.load * f64::from(flow.sources.len()) / flow.size.mean();
            messages.map_or(by_load, |messages| by_load.min(messages as f64 / cycles.max(1) as f64))
        }
    }
}

/// Counts so many packets on a path.
fn cross(
    owners: &Owners<'_>,
    path: &[RouterId],
    destination: u32,
    packets: f64,
    sent: &mut BTreeMap<(u32, u32), Sent>,
) {
    let last = owners.plan.topology.injection(destination).0;
    let onward = path.iter().skip(1).copied().chain([last]);
    for (router, next) in path.iter().copied().zip(onward) {
        let ((region, from), (next_region, to)) = (owners.of(router), owners.of(next));
        if from != to {
            sent.entry((region, next_region)).or_default().packets += packets;
            sent.entry((next_region, region)).or_default().credits += packets;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tailback_scenario::Document;

    use crate::{Exchange, ExchangeError, InProcess, Notice, RankPlan, Run};

    /// Counts what one rank sends.
    struct Counting {
        exchange: InProcess,
        bytes: Arc<AtomicU64>,
    }

    impl Exchange for Counting {
        fn rank(&self) -> usize {
            self.exchange.rank()
        }

        fn ranks(&self) -> usize {
            Exchange::ranks(&self.exchange)
        }

        fn swap(&mut self, letters: &mut [Vec<u8>], notices: &mut [Notice]) -> Result<(), ExchangeError> {
            let own = self.rank();
            let others = letters.iter().enumerate().filter(|(rank, _)| *rank != own);
            self.bytes.fetch_add(others.map(|(_, letter)| letter.len() as u64).sum(), Ordering::Relaxed);
            self.exchange.swap(letters, notices)
        }
    }

    /// What each rank is expected to send in a window, and has sent, on average over many, when the network was full already.
    fn expected_and_sent(text: &str, ranks: usize) -> Vec<(f64, f64)> {
        let text = format!("{text}\n[measure]\nwarmup = 1000\ncycles = 5000\n");
        let scenario = Document::read("mail.toml", &text).resolve().unwrap_or_else(|why| panic!("{why}"));
        let plan = RankPlan::all(&scenario, ranks, 1);
        let lookahead = crate::Plan::new(&scenario).lookahead_ticks.expect("there are several regions");
        let windows = 5000.0 * f64::from(scenario.clock.ticks_per_cycle) / lookahead as f64;
        let sent = |exchange: InProcess| {
            let bytes = Arc::<AtomicU64>::default();
            let exchange = Counting { exchange, bytes: bytes.clone() };
            let mut run = Run::together(&scenario, 1, Box::new(exchange)).expect("it starts");
            run.advance(1000, |_| ControlFlow::Continue(())).expect("nothing goes wrong");
            let before = bytes.load(Ordering::Relaxed);
            run.advance(6000, |_| ControlFlow::Continue(())).expect("nothing goes wrong");
            (bytes.load(Ordering::Relaxed) - before) as f64 / windows
        };
        let sent: Vec<f64> = std::thread::scope(|scope| {
            let ranks = InProcess::ranks(ranks).into_iter().map(|exchange| scope.spawn(|| sent(exchange)));
            ranks.collect::<Vec<_>>().into_iter().map(|rank| rank.join().expect("it does not panic")).collect()
        });
        let bounds = plan.iter().zip(&sent).all(|(plan, sent)| plan.mail_bytes_max as f64 >= *sent);
        assert!(bounds, "no more is sent than is said: {plan:?} {sent:?}");
        plan.iter().map(|plan| plan.mail_bytes as f64).zip(sent).collect()
    }

    fn close(text: &str) {
        for ranks in [2, 3] {
            for (expected, sent) in expected_and_sent(text, ranks) {
                assert!(
                    sent > 0.0 && (expected / sent - 1.0).abs() < 0.1,
                    "{expected} expected and {sent} sent: {text}"
                );
            }
        }
    }

    #[test]
    fn what_is_expected_is_sent() {
        let dragonfly = "[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n[execution]\npartition = \"domain\"\n";
        for routing in ["minimal", "valiant"] {
            for load in [0.05, 0.3] {
                close(&format!(
                    "routing = \"{routing}\"\n{dragonfly}[[traffic]]\npattern = \"uniform\"\nload = {load}\n"
                ));
            }
        }
        // Messages of several packets.
        let message = "[[traffic]]\npattern = \"uniform\"\nload = 0.2\nsize = 30\n";
        close(&format!("routing = \"minimal\"\n{dragonfly}{message}"));
    }
}
