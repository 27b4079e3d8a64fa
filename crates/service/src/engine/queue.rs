//! What waits for a thread, and what threads are doing.
//!
//! First come the tables of sweeps whose runs have all ended, then runs that take results that are there already: none of
//! them waits for a simulation. Of the runs that wait, the next is one of the highest
//! priority; of these, one of the owner who has the fewest threads; then one of the sweep, or the single runs, of which the
//! fewest are being simulated; of these the oldest. So a single run does not wait for the two thousand runs of a sweep
//! before it, and nobody for the sweeps of others. What finding it costs is said in [`order`].
//!
//! **The invariant it keeps:** what is being carried out at once never takes more threads and memory than allowed, together
//! and of each owner.

mod order;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::api_error::{ApiError, Scope};
use crate::limits::Limits;
use crate::store::runs::Stored;
use order::{Order, Share};

/// Something for a thread to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The number of the run.
    pub number: i64,
    /// Its name.
    pub run: String,
    /// Whose it is.
    pub owner: String,
    /// The sweep that it belongs to; empty if it is a run of its own.
    pub sweep: String,
    /// Of what waits, the highest goes first.
    pub priority: i32,
    /// What to do.
    pub work: Work,
    /// The threads that it takes.
    pub threads: u32,
    /// The memory that it takes.
    pub memory_bytes: u64,
    /// The trace that it goes on with, if they are collected.
    pub traceparent: String,
}

/// What to do with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    /// All runs of a sweep have ended: make its table.
    FinishSweep,
    /// Take results that are there already.
    Reuse,
    /// Simulate it.
    Simulate,
}

impl Task {
    /// To carry out a run.
    pub(crate) fn of(stored: &Stored) -> Self {
        let is_asked_to = stored.run.reuse && stored.run.state == crate::domain::State::Pending;
        let work = if is_asked_to { Work::Reuse } else { Work::Simulate };
        Self { work, ..Self::simulate(stored) }
    }

    /// To simulate a run.
    pub(crate) fn simulate(stored: &Stored) -> Self {
        Self {
            number: stored.number,
            run: stored.run.id.clone(),
            owner: stored.run.owner.clone(),
            sweep: stored.run.parent_id.clone(),
            priority: stored.run.execution.priority,
            work: Work::Simulate,
            threads: stored.threads,
            memory_bytes: stored.memory_bytes,
            traceparent: stored.run.traceparent.clone(),
        }
    }

    /// To make the table of a sweep.
    pub(crate) fn finish_sweep(stored: &Stored) -> Self {
        let own = Self::simulate(stored);
        Self { work: Work::FinishSweep, threads: 0, memory_bytes: 0, ..own }
    }
}

/// What a thread takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Any,
    /// Only what takes no threads of simulations.
    Light,
}

/// What is said to a thread while it works.
#[derive(Debug)]
pub(crate) struct Control {
    /// Counted over all tasks that are taken: a run may be taken again before the thread that had it is done.
    count: u64,
    cancelled: AtomicBool,
}

impl Control {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// What waits and what is being done.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    stopping: AtomicBool,
    queue_max: u64,
    queue_per_owner_max: u64,
    /// What all owners together may have at once, and what each may.
    together: Share,
    share: Share,
}

#[derive(Default)]
struct State {
    /// What takes no threads of simulations, and little memory: it is done first.
    light: BTreeMap<(Work, i64), Task>,
    /// What is to be simulated.
    order: Order,
    /// What threads have, by the count of its control, and that of the last.
    running: BTreeMap<u64, (Task, Arc<Control>)>,
    last_count: u64,
    /// What those take that are being simulated.
    taken: Share,
    /// Places that were promised to runs that are being written down, by owner.
    reserved: BTreeMap<String, u64>,
}

/// Places in the queue, given back when dropped.
pub(crate) struct Places<'q> {
    queue: &'q Queue,
    owner: String,
    count: u64,
}

impl Drop for Places<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        let left = state.reserved.get(&self.owner).map_or(0, |reserved| reserved - self.count);
        match left {
            0 => drop(state.reserved.remove(&self.owner)),
            left => drop(state.reserved.insert(self.owner.clone(), left)),
        }
    }
}

impl State {
    fn waiting(&self) -> u64 {
        (self.light.len() + self.order.len()) as u64
    }

    /// How many runs of an owner wait, or have a place promised.
    fn waiting_of(&self, owner: &str) -> u64 {
        let is_own = |task: &&Task| task.work == Work::Reuse && task.owner == owner;
        let light = self.light.values().filter(is_own).count() as u64;
        light + self.order.waiting_of(owner) + self.reserved.get(owner).copied().unwrap_or(0)
    }

    fn put(&mut self, task: Task) {
        match task.work {
            Work::Simulate => self.order.put(task),
            work => drop(self.light.insert((work, task.number), task)),
        }
    }
}

impl Queue {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            stopping: AtomicBool::new(false),
            queue_max: limits.queue_max.into(),
            queue_per_owner_max: limits.queue_per_owner().into(),
            together: Share { runs: u32::MAX, threads: limits.threads_max, memory_bytes: limits.memory_bytes_max },
            share: Share::of_owner(limits),
        }
    }

    /// Promises places to runs of an owner that are to be written down.
    pub(crate) fn reserve(&self, owner: &str, count: u64) -> Result<Places<'_>, ApiError> {
        let mut state = self.state();
        if self.is_stopping() {
            return Err(ApiError::ShuttingDown { resume_after: None });
        }
        let own = state.waiting_of(owner);
        let all = state.waiting() + state.reserved.values().sum::<u64>();
        for (scope, there, allowed) in
            [(Scope::Owner, own, self.queue_per_owner_max), (Scope::Server, all, self.queue_max)]
        {
            if there + count > allowed {
                return Err(ApiError::QueueFull { scope, allowed, asked: count });
            }
        }
        *state.reserved.entry(owner.to_owned()).or_default() += count;
        Ok(Places { queue: self, owner: owner.to_owned(), count })
    }

    /// Lets tasks wait for a thread.
    pub(crate) fn put(&self, tasks: impl IntoIterator<Item = Task>) {
        let mut state = self.state();
        tasks.into_iter().for_each(|task| state.put(task));
        drop(state);
        self.changed.notify_all();
    }

    /// The next task of a kind, when there is one and there is room for it; none when the server stops.
    pub(crate) fn take(&self, kind: Kind) -> Option<(Task, Arc<Control>)> {
        let mut state = self.state();
        loop {
            if self.is_stopping() {
                return None;
            }
            if let Some(taken) = self.take_next(&mut state, kind) {
                return Some(taken);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next one, if there is room for it. Smaller ones do not overtake it, or it might wait for ever; unless its owner
    /// has had a share already.
    fn take_next(&self, state: &mut State, kind: Kind) -> Option<(Task, Arc<Control>)> {
        let task = match state.light.pop_first() {
            Some((_, task)) => task,
            None if kind == Kind::Light => return None,
            None => self.take_simulation(state)?,
        };
        state.last_count += 1;
        let control = Arc::new(Control { count: state.last_count, cancelled: AtomicBool::new(false) });
        state.running.insert(control.count, (task.clone(), control.clone()));
        Some((task, control))
    }

    fn take_simulation(&self, state: &mut State) -> Option<Task> {
        let next = state.order.next(self.share)?;
        if !self.together.has_room(state.taken, next) {
            return None;
        }
        let task = state.order.remove(next.number)?;
        state.order.begin(&task);
        state.taken.add(&task);
        Some(task)
    }

    /// Lets a run wait for another thread, unless the one that has it was told to stop; tells whether it waits.
    pub(crate) fn put_on(&self, task: Task, control: &Control) -> bool {
        let mut state = self.state();
        if control.is_cancelled() {
            return false;
        }
        state.put(task);
        drop(state);
        self.changed.notify_all();
        true
    }

    /// A task that was taken is done.
    pub(crate) fn done(&self, control: &Control) {
        let mut state = self.state();
        if let Some((task, _)) = state.running.remove(&control.count)
            && task.work == Work::Simulate
        {
            state.taken.remove(&task);
            state.order.end(&task);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Tells the threads that have these runs to stop, and takes those out that wait: whoever asks has them now.
    pub(crate) fn cancel(&self, numbers: &[i64]) -> Vec<Task> {
        let mut state = self.state();
        for (task, control) in state.running.values() {
            if numbers.contains(&task.number) {
                control.cancelled.store(true, Ordering::Relaxed);
            }
        }
        let mut take_out = |&number| state.order.remove(number).or_else(|| state.light.remove(&(Work::Reuse, number)));
        let waiting = numbers.iter().filter_map(&mut take_out).collect();
        drop(state);
        // What was behind them may be next.
        self.changed.notify_all();
        waiting
    }

    /// Gives nothing out any more.
    pub(crate) fn stop(&self) {
        let _state = self.state();
        self.stopping.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Waits until the server stops, but not for longer than this.
    pub(crate) fn pause(&self, time: Duration) {
        let (state, stopping) = (self.state(), |_: &mut State| !self.is_stopping());
        drop(self.changed.wait_timeout_while(state, time, stopping).unwrap_or_else(PoisonError::into_inner));
    }

    /// How many wait, and how many are being carried out.
    pub(crate) fn counts(&self) -> (u32, u32) {
        let state = self.state();
        (state.waiting() as u32, state.running.len() as u32)
    }

    /// Bytes of memory that are reserved for what is being carried out.
    pub(crate) fn memory_reserved(&self) -> u64 {
        self.state().taken.memory_bytes
    }

    /// How many places are promised.
    #[cfg(test)]
    pub(crate) fn reserved(&self) -> u64 {
        self.state().reserved.values().sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
