//! What waits for a thread, and what threads are doing.
//!
//! Of all that waits, the next is what comes from the sweep, or the single runs, of which the fewest are being simulated;
//! of these the oldest. So a single run does not wait for the two thousand runs of a sweep before it.
//!
//! **The invariant it keeps:** what is being carried out at once never takes more threads and memory than allowed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::api_error::ApiError;
use crate::limits::Limits;
use crate::store::runs::Stored;

/// Something for a thread to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// The number of the run.
    pub number: i64,
    /// Its name.
    pub run: String,
    /// The sweep that it belongs to; empty if it is a run of its own.
    pub sweep: String,
    /// What to do.
    pub work: Work,
    /// The threads that it takes.
    pub threads: u32,
    /// The memory that it takes.
    pub memory_bytes: u64,
}

/// What to do with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    /// All runs of a sweep have ended: make its table.
    FinishSweep,
    /// Simulate it.
    Simulate,
}

impl Task {
    /// To simulate a run.
    pub(crate) fn simulate(stored: &Stored) -> Self {
        Self {
            number: stored.number,
            run: stored.run.id.clone(),
            sweep: stored.run.parent_id.clone(),
            work: Work::Simulate,
            threads: stored.threads,
            memory_bytes: stored.memory_bytes,
        }
    }

    /// To make the table of a sweep.
    pub(crate) fn finish_sweep(stored: &Stored) -> Self {
        let own = Self::simulate(stored);
        Self { work: Work::FinishSweep, threads: 0, memory_bytes: 0, ..own }
    }
}

/// What is said to a thread while it works.
#[derive(Debug, Default)]
pub(crate) struct Control {
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
    threads_max: u32,
    memory_bytes_max: u64,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<(Work, i64), Task>,
    running: BTreeMap<i64, (Task, Arc<Control>)>,
    /// Places that were promised to runs that are being written down.
    reserved: u64,
}

/// Places in the queue, given back when dropped.
pub(crate) struct Places<'q> {
    queue: &'q Queue,
    count: u64,
}

impl Drop for Places<'_> {
    fn drop(&mut self) {
        self.queue.state().reserved -= self.count;
    }
}

impl Queue {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            stopping: AtomicBool::new(false),
            queue_max: limits.queue_max.into(),
            threads_max: limits.threads_max,
            memory_bytes_max: limits.memory_bytes_max,
        }
    }

    /// Promises places to runs that are to be written down.
    pub(crate) fn reserve(&self, count: u64) -> Result<Places<'_>, ApiError> {
        let mut state = self.state();
        if self.is_stopping() {
            return Err(ApiError::ShuttingDown { resume_after: None });
        }
        if state.waiting.len() as u64 + state.reserved + count > self.queue_max {
            return Err(ApiError::QueueFull { allowed: self.queue_max, asked: count });
        }
        state.reserved += count;
        Ok(Places { queue: self, count })
    }

    /// Lets tasks wait for a thread.
    pub(crate) fn put(&self, tasks: impl IntoIterator<Item = Task>) {
        self.state().waiting.extend(tasks.into_iter().map(|task| ((task.work, task.number), task)));
        self.changed.notify_all();
    }

    /// The next task, when there is one and there is room for it; none when the server stops.
    pub(crate) fn take(&self) -> Option<(Task, Arc<Control>)> {
        let mut state = self.state();
        loop {
            if self.is_stopping() {
                return None;
            }
            if let Some(key) = self.next(&state) {
                let task = state.waiting.remove(&key).expect("it is waiting");
                let control = Arc::new(Control::default());
                state.running.insert(task.number, (task.clone(), control.clone()));
                return Some((task, control));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next one, if there is room for it. Smaller ones do not overtake it, or it might wait for ever.
    fn next(&self, state: &State) -> Option<(Work, i64)> {
        let mut busy: BTreeMap<&str, usize> = BTreeMap::new();
        state.running.values().for_each(|(task, _)| *busy.entry(&task.sweep).or_default() += 1);
        let rank = |task: &Task| (task.work, busy.get(task.sweep.as_str()).copied().unwrap_or(0), task.number);
        let next = state.waiting.values().min_by_key(|task| rank(task))?;
        let running = || state.running.values().map(|(task, _)| task);
        let threads: u32 = running().map(|task| task.threads).sum();
        let memory: u64 = running().map(|task| task.memory_bytes).sum();
        let fits = threads + next.threads <= self.threads_max && memory + next.memory_bytes <= self.memory_bytes_max;
        (fits || state.running.is_empty()).then_some((next.work, next.number))
    }

    /// A task is done.
    pub(crate) fn done(&self, number: i64) {
        self.state().running.remove(&number);
        self.changed.notify_all();
    }

    /// Tells the thread of a run to stop, and forgets the run if it waits.
    pub(crate) fn cancel(&self, number: i64) {
        let mut state = self.state();
        state.waiting.remove(&(Work::Simulate, number));
        if let Some((_, control)) = state.running.get(&number) {
            control.cancelled.store(true, Ordering::Relaxed);
        }
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
        (state.waiting.len() as u32, state.running.len() as u32)
    }

    /// Bytes of memory that are reserved for what is being carried out.
    pub(crate) fn memory_reserved(&self) -> u64 {
        self.state().running.values().map(|(task, _)| task.memory_bytes).sum()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(threads_max: u32) -> Queue {
        Queue::new(&Limits { threads_max, memory_bytes_max: 100, queue_max: 10, ..Limits::default() })
    }

    fn task(number: i64, sweep: &str, threads: u32) -> Task {
        let (run, sweep) = (number.to_string(), sweep.to_owned());
        Task { number, run, sweep, work: Work::Simulate, threads, memory_bytes: 1 }
    }

    fn taken(queue: &Queue) -> i64 {
        queue.take().expect("something waits").0.number
    }

    #[test]
    fn the_oldest_is_first_but_sweeps_do_not_hold_up_single_runs() {
        let queue = queue(10);
        queue.put((1..5).map(|number| task(number, "sweep", 1)));
        queue.put([task(5, "", 1), task(6, "", 1)]);
        let order: Vec<i64> = (0..6).map(|_| taken(&queue)).collect();
        assert_eq!(order, [1, 5, 2, 6, 3, 4]);
    }

    #[test]
    fn what_is_carried_out_fits_and_nothing_is_overtaken() {
        let queue = queue(4);
        queue.put([task(1, "", 3), task(2, "", 2), task(3, "", 1)]);
        assert_eq!(taken(&queue), 1);
        assert_eq!(queue.next(&queue.state()), None, "the next needs more than there is");
        queue.done(1);
        assert_eq!((taken(&queue), taken(&queue)), (2, 3));
    }

    #[test]
    fn places_are_promised_once() {
        let queue = queue(1);
        let places = queue.reserve(9).expect("there are ten");
        assert_eq!(queue.reserve(2).err(), Some(ApiError::QueueFull { allowed: 10, asked: 2 }));
        drop(places);
        queue.put((0..10).map(|number| task(number, "", 1)));
        assert!(queue.reserve(1).is_err());
        queue.cancel(3);
        assert!(queue.reserve(1).is_ok());
    }

    #[test]
    fn who_waits_when_the_server_stops_gets_nothing() {
        let queue = queue(1);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.take());
            queue.stop();
            assert!(waiting.join().expect("it does not panic").is_none());
        });
        assert!(matches!(queue.reserve(1).err(), Some(ApiError::ShuttingDown { .. })));
    }
}
