//! The threads of a run: one leads, the others wait until there is something to do together.
//!
//! Threads enter a [`Hall`] once per run. The leader gathers those that are there and lends them a job, which all of them
//! do, each with a number of its own. A thread that is not there in time misses that job and nothing else, so that nobody
//! ever waits for a thread that has yet to wake up.
//!
//! **What this module must never know:** regions and windows.
//!
//! This is the one module of the crate with `unsafe` code: threads live as long as the run, jobs only as long as a call, so
//! the lifetime of a job is hidden from the type of the hall. The proof that nobody uses a job that is gone:
//!
//! * [`Crew::share`] stores the job in `loan` before it raises `started`, by which a member learns of it; and a member reads
//!   `loan` only after it has seen its own `invitation` started. Members of this invitation are those counted in the same
//!   word, which is closed before `started` is raised: no thread can become a member later.
//! * each member lowers `working` once, after its last use of the job, whether that returned or panicked.
//! * `share` neither returns nor unwinds before `working` is 0: the leader's own part of the job runs under `catch_unwind`, and
//!   nothing between raising `started` and the end of that wait can panic.
//!
//! Raising (release) and reading (acquire) `started`, and lowering (release) and reading (acquire) `working`, order the uses
//! of the job inside the call. The job is `Sync`, so that several threads may use it at once.

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::gate::{Gate, look};

/// What members do: told their number.
type Job<'j> = dyn Fn(usize) + Sync + 'j;

/// The lowest bits of an invitation count those who have come; the next says that others still may; the rest numbers it.
const OPEN: u64 = 1 << 16;
const COUNT: u64 = OPEN - 1;

/// So many events are worth asking a thread that is awake, and waking one that sleeps.
const WORTH_SHARING: u64 = 12;
const WORTH_WAKING: u64 = 1500;

/// For how many windows the leader goes on alone after threads have held each other up.
const RESTS_MIN: u64 = 500;
const RESTS_MAX: u64 = 100_000;

/// How often the leader looks whether threads have come: at least, and at most per event that they could take over.
const LOOKS_MIN: u64 = 60;
const LOOKS_MAX: u64 = 6000;

/// Where the threads of a run meet.
pub(crate) struct Hall {
    threads: usize,
    /// Whether all is shared that can be.
    eager: bool,
    invitation: AtomicU64,
    /// The number of the invitation whose job can be done.
    started: AtomicU64,
    loan: UnsafeCell<Option<&'static Job<'static>>>,
    /// Members that have not finished the job.
    working: AtomicUsize,
    over: AtomicBool,
    /// Where those wait who have no job, and those who have.
    idle: Gate,
    busy: Gate,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: all fields but `loan` are `Sync` by themselves. `loan` is written by the leader alone, while no member uses it,
// and what is in it is `Sync`; see the head of the module.
unsafe impl Sync for Hall {}

impl Hall {
    pub fn new(threads: usize, eager: bool) -> Self {
        Self {
            threads,
            eager,
            invitation: AtomicU64::new(0),
            started: AtomicU64::new(0),
            loan: UnsafeCell::new(None),
            working: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            idle: Gate::new(threads),
            busy: Gate::new(threads),
            panic: Mutex::new(None),
        }
    }

    /// Does what the leader lends until the run is over: what all threads but the leader are here for.
    pub fn serve(&self) {
        let mut seen = 0;
        let is_over = || self.over.load(Ordering::Acquire);
        let invited = |seen: u64| {
            let word = self.invitation.load(Ordering::Acquire);
            (word & OPEN != 0 && number(word) != seen).then_some(word)
        };
        loop {
            self.idle.wait(|| is_over() || invited(seen).is_some());
            if is_over() {
                return;
            }
            let Some(word) = invited(seen) else { continue };
            if self.invitation.compare_exchange(word, word + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                seen = number(word);
                self.take_part(seen, (word & COUNT) as usize + 1);
            }
        }
    }

    fn take_part(&self, invitation: u64, member: usize) {
        self.busy.wait(|| self.started.load(Ordering::Acquire) == invitation || self.over.load(Ordering::Acquire));
        if self.started.load(Ordering::Acquire) != invitation {
            return;
        }
        // SAFETY: this thread is a member of the invitation that has been started, so the leader has stored a job, and
        // neither changes it nor lets go of it before this thread has lowered `working`.
        let job = unsafe { *self.loan.get() };
        let job = job.expect("a job was lent before it was started");
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| job(member))) {
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
        }
        self.working.fetch_sub(1, Ordering::Release);
        self.busy.wake();
    }

    /// Sends all threads away when it is dropped, also by a panic of the leader.
    pub fn end(&self) -> impl Drop + '_ {
        struct End<'h>(&'h Hall);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.over.store(true, Ordering::Release);
                self.0.idle.wake();
                self.0.busy.wake();
            }
        }
        End(self)
    }
}

fn number(invitation: u64) -> u64 {
    invitation / (2 * OPEN)
}

/// The threads of a run, as the one that leads sees them.
pub struct Crew<'h> {
    /// None for a thread alone.
    hall: Option<&'h Hall>,
    /// Events that could have been taken over by threads that slept.
    missed: u64,
    /// How often nobody is to be gathered, and how often when threads hold each other up next.
    rest: u64,
    next_rest: u64,
}

impl fmt::Debug for Crew<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl<'h> Crew<'h> {
    /// A thread that does everything by itself.
    #[must_use]
    pub fn alone() -> Self {
        Crew { hall: None, missed: 0, rest: 0, next_rest: RESTS_MIN }
    }

    pub(crate) fn leading(hall: &'h Hall) -> Self {
        Crew { hall: Some(hall), missed: 0, rest: 0, next_rest: RESTS_MIN }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.hall.map_or(1, |hall| hall.threads)
    }

    /// Gathers threads for something in which about so many events will be handled from one barrier to the next: those that
    /// are awake if that pays, and those that sleep if it would have paid for long enough. Gives how many there are, the
    /// leader among them; if more than one, [`Crew::share`] has to follow.
    pub(crate) fn gather(&mut self, events: u64) -> usize {
        let Some(hall) = self.hall else { return 1 };
        let others = hall.threads - 1;
        let gain = events - events / hall.threads as u64;
        if others == 0 || (gain < WORTH_SHARING && !hall.eager) {
            return 1;
        }
        if self.rest > 0 {
            self.rest -= 1;
            return 1;
        }
        let sleepers = hall.idle.sleepers();
        if sleepers > 0 {
            self.missed += gain;
        }
        let wakes = sleepers > 0 && (self.missed >= WORTH_WAKING || hall.eager);
        if sleepers >= others && !wakes {
            return 1;
        }
        let invitation = number(hall.invitation.load(Ordering::Relaxed)) + 1;
        hall.invitation.store((invitation * 2 * OPEN) | OPEN, Ordering::SeqCst);
        if wakes {
            self.missed = 0;
            hall.idle.wake();
        }
        let all = || (hall.invitation.load(Ordering::Relaxed) & COUNT) as usize == others;
        let looks = if hall.eager { LOOKS_MAX } else { gain.clamp(LOOKS_MIN, LOOKS_MAX) };
        look(looks as u32, &all);
        1 + (hall.invitation.fetch_and(!OPEN, Ordering::AcqRel) & COUNT) as usize
    }

    /// Notes whether the threads that were gathered last have held each other up. If so the leader goes on alone, for longer
    /// each time.
    pub(crate) fn learn(&mut self, held_up: bool) {
        if held_up && self.hall.is_some_and(|hall| !hall.eager) {
            self.rest = self.next_rest;
            self.next_rest = (2 * self.next_rest).min(RESTS_MAX);
        } else {
            self.next_rest = (self.next_rest / 2).max(RESTS_MIN);
        }
    }

    /// Has all `members` do `job`, and returns when all have.
    ///
    /// # Panics
    /// With what a member has panicked with.
    pub(crate) fn share(&mut self, members: usize, job: &Job<'_>) {
        let hall = self.hall.expect("threads were gathered");
        let invitation = number(hall.invitation.load(Ordering::Relaxed));
        hall.working.store(members - 1, Ordering::Relaxed);
        // SAFETY: only the lifetime is changed. The head of the module says why nobody uses the job after this call.
        let lent = unsafe { std::mem::transmute::<&Job<'_>, &'static Job<'static>>(job) };
        // SAFETY: `loan` is read by members of a started invitation alone, and this one has not been started, while the one
        // before has no working members.
        unsafe { *hall.loan.get() = Some(lent) };
        hall.started.store(invitation, Ordering::Release);
        hall.busy.wake();
        let own = catch_unwind(AssertUnwindSafe(|| job(0)));
        hall.busy.wait(|| hall.working.load(Ordering::Acquire) == 0);
        let others = hall.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(payload) = others.or(own.err()) {
            resume_unwind(payload);
        }
    }
}
