//! A network of either microarchitecture behind one face.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Crew, Executor, NEVER, Outcome, Rayon, Sequential, Simulation, Snapshot, SnapshotError, Tick};
use tailback_network::{
    CongestionTree, Deadlock, Discrepancy, General, Holdings, LinkStates, Microarchitecture, NetworkPlan,
    NetworkRegion, Paths, Plain, SelectedLinks, Sorting, TraceEvent, TracedMessage, audit, congestion_trees,
    find_deadlock, last_hop, link_states,
};
use tailback_report::{CompletionRecord, Record, RecordPlan};
use tailback_topology::{Peer, Topology};

use crate::findings::LinkFlits;
use crate::recorder::Recorder;
use crate::unloaded::Unloaded;
use crate::waiting::Waiting;

/// Whoever advances the regions.
#[derive(Debug)]
pub(crate) enum AnyExecutor {
    Sequential(Sequential),
    Rayon(Rayon),
}

impl Executor for AnyExecutor {
    fn enter<T: Send>(&self, lead: impl FnOnce(&mut Crew<'_>) -> T + Send) -> T {
        match self {
            Self::Sequential(executor) => executor.enter(lead),
            Self::Rayon(executor) => executor.enter(lead),
        }
    }

    fn threads(&self) -> usize {
        match self {
            Self::Sequential(executor) => executor.threads(),
            Self::Rayon(executor) => executor.threads(),
        }
    }

    fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T> {
        match self {
            Self::Sequential(executor) => executor.ask_each_thread(ask),
            Self::Rayon(executor) => executor.ask_each_thread(ask),
        }
    }
}

/// A network that is being simulated.
pub(crate) trait RunningNetwork: Send {
    /// Simulates everything before `end`, and calls `watch` now and again, between windows.
    fn run_until(
        &mut self,
        end: Tick,
        executor: &AnyExecutor,
        watch: &mut (dyn FnMut(&dyn RunningNetwork) -> ControlFlow<()> + Send),
    ) -> Outcome;

    fn now(&self) -> Tick;

    /// Whether anything will ever happen again.
    fn is_idle(&self) -> bool;

    fn packet_hops(&self) -> u64;

    fn packets(&self) -> usize;

    fn last_hop(&self) -> Tick;

    fn find_deadlock(&self) -> Option<Deadlock>;

    fn audit(&self) -> Result<Holdings, Discrepancy>;

    /// What stands behind links that are sent more than they can take.
    fn congestion_trees(&self, paths: &mut Paths) -> Vec<CongestionTree>;

    /// What some links look like.
    fn link_states(&self, selected: &SelectedLinks) -> LinkStates;

    /// Messages of flows that end which have neither arrived nor been lost, and ranks of programs that are not done.
    fn unfinished(&self) -> u64;

    /// What the ranks of programs wait for that are not done, in order.
    fn wants(&self) -> Vec<Waiting>;

    /// What all regions have written down.
    fn record(&self) -> Record;

    /// What each region has noted of the message that is traced, if one is.
    fn trace(&self) -> Vec<&[TraceEvent]>;

    /// Flits that each link has sent while it was measured.
    fn link_flits(&self, topology: &dyn Topology) -> Vec<LinkFlits>;

    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError>;

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError>;
}

/// Builds the network of `plan` with the fastest routers that can do what it asks for, to be watched at most every
/// `watched_every` ticks; with routers that note what happens to a message, if one is traced.
pub(crate) fn build(
    plan: NetworkPlan,
    record: &RecordPlan,
    unloaded: Option<&Arc<Unloaded>>,
    traced: Option<TracedMessage>,
    watched_every: Tick,
) -> Box<dyn RunningNetwork> {
    let protocol = Arc::clone(&plan.protocol);
    let recorder = |_| Recorder::new(record, protocol.as_ref(), unloaded.cloned());
    if let Some(message) = traced {
        Box::new(plan.build_traced(message, recorder).with_observation_every(watched_every))
    } else if plan.suits::<Plain>() {
        Box::new(plan.build::<_, Plain>(recorder).with_observation_every(watched_every))
    } else if plan.suits::<Sorting>() {
        Box::new(plan.build::<_, Sorting>(recorder).with_observation_every(watched_every))
    } else {
        Box::new(plan.build::<_, General>(recorder).with_observation_every(watched_every))
    }
}

impl<M: Microarchitecture> RunningNetwork for Simulation<NetworkRegion<Recorder, M>> {
    fn run_until(
        &mut self,
        end: Tick,
        executor: &AnyExecutor,
        watch: &mut (dyn FnMut(&dyn RunningNetwork) -> ControlFlow<()> + Send),
    ) -> Outcome {
        Self::run_until(self, end, executor, |simulation| watch(simulation))
    }

    fn now(&self) -> Tick {
        Self::now(self)
    }

    fn is_idle(&self) -> bool {
        self.next_tick() == NEVER
    }

    fn packet_hops(&self) -> u64 {
        self.regions().map(NetworkRegion::packet_hops).sum()
    }

    fn packets(&self) -> usize {
        self.regions().map(NetworkRegion::packets).sum()
    }

    fn last_hop(&self) -> Tick {
        last_hop(self)
    }

    fn find_deadlock(&self) -> Option<Deadlock> {
        find_deadlock(self)
    }

    fn audit(&self) -> Result<Holdings, Discrepancy> {
        audit(self)
    }

    fn congestion_trees(&self, paths: &mut Paths) -> Vec<CongestionTree> {
        congestion_trees(self, paths)
    }

    fn link_states(&self, selected: &SelectedLinks) -> LinkStates {
        link_states(self, selected)
    }

    fn unfinished(&self) -> u64 {
        let records = || self.regions().map(|region| &region.observer().record);
        let expected: u64 = records().next().map_or(0, |record| record.plan().ending.iter().flatten().sum());
        let ended = |record: &Record| {
            let completions = record.flows().iter().filter_map(|flow| flow.completions.as_ref());
            completions.map(CompletionRecord::ended).sum::<u64>()
        };
        let ranks: u64 = records()
            .next()
            .map_or(0, |record| record.plan().programs.iter().flatten().map(|program| u64::from(program.ranks)).sum());
        let done = |record: &Record| {
            let programs = record.flows().iter().filter_map(|flow| flow.program.as_ref());
            programs.map(|program| u64::from(program.ranks) - program.unfinished()).sum::<u64>()
        };
        expected + ranks - records().map(|record| ended(record) + done(record)).sum::<u64>()
    }

    fn wants(&self) -> Vec<Waiting> {
        let mut wants = Vec::new();
        for region in self.regions() {
            region.visit_wants(|program, rank, what| {
                if !what.is_empty() {
                    wants.push(Waiting { program, rank, wants: what });
                }
            });
        }
        wants.sort_by_key(|waiting| (waiting.program, waiting.rank));
        wants
    }

    fn record(&self) -> Record {
        let mut regions = self.regions().map(|region| &region.observer().record);
        let mut merged = regions.next().expect("a network has a region").clone();
        regions.for_each(|record| merged.merge(record));
        merged
    }

    fn trace(&self) -> Vec<&[TraceEvent]> {
        self.regions().map(NetworkRegion::trace).collect()
    }

    fn link_flits(&self, topology: &dyn Topology) -> Vec<LinkFlits> {
        let mut links = Vec::new();
        self.regions().for_each(|region| {
            region.visit_links(|router, port, class, flits| {
                let node = match topology.peer(router, port) {
                    Peer::Node(node) => Some(node),
                    Peer::Router { .. } | Peer::Nothing => None,
                };
                links.push(LinkFlits { class: class.0, node, flits });
            });
        });
        links
    }

    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
        Snapshot::save(self, bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError> {
        let unloaded = self.regions().next().and_then(|region| region.observer().unloaded.clone());
        Snapshot::load(self, bytes)?;
        self.regions_mut().for_each(|region| region.observer_mut().unloaded.clone_from(&unloaded));
        Ok(())
    }
}
