//! A scenario that is being simulated.

use std::ops::ControlFlow;
use std::sync::Arc;

use tailback_engine::{Exchange, Executor as _, Outcome, Ranks, Rayon, Sequential};
use tailback_network::{Balance, Deadlock, Tracing};
use tailback_report::Record;
use tailback_scenario::{Measure, Scenario};

use crate::failure::Failure;
use crate::findings::Findings;
use crate::part::Part;
use crate::plan::{Regions, network_plan};
use crate::recorder::record_plan;
use crate::running_network::{AnyExecutor, RunningNetwork, Watched, build};
use crate::sampler::Sampler;
use crate::together::Together;
use crate::unloaded::Unloaded;
use crate::waiting::describe;

/// A scenario that is being simulated.
pub struct Run<'s> {
    pub(crate) scenario: &'s Scenario,
    pub(crate) network: Box<dyn RunningNetwork>,
    pub(crate) regions: Regions,
    /// What is traced, if anything is.
    pub(crate) traced: Option<Tracing>,
    executor: AnyExecutor,
    /// The other processes that simulate it, if there are some.
    pub(crate) together: Option<Together>,
    /// What all of them have found, once it is gathered, on the first rank.
    gathered: Option<Part>,
    /// The network as a whole, for what takes that, on the first rank.
    pub(crate) whole: Option<Box<dyn RunningNetwork>>,
    /// Messages of flows that end, and ranks of programs.
    to_be_finished: u64,
    /// The tick from which on a standstill is looked into again.
    pub(crate) suspicious_from: u64,
    pub(crate) sampler: Sampler,
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
        let mut together = exchange.map(meet).transpose()?;
        let regions = Regions::of(scenario, together.as_ref().map_or(threads, |together| together.threads));
        let network = build_network(scenario, regions, traced, together.as_mut());
        let mut run = Self {
            scenario,
            network,
            regions,
            traced,
            executor,
            together,
            gathered: None,
            whole: None,
            to_be_finished: to_be_finished(scenario),
            suspicious_from: scenario.execution.deadlock_after,
            sampler: Sampler::default(),
        };
        run.agree()?;
        Ok(run)
    }

    /// Has all ranks tell where they stand.
    pub(crate) fn agree(&mut self) -> Result<(), Failure> {
        let network = self.network.as_mut();
        Ok(self.together.as_mut().map_or(Ok(()), |together| together.agree(network))?)
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
            let ending = self.stage(until, &mut watch)?;
            // Also where it is asked to stop in that very cycle: it goes on behind it.
            let cycle = self.progress().cycle;
            if cycle == until && Sampler::is_due(self.scenario, cycle) {
                self.look()?;
            }
            if ending == Ending::Stopped {
                return Ok(Ending::Stopped);
            }
        }
        Ok(Ending::Reached)
    }

    /// Looks at the network, if the time has come. Trees take all of it in one process: they go through all ranks.
    fn look(&mut self) -> Result<(), Failure> {
        let Some(together) = &mut self.together else {
            self.sampler.look(self.scenario, self.network.as_ref());
            return Ok(());
        };
        if self.scenario.measure.trees_every.is_none() {
            let own = self.sampler.link_states(self.scenario, self.network.as_ref());
            let states = own.map(|own| together.merge(own, |mine, theirs| mine.merge(&theirs))).transpose()?;
            states
                .flatten()
                .iter()
                .for_each(|states| self.sampler.note_links(self.scenario, self.progress().cycle, states));
            return Ok(());
        }
        let mut state = Vec::new();
        self.network.save_together(&mut together.ranks, &mut |piece| state.extend_from_slice(piece))?;
        if together.ranks.is_first() {
            let whole = self.whole.get_or_insert_with(|| build_network(self.scenario, self.regions, None, None));
            whole.load(&mut state.as_slice())?;
            self.sampler.look(self.scenario, whole.as_ref());
        }
        Ok(())
    }

    /// What is looked at now and again, of all ranks.
    pub(crate) fn seen(&self) -> &dyn Watched {
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
        self.to_be_finished - together.map_or_else(|| self.network.finished(), |together| together.seen.finished)
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
            let found = self.network.wait_graph().deadlock();
            return found.map_or(Ok(()), |deadlock| Err(self.deadlock(&deadlock)));
        };
        let found = together.find_deadlock(self.network.as_ref())?;
        let is_any = together.any(found.is_some())?;
        match found {
            Some(deadlock) => Err(self.deadlock(&deadlock)),
            None if is_any => Err(Failure::Elsewhere),
            None => Ok(()),
        }
    }

    fn deadlock(&self, deadlock: &Deadlock) -> Failure {
        Failure::Deadlock {
            since_cycle: self.seen().last_hop() / u64::from(self.scenario.clock.ticks_per_cycle),
            circle: deadlock.describe(self.scenario.topology.built.graph().as_ref()),
        }
    }

    /// Has the first rank of several know what all have found, to tell it; tells whether this is the first one.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn gather(&mut self) -> Result<bool, Failure> {
        let Some(together) = &mut self.together else { return Ok(true) };
        let topology = self.scenario.topology.built.graph();
        self.gathered = together.gather(self.network.as_ref(), topology.as_ref())?;
        Ok(together.ranks.is_first())
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

    /// What was written down so far, warm-up included: of several ranks by this one.
    #[must_use]
    pub fn record(&self) -> Record {
        self.network.record().unwrap_or_else(|| Record::new(record_plan(self.scenario)))
    }

    /// What was found, once the run is finished; when it was stopped, what was found until then.
    ///
    /// # Errors
    /// When something does not add up.
    ///
    /// # Panics
    /// On a rank of several that has not gathered what all have found.
    pub fn findings(&self) -> Result<Findings, Failure> {
        let cycle = self.progress().cycle;
        let part = if self.together.is_some() {
            self.gathered.clone().expect("the first rank has gathered it")
        } else {
            let topology = self.scenario.topology.built.graph();
            Part::of(self.network.as_ref(), self.network.ledger().balance(), topology.as_ref())
        };
        let holdings = part.balance.and_then(Balance::holdings);
        Ok(Findings {
            holdings: holdings.map_err(|reason| Failure::Inconsistent { cycle, reason })?,
            record: part.record.unwrap_or_else(|| Record::new(record_plan(self.scenario))),
            samples: self.sampler.samples.clone(),
            links: part.links,
            packet_hops: part.packet_hops,
            threads: self.threads() as u32,
            reached: cycle,
            is_whole: self.is_over(),
            waiting: describe(&part.wants, &self.scenario.workload, self.is_idle()),
        })
    }
}

/// A run that ends when flows have ended does so in the next cycle that is a multiple of this: that is the same cycle whatever the
/// windows are.
const DRAINED_EVERY_CYCLES: u64 = 100;

/// The network of a scenario; of several ranks that part that this one holds.
pub(crate) fn build_network(
    scenario: &Scenario,
    regions: Regions,
    traced: Option<Tracing>,
    together: Option<&mut Together>,
) -> Box<dyn RunningNetwork> {
    let some_end = scenario.workload.flows.iter().any(|flow| flow.messages().is_some());
    let unloaded = some_end.then(|| Arc::new(Unloaded::new(scenario)));
    let plan = network_plan(scenario, regions);
    let held = together.map_or(0..plan.partition.regions() as usize, |together| together.deal_out(&plan));
    build(plan, held, &record_plan(scenario), unloaded.as_ref(), traced)
}

/// How many messages of flows that end and ranks of programs there are.
fn to_be_finished(scenario: &Scenario) -> u64 {
    let plan = record_plan(scenario);
    let messages: u64 = plan.ending.iter().flatten().sum();
    messages + plan.programs.iter().flatten().map(|program| u64::from(program.ranks)).sum::<u64>()
}

fn progress(scenario: &Scenario, seen: &dyn Watched) -> Progress {
    Progress {
        cycle: seen.now() / u64::from(scenario.clock.ticks_per_cycle),
        cycles: scenario.measure.warmup + scenario.measure.cycles,
        packet_hops: seen.packet_hops(),
        packets: seen.packets(),
    }
}
