//! Windows that several processes advance together.
//!
//! Every rank holds the regions that it advances. At the end of each window it takes over what regions of others have sent
//! to its own, as if they had sent it here, and all agree on the beginning of the next window. Whoever watches is asked about
//! a window when all have told of it, and is heard at the end of the next one.
//!
//! **The invariant it keeps:** the windows of all ranks are the same, and a region is held and advanced by one rank alone.

use std::ops::ControlFlow;

use crate::batch::Windows;
use crate::crew::Crew;
use crate::exchange::{ExchangeError, FIGURES, Notice};
use crate::ranks::Ranks;
use crate::simulation::{Outcome, SHORT_WINDOW_EVENTS, Simulation};
use crate::snapshot::{Snapshot, SnapshotError};
use crate::{Executor, Mail as _, NEVER, Region, Tick};

/// Bytes that stand before each mail in a letter: the region that it is from, and the receiver.
pub const ENVELOPE_BYTES: u64 = 8;

/// What a model tells of the regions of a rank, and who is asked whether to stop by what all ranks tell.
pub trait Watcher<R: Region>: Send {
    /// What this rank tells of its regions.
    fn figures(&mut self, simulation: &Simulation<R>) -> [u64; FIGURES];

    /// Whether all are to stop: asked on each rank at the same tick, with the same notices, and one that says so is enough.
    fn watch(&mut self, now: Tick, notices: &[Notice]) -> ControlFlow<()>;
}

impl<R: Region> Simulation<R> {
    /// The same as [`Simulation::run_until`], together with the other ranks, all of which have to call it. When it returns,
    /// all have told their figures of where they stand: [`Ranks::notices`].
    ///
    /// # Errors
    /// When a rank is gone; the simulation is then not to be used.
    ///
    /// # Panics
    /// When the regions that are held here are not those of this rank.
    pub fn run_until_together(
        &mut self,
        end: Tick,
        executor: &impl Executor,
        ranks: &mut Ranks,
        watcher: &mut impl Watcher<R>,
    ) -> Result<Outcome, ExchangeError> {
        assert_eq!(self.held(), ranks.mine(), "a rank holds its own regions");
        executor.enter(|crew| {
            let outcome = self.run_windows_together(end, crew, ranks, watcher)?;
            self.agree(ranks, watcher)?;
            Ok(outcome)
        })
    }

    /// Has all ranks tell their figures of where they stand.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn agree(&mut self, ranks: &mut Ranks, watcher: &mut impl Watcher<R>) -> Result<(), ExchangeError> {
        self.note_changes();
        let figures = watcher.figures(self);
        ranks.swap(Notice { next: self.next_of_own(), stop: false, figures })
    }

    fn run_windows_together(
        &mut self,
        end: Tick,
        crew: &mut Crew<'_>,
        ranks: &mut Ranks,
        watcher: &mut impl Watcher<R>,
    ) -> Result<Outcome, ExchangeError> {
        let window = self.channels.lookahead().min(self.longest_window);
        self.agree(ranks, watcher)?;
        let mut stop = false;
        while self.now < end {
            let start = ranks.next().max(self.now);
            if start >= end {
                self.now = end;
                break;
            }
            let until = start.saturating_add(window).min(end);
            self.run_own_window(start, until, crew);
            let is_watched = self.now >= self.observe_at;
            let figures = if is_watched { watcher.figures(self) } else { [0; FIGURES] };
            self.write_letters(ranks)?;
            ranks.swap(Notice { next: self.next_of_own(), stop, figures })?;
            self.read_letters(ranks)?;
            if ranks.are_to_stop() {
                return Ok(Outcome::Stopped);
            }
            if is_watched {
                self.observe_at = self.now.saturating_add(self.observed_every);
                stop |= watcher.watch(self.now, ranks.notices()).is_break();
            }
        }
        Ok(Outcome::Reached)
    }

    /// Advances the regions of this rank.
    fn run_own_window(&mut self, start: Tick, until: Tick, crew: &mut Crew<'_>) {
        let events = (self.rate * (until - start) as f64) as u64;
        let members = if self.shards.len() > 1 { crew.gather(events) } else { 1 };
        let done = if members > 1 {
            let buffers = self.outboxes.len();
            let windows = Windows {
                start,
                end: until,
                length: until - start,
                lag: 1,
                first_buffer: (self.buffer + 1) % buffers,
                buffers,
                unread: self.unread,
                helping: events >= SHORT_WINDOW_EVENTS,
            };
            self.run_batch(windows, members, crew)
        } else {
            self.run_window(until)
        };
        self.rate += (done.events as f64 / (self.now - start) as f64 - self.rate) / 8.0;
    }

    /// When the regions of this rank, or what they have sent, have something to do next.
    fn next_of_own(&self) -> Tick {
        self.inboxes.next_tick().min(self.mail_earliest)
    }

    /// Takes what was sent to regions of others in the last window out of their inboxes.
    fn write_letters(&mut self, ranks: &mut Ranks) -> Result<(), ExchangeError> {
        let mine = ranks.mine();
        ranks.letters.iter_mut().for_each(Vec::clear);
        for from in mine.clone() {
            let outbox = &self.outboxes[self.buffer][from];
            // Where nothing has happened there is what was sent in an earlier window.
            if !outbox.is_of_window(self.now) {
                continue;
            }
            for (&receiver, number) in outbox.receivers().iter().zip(0..) {
                let (to, _) = self.channels.target(from, receiver);
                if mine.contains(&(to as usize)) {
                    continue;
                }
                self.inboxes.forget(to as usize);
                let owner = ranks.owner(to);
                let letter = &mut ranks.letters[owner];
                letter.extend_from_slice(&(from as u32).to_le_bytes());
                letter.extend_from_slice(&receiver.to_le_bytes());
                let written = outbox.numbered(number).write(letter);
                written.map_err(|error| ExchangeError::Garbled { rank: ranks.rank(), reason: error.to_string() })?;
            }
        }
        Ok(())
    }

    /// Puts what regions of others have sent in the last window where it would be if they were advanced here.
    fn read_letters(&mut self, ranks: &mut Ranks) -> Result<(), ExchangeError> {
        for rank in (0..ranks.ranks()).filter(|&rank| rank != ranks.rank()) {
            let mut letter = ranks.letters[rank].as_slice();
            while !letter.is_empty() {
                let garbled = |reason: String| ExchangeError::Garbled { rank, reason };
                let mut word = || {
                    let (word, rest) = letter.split_first_chunk().ok_or_else(|| garbled("it is cut off".to_owned()))?;
                    letter = rest;
                    Ok(u32::from_le_bytes(*word))
                };
                let (from, receiver) = (word()?, word()?);
                if from as usize >= self.channels.regions() || ranks.owner(from) != rank {
                    return Err(garbled(format!("it has no region {from}")));
                }
                let receivers = self.channels.receivers(from as usize).len();
                if receiver as usize >= receivers {
                    return Err(garbled(format!("region {from} sends to no receiver {receiver}")));
                }
                let outbox = &mut self.outboxes[self.buffer][from as usize];
                if !outbox.is_of_window(self.now) {
                    outbox.open(receivers, self.now);
                }
                let mail = outbox.mail(receiver, NEVER);
                mail.read(&mut letter).map_err(|error| garbled(error.to_string()))?;
                let count = outbox.receivers().len() as u32;
                self.inboxes.put(&self.channels, from as usize, receiver, self.buffer, count);
            }
        }
        Ok(())
    }
}

/// Why a state cannot be gathered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    /// Ranks do not come together.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The state of a region cannot be written.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl<R: Region + Snapshot> Simulation<R> {
    /// Shows `take`, on the first rank, piece by piece what a simulation of one process that stood here would write: no rank
    /// holds much more than the state of a region as bytes. All ranks have to call it.
    ///
    /// # Errors
    /// When a rank is gone, or a region cannot be written.
    pub fn save_together(&self, ranks: &mut Ranks, take: &mut dyn FnMut(&[u8])) -> Result<(), GatherError> {
        // What one rank alone knows of mail that is under way.
        let all = ranks.tell([self.mail_earliest, self.buffers_with_mail().into(), 0, 0])?;
        let earliest = all.iter().map(|figures| figures[0]).min().unwrap_or(NEVER);
        let with_mail = all.iter().fold(0, |buffers, figures| buffers | figures[1] as u32);
        if ranks.is_first() {
            let mut heading = Vec::new();
            self.save_heading((earliest, with_mail), &mut heading)?;
            take(&heading);
        }
        let mut regions = self.held();
        let piece = || Ok(self.save_piece(&mut regions, with_mail)?);
        ranks.show_first(piece, &mut |_, bytes| take(bytes))
    }
}
