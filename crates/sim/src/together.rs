//! A run that several processes simulate together.
//!
//! Each rank holds and simulates some regions of the network, and knows of all of them what is looked at now and again. What is
//! about the whole network each finds out about its own regions, and the first one adds it up.
//!
//! **The invariant it keeps:** no rank holds more of the network than its own regions, but for the first one where congestion
//! trees are looked for.

use std::ops::{ControlFlow, Range};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tailback_engine::{
    ExchangeError, FIGURES, GatherError, NEVER, Notice, Outcome, Ranks, Simulation, Tick, Watcher, read_value,
    write_value,
};
use tailback_network::{
    Abroad, Balance, Deadlock, Discrepancy, Microarchitecture, NetworkPlan, NetworkRegion, Partition, WaitGraph,
};
use tailback_scenario::Scenario;
use tailback_topology::Topology;

use crate::failure::Failure;
use crate::part::Part;
use crate::recorder::Recorder;
use crate::running_network::{AnyExecutor, RunningNetwork, Watch, Watched};

/// The ranks of a run, and what all of them have come to.
#[derive(Debug)]
pub(crate) struct Together {
    pub ranks: Ranks,
    /// Which router is in which region.
    partition: Partition,
    pub seen: Seen,
    /// The threads of all ranks.
    pub threads: usize,
}

/// What all ranks have come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    now: Tick,
    packet_hops: u64,
    packets: u64,
    last_hop: Tick,
    /// What is finished of all that is to be.
    pub finished: u64,
    /// Whether nothing will ever happen again.
    pub is_idle: bool,
}

impl Seen {
    fn of(now: Tick, notices: &[Notice]) -> Self {
        let figure = |number: usize| notices.iter().map(move |notice| notice.figures[number]);
        Self {
            now,
            packet_hops: figure(0).sum(),
            packets: figure(1).sum(),
            last_hop: figure(2).max().unwrap_or(0),
            finished: figure(3).sum(),
            is_idle: notices.iter().all(|notice| notice.next == NEVER),
        }
    }
}

impl Watched for Seen {
    fn now(&self) -> Tick {
        self.now
    }

    fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn last_hop(&self) -> Tick {
        self.last_hop
    }
}

/// Shows whoever watches what all ranks have come to.
pub(crate) struct NetworkWatcher<'w, 'f>(pub &'w mut Watch<'f>);

impl<M: Microarchitecture> Watcher<NetworkRegion<Recorder, M>> for NetworkWatcher<'_, '_> {
    fn figures(&mut self, simulation: &Simulation<NetworkRegion<Recorder, M>>) -> [u64; FIGURES] {
        [simulation.packet_hops(), simulation.packets(), simulation.last_hop(), simulation.finished()]
    }

    fn watch(&mut self, now: Tick, notices: &[Notice]) -> ControlFlow<()> {
        (self.0)(&Seen::of(now, notices))
    }
}

impl Together {
    /// Meets the other ranks, which must have the same scenario, and have their threads counted.
    pub fn meet(mut ranks: Ranks, scenario: &Scenario, threads: usize) -> Result<Self, ExchangeError> {
        let digest = u64::from_str_radix(&scenario.digest[..16], 16).unwrap_or(0);
        let told = ranks.tell([digest, threads.max(1) as u64, 0, 0])?;
        if let Some(rank) = told.iter().position(|figures| figures[0] != digest) {
            return Err(ExchangeError::Different { rank, what: "its scenario has another digest" });
        }
        let threads = told.iter().map(|figures| figures[1] as usize).sum();
        let partition = Partition::custom(&[]);
        Ok(Self { ranks, partition, seen: Seen::default(), threads })
    }

    /// Deals out the regions of a network to ranks, and gives those of this one.
    pub fn deal_out(&mut self, plan: &NetworkPlan) -> Range<usize> {
        self.ranks.deal_anew(&work(plan));
        self.partition.clone_from(&plan.partition);
        self.ranks.mine()
    }

    /// Has all ranks tell where they stand.
    pub fn agree(&mut self, network: &mut dyn RunningNetwork) -> Result<(), ExchangeError> {
        network.agree(&mut self.ranks)?;
        self.seen = Seen::of(network.now(), self.ranks.notices());
        Ok(())
    }

    /// Simulates everything before `end`.
    pub fn run_until(
        &mut self,
        network: &mut dyn RunningNetwork,
        end: Tick,
        executor: &AnyExecutor,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, ExchangeError> {
        let outcome = network.run_until_together(end, executor, &mut self.ranks, watch)?;
        self.seen = Seen::of(network.now(), self.ranks.notices());
        Ok(outcome)
    }

    /// What all ranks have found, on the first one.
    pub fn gather(&mut self, network: &dyn RunningNetwork, topology: &dyn Topology) -> Result<Option<Part>, Failure> {
        let balance = self.balance(network, topology)?;
        self.merge(Part::of(network, balance, topology), Part::merge)
    }

    /// Whether the buffers add up that are fed by this rank: ranks tell each other what they find in those of others.
    fn balance(
        &mut self,
        network: &dyn RunningNetwork,
        topology: &dyn Topology,
    ) -> Result<Result<Balance, Discrepancy>, Failure> {
        let mut ledger = network.ledger();
        let mut abroad: Vec<Vec<Abroad>> = vec![Vec::new(); self.ranks.ranks()];
        for found in ledger.take_abroad() {
            abroad[self.ranks.owner(self.partition.region_of(found.router(topology)))].push(found);
        }
        let letters = abroad.iter().map(written).collect::<Result<_, _>>()?;
        let letters = self.ranks.post(letters)?;
        for (rank, letter) in letters.iter().enumerate().filter(|(rank, _)| *rank != self.ranks.rank()) {
            read::<Vec<Abroad>>(rank, letter)?.into_iter().for_each(|found| ledger.add(found));
        }
        Ok(ledger.balance())
    }

    /// Packets that wait for each other, if the first rank has found any.
    pub fn find_deadlock(&mut self, network: &dyn RunningNetwork) -> Result<Option<Deadlock>, Failure> {
        let graph = self.merge(network.wait_graph(), WaitGraph::merge)?;
        Ok(graph.and_then(|graph| graph.deadlock()))
    }

    /// Has the first rank merge what all have, in the order of their regions. It takes up one after the other.
    pub fn merge<T: Serialize + DeserializeOwned>(
        &mut self,
        mut own: T,
        mut merge: impl FnMut(&mut T, T),
    ) -> Result<Option<T>, Failure> {
        let bytes = if self.ranks.is_first() { Vec::new() } else { written(&own)? };
        let mut merged = Ok(());
        self.ranks.gather(bytes, |rank, bytes| {
            if rank > 0 && merged.is_ok() {
                merged = read(rank, &bytes).map(|theirs| merge(&mut own, theirs));
            }
        })?;
        merged?;
        Ok(self.ranks.is_first().then_some(own))
    }

    /// Whether any rank says so.
    pub fn any(&mut self, says: bool) -> Result<bool, ExchangeError> {
        Ok(self.sum(says.into())? > 0)
    }

    /// What all ranks have together.
    pub fn sum(&mut self, own: u64) -> Result<u64, ExchangeError> {
        Ok(self.ranks.tell([own, 0, 0, 0])?.iter().map(|figures| figures[0]).sum())
    }
}

fn written<T: Serialize>(value: &T) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    write_value(value, &mut bytes)?;
    Ok(bytes)
}

fn read<T: DeserializeOwned>(rank: usize, mut bytes: &[u8]) -> Result<T, Failure> {
    let garbled = |reason: String| ExchangeError::Garbled { rank, reason };
    Ok(read_value(&mut bytes).map_err(|error| garbled(error.to_string()))?)
}

impl From<GatherError> for Failure {
    fn from(error: GatherError) -> Self {
        match error {
            GatherError::Exchange(error) => Self::Ranks(error),
            GatherError::Snapshot(error) => Self::Snapshot(error),
        }
    }
}

/// What work each region is expected to be: packets go through ports.
pub(crate) fn work(plan: &NetworkPlan) -> Vec<u64> {
    let mut work = vec![0; plan.partition.regions() as usize];
    for router in 0..plan.topology.routers() {
        work[plan.partition.region_of(router) as usize] += u64::from(plan.topology.ports(router));
    }
    work
}
