//! A scenario that is being simulated.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Exchange, Executor as _, Outcome, Ranks, Rayon, Sequential};
use tailback_network::{TRACE_EVENTS_MAX, TraceEvent, Tracing};
use tailback_report::Record;
use tailback_scenario::{Measure, PartitionChoice, Scenario};

use crate::chrome_trace::ChromeTrace;
use crate::failure::Failure;
use crate::findings::Findings;
use crate::message_trace::MessageTrace;
use crate::packet_trace::PacketTrace;
use crate::plan::{Regions, network_plan};
use crate::recorder::record_plan;
use crate::running_network::{AnyExecutor, RunningNetwork, Watched, build};
use crate::sampler::Sampler;
use crate::state_format;
use crate::together::{Together, work};
use crate::unloaded::Unloaded;
use crate::waiting::describe;

/// A scenario that is being simulated.
pub struct Run<'s> {
    scenario: &'s Scenario,
    network: Box<dyn RunningNetwork>,
    regions: Regions,
    /// What is traced, if anything is.
    traced: Option<Tracing>,
    executor: AnyExecutor,
    /// The other processes that simulate it, if there are some.
    together: Option<Together>,
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

impl<'s> Run<'s> {
    /// Builds the network of `scenario`, to be simulated on `threads` threads. One, or 0, is the caller's own.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(scenario: &'s Scenario, threads: usize) -> Result<Self, Failure> {
        Self::build(scenario, threads, None, None)
    }

    /// The same, and what happens to a message is noted, or to packets: [`Run::trace`], [`Run::packet_trace`]. It changes no result, and takes more time.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn tracing(scenario: &'s Scenario, threads: usize, what: impl Into<Tracing>) -> Result<Self, Failure> {
        Self::build(scenario, threads, Some(what.into()), None)
    }

    /// The same as [`Run::new`], together with the other processes of an exchange, each of which has so many threads. All of
    /// them make the same calls in the same order; what changes the network they do together. Findings has the first rank,
    /// after [`Run::gather`].
    ///
    /// # Errors
    /// When the threads cannot be started, or another process is gone or has another scenario.
    pub fn together(scenario: &'s Scenario, threads: usize, exchange: Box<dyn Exchange>) -> Result<Self, Failure> {
        Self::build(scenario, threads, None, Some(exchange))
    }

    fn build(
        scenario: &'s Scenario,
        threads: usize,
        traced: Option<Tracing>,
        exchange: Option<Box<dyn Exchange>>,
    ) -> Result<Self, Failure> {
        let executor = match threads {
            0 | 1 => AnyExecutor::Sequential(Sequential),
            _ => AnyExecutor::Rayon(
                Rayon::new(threads).map_err(|error| Failure::Threads { threads, reason: error.to_string() })?,
            ),
        };
        let meet = |exchange| Together::meet(Ranks::new(exchange, &[]), scenario, threads);
        let together = exchange.map(meet).transpose()?;
        let regions = Regions::of(scenario, together.as_ref().map_or(threads, |together| together.threads));
        let network = build_network(scenario, regions, traced);
        let suspicious_from = scenario.execution.deadlock_after;
        let sampler = Sampler::default();
        let mut run = Self { scenario, network, regions, traced, executor, together, suspicious_from, sampler };
        run.deal_out()?;
        Ok(run)
    }

    /// Deals out regions to ranks.
    fn deal_out(&mut self) -> Result<(), Failure> {
        if let Some(together) = &mut self.together {
            together.ranks.deal_anew(&work(&network_plan(self.scenario, self.regions)));
            together.agree(self.network.as_mut())?;
        }
        Ok(())
    }

    /// How many threads simulate.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.together.as_ref().map_or_else(|| self.executor.threads(), |together| together.threads)
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
        progress(self.scenario, self.seen())
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
            if Sampler::is_due(self.scenario, self.progress().cycle) && self.gather()? {
                self.sampler.look(self.scenario, self.network.as_ref());
            }
        }
        Ok(Ending::Reached)
    }

    /// What is looked at now and again, of all ranks.
    fn seen(&self) -> &dyn Watched {
        match &self.together {
            Some(together) => &together.seen,
            None => self.network.as_ref() as &dyn Watched,
        }
    }

    fn is_idle(&self) -> bool {
        self.together.as_ref().map_or_else(|| self.network.is_idle(), |together| together.seen.is_idle)
    }

    fn unfinished(&self) -> u64 {
        let together = self.together.as_ref();
        together.map_or_else(
            || self.network.unfinished(),
            |together| self.network.to_be_finished() - together.seen.finished,
        )
    }

    /// Whether nothing is left to be simulated: all cycles have been, or all flows that end have ended, if that is the end of
    /// the run.
    fn is_over(&self) -> bool {
        let Measure { warmup, cycles, until_drained, .. } = self.scenario.measure;
        let cycle = self.progress().cycle;
        let may_be_drained = until_drained && cycle > warmup && cycle.is_multiple_of(DRAINED_EVERY_CYCLES);
        cycle >= warmup + cycles || may_be_drained && self.unfinished() == 0
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
        } else if until_drained && (self.unfinished() == 0 || !self.is_idle()) {
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
        let (scenario, deadlock_after) = (self.scenario, self.scenario.execution.deadlock_after);
        let end = cycle * u64::from(scenario.clock.ticks_per_cycle);
        loop {
            let (suspicious_from, mut suspected) = (&mut self.suspicious_from, false);
            let mut look = |seen: &dyn Watched| {
                if seen.now() >= *suspicious_from {
                    suspected = seen.packets() > 0 && seen.now() >= seen.last_hop() + deadlock_after;
                    *suspicious_from = seen.last_hop().max(seen.now() - deadlock_after) + deadlock_after + 1;
                }
                if suspected { ControlFlow::Break(()) } else { watch(&progress(scenario, seen)) }
            };
            let (network, executor) = (self.network.as_mut(), &self.executor);
            let outcome = match &mut self.together {
                Some(together) => together.run_until(network, end, executor, &mut look)?,
                None => network.run_until(end, executor, &mut look),
            };
            if suspected || self.is_idle() && self.seen().packets() > 0 {
                self.refuse_deadlock()?;
            }
            match outcome {
                Outcome::Reached => return Ok(Ending::Reached),
                Outcome::Stopped if suspected => {} // of nothing
                Outcome::Stopped => return Ok(Ending::Stopped),
            }
        }
    }

    /// Looks into a standstill: it may be that packets are only on very long links.
    fn refuse_deadlock(&mut self) -> Result<(), Failure> {
        let Some(together) = &mut self.together else {
            return find_deadlock(self.scenario, self.network.as_ref()).map_or(Ok(()), Err);
        };
        let is_first = together.gather(self.network.as_mut())?;
        let found = is_first.then(|| find_deadlock(self.scenario, self.network.as_ref())).flatten();
        let is_any = together.any(found.is_some())?;
        match found {
            Some(failure) => Err(failure),
            None if is_any => Err(Failure::Elsewhere),
            None => Ok(()),
        }
    }

    /// Has the first rank of several know the whole network, to look at it or to tell what was found; tells whether this is
    /// the first one.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn gather(&mut self) -> Result<bool, Failure> {
        Ok(self.together.as_mut().map_or(Ok(true), |together| together.gather(self.network.as_mut()))?)
    }

    /// Whether any rank says so.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn any_rank(&mut self, says: bool) -> Result<bool, Failure> {
        Ok(self.together.as_mut().map_or(Ok(says), |together| together.any(says))?)
    }

    /// What all ranks have of something together.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn sum_of_ranks(&mut self, own: u64) -> Result<u64, Failure> {
        Ok(self.together.as_mut().map_or(Ok(own), |together| together.sum(own))?)
    }

    /// What was written down so far, warm-up included.
    #[must_use]
    pub fn record(&self) -> Record {
        self.network.record()
    }

    /// What has happened to the message that is traced, if one is, since the run was built: a trace is no part of its state.
    #[must_use]
    pub fn trace(&self) -> Option<MessageTrace> {
        let Some(Tracing::Message(message)) = self.traced else { return None };
        Some(MessageTrace::new(self.scenario, &message, self.network.trace().into_iter()))
    }

    /// The same of the packets that are traced.
    #[must_use]
    pub fn packet_trace(&self) -> Option<PacketTrace> {
        let Some(Tracing::Packets(_)) = self.traced else { return None };
        let (regions, left_out) = (self.network.trace().into_iter(), self.network.left_out_of_trace());
        Some(PacketTrace::new(self.scenario, regions, left_out, self.seen().now()))
    }

    /// The trace of a message or of packets as Chrome's format has it; `about` says in words what is traced.
    #[must_use]
    pub fn chrome_trace(&self, about: &str) -> Option<ChromeTrace> {
        let most = match self.traced? {
            Tracing::Message(_) => TRACE_EVENTS_MAX,
            Tracing::Packets(_) => usize::MAX,
        };
        let (events, is_cut) = TraceEvent::in_order(self.network.trace().into_iter(), most);
        let is_cut = is_cut || self.network.left_out_of_trace() > 0;
        Some(ChromeTrace::new(self.scenario, &events, self.seen().now(), about.to_owned(), is_cut))
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

    /// Writes the state down, of one process alone.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = self.heading()?;
        self.network.save(&mut bytes)?;
        self.write_rest(&mut bytes)?;
        Ok(bytes)
    }

    /// What stands behind the state of the network.
    fn write_rest(&self, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        tailback_engine::write_value(&self.suspicious_from, bytes)?;
        if Sampler::is_wanted(self.scenario) {
            tailback_engine::write_value(&self.sampler.samples, bytes)?;
        }
        Ok(())
    }

    /// What stands before the state of the network.
    fn heading(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        state_format::write(&mut bytes)?;
        tailback_engine::write_value(&self.regions, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes the state down, of one process or of several: the first one has it then.
    ///
    /// # Errors
    /// When it cannot be written, or a rank is gone.
    pub fn save_together(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let mut bytes = self.heading()?;
        let Some(together) = &mut self.together else { return self.save().map(Some) };
        self.network.save_together(&mut together.ranks, &mut bytes)?;
        if !together.ranks.is_first() {
            return Ok(None);
        }
        self.write_rest(&mut bytes)?;
        Ok(Some(bytes))
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
        self.deal_out()?;
        Ok(())
    }
}

/// How often whoever watches a run is asked: what happens in fewer cycles may take less time than asking.
const WATCHED_EVERY_CYCLES: u64 = 100;

/// A run that ends when flows have ended does so in the next cycle that is a multiple of this: that is the same cycle whatever the
/// windows are.
const DRAINED_EVERY_CYCLES: u64 = 100;

fn build_network(scenario: &Scenario, regions: Regions, traced: Option<Tracing>) -> Box<dyn RunningNetwork> {
    let watched_every = WATCHED_EVERY_CYCLES * u64::from(scenario.clock.ticks_per_cycle);
    let some_end = scenario.workload.flows.iter().any(|flow| flow.messages().is_some());
    let unloaded = some_end.then(|| Arc::new(Unloaded::new(scenario)));
    build(network_plan(scenario, regions), &record_plan(scenario), unloaded.as_ref(), traced, watched_every)
}

fn progress(scenario: &Scenario, seen: &dyn Watched) -> Progress {
    Progress {
        cycle: seen.now() / u64::from(scenario.clock.ticks_per_cycle),
        cycles: scenario.measure.warmup + scenario.measure.cycles,
        packet_hops: seen.packet_hops(),
        packets: seen.packets(),
    }
}

fn find_deadlock(scenario: &Scenario, network: &dyn RunningNetwork) -> Option<Failure> {
    let topology = scenario.topology.built.graph();
    network.find_deadlock().map(|deadlock| Failure::Deadlock {
        since_cycle: network.last_hop() / u64::from(scenario.clock.ticks_per_cycle),
        circle: deadlock.describe(topology.as_ref()),
    })
}
