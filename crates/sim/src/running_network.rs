//! A network of either microarchitecture behind one face.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use tailback_engine::{
    Crew, ExchangeError, Executor, GatherError, NEVER, Outcome, Ranks, Rayon, Sequential, Simulation, Snapshot,
    SnapshotError, Tick,
};
use tailback_network::{
    CongestionTree, Deadlock, Discrepancy, General, Holdings, LinkStates, Microarchitecture, NetworkPlan,
    NetworkRegion, Paths, Plain, SelectedLinks, Sorting, TraceEvent, Tracing, audit, congestion_trees, find_deadlock,
    last_hop, link_states,
};
use tailback_report::{CompletionRecord, Record, RecordPlan};
use tailback_topology::{Peer, Topology};

use crate::findings::LinkFlits;
use crate::recorder::Recorder;
use crate::together::NetworkWatcher;
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

/// What is looked at now and again.
pub(crate) trait Watched {
    fn now(&self) -> Tick;

    fn packet_hops(&self) -> u64;

    fn packets(&self) -> u64;

    fn last_hop(&self) -> Tick;
}

/// Who looks.
pub(crate) type Watch<'w> = dyn FnMut(&dyn Watched) -> ControlFlow<()> + Send + 'w;

/// A network that is being simulated.
pub(crate) trait RunningNetwork: Watched + Send {
    /// Simulates everything before `end`, and calls `watch` now and again, between windows.
    fn run_until(&mut self, end: Tick, executor: &AnyExecutor, watch: &mut Watch<'_>) -> Outcome;

    /// The same together with other ranks. What all of them have come to is in the last notices then.
    fn run_until_together(
        &mut self,
        end: Tick,
        executor: &AnyExecutor,
        ranks: &mut Ranks,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, ExchangeError>;

    /// Has all ranks tell where they stand.
    fn agree(&mut self, ranks: &mut Ranks) -> Result<(), ExchangeError>;

    /// Appends the state of the whole network to `bytes`, on the first rank.
    fn save_together(&mut self, ranks: &mut Ranks, bytes: &mut Vec<u8>) -> Result<(), GatherError>;

    /// Whether anything will ever happen again.
    fn is_idle(&self) -> bool;

    fn find_deadlock(&self) -> Option<Deadlock>;

    fn audit(&self) -> Result<Holdings, Discrepancy>;

    /// What stands behind links that are sent more than they can take.
    fn congestion_trees(&self, paths: &mut Paths) -> Vec<CongestionTree>;

    /// What some links look like.
    fn link_states(&self, selected: &SelectedLinks) -> LinkStates;

    /// Messages of flows that end, and ranks of programs.
    fn to_be_finished(&self) -> u64;

    /// Those of them that have arrived, have been lost or are done, in some of the regions.
    fn finished(&self, regions: Range<usize>) -> u64;

    /// Those that are neither.
    fn unfinished(&self) -> u64;

    /// What the ranks of programs wait for that are not done, in order.
    fn wants(&self) -> Vec<Waiting>;

    /// What all regions have written down.
    fn record(&self) -> Record;

    /// What each region has noted of the message that is traced, if one is.
    fn trace(&self) -> Vec<&[TraceEvent]>;

    /// Packets that would be traced if more were.
    fn left_out_of_trace(&self) -> u64;

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
    traced: Option<Tracing>,
    watched_every: Tick,
) -> Box<dyn RunningNetwork> {
    let protocol = Arc::clone(&plan.protocol);
    let recorder = |_| Recorder::new(record, protocol.as_ref(), unloaded.cloned());
    if let Some(tracing) = traced {
        Box::new(plan.build_traced(tracing, recorder).with_observation_every(watched_every))
    } else if plan.suits::<Plain>() {
        Box::new(plan.build::<_, Plain>(recorder).with_observation_every(watched_every))
    } else if plan.suits::<Sorting>() {
        Box::new(plan.build::<_, Sorting>(recorder).with_observation_every(watched_every))
    } else {
        Box::new(plan.build::<_, General>(recorder).with_observation_every(watched_every))
    }
}

impl<M: Microarchitecture> Watched for Simulation<NetworkRegion<Recorder, M>> {
    fn now(&self) -> Tick {
        Self::now(self)
    }

    fn packet_hops(&self) -> u64 {
        self.regions().map(NetworkRegion::packet_hops).sum()
    }

    fn packets(&self) -> u64 {
        self.regions().map(NetworkRegion::packets).sum::<usize>() as u64
    }

    fn last_hop(&self) -> Tick {
        last_hop(self)
    }
}

impl<M: Microarchitecture> RunningNetwork for Simulation<NetworkRegion<Recorder, M>> {
    fn run_until(&mut self, end: Tick, executor: &AnyExecutor, watch: &mut Watch<'_>) -> Outcome {
        Self::run_until(self, end, executor, |simulation| watch(simulation))
    }

    fn run_until_together(
        &mut self,
        end: Tick,
        executor: &AnyExecutor,
        ranks: &mut Ranks,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, ExchangeError> {
        Self::run_until_together(self, end, executor, ranks, &mut NetworkWatcher(watch))
    }

    fn agree(&mut self, ranks: &mut Ranks) -> Result<(), ExchangeError> {
        Self::agree(self, ranks, &mut NetworkWatcher(&mut |_| ControlFlow::Continue(())))
    }

    fn save_together(&mut self, ranks: &mut Ranks, bytes: &mut Vec<u8>) -> Result<(), GatherError> {
        Self::save_together(self, ranks, bytes)
    }

    fn is_idle(&self) -> bool {
        self.next_tick() == NEVER
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

    fn to_be_finished(&self) -> u64 {
        let Some(plan) = self.regions().next().map(|region| region.observer().record.plan()) else { return 0 };
        let messages: u64 = plan.ending.iter().flatten().sum();
        messages + plan.programs.iter().flatten().map(|program| u64::from(program.ranks)).sum::<u64>()
    }

    fn finished(&self, regions: Range<usize>) -> u64 {
        let ended = |record: &Record| {
            let completions = record.flows().iter().filter_map(|flow| flow.completions.as_ref());
            completions.map(CompletionRecord::ended).sum::<u64>()
        };
        let done = |record: &Record| {
            let programs = record.flows().iter().filter_map(|flow| flow.program.as_ref());
            programs.map(|program| u64::from(program.ranks) - program.unfinished()).sum::<u64>()
        };
        let records = self.regions().skip(regions.start).take(regions.len()).map(|region| &region.observer().record);
        records.map(|record| ended(record) + done(record)).sum()
    }

    fn unfinished(&self) -> u64 {
        self.to_be_finished() - self.finished(0..self.regions().len())
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

    fn left_out_of_trace(&self) -> u64 {
        self.regions().map(NetworkRegion::left_out_of_trace).sum()
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
