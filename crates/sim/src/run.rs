//! A scenario that is being simulated.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Executor as _, Outcome, Rayon, Sequential, SnapshotError};
use tailback_network::{Discrepancy, TracedMessage};
use tailback_report::Record;
use tailback_scenario::{Measure, PartitionChoice, Scenario};

use crate::findings::Findings;
use crate::message_trace::MessageTrace;
use crate::plan::{Regions, network_plan};
use crate::recorder::record_plan;
use crate::running_network::{AnyExecutor, RunningNetwork, build};
use crate::sampler::Sampler;
use crate::state_format;
use crate::unloaded::Unloaded;
use crate::waiting::describe;

/// A scenario that is being simulated.
pub struct Run<'s> {
    scenario: &'s Scenario,
    network: Box<dyn RunningNetwork>,
    regions: Regions,
    /// The message whose trace is kept, if one's is.
    traced: Option<TracedMessage>,
    executor: AnyExecutor,
    /// The tick from which on a standstill is looked into again.
    suspicious_from: u64,
    sampler: Sampler,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Link cycles that have been simulated.
    pub cycle: u64,
    /// Link cycles that are to be simulated.
    pub cycles: u64,
    /// Packets that have crossed a router, each counted once per router.
    pub packet_hops: u64,
    /// Packets in the network.
    pub packets: u64,
}

/// How a call of [`Run::advance`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The cycle that was asked for is reached.
    Reached,
    /// Whoever watched asked to stop; the run can go on.
    Stopped,
}

/// Why a run has no findings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Packets wait for each other.
    #[error("deadlock: packets in {} buffers have waited for each other in a circle since cycle {since_cycle}", circle.len())]
    Deadlock {
        /// The last cycle in which a packet crossed a router.
        since_cycle: u64,
        /// The buffers, a line for each.
        circle: Vec<String>,
    },
    /// Flits or credits do not add up: a mistake in the simulator.
    #[error("the simulation went wrong in cycle {cycle}: {reason}")]
    Inconsistent {
        /// The cycle in which it was noticed.
        cycle: u64,
        /// What does not add up.
        reason: Discrepancy,
    },
    /// The threads cannot be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// Why not.
        reason: String,
    },
    /// A state cannot be written or read.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl<'s> Run<'s> {
    /// Builds the network of `scenario`, to be simulated on `threads` threads. One, or 0, is the caller's own.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(scenario: &'s Scenario, threads: usize) -> Result<Self, Failure> {
        Self::build(scenario, threads, None)
    }

    /// The same, and what happens to a message is noted: [`Run::trace`]. It changes no result, and takes more time.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn tracing(scenario: &'s Scenario, threads: usize, message: TracedMessage) -> Result<Self, Failure> {
        Self::build(scenario, threads, Some(message))
    }

    fn build(scenario: &'s Scenario, threads: usize, traced: Option<TracedMessage>) -> Result<Self, Failure> {
        let executor = match threads {
            0 | 1 => AnyExecutor::Sequential(Sequential),
            _ => AnyExecutor::Rayon(
                Rayon::new(threads).map_err(|error| Failure::Threads { threads, reason: error.to_string() })?,
            ),
        };
        let regions = Regions::of(scenario, threads);
        let network = build_network(scenario, regions, traced);
        let suspicious_from = scenario.execution.deadlock_after;
        let sampler = Sampler::default();
        Ok(Self { scenario, network, regions, traced, executor, suspicious_from, sampler })
    }

    /// How many threads simulate.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.executor.threads()
    }

    /// Calls `ask` on each thread that simulates, and gives what each has said: what it has spent, say. A thread is the
    /// caller's own if the executor is the sequential one, and begins and ends with the run if not.
    #[must_use]
    pub fn ask_each_thread<T: Send>(&self, ask: impl Fn() -> T + Sync + Send) -> Vec<T> {
        self.executor.ask_each_thread(ask)
    }

    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        progress(self.scenario, self.network.as_ref())
    }

    /// Simulates to the end, unless `watch`, which is called every hundred cycles or so, asks to stop. It is called by
    /// one of the threads that simulate.
    ///
    /// # Errors
    /// When packets wait for each other, or something does not add up.
    pub fn finish(&mut self, mut watch: impl FnMut(&Progress) -> ControlFlow<()> + Send) -> Result<Ending, Failure> {
        let measure = self.scenario.measure;
        self.advance(measure.warmup + measure.cycles, &mut watch)
    }

    /// Simulates everything before `cycle`, unless `watch` asks to stop.
    ///
    /// # Errors
    /// When packets wait for each other.
    pub fn advance(
        &mut self,
        cycle: u64,
        mut watch: impl FnMut(&Progress) -> ControlFlow<()> + Send,
    ) -> Result<Ending, Failure> {
        while let Some(until) = self.next_stage(cycle) {
            let until = Sampler::stop_before(self.scenario, self.progress().cycle, until);
            if self.stage(until, &mut watch)? == Ending::Stopped {
                return Ok(Ending::Stopped);
            }
            self.sampler.look(self.scenario, self.network.as_ref());
        }
        Ok(Ending::Reached)
    }

    /// Whether nothing is left to be simulated: all cycles have been, or all flows that end have ended, if that is the end of
    /// the run.
    fn is_over(&self) -> bool {
        let Measure { warmup, cycles, until_drained, .. } = self.scenario.measure;
        let cycle = self.progress().cycle;
        let may_be_drained = until_drained && cycle > warmup && cycle.is_multiple_of(DRAINED_EVERY_CYCLES);
        cycle >= warmup + cycles || may_be_drained && self.network.unfinished() == 0
    }

    /// The cycle to simulate up to before something is looked at; none if `end` is reached or the run is over.
    fn next_stage(&self, end: u64) -> Option<u64> {
        let Measure { warmup, cycles, until_drained, .. } = self.scenario.measure;
        let (cycle, end) = (self.progress().cycle, end.min(warmup + cycles));
        if cycle >= end || self.is_over() {
            None
        } else if cycle < warmup {
            // Whoever watches is told when measuring begins.
            Some(end.min(warmup))
        } else if until_drained && (self.network.unfinished() == 0 || !self.network.is_idle()) {
            // Where nothing goes on although something is unfinished, nothing ever will.
            Some(end.min((cycle + 1).next_multiple_of(DRAINED_EVERY_CYCLES)))
        } else {
            Some(end)
        }
    }

    fn stage(
        &mut self,
        cycle: u64,
        watch: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Ending, Failure> {
        let scenario = self.scenario;
        let patience = scenario.execution.deadlock_after;
        let suspicious_from = &mut self.suspicious_from;
        let mut failure = None;
        let end = cycle * u64::from(scenario.clock.ticks_per_cycle);
        let outcome = self.network.run_until(end, &self.executor, &mut |network| {
            if network.now() >= *suspicious_from {
                failure = look_for_deadlock(scenario, network);
                *suspicious_from = network.last_hop().max(network.now() - patience) + patience + 1;
            }
            if failure.is_some() { ControlFlow::Break(()) } else { watch(&progress(scenario, network)) }
        });
        if self.network.is_idle() && self.network.packets() > 0 {
            failure = failure.or_else(|| look_for_deadlock(scenario, self.network.as_ref()));
        }
        match (failure, outcome) {
            (Some(failure), _) => Err(failure),
            (None, Outcome::Reached) => Ok(Ending::Reached),
            (None, Outcome::Stopped) => Ok(Ending::Stopped),
        }
    }

    /// What was written down so far, warm-up included.
    #[must_use]
    pub fn record(&self) -> Record {
        self.network.record()
    }

    /// What has happened to the message that is traced, if one is, since the run was built: a trace is no part of its state.
    #[must_use]
    pub fn trace(&self) -> Option<MessageTrace> {
        let message = self.traced?;
        Some(MessageTrace::new(self.scenario, &message, self.network.trace().into_iter()))
    }

    /// What was found, once the run is finished; when it was stopped, what was found until then.
    ///
    /// # Errors
    /// When something does not add up.
    pub fn findings(&self) -> Result<Findings, Failure> {
        let cycle = self.progress().cycle;
        let holdings = self.network.audit().map_err(|reason| Failure::Inconsistent { cycle, reason })?;
        Ok(Findings {
            record: self.network.record(),
            holdings,
            samples: self.sampler.samples.clone(),
            links: self.network.link_flits(self.scenario.topology.built.graph().as_ref()),
            packet_hops: self.network.packet_hops(),
            threads: self.threads() as u32,
            reached: cycle,
            is_whole: self.is_over(),
            waiting: describe(&self.network.wants(), &self.scenario.workload, self.network.is_idle()),
        })
    }

    /// Writes the state down.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        state_format::write(&mut bytes)?;
        tailback_engine::write_value(&self.regions, &mut bytes)?;
        self.network.save(&mut bytes)?;
        tailback_engine::write_value(&self.suspicious_from, &mut bytes)?;
        if Sampler::is_wanted(self.scenario) {
            tailback_engine::write_value(&self.sampler.samples, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Reads back a state that a run of the same scenario has written. If regions are chosen by what pays off, they stay
    /// those that it was written with, whatever the number of threads is now.
    ///
    /// # Errors
    /// When the bytes hold no such state; the run is then not to be used.
    pub fn load(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        state_format::check(&mut bytes)?;
        let regions = tailback_engine::read_value(&mut bytes)?;
        if regions != self.regions && self.scenario.execution.partition == PartitionChoice::Auto {
            (self.regions, self.network) = (regions, build_network(self.scenario, regions, self.traced));
        }
        self.network.load(&mut bytes)?;
        self.suspicious_from = tailback_engine::read_value(&mut bytes)?;
        if Sampler::is_wanted(self.scenario) {
            self.sampler.samples = tailback_engine::read_value(&mut bytes)?;
        }
        Ok(())
    }
}

/// How often whoever watches a run is asked: what happens in fewer cycles may take less time than asking.
const WATCHED_EVERY_CYCLES: u64 = 100;

/// A run that ends when flows have ended does so in the next cycle that is a multiple of this: that is the same cycle whatever the
/// windows are.
const DRAINED_EVERY_CYCLES: u64 = 100;

fn build_network(scenario: &Scenario, regions: Regions, traced: Option<TracedMessage>) -> Box<dyn RunningNetwork> {
    let watched_every = WATCHED_EVERY_CYCLES * u64::from(scenario.clock.ticks_per_cycle);
    let some_end = scenario.workload.flows.iter().any(|flow| flow.messages().is_some());
    let unloaded = some_end.then(|| Arc::new(Unloaded::new(scenario)));
    build(network_plan(scenario, regions), &record_plan(scenario), unloaded.as_ref(), traced, watched_every)
}

fn progress(scenario: &Scenario, network: &dyn RunningNetwork) -> Progress {
    Progress {
        cycle: network.now() / u64::from(scenario.clock.ticks_per_cycle),
        cycles: scenario.measure.warmup + scenario.measure.cycles,
        packet_hops: network.packet_hops(),
        packets: network.packets() as u64,
    }
}

/// Looks into a standstill: it may be that packets are only on very long links.
fn look_for_deadlock(scenario: &Scenario, network: &dyn RunningNetwork) -> Option<Failure> {
    let stands_since = network.last_hop();
    let stood_long = network.now() >= stands_since + scenario.execution.deadlock_after;
    if network.packets() == 0 || !(stood_long || network.is_idle()) {
        return None;
    }
    let topology = scenario.topology.built.graph();
    network.find_deadlock().map(|deadlock| Failure::Deadlock {
        since_cycle: stands_since / u64::from(scenario.clock.ticks_per_cycle),
        circle: deadlock.describe(topology.as_ref()),
    })
}
