//! Who is next: everything that waits to be simulated, by owner.
//!
//! Runs of one owner, of one priority, and of one sweep (or of none) stand in a line, the oldest first. Of the lines of an
//! owner the next is that of the highest priority, then the one of which the fewest runs are being simulated, then the one
//! with the oldest run. Of the owners the next is the one whose next run has the highest priority, then the one who has the
//! fewest threads.
//!
//! Finding the next looks at each owner once, however much waits: it costs as many steps as there are owners. Putting,
//! taking and forgetting a run cost a logarithm of what waits.
//!
//! **The invariant it keeps:** no owner has more at once than an owner may, but for a single run. An owner whose next run
//! is more than that waits, and is overtaken by others, never by smaller runs of one's own: or a large one might wait for
//! ever.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Task;
use crate::limits::Limits;

/// What an owner may have at once, or has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub runs: u32,
    pub threads: u32,
    pub memory_bytes: u64,
}

impl Share {
    /// What limits let an owner have.
    pub(super) fn of_owner(limits: &Limits) -> Self {
        Self {
            runs: limits.concurrent_runs_per_owner(),
            threads: limits.threads_per_owner(),
            memory_bytes: limits.memory_bytes_per_owner(),
        }
    }

    /// Whether a run fits in beside what is being simulated. A run fits in alone, whatever it takes: limits may have been
    /// larger when it was accepted.
    pub(super) fn has_room(&self, taken: Self, task: &Task) -> bool {
        let fits = taken.runs < self.runs
            && taken.threads.saturating_add(task.threads) <= self.threads
            && taken.memory_bytes.saturating_add(task.memory_bytes) <= self.memory_bytes;
        fits || taken.runs == 0
    }

    pub(super) fn add(&mut self, task: &Task) {
        self.runs += 1;
        self.threads += task.threads;
        self.memory_bytes += task.memory_bytes;
    }

    pub(super) fn remove(&mut self, task: &Task) {
        self.runs -= 1;
        self.threads -= task.threads;
        self.memory_bytes -= task.memory_bytes;
    }
}

/// A priority, the highest first, and a sweep, or none.
type LineKey = (Reverse<i32>, String);

/// Where a line stands among those of its owner: by priority, by how many of it are being simulated, and by its oldest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    priority: Reverse<i32>,
    simulated: u32,
    oldest: i64,
    sweep: String,
}

#[derive(Default)]
struct Line {
    waiting: BTreeMap<i64, Task>,
    simulated: u32,
}

impl Line {
    fn rank(&self, (priority, sweep): &LineKey) -> Option<Rank> {
        let (&oldest, _) = self.waiting.first_key_value()?;
        Some(Rank { priority: *priority, simulated: self.simulated, oldest, sweep: sweep.clone() })
    }
}

#[derive(Default)]
struct Owner {
    lines: BTreeMap<LineKey, Line>,
    /// Of the lines in which something waits.
    ranks: BTreeSet<Rank>,
    waiting: u64,
    taken: Share,
}

impl Owner {
    /// Changes a line, and its rank with it.
    fn change<T>(&mut self, key: &LineKey, change: impl FnOnce(&mut Line) -> T) -> T {
        let line = self.lines.entry(key.clone()).or_default();
        if let Some(rank) = line.rank(key) {
            self.ranks.remove(&rank);
        }
        let before = line.waiting.len() as u64;
        let result = change(line);
        self.waiting = self.waiting - before + line.waiting.len() as u64;
        match line.rank(key) {
            Some(rank) => drop(self.ranks.insert(rank)),
            None if line.simulated == 0 => drop(self.lines.remove(key)),
            None => {}
        }
        result
    }

    fn next(&self) -> Option<(&Rank, &Task)> {
        let rank = self.ranks.first()?;
        let line = self.lines.get(&(rank.priority, rank.sweep.clone()))?;
        Some((rank, line.waiting.get(&rank.oldest)?))
    }
}

/// Everything that waits to be simulated, and how much of each owner's is being simulated.
#[derive(Default)]
pub(super) struct Order {
    owners: BTreeMap<String, Owner>,
    /// Where each of those that wait stands.
    places: HashMap<i64, (String, LineKey)>,
}

fn place(task: &Task) -> (String, LineKey) {
    (task.owner.clone(), (Reverse(task.priority), task.sweep.clone()))
}

impl Order {
    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many runs of an owner wait.
    pub(super) fn waiting_of(&self, owner: &str) -> u64 {
        self.owners.get(owner).map_or(0, |owner| owner.waiting)
    }

    /// How many owners have anything here.
    #[cfg(test)]
    pub(super) fn owners(&self) -> usize {
        self.owners.len()
    }

    pub(super) fn put(&mut self, task: Task) {
        let (owner, key) = place(&task);
        self.places.insert(task.number, (owner.clone(), key.clone()));
        self.change(&owner, &key, |_, line| drop(line.waiting.insert(task.number, task)));
    }

    /// The next one whose owner may have it.
    pub(super) fn next(&self, share: Share) -> Option<&Task> {
        let may_have = |owner: &Owner| {
            let (rank, task) = owner.next()?;
            let rank = (rank.priority, owner.taken.threads, rank.simulated, rank.oldest);
            share.has_room(owner.taken, task).then_some((rank, task.number))
        };
        let (_, number) = self.owners.values().filter_map(may_have).min()?;
        let (owner, key) = self.places.get(&number)?;
        self.owners.get(owner)?.lines.get(key)?.waiting.get(&number)
    }

    /// Forgets one that waits.
    pub(super) fn remove(&mut self, number: i64) -> Option<Task> {
        let (owner, key) = self.places.remove(&number)?;
        self.change(&owner, &key, |_, line| line.waiting.remove(&number))
    }

    /// One that was removed is being simulated.
    pub(super) fn begin(&mut self, task: &Task) {
        let (owner, key) = place(task);
        self.change(&owner, &key, |taken, line| {
            taken.add(task);
            line.simulated += 1;
        });
    }

    /// One that was begun is not simulated any more.
    pub(super) fn end(&mut self, task: &Task) {
        let (owner, key) = place(task);
        self.change(&owner, &key, |taken, line| {
            taken.remove(task);
            line.simulated -= 1;
        });
    }

    /// Changes a line and what its owner has, and forgets owners who have nothing here any more.
    fn change<T>(&mut self, name: &str, key: &LineKey, change: impl FnOnce(&mut Share, &mut Line) -> T) -> T {
        let owner = self.owners.entry(name.to_owned()).or_default();
        let mut taken = owner.taken;
        let result = owner.change(key, |line| change(&mut taken, line));
        owner.taken = taken;
        if owner.lines.is_empty() {
            self.owners.remove(name);
        }
        result
    }
}
