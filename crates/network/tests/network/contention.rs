//! What routing agents count is what there is: at every tick, a contention counter is the number of packets that want the
//! output and are heads of their queues or cross the crossbar, and a combined array is the sum of what was broadcast.
//!
//! The packets are found by looking into the routers, and where they want to go by looking at the topology; agents are
//! watched through a routing that passes everything on.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

use proptest::prelude::*;
use proptest::sample::select;
use tailback_engine::{Sequential, Simulation};
use tailback_network::{Contender, General, Microarchitecture, NetworkPlan, NetworkRegion, Plain};
use tailback_random::Stream;
use tailback_routing::{
    Agent, Board, ChannelKind, FirstLook, Header, Interests, Notice, PortVc, Rivals, Routing, Step, Validity, View,
};
use tailback_topology::{AnyTopology, Dragonfly, Locator, Port, RouterId, Topology};

use crate::notes::{NoteTaker, Tally};
use crate::sample::{DRAGONFLIES, LINKED_ONCE, Route, Sample, fixed, plain_samples, samples};

/// Cycles after which sources fall silent, and after which nobody looks any more.
const SILENT_FROM: u64 = 120;
const END_CYCLE: u64 = 200;

/// All algorithms that count, with thresholds at which they do something.
const COUNTING: &[Route] = &[
    ("base", &[("threshold", "2")]),
    ("hybrid", &[("threshold", "2"), ("share", "80")]),
    ("ectn", &[("threshold", "3"), ("combined_threshold", "3"), ("period", "7")]),
    ("statistical", &[("threshold", "1"), ("certain", "4")]),
];

/// All algorithms whose decisions stay for a while: those, and what goes by credits.
const STAYING: &[Route] = &[
    COUNTING[0],
    COUNTING[1],
    COUNTING[2],
    ("hybrid", &[("threshold", "3"), ("share", "60"), ("siblings", "0"), ("siblings_margin", "4")]),
    ("olm", &[("share", "100"), ("siblings", "50"), ("siblings_margin", "0")]),
    ("olm", &[("share", "90"), ("siblings", "0"), ("siblings_margin", "6")]),
    ("olm", &[("share", "100"), ("minimum", "60"), ("siblings", "100"), ("siblings_margin", "2")]),
];

/// An agent: of a traffic class at a router.
type Who = (u8, RouterId);

/// What agents have been seen to do and to know.
#[derive(Debug, Default)]
struct Notes {
    /// By agent: its counters, by port.
    counters: BTreeMap<Who, Vec<u32>>,
    /// By agent and the channel by which it came in: where the packet is for that was head last.
    heads: BTreeMap<(Who, PortVc), Locator>,
    /// The same: what was said for good of that head when it became one.
    settled: BTreeMap<(Who, PortVc), Option<Step>>,
    /// What was broadcast in this tick; nothing where nothing has changed since the last time.
    broadcasts: BTreeMap<Who, Option<Vec<u16>>>,
    /// What agents read in this tick: by group, the sum of what the others of their group have told.
    read: Vec<(Who, Vec<u32>)>,
}

#[derive(Clone, Debug)]
struct Watched {
    inner: Arc<dyn Routing>,
    class: u8,
    /// Whether agents are asked at each attempt, also where they have said that a decision is the same for a while.
    always_asked: bool,
    notes: Arc<Mutex<Notes>>,
}

impl Watched {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().expect("nobody panics with it")
    }
}

impl Routing for Watched {
    fn topology(&self) -> Arc<dyn Topology> {
        self.inner.topology()
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.inner.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(WatchedAgent { inner: self.inner.agent(router), who: (self.class, router), watched: self.clone() })
    }

    fn revises(&self) -> bool {
        self.inner.revises()
    }

    fn interests(&self) -> Interests {
        self.inner.interests()
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.inner.moves()
    }

    fn opportunities(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.inner.opportunities()
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        self.inner.possible(router, entry, header, steps);
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

struct WatchedAgent {
    inner: Box<dyn Agent>,
    who: Who,
    watched: Watched,
}

impl WatchedAgent {
    fn note_counters(&self) {
        let ports = self.watched.topology().ports(self.who.1) as Port;
        let counters = (0..ports).map(|port| self.inner.wanting(port).expect("it counts")).collect();
        self.watched.notes().counters.insert(self.who, counters);
    }
}

impl Agent for WatchedAgent {
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        let mut notes = self.watched.notes();
        if self.watched.interests().notices.is_some() {
            let topology = self.watched.topology();
            let in_group = self.who.1 % (topology.routers() / topology.domains());
            let sum = |group| view.board().sum_of_others(in_group as usize, group as usize);
            notes.read.push((self.who, (0..topology.domains()).map(sum).collect()));
        }
        let step = self.inner.route(entry, header, view, random);
        if let Some(&Some(settled)) = notes.settled.get(&(self.who, entry)) {
            assert_eq!(step, settled, "what was said for good is said again");
        }
        let asked_anew = self.watched.always_asked && step.validity != Validity::Always;
        if asked_anew { step.valid(Validity::Once) } else { step }
    }

    fn rivals(&self) -> Rivals {
        self.inner.rivals()
    }

    fn ejects(&self, entry: PortVc, header: &Header) -> bool {
        self.inner.ejects(entry, header)
    }

    fn head_arrived(&mut self, entry: PortVc, header: &Header, told: &Board) -> FirstLook {
        let look = self.inner.head_arrived(entry, header, told);
        let head = (self.who, entry);
        self.watched.notes().heads.insert(head, header.destination());
        self.watched.notes().settled.insert(head, look.step.filter(|step| step.validity == Validity::Always));
        self.note_counters();
        if self.watched.always_asked { FirstLook { step: None, ..look } } else { look }
    }

    fn head_crosses(&mut self, entry: PortVc) {
        self.inner.head_crosses(entry);
    }

    fn tail_left(&mut self, entry: PortVc) {
        self.inner.tail_left(entry);
        self.note_counters();
    }

    fn look(&mut self, view: &dyn View) -> Option<Notice> {
        self.inner.look(view)
    }

    fn broadcast(&mut self) -> Option<Notice> {
        let notice = self.inner.broadcast();
        self.watched.notes().broadcasts.insert(self.who, notice.clone().map(|notice| notice.list));
        notice
    }
}

/// What agents should know.
struct Expected<'a> {
    plan: &'a NetworkPlan,
    topology: &'a Dragonfly,
    /// By agent: by port, the packets that want it; by group, those that leave for it and came from nodes or other groups.
    counters: BTreeMap<Who, (Vec<u32>, Vec<u16>)>,
    /// By agent: what it has broadcast, and when, latest last.
    told: BTreeMap<Who, Vec<(u64, Vec<u16>)>>,
}

impl<'a> Expected<'a> {
    fn new(plan: &'a NetworkPlan, topology: &'a Dragonfly) -> Self {
        let none = || (vec![0; topology.radix() as usize], vec![0; topology.groups() as usize]);
        let classes = 0..plan.spec.classes.len() as u8;
        let agents: Vec<Who> =
            classes.flat_map(|class| (0..topology.routers()).map(move |router| (class, router))).collect();
        let counters = agents.iter().map(|&who| (who, none())).collect();
        Self { plan, topology, counters, told: agents.iter().map(|&who| (who, Vec::new())).collect() }
    }

    /// Counts who contends in a region now.
    fn count<M: Microarchitecture>(&mut self, region: &NetworkRegion<NoteTaker, M>, notes: &Notes) {
        for (ports, groups) in self.counters.values_mut() {
            ports.fill(0);
            groups.fill(0);
        }
        region.visit_contenders(|router, port, vc, contender| {
            let link_class = self.topology.link_class(router, port);
            let in_class =
                |class: &usize| self.plan.spec.classes[*class].channels(link_class.index()).contains(&usize::from(vc));
            let class = (0..self.plan.spec.classes.len()).find(in_class).expect("the channel belongs to a class");
            let first = self.plan.spec.classes[class].first_vc[link_class.index()];
            let (who, entry) = ((class as u8, router), PortVc { port, vc: vc - first });
            let destination = match contender {
                Contender::Head(packet) => self.topology.locator(packet.destination),
                Contender::Crossing => notes.heads[&(who, entry)],
            };
            let (own, group) = (self.topology.position(router).0, Dragonfly::locate(destination).0);
            let (ports, groups) = self.counters.get_mut(&who).expect("there is such an agent");
            ports[usize::from(minimal_port(self.topology, router, destination))] += 1;
            if group != own && link_class != Dragonfly::LOCAL {
                groups[group as usize] += 1;
            }
        });
    }

    /// Compares what agents did and knew in a tick with what they should have.
    fn compare(&mut self, tick: u64, notes: &mut Notes) -> Result<(), TestCaseError> {
        for (who, (ports, _)) in &self.counters {
            let found = notes.counters.get(who);
            let found = found.cloned().unwrap_or_else(|| vec![0; ports.len()]);
            prop_assert_eq!(&found, ports, "counters of {:?} in tick {}", who, tick);
        }
        self.compare_broadcasts(tick, notes)?;
        for (who, sums) in notes.read.drain(..) {
            prop_assert_eq!(&sums, &self.combined(who, tick), "what {:?} reads in tick {}", who, tick);
        }
        Ok(())
    }

    fn compare_broadcasts(&mut self, tick: u64, notes: &mut Notes) -> Result<(), TestCaseError> {
        let cycles = self.plan.routings[0].interests().broadcast_cycles.unwrap_or(u32::MAX);
        let due = tick > 0 && tick.is_multiple_of(u64::from(cycles) * u64::from(self.plan.spec.ticks_per_cycle));
        prop_assert_eq!(notes.broadcasts.len(), if due { self.counters.len() } else { 0 }, "in tick {}", tick);
        for (who, list) in std::mem::take(&mut notes.broadcasts) {
            let groups = &self.counters[&who].1;
            let told = self.told.get_mut(&who).expect("there is such an agent");
            match list {
                Some(list) => {
                    prop_assert_eq!(&list, groups, "{:?} tells in tick {}", who, tick);
                    told.push((tick, list));
                }
                None => {
                    let last = told.last().map_or_else(|| vec![0; groups.len()], |(_, list)| list.clone());
                    prop_assert_eq!(&last, groups, "{:?} tells nothing in tick {}", who, tick);
                }
            }
        }
        Ok(())
    }

    /// By group: what the other routers of an agent's group have told and has had the time to arrive, summed up.
    fn combined(&self, (class, router): Who, tick: u64) -> Vec<u32> {
        let delay = u64::from(self.plan.spec.links[Dragonfly::LOCAL.index()].latency);
        let (group, _) = self.topology.position(router);
        let mut sums = vec![0; self.topology.groups() as usize];
        for in_group in 0..self.topology.routers_per_group() {
            let other = self.topology.router_at(group, in_group);
            let arrived = self.told[&(class, other)].iter().rfind(|(told, _)| told + delay <= tick);
            if let Some((_, list)) = arrived.filter(|_| other != router) {
                sums.iter_mut().zip(list).for_each(|(sum, &number)| *sum += u32::from(number));
            }
        }
        sums
    }
}

/// The port of the minimal path from a router to a node: of several links to another group the first, but own ones before
/// those of others.
fn minimal_port(topology: &Dragonfly, router: RouterId, destination: Locator) -> Port {
    let ((group, in_group), (to_group, to_in_group, port)) =
        (topology.position(router), Dragonfly::locate(destination));
    if group == to_group {
        return if in_group == to_in_group { port } else { topology.local_port(in_group, to_in_group) };
    }
    let links = topology.global_links(group, to_group);
    match links.iter().find(|link| link.router == in_group) {
        Some(link) => link.port,
        None => topology.local_port(in_group, links[0].router),
    }
}

/// The plan of a sample whose agents are watched, and what they are seen to do.
fn watched_plan(sample: &Sample, always_asked: bool) -> (NetworkPlan, Arc<Mutex<Notes>>) {
    let plan = sample.plan(SILENT_FROM);
    let notes = Arc::new(Mutex::new(Notes::default()));
    let watched = |(class, inner): (usize, &Arc<dyn Routing>)| {
        let (inner, notes) = (Arc::clone(inner), Arc::clone(&notes));
        Arc::new(Watched { inner, class: class as u8, always_asked, notes }) as Arc<dyn Routing>
    };
    (NetworkPlan { routings: plan.routings.iter().enumerate().map(watched).collect(), ..plan }, notes)
}

/// What is seen of a run.
fn tally<M: Microarchitecture>(sample: &Sample, always_asked: bool) -> Tally {
    let (plan, _) = watched_plan(sample, always_asked);
    let mut simulation: Simulation<NetworkRegion<NoteTaker, M>> = plan.clone().build(|_| NoteTaker::default());
    let end = END_CYCLE * u64::from(plan.spec.ticks_per_cycle);
    simulation.run_until(end, &Sequential, |_| ControlFlow::Continue(()));
    Tally::of(&simulation)
}

/// Watches a run tick by tick. Returns the largest counter, and the largest sum that was read.
fn watch<M: Microarchitecture>(sample: &Sample) -> Result<(u32, u32), TestCaseError> {
    let AnyTopology::Dragonfly(topology) = sample.topology() else { panic!("the sample is a dragonfly") };
    let (plan, notes) = watched_plan(sample, false);
    let mut expected = Expected::new(&plan, &topology);
    let (mut count_max, mut sum_max) = (0, 0);
    let mut simulation: Simulation<NetworkRegion<NoteTaker, M>> = plan.clone().build(|_| NoteTaker::default());
    for tick in 0..END_CYCLE * u64::from(plan.spec.ticks_per_cycle) {
        simulation.run_until(tick + 1, &Sequential, |_| ControlFlow::Continue(()));
        let mut notes = notes.lock().expect("nobody panics with it");
        expected.count(simulation.regions().next().expect("there is one region"), &notes);
        count_max = count_max.max(notes.counters.values().flatten().copied().max().unwrap_or(0));
        sum_max = sum_max.max(notes.read.iter().flat_map(|(_, sums)| sums).copied().max().unwrap_or(0));
        expected.compare(tick, &mut notes)?;
    }
    Ok((count_max, sum_max))
}

/// A network in which agents count.
fn counting(samples: impl Strategy<Value = Sample>) -> impl Strategy<Value = Sample> {
    routed_by(COUNTING, samples)
}

/// A network whose routing is one of some algorithms.
fn routed_by(routings: &'static [Route], samples: impl Strategy<Value = Sample>) -> impl Strategy<Value = Sample> {
    (samples, select(LINKED_ONCE), select(routings)).prop_map(|(sample, topology, routing)| Sample {
        topology,
        routing,
        ..sample
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn counters_stand_for_the_packets_there_are(sample in counting(samples())) {
        watch::<General>(&sample)?;
    }

    #[test]
    fn and_in_plain_routers(sample in counting(plain_samples())) {
        watch::<Plain>(&sample)?;
    }

    /// Heads sleep as long as their agent has said that it would decide the same, or are not asked about.
    #[test]
    fn decisions_that_stay_are_those_of_agents_that_are_always_asked(sample in routed_by(STAYING, plain_samples())) {
        prop_assert_eq!(tally::<Plain>(&sample, false), tally::<Plain>(&sample, true));
        prop_assert_eq!(tally::<General>(&sample, false), tally::<General>(&sample, true));
    }

    #[test]
    fn and_in_routers_of_any_kind(sample in routed_by(STAYING, samples())) {
        prop_assert_eq!(tally::<General>(&sample, false), tally::<General>(&sample, true));
    }
}

/// Without this, nothing might be counted anywhere.
#[test]
fn there_is_something_to_count() {
    let sample = Sample { routing: COUNTING[2], buffer_packets: vec![4, 4, 8], pattern: 3, ..fixed(DRAGONFLIES[0]) };
    let (count_max, sum_max) = watch::<General>(&sample).expect("agents count well");
    assert!(count_max > 3 && sum_max > 3, "at most {count_max} wanted an output, at most {sum_max} were combined");
}
