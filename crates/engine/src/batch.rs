//! Windows that several threads advance together.
//!
//! A batch is a run of windows of equal length between two looks of whoever watches. Each thread advances its own regions,
//! and if windows are long, those of others that have not been begun. It begins a window when all threads have finished the
//! window before; where the lookahead is short, windows are half as long as it, and it is enough if all have finished the
//! window before that, so that threads do not stand still while they hear of each other.
//!
//! **The invariant it keeps:** a region is advanced by one thread in each window, and receives everything that was sent in
//! windows that all threads have finished. Locks hold it, which nobody ever waits for: that one is taken means a mistake in
//! here, and ends the run.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};

use crate::deal::Deal;
use crate::gate::Gate;
use crate::inbox::Buffers;
use crate::shard::{Done, Post, Shard, Window};
use crate::{NEVER, Outbox, Region, Tick};

/// Something on cache lines of its own, as threads write it all the time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line<T>(T);

/// The windows of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    pub start: Tick,
    pub end: Tick,
    /// The length of each but the last.
    pub length: Tick,
    /// A window is begun when that many windows before it all are finished.
    pub lag: u64,
    /// The buffer of the first window, and how many are used in turn: at least twice the lag.
    pub first_buffer: usize,
    pub buffers: usize,
    /// The buffers that have not been received when it begins.
    pub unread: Buffers,
    /// Whether threads take regions of others when they are through with their own.
    pub helping: bool,
}

impl Windows {
    /// How many there are.
    pub fn count(&self) -> u64 {
        (self.end - self.start).div_ceil(self.length)
    }

    fn window(&self, index: u64) -> Window {
        let until = self.start.saturating_add((index + 1).saturating_mul(self.length)).min(self.end);
        let unread = match index {
            0 => self.unread,
            _ if index < self.lag => 0,
            _ => 1 << self.buffer(index - self.lag),
        };
        Window { until, buffer: self.buffer(index), unread }
    }

    fn buffer(&self, index: u64) -> usize {
        ((self.first_buffer as u64 + index) % self.buffers as u64) as usize
    }

    /// The buffer of the last window.
    pub fn last_buffer(&self) -> usize {
        self.buffer(self.count() - 1)
    }

    /// The buffers that have not been received when it is over.
    pub fn left_unread(&self) -> Buffers {
        (self.count().saturating_sub(self.lag)..self.count()).fold(0, |set, index| set | 1 << self.buffer(index))
    }
}

/// Where a thread stands.
#[derive(Debug, Default)]
struct Progress {
    /// Windows that it has finished.
    finished: AtomicU64,
    /// How many of its regions have been begun: in this window, and in the next ones, by number modulo twice the lag.
    begun: [AtomicUsize; 4],
}

type Desk<'a, T> = Line<RwLock<&'a mut Outbox<T>>>;

/// A batch of windows.
pub(crate) struct Batch<'a, R: Region> {
    windows: Windows,
    post: Post<'a>,
    deal: &'a Deal,
    /// The number of the first region of all that are dealt out.
    first: usize,
    shards: Vec<Line<Mutex<&'a mut Shard<R>>>>,
    /// By buffer, then by region.
    outboxes: Vec<Vec<Desk<'a, R::Mail>>>,
    progress: Vec<Line<Progress>>,
    gate: Gate,
    /// A thread has panicked: nobody waits for it.
    broken: AtomicBool,
    events: AtomicU64,
    earliest: AtomicU64,
}

impl<'a, R: Region> Batch<'a, R> {
    pub fn new(
        windows: Windows,
        members: usize,
        post: Post<'a>,
        (deal, first): (&'a Deal, usize),
        shards: &'a mut [Shard<R>],
        outboxes: &'a mut [Vec<Outbox<R::Mail>>],
    ) -> Self {
        let desks = |outboxes: &'a mut Vec<_>| outboxes.iter_mut().map(|outbox| Line(RwLock::new(outbox))).collect();
        Self {
            windows,
            post,
            deal,
            first,
            shards: shards.iter_mut().map(|shard| Line(Mutex::new(shard))).collect(),
            outboxes: outboxes.iter_mut().map(desks).collect(),
            progress: (0..members).map(|_| Line::default()).collect(),
            gate: Gate::new(members),
            broken: AtomicBool::new(false),
            events: AtomicU64::new(0),
            earliest: AtomicU64::new(NEVER),
        }
    }

    /// What was done, once it is over.
    pub fn done(&self) -> Done {
        Done { events: self.events.load(Ordering::Relaxed), earliest: self.earliest.load(Ordering::Relaxed) }
    }

    /// Whether threads have kept each other waiting for longer than windows take: some of them share a processor, or have
    /// to share theirs with others.
    pub fn is_held_up(&self) -> bool {
        !self.windows.helping && self.gate.sleeps() as u64 > 1 + self.windows.count() / 16
    }

    /// The part of thread `member`.
    pub fn work(&self, member: usize) {
        let _broken = BreakOnPanic(self);
        let (count, lag) = (self.windows.count(), self.windows.lag);
        let own = &self.progress[member].0;
        let mut all = Done::NOTHING;
        for index in 0..count {
            self.gate.wait(|| self.is_finished(index.saturating_sub(lag - 1)) || self.broken.load(Ordering::Relaxed));
            if self.broken.load(Ordering::Relaxed) {
                return;
            }
            // Nobody begins that window, nor still uses the one whose place it takes: see `lag`.
            own.begun[((index + lag) % (2 * lag)) as usize].store(0, Ordering::Relaxed);
            let done = self.work_window(member, index);
            // What was sent before the last windows has been received.
            all.earliest = if index + lag > count { all.earliest.min(done.earliest) } else { done.earliest };
            all.events += done.events;
            own.finished.store(index + 1, Ordering::Release);
            self.gate.wake();
        }
        self.events.fetch_add(all.events, Ordering::Relaxed);
        self.earliest.fetch_min(all.earliest, Ordering::Relaxed);
    }

    /// Whether all threads have finished the first `windows` windows.
    fn is_finished(&self, windows: u64) -> bool {
        self.progress.iter().all(|progress| progress.0.finished.load(Ordering::Acquire) >= windows)
    }

    fn work_window(&self, member: usize, index: u64) -> Done {
        let window = self.windows.window(index);
        let mut done = Done::NOTHING;
        if !self.windows.helping {
            self.deal.regions(member).iter().for_each(|&region| self.run(region, window, &mut done));
            return done;
        }
        let members = self.progress.len();
        for owner in (member..members).chain(0..member) {
            let regions = self.deal.regions(owner);
            let begun = &self.progress[owner].0.begun[(index % (2 * self.windows.lag)) as usize];
            // Few at a time: one at a time where there are few.
            let step = 1 + regions.len() / 128;
            while begun.load(Ordering::Relaxed) < regions.len() {
                let from = begun.fetch_add(step, Ordering::Relaxed).min(regions.len());
                let to = (from + step).min(regions.len());
                regions[from..to].iter().for_each(|&region| self.run(region, window, &mut done));
            }
        }
        done
    }

    #[inline]
    fn run(&self, place: u32, window: Window, done: &mut Done) {
        let place = place as usize;
        let index = self.first + place;
        if !self.post.inboxes.is_active(index, window.until, window.unread) {
            return;
        }
        let mut shard = self.shards[place].0.try_lock().expect("a region has one thread in each window");
        let mut sending = self.outboxes[window.buffer][index].0.try_write().expect("all have received what was in it");
        let receive = |region: &mut R, buffer: usize, from: usize, number| {
            let outbox = self.outboxes[buffer][from].0.try_read().expect("its window is finished");
            region.receive(outbox.numbered(number));
        };
        done.add(self.post.run(index, &mut shard.region, window, &mut sending, receive));
    }
}

/// Lets go those who would wait for a thread that has panicked.
struct BreakOnPanic<'b, 'a, R: Region>(&'b Batch<'a, R>);

impl<R: Region> Drop for BreakOnPanic<'_, '_, R> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
            self.0.gate.wake();
        }
    }
}
