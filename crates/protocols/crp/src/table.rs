//! Reservation tables: how much of a channel, or of the way to a node, is free in each of some time slots.

use serde::{Deserialize, Serialize};

/// The most cells of a table: a request carries a bit for each.
pub const CELLS_MAX: u32 = 32;

/// How time is cut into slots. All tables of a network have the same slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Cells of a table, one for each slot from now on.
    pub cells: u32,
    /// Flits that go through in a slot.
    pub cell_flits: u32,
    /// Ticks from one flit to the next.
    pub flit_ticks: u64,
}

impl Grid {
    /// The ticks of a slot.
    #[must_use]
    pub fn slot_ticks(self) -> u64 {
        u64::from(self.cell_flits) * self.flit_ticks
    }

    /// The slot that a tick is in, counted from the start of the run.
    #[must_use]
    pub fn slot_at(self, tick: u64) -> u64 {
        tick / self.slot_ticks()
    }

    /// The ticks that a table looks ahead.
    #[must_use]
    pub fn horizon_ticks(self) -> u64 {
        u64::from(self.cells) * self.slot_ticks()
    }

    /// A bit for each cell.
    fn all(self) -> u32 {
        u32::MAX >> (CELLS_MAX - self.cells)
    }
}

/// What was taken of a slot and of the one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The slot, counted from the start of the run.
    pub slot: u64,
    /// The flits of it.
    pub here: u32,
    /// The flits of the next one.
    pub after: u32,
}

/// What is free, cell by cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// The slot of the first cell.
    first: u64,
    free: Vec<u32>,
}

impl Table {
    /// One whose cells are all free.
    #[must_use]
    pub fn new(grid: Grid) -> Self {
        Self { first: 0, free: vec![grid.cell_flits; grid.cells as usize] }
    }

    /// The slot of the first cell.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// What is free, from the first cell on.
    #[must_use]
    pub fn free(&self) -> &[u32] {
        &self.free
    }

    /// Cells whose slots are over go, and new ones come, which are free.
    pub fn advance(&mut self, grid: Grid, now: u64) {
        let slot = grid.slot_at(now);
        let over = (slot - self.first).min(self.free.len() as u64) as usize;
        self.free.drain(..over);
        self.free.resize(grid.cells as usize, grid.cell_flits);
        self.first = slot;
    }

    fn free_at(&self, index: usize) -> u32 {
        self.free.get(index).copied().unwrap_or(0)
    }

    /// Whether so many flits can be taken of a cell and the next one: the first has something free, and both together enough.
    #[must_use]
    pub fn has_room(&self, index: usize, flits: u32) -> bool {
        self.free_at(index) > 0 && self.free_at(index) + self.free_at(index + 1) >= flits
    }

    /// A bit for each cell that has room for so many flits.
    #[must_use]
    pub fn availability(&self, flits: u32) -> u32 {
        let bit = |index| u32::from(self.has_room(index, flits)) << index;
        (0..self.free.len()).map(bit).sum()
    }

    /// The tick from which on a cell is free: what is free of it is taken to lie at its end.
    #[must_use]
    pub fn start(&self, grid: Grid, index: usize) -> u64 {
        let taken = grid.cell_flits - self.free_at(index);
        (self.first + index as u64) * grid.slot_ticks() + u64::from(taken) * grid.flit_ticks
    }

    /// Takes so many flits of a cell, and the rest of the next one, if both have enough. A slot that is over has nothing.
    pub fn take(&mut self, slot: u64, flits: u32) -> Option<Taken> {
        let index = match slot.checked_sub(self.first) {
            Some(index) => usize::try_from(index).ok()?,
            // The next slot is the first one.
            None if slot + 1 == self.first => {
                return (self.free_at(0) >= flits).then(|| self.take_parts(slot, 0, flits));
            }
            None => return None,
        };
        let (here, after) = (self.free_at(index), self.free_at(index + 1));
        (here + after >= flits).then(|| self.take_parts(slot, here.min(flits), flits - here.min(flits)))
    }

    fn take_parts(&mut self, slot: u64, here: u32, after: u32) -> Taken {
        for (slot, flits) in [(slot, here), (slot + 1, after)] {
            if let Some(cell) = self.cell(slot) {
                *cell -= flits;
            }
        }
        Taken { slot, here, after }
    }

    /// Gives back what was taken, unless it is over.
    pub fn give_back(&mut self, taken: Taken) {
        for (slot, flits) in [(taken.slot, taken.here), (taken.slot + 1, taken.after)] {
            if let Some(cell) = self.cell(slot) {
                *cell += flits;
            }
        }
    }

    /// Takes flits that pass without a reservation, from the earliest cells that have something free.
    pub fn deduct(&mut self, mut flits: u32) {
        for cell in &mut self.free {
            let taken = flits.min(*cell);
            (*cell, flits) = (*cell - taken, flits - taken);
            if flits == 0 {
                return;
            }
        }
    }

    fn cell(&mut self, slot: u64) -> Option<&mut u32> {
        let index = slot.checked_sub(self.first)?;
        self.free.get_mut(usize::try_from(index).ok()?)
    }
}

/// What a request carries: the slots in which all tables that it has passed have room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The slot of the first bit.
    pub first: u64,
    /// A bit for each slot that is free.
    pub free: u32,
    /// A bit for each slot that a channel has reserved eagerly.
    pub eager: u32,
}

impl Slots {
    /// The words that a request carries them in.
    pub const WORDS: u8 = 2;

    /// All slots from now on.
    #[must_use]
    pub fn all(grid: Grid, now: u64) -> Self {
        Self { first: grid.slot_at(now), free: grid.all(), eager: 0 }
    }

    /// The same without those that are over at a later tick.
    #[must_use]
    pub fn from_tick(grid: Grid, now: u64, tick: u64) -> Self {
        let all = Self::all(grid, now);
        let over = (grid.slot_at(tick) - all.first).min(grid.cells.into()) as u32;
        Self { free: all.free & grid.all().checked_shl(over).unwrap_or(0), ..all }
    }

    /// Those in some words.
    #[must_use]
    pub fn from_words(words: &[u64]) -> Self {
        Self { first: words[0], free: words[1] as u32, eager: (words[1] >> 32) as u32 }
    }

    /// The words that they are in.
    #[must_use]
    pub fn words(self) -> [u64; Self::WORDS as usize] {
        [self.first, u64::from(self.eager) << 32 | u64::from(self.free)]
    }

    /// The same seen from a later slot: slots that are over go, and new ones come, which are free.
    #[must_use]
    pub fn from_slot(self, grid: Grid, first: u64) -> Self {
        let over = (first - self.first).min(grid.cells.into()) as u32;
        let shifted = |bits: u32| bits.checked_shr(over).unwrap_or(0);
        let new = grid.all() & !shifted(grid.all());
        Self { first, free: shifted(self.free) | new, eager: shifted(self.eager) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five cells of 512 flits, as in the paper's figures.
    const PAPER: Grid = Grid { cells: 5, cell_flits: 512, flit_ticks: 1 };

    fn table(free: [u32; 5]) -> Table {
        Table { first: 0, free: free.to_vec() }
    }

    fn bits(free: [bool; 5]) -> u32 {
        (0..5).map(|index| u32::from(free[index]) << index).sum()
    }

    const T: bool = true;
    const F: bool = false;

    /// Figures 3 and 4: the table of a channel, and what it leaves of the vector of a request for 80 cycles.
    #[test]
    fn a_channel_clears_the_slots_in_which_it_has_no_room() {
        assert_eq!(table([512, 10, 100, 0, 10]).availability(80), bits([T, T, T, F, F]));
        // 16384 cycles into the future, with 32 cells.
        assert_eq!(Grid { cells: 32, ..PAPER }.horizon_ticks(), 16_384);
    }

    /// Figure 5: a node reserves in slots B and C, from cycle 984 on.
    #[test]
    fn a_node_takes_the_end_of_a_slot_and_the_start_of_the_next() {
        let mut node = table([30, 40, 100, 512, 100]);
        assert_eq!(node.availability(80) & bits([T, T, T, F, F]), bits([F, T, T, F, F]));
        assert_eq!(node.start(PAPER, 1), 984);
        assert_eq!(node.take(1, 80), Some(Taken { slot: 1, here: 40, after: 40 }));
        assert_eq!(node.free(), [30, 0, 60, 512, 100]);
    }

    /// Section 2.4: the grant for cycle 984 takes 10 of slot B of the channel, and 70 of slot C, which leaves 30.
    #[test]
    fn a_grant_takes_what_is_left_of_its_slot_and_the_rest_of_the_next() {
        let mut channel = table([512, 10, 100, 0, 10]);
        assert_eq!(channel.take(PAPER.slot_at(984), 80), Some(Taken { slot: 1, here: 10, after: 70 }));
        assert_eq!(channel.free(), [512, 0, 30, 0, 10]);
        // Another grant for the same slot comes too late.
        assert_eq!(channel.take(1, 80), None);
    }

    #[test]
    fn tables_and_slots_shift_together() {
        let mut channel = table([512, 10, 100, 0, 10]);
        let slots = Slots { first: 0, free: channel.availability(80), eager: bits([F, T, F, F, F]) };
        channel.advance(PAPER, 2 * 512 - 1);
        assert_eq!((channel.first(), channel.free()), (1, [10, 100, 0, 10, 512].as_slice()));
        // What was cell B is cell A, and the new cell is free, also in the vector of a request in flight.
        let later = slots.from_slot(PAPER, 1);
        assert_eq!((later.free, later.eager), (bits([T, T, F, F, T]), bits([T, F, F, F, F])));
        // Cells D and E have no room for 80, but E has together with the new one.
        assert_eq!(channel.availability(80), bits([T, T, F, T, T]));
        assert_eq!(Slots::from_words(&later.words()), later);
        assert_eq!(slots.from_slot(PAPER, 9).free, bits([T; 5]));
    }

    #[test]
    fn what_is_over_has_nothing_and_is_not_given_back() {
        let mut node = Table::new(PAPER);
        let taken = node.take(0, 600).unwrap();
        assert_eq!(taken, Taken { slot: 0, here: 512, after: 88 });
        node.advance(PAPER, 512);
        assert_eq!(node.free()[0], 424);
        node.give_back(taken);
        assert_eq!(node.free(), [512; 5]);
        // A grant for slot 0 that comes in slot 1 has the whole of that; one that comes in slot 2 has nothing.
        assert_eq!(node.take(0, 100), Some(Taken { slot: 0, here: 0, after: 100 }));
        node.advance(PAPER, 1024);
        assert_eq!(node.take(0, 100), None);
    }

    #[test]
    fn flits_without_a_reservation_take_the_earliest_cells() {
        let mut node = table([0, 10, 100, 0, 10]);
        node.deduct(32);
        assert_eq!(node.free(), [0, 0, 78, 0, 10]);
        node.deduct(1000);
        assert_eq!(node.free(), [0; 5]);
    }
}
