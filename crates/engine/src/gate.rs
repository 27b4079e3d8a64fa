//! Waiting for other threads: for a moment awake, then asleep.
//!
//! **The invariant it keeps:** whoever sleeps is woken, if [`Gate::wake`] is called after what it waits for has come true.
//! Who waits first says that it sleeps and then looks once more; who wakes first makes it true and then looks who sleeps.
//! Both with a fence in between, so that at least one of them sees what the other has done.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a thread looks before it sleeps: some tens of microseconds, about what it takes to wake it.
const LOOKS: u32 = 1500;

/// A place to wait at.
#[derive(Debug)]
pub(crate) struct Gate {
    looks: u32,
    sleepers: AtomicUsize,
    /// How often somebody has gone to sleep.
    sleeps: AtomicUsize,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Gate {
    /// A gate for `threads` threads, which do not spin if there are more of them than processors.
    pub fn new(threads: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let looks = if threads > processors { 0 } else { LOOKS };
        Self {
            looks,
            sleepers: AtomicUsize::new(0),
            sleeps: AtomicUsize::new(0),
            lock: Mutex::new(()),
            woken: Condvar::new(),
        }
    }

    /// How many threads sleep here.
    pub fn sleepers(&self) -> usize {
        self.sleepers.load(Ordering::Relaxed)
    }

    /// How often looking was not enough.
    pub fn sleeps(&self) -> usize {
        self.sleeps.load(Ordering::Relaxed)
    }

    /// Returns when `is_true` has become true.
    #[inline]
    pub fn wait(&self, is_true: impl Fn() -> bool) {
        if !look(self.looks, &is_true) {
            self.sleep(&is_true);
        }
    }

    #[cold]
    fn sleep(&self, is_true: &impl Fn() -> bool) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        self.sleeps.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while !is_true() {
            guard = self.woken.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Lets those who sleep look again.
    #[inline]
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            self.wake_sleepers();
        }
    }

    #[cold]
    fn wake_sleepers(&self) {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_all();
    }
}

/// Looks some times whether something is true; gives whether it is.
#[inline]
pub(crate) fn look(times: u32, is_true: &impl Fn() -> bool) -> bool {
    for _ in 0..times {
        if is_true() {
            return true;
        }
        std::hint::spin_loop();
    }
    is_true()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn threads_pass_a_counter_round_whether_they_spin_or_sleep() {
        const ROUNDS: u32 = 2_000;
        for threads in [2, 8] {
            let (gate, turn) = (Gate::new(threads), AtomicU32::new(0));
            std::thread::scope(|scope| {
                for thread in 0..threads as u32 {
                    let (gate, turn) = (&gate, &turn);
                    scope.spawn(move || {
                        for round in 0..ROUNDS / threads as u32 {
                            let own = round * threads as u32 + thread;
                            gate.wait(|| turn.load(Ordering::Acquire) == own);
                            turn.store(own + 1, Ordering::Release);
                            gate.wake();
                        }
                    });
                }
            });
            assert_eq!(turn.into_inner(), ROUNDS);
        }
    }
}
