//! A network of any microarchitecture behind one face.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use tailback_engine::{
    Crew, ExchangeError, Executor, GatherError, NEVER, Outcome, Ranks, Rayon, Sequential, Simulation, SnapshotError,
    StateSource, Tick,
};
use tailback_network::{
    Basic, CongestionTree, Crosspoints, General, Ledger, LinkStates, Microarchitecture, NetworkPlan, NetworkRegion,
    Paths, Plain, SelectedLinks, Sorting, TraceEvent, Tracing, WaitGraph, congestion_trees, last_hop, link_states,
    wait_graph,
};
use tailback_report::{CompletionRecord, Record, RecordPlan};
use tailback_topology::{Peer, Topology};

use crate::link_use::LinkUse;
use crate::recorder::Recorder;
use crate::together::NetworkWatcher;
use crate::unloaded::Unloaded;
use crate::waiting::Waiting;

/// How often whoever watches a run is asked: what happens in fewer cycles may take less time than asking.
const WATCHED_EVERY_CYCLES: u64 = 100;

/// No window is longer, however long links between regions are, and where there is one region only: whoever watches is asked after windows.
const WINDOW_CYCLES_MAX: u64 = 1000;

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

/// A network that is being simulated: all that it tells is about the regions that are held here, which are all regions
/// unless several ranks share it.
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

    /// Shows `take` the state of the whole network piece by piece, on the first rank.
    fn save_together(&self, ranks: &mut Ranks, take: &mut dyn FnMut(&[u8])) -> Result<(), GatherError>;

    /// Whether anything will ever happen again.
    fn is_idle(&self) -> bool;

    /// What packets wait for.
    fn wait_graph(&self) -> WaitGraph;

    /// What is accounted for.
    fn ledger(&self) -> Ledger<'_>;

    /// What stands behind links that are sent more than they can take.
    fn congestion_trees(&self, paths: &mut Paths) -> Vec<CongestionTree>;

    /// What some links look like.
    fn link_states(&self, selected: &SelectedLinks) -> LinkStates;

    /// Messages of flows that end and ranks of programs that have arrived, have been lost or are done.
    fn finished(&self) -> u64;

    /// What the ranks of programs wait for that are not done, in order.
    fn wants(&self) -> Vec<Waiting>;

    /// What regions have written down; none if there are none.
    fn record(&self) -> Option<Record>;

    /// What each region has noted of the message that is traced, if one is.
    fn trace(&self) -> Vec<&[TraceEvent]>;

    /// Packets that would be traced if more were.
    fn left_out_of_trace(&self) -> u64;

    /// What links have sent while they were measured.
    fn link_use(&self, topology: &dyn Topology) -> LinkUse;

    /// Shows `take` the state piece by piece.
    fn show_state(&self, take: &mut dyn FnMut(&[u8])) -> Result<(), SnapshotError>;

    /// Reads back the state of the regions that are here.
    fn load(&mut self, source: &mut dyn StateSource) -> Result<(), SnapshotError>;
}

/// Builds the network of `plan` with the fastest routers that can do what it asks for; with routers that note what happens to a
/// message, if one is traced. Only `held` regions of it are built.
pub(crate) fn build(
    plan: NetworkPlan,
    held: Range<usize>,
    record: &RecordPlan,
    unloaded: Option<&Arc<Unloaded>>,
    traced: Option<Tracing>,
) -> Box<dyn RunningNetwork> {
    let protocol = Arc::clone(&plan.protocol);
    let ticks_per_cycle = plan.spec.ticks_per_cycle;
    let recorder = |_| Recorder::new(record, protocol.as_ref(), unloaded.cloned());
    if let Some(tracing) = traced {
        watched(plan.build_traced(tracing, recorder), ticks_per_cycle)
    } else if plan.suits::<Plain>() {
        watched(plan.build_part::<_, Plain>(held, recorder), ticks_per_cycle)
    } else if plan.suits::<Sorting>() {
        watched(plan.build_part::<_, Sorting>(held, recorder), ticks_per_cycle)
    } else if plan.suits::<Crosspoints>() {
        watched(plan.build_part::<_, Crosspoints>(held, recorder), ticks_per_cycle)
    } else if plan.suits::<Basic>() {
        watched(plan.build_part::<_, Basic>(held, recorder), ticks_per_cycle)
    } else {
        watched(plan.build_part::<_, General>(held, recorder), ticks_per_cycle)
    }
}

/// A network that whoever watches it sees often enough, but not all the time.
fn watched<M: Microarchitecture>(
    network: Simulation<NetworkRegion<Recorder, M>>,
    ticks_per_cycle: u32,
) -> Box<dyn RunningNetwork> {
    let ticks = |cycles: u64| cycles * u64::from(ticks_per_cycle);
    Box::new(network.with_observation_every(ticks(WATCHED_EVERY_CYCLES)).with_longest_window(ticks(WINDOW_CYCLES_MAX)))
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

    fn save_together(&self, ranks: &mut Ranks, take: &mut dyn FnMut(&[u8])) -> Result<(), GatherError> {
        Self::save_together(self, ranks, take)
    }

    fn is_idle(&self) -> bool {
        self.next_tick() == NEVER
    }

    fn wait_graph(&self) -> WaitGraph {
        wait_graph(self)
    }

    fn ledger(&self) -> Ledger<'_> {
        Ledger::of(self)
    }

    fn congestion_trees(&self, paths: &mut Paths) -> Vec<CongestionTree> {
        congestion_trees(self, paths)
    }

    fn link_states(&self, selected: &SelectedLinks) -> LinkStates {
        link_states(self, selected)
    }

    fn finished(&self) -> u64 {
        let ended = |record: &Record| {
            let completions = record.flows().iter().filter_map(|flow| flow.completions.as_ref());
            completions.map(CompletionRecord::ended).sum::<u64>()
        };
        let done = |record: &Record| {
            let programs = record.flows().iter().filter_map(|flow| flow.program.as_ref());
            programs.map(|program| u64::from(program.ranks) - program.unfinished()).sum::<u64>()
        };
        let records = self.regions().map(|region| &region.observer().record);
        records.map(|record| ended(record) + done(record)).sum()
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

    fn record(&self) -> Option<Record> {
        let mut regions = self.regions().map(|region| &region.observer().record);
        let mut merged = regions.next()?.clone();
        regions.for_each(|record| merged.merge(record));
        Some(merged)
    }

    fn trace(&self) -> Vec<&[TraceEvent]> {
        self.regions().map(NetworkRegion::trace).collect()
    }

    fn left_out_of_trace(&self) -> u64 {
        self.regions().map(NetworkRegion::left_out_of_trace).sum()
    }

    fn link_use(&self, topology: &dyn Topology) -> LinkUse {
        let mut links = LinkUse::default();
        self.regions().for_each(|region| {
            region.visit_links(Self::now(self), |router, port, class, flits| {
                let node = match topology.peer(router, port) {
                    Peer::Node(node) => Some(node),
                    Peer::Router { .. } => None,
                    Peer::Nothing => return,
                };
                links.note(class, node, flits);
            });
        });
        links
    }

    fn show_state(&self, take: &mut dyn FnMut(&[u8])) -> Result<(), SnapshotError> {
        Self::show_state(self, take)
    }

    fn load(&mut self, source: &mut dyn StateSource) -> Result<(), SnapshotError> {
        let unloaded = self.regions().next().and_then(|region| region.observer().unloaded.clone());
        self.load_from(source)?;
        self.regions_mut().for_each(|region| region.observer_mut().unloaded.clone_from(&unloaded));
        Ok(())
    }
}
