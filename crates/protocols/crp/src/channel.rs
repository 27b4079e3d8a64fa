//! The table of a channel between routers, and what it has reserved eagerly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::table::{Grid, Slots, Table, Taken};

/// A segment of a message: the node that sends it, its message, its first packet.
pub type Tag = (u32, u32, u32);

/// The table of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    table: Table,
    /// By segment, what was reserved for its request when that passed.
    eager: BTreeMap<Tag, Vec<Taken>>,
}

impl Channel {
    /// One that is free.
    #[must_use]
    pub fn new(grid: Grid) -> Self {
        Self { table: Table::new(grid), eager: BTreeMap::new() }
    }

    /// What is reserved eagerly for a segment.
    #[must_use]
    pub fn eager(&self, tag: Tag) -> &[Taken] {
        self.eager.get(&tag).map_or(&[], Vec::as_slice)
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// A request for so many flits passes: it loses the slots in which there is no room, and up to `eager` of the others, the
    /// earliest ones, are reserved for it at once.
    pub fn request(&mut self, grid: Grid, tag: Tag, flits: u32, eager: u8, slots: Slots, now: u64) -> Slots {
        self.table.advance(grid, now);
        let mut slots = slots.from_slot(grid, self.table.first());
        slots.free &= self.table.availability(flits);
        let mut taken = Vec::new();
        for index in (0..grid.cells as usize).filter(|index| slots.free >> index & 1 == 1) {
            if taken.len() == usize::from(eager) {
                break;
            }
            // What was taken for an earlier slot may be missing here.
            if self.table.has_room(index, flits) {
                taken.extend(self.table.take(self.table.first() + index as u64, flits));
                slots.eager |= 1 << index;
            }
        }
        if !taken.is_empty() {
            self.eager.insert(tag, taken);
        }
        slots
    }

    /// A grant for so many flits from a tick on passes on its way back. Returns what it takes, or has taken eagerly; nothing if there
    /// is no room for it any more: it becomes a retry.
    #[must_use]
    pub fn grant(&mut self, grid: Grid, tag: Tag, flits: u32, tick: u64, now: u64) -> Option<Taken> {
        self.table.advance(grid, now);
        let slot = grid.slot_at(tick);
        let mut taken = self.eager.remove(&tag).unwrap_or_default();
        let confirmed = taken.iter().position(|taken| taken.slot == slot).map(|place| taken.remove(place));
        taken.into_iter().for_each(|taken| self.table.give_back(taken));
        confirmed.or_else(|| self.table.take(slot, flits))
    }

    /// A retry passes on its way back: what was reserved for the request is free again.
    pub fn retry(&mut self, grid: Grid, tag: Tag, now: u64) {
        self.table.advance(grid, now);
        for taken in self.eager.remove(&tag).unwrap_or_default() {
            self.table.give_back(taken);
        }
    }

    /// Flits pass that take part in no reservation.
    pub fn deduct(&mut self, grid: Grid, flits: u32, now: u64) {
        self.table.advance(grid, now);
        self.table.deduct(flits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { cells: 4, cell_flits: 100, flit_ticks: 1 };
    const ONE: Tag = (1, 0, 0);
    const OTHER: Tag = (2, 0, 0);

    fn free(channel: &Channel) -> Vec<u32> {
        channel.table().free().to_vec()
    }

    #[test]
    fn a_grant_of_the_eager_slot_confirms_it_and_of_another_one_releases_it() {
        let mut channel = Channel::new(GRID);
        let slots = channel.request(GRID, ONE, 80, 1, Slots::all(GRID, 0), 0);
        assert_eq!((slots.free, slots.eager, free(&channel)), (0b1111, 1, vec![20, 100, 100, 100]));
        // The next request sees what is left, and takes a slot of its own.
        let slots = channel.request(GRID, OTHER, 80, 1, Slots::all(GRID, 0), 0);
        assert_eq!((slots.free, slots.eager, free(&channel)), (0b1111, 1, vec![0, 40, 100, 100]));
        assert!(channel.grant(GRID, ONE, 80, 20, 10).is_some());
        assert_eq!(free(&channel), [0, 40, 100, 100]);
        assert!(channel.grant(GRID, OTHER, 80, 250, 10).is_some());
        assert_eq!(free(&channel), [20, 100, 20, 100]);
    }

    #[test]
    fn several_slots_may_be_reserved_eagerly_and_a_retry_releases_all() {
        let mut channel = Channel::new(GRID);
        let slots = channel.request(GRID, ONE, 150, 2, Slots::all(GRID, 0), 0);
        // The last slot has no room for 150 flits, as there is none behind it.
        assert_eq!((slots.free, slots.eager, free(&channel)), (0b0111, 0b0011, vec![0, 0, 0, 100]));
        channel.retry(GRID, ONE, 50);
        assert_eq!(free(&channel), [100; 4]);
    }

    /// The table has been filled by another grant between request and grant.
    #[test]
    fn a_grant_without_room_is_refused_and_leaves_nothing_reserved() {
        let mut channel = Channel::new(GRID);
        let none = channel.request(GRID, ONE, 150, 0, Slots::all(GRID, 0), 0);
        assert_eq!(none.eager, 0);
        assert!(channel.grant(GRID, OTHER, 150, 100, 5).is_some());
        assert_eq!(channel.grant(GRID, ONE, 150, 100, 6), None);
        assert_eq!(free(&channel), [100, 0, 50, 100]);
    }
}
