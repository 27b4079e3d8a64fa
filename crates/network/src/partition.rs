//! How routers are dealt out to regions.

use tailback_hardware::{LinkSpec, NetworkSpec};
use tailback_topology::{LinkClass, Peer, Port, RouterId, Topology};

/// Events that a port causes per packet when the network is busy.
const EVENTS_PER_PACKET: u64 = 3;

/// A region with more events in each window has more packets on its way than what the cache of a core holds.
const EVENTS_IN_CACHE: u64 = 50_000;

/// So many regions for each of several threads have all of them end a window at about the same time.
const REGIONS_PER_THREAD: u64 = 4;

/// So many events in each window make a region worth having for the sake of several threads, and so many make it worth a thread.
const REGION_EVENTS: u64 = 100;
const THREAD_EVENTS: u64 = 20;

/// A deal of the routers of a network to regions. It cannot change results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    region_of: Vec<u32>,
    regions: u32,
    /// The region of the first controller; the next ones are dealt out to regions in turn.
    controllers_from: u32,
}

impl Partition {
    /// All routers in one region.
    #[must_use]
    pub fn single(topology: &dyn Topology) -> Self {
        Self::of(vec![0; topology.routers() as usize], 1)
    }

    /// A region for each domain of the topology, but at most `regions_max`: then runs of domains share one.
    #[must_use]
    pub fn by_domain(topology: &dyn Topology, regions_max: u32) -> Self {
        let domains = topology.domains();
        let regions = domains.min(regions_max.max(1));
        let region = |router| (u64::from(topology.domain(router)) * u64::from(regions) / u64::from(domains)) as u32;
        Self::of((0..topology.routers()).map(region).collect(), regions)
    }

    /// How many regions of whole domains pay off on so many threads.
    ///
    /// A window is as long as the shortest link between domains. What happens in it when the network is busy follows from its
    /// length, the number of ports and how long a packet keeps a link:
    ///
    /// * regions for the cache, on one thread as well: what a region does in a window touches its packets again and again, and takes up
    ///   to three times as long if they do not stay in the cache. Fewer regions would be slower for that, and more as packets and credits between
    ///   regions are put into mail: dragonflies of 1,056, 5,256 and 16,512 nodes at load 0.5 are quickest with 4, 18 and 32 regions on one thread, which is 37,000
    ///   to 75,000 events each, and take 17, 21 and 10 % less than with one for each group.
    /// * on several threads some regions for each, if at least 100 events happen in each in a window. The dragonfly of 1,056 nodes takes
    ///   0.94 to 1.03 s on two threads with two or four regions for each, 1.08 to 1.14 s with one, and 1.16 to 1.23 s with 16. Looking at a
    ///   region costs as much as three events (a tree of 512 nodes whose links are all one cycle long takes 0.47 s in one
    ///   region and 0.55 s in two, with 15 events for each in a window).
    /// * otherwise a region for each thread that has at least 20 events to handle in a window. Threads hear of each other
    ///   after a quarter of a microsecond or less, in which one handles five; the same tree takes 0.41 s on two threads.
    /// * otherwise one.
    #[must_use]
    pub fn regions_that_pay(topology: &dyn Topology, spec: &NetworkSpec, threads: u32) -> u32 {
        let domains = Self::by_domain(topology, u32::MAX);
        let window = domains.lookahead(topology, spec).unwrap_or(u64::MAX);
        let events = events_within(window, topology, spec);
        let threads = u64::from(threads.max(1));
        let for_threads = match threads {
            1 => 1,
            _ => (events / REGION_EVENTS).min(REGIONS_PER_THREAD * threads).max((events / THREAD_EVENTS).min(threads)),
        };
        (events / EVENTS_IN_CACHE).max(for_threads).clamp(1, domains.regions().into()) as u32
    }

    /// A region for each router.
    #[must_use]
    pub fn by_router(topology: &dyn Topology) -> Self {
        Self::of((0..topology.routers()).collect(), topology.routers())
    }

    /// Any deal: the region of each router. Regions are numbered anew in order of their first router.
    #[must_use]
    pub fn custom(region_of: &[u32]) -> Self {
        let mut numbers = std::collections::BTreeMap::new();
        let mut regions = 0;
        let renumber = |&region: &u32| {
            *numbers.entry(region).or_insert_with(|| {
                regions += 1;
                regions - 1
            })
        };
        let region_of = region_of.iter().map(renumber).collect();
        Self::of(region_of, regions)
    }

    fn of(region_of: Vec<u32>, regions: u32) -> Self {
        Self { region_of, regions, controllers_from: 0 }
    }

    /// The same, with the first controller of a protocol in a region, counted round.
    #[must_use]
    pub fn with_controllers_from(self, region: u32) -> Self {
        let controllers_from = region % self.regions.max(1);
        Self { controllers_from, ..self }
    }

    /// The links that lead from one region to another: from which, to which, and their class. A node is where it injects;
    /// packets go along a link, and credits back.
    pub fn crossings(&self, topology: &dyn Topology) -> impl Iterator<Item = (u32, u32, LinkClass)> {
        let outputs = move |router| (0..topology.ports(router)).map(move |port| (router, port as Port));
        (0..topology.routers()).flat_map(outputs).filter_map(move |(router, port)| {
            let behind = match topology.peer(router, port) {
                Peer::Router { router, .. } => router,
                Peer::Node(node) => topology.injection(node).0,
                Peer::Nothing => return None,
            };
            let (from, to) = (self.region_of(router), self.region_of(behind));
            (from != to).then(|| (from, to, topology.link_class(router, port)))
        })
    }

    /// How long whatever regions send each other is in flight at least, in ticks; none if they send nothing.
    #[must_use]
    pub fn lookahead(&self, topology: &dyn Topology, spec: &NetworkSpec) -> Option<u64> {
        self.crossings(topology).map(|(_, _, class)| spec.links[class.index()].latency.into()).min()
    }

    /// The region of the first controller.
    pub(crate) fn controllers_from(&self) -> u32 {
        self.controllers_from
    }

    /// How many regions there are.
    #[must_use]
    pub fn regions(&self) -> u32 {
        self.regions
    }

    /// The region of a router.
    #[must_use]
    pub fn region_of(&self, router: RouterId) -> u32 {
        self.region_of[router as usize]
    }

    /// How many routers are dealt out.
    #[must_use]
    pub fn routers(&self) -> u32 {
        self.region_of.len() as u32
    }
}

/// How many events a busy network has within so many ticks, about: as many packets as its links have time for.
fn events_within(ticks: u64, topology: &dyn Topology, spec: &NetworkSpec) -> u64 {
    let mut ports = vec![0_u64; spec.links.len()];
    for router in 0..topology.routers() {
        for port in 0..topology.ports(router) {
            ports[topology.link_class(router, port as Port).index()] += 1;
        }
    }
    let events = |(ports, link): (&u64, &LinkSpec)| {
        let packet_ticks = u64::from(spec.packet_flits_max) * u64::from(link.flit_ticks);
        (EVENTS_PER_PACKET * ports).saturating_mul(ticks) / packet_ticks.max(1)
    };
    ports.iter().zip(&spec.links).map(events).fold(0, u64::saturating_add)
}
