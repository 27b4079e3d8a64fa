//! Where a timing wheel keeps events: bags of items by slot and kind.
//!
//! **The invariant it keeps:** a slot is in the set of used ones from the first item on until its items are about to be
//! taken, and its kinds are those that have a list.

use crate::Kinds;

/// Items of a chunk; with 8-byte events it fills a cache line.
const CHUNK: usize = 8;
const NONE: u32 = u32::MAX;

/// A run of items that was taken out of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<T> {
    pub len: usize,
    /// Whether its list is empty now.
    pub is_last: bool,
    items: [T; CHUNK],
}

impl<T> Chunk<T> {
    #[inline]
    pub fn items(&self) -> &[T] {
        &self.items[..self.len]
    }
}

/// Bags of items by slot and kind, all from one pool of chunks.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    /// By slot and kind, of which there is room for a power of two: the place in `items` behind the last item of the list; 0 if
    /// there is none. Where a chunk ends, the list needs another one.
    ends: Vec<u32>,
    kinds_shift: u32,
    /// By slot: the kinds that have a list.
    kinds: Vec<Kinds>,
    /// The slots that have one.
    used: Vec<u64>,
    /// Chunk by chunk.
    items: Vec<T>,
    /// By chunk: the full one that was begun before it in the same list, or the next one that is free.
    before: Vec<u32>,
    free: u32,
}

impl<T: Copy + Default> Slots<T> {
    pub fn new(slots: usize, kinds: usize) -> Self {
        let room = kinds.next_power_of_two();
        assert!(room <= Kinds::BITS as usize, "a set of kinds is one word");
        Self {
            ends: vec![0; slots * room],
            kinds_shift: room.trailing_zeros(),
            kinds: vec![0; slots],
            used: vec![0; slots.div_ceil(64)],
            items: Vec::new(),
            before: Vec::new(),
            free: NONE,
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    // A call would cost as much as what it does.
    #[inline(always)]
    pub fn push(&mut self, slot: usize, list: usize, item: T) {
        let end = &mut self.ends[list];
        if !(*end as usize).is_multiple_of(CHUNK)
            && let Some(place) = self.items.get_mut(*end as usize)
        {
            *place = item;
            *end += 1;
            return;
        }
        self.push_chunk(slot, list, item);
    }

    /// Begins a chunk with an item. It calls nothing but as the last thing that it does, so it need not save what it has.
    #[inline(never)]
    fn push_chunk(&mut self, slot: usize, list: usize, item: T) {
        let chunk = self.free;
        let Some(before) = self.before.get_mut(chunk as usize) else {
            return self.push_new_chunk(slot, list, item);
        };
        self.free = *before;
        let end = &mut self.ends[list];
        if *end == 0 {
            self.kinds[slot] |= 1 << (list - (slot << self.kinds_shift));
            self.used[slot / 64] |= 1 << (slot % 64);
            *before = NONE;
        } else {
            *before = *end / CHUNK as u32 - 1;
        }
        let first = chunk * CHUNK as u32;
        self.items[first as usize] = item;
        *end = first + 1;
    }

    #[cold]
    #[inline(never)]
    fn push_new_chunk(&mut self, slot: usize, list: usize, item: T) {
        self.free = self.before.len() as u32;
        self.before.push(NONE);
        self.items.extend([T::default(); CHUNK]);
        self.push_chunk(slot, list, item);
    }

    /// Says which kinds of items a slot has, all of which are going to be taken.
    #[inline]
    pub fn begin(&mut self, slot: usize) -> Kinds {
        self.used[slot / 64] &= !(1 << (slot % 64));
        std::mem::take(&mut self.kinds[slot])
    }

    /// Takes some items of a kind out of a slot.
    #[inline]
    pub fn take_chunk(&mut self, slot: usize, kind: usize) -> Option<Chunk<T>> {
        let end = &mut self.ends[(slot << self.kinds_shift) + kind];
        let last = end.checked_sub(1)?;
        let chunk = last / CHUNK as u32;
        let items: &[T; CHUNK] = self.items[chunk as usize * CHUNK..].first_chunk()?;
        let len = (last as usize % CHUNK) + 1;
        let before = std::mem::replace(&mut self.before[chunk as usize], self.free);
        self.free = chunk;
        *end = end_of(before);
        Some(Chunk { len, is_last: before == NONE, items: *items })
    }

    pub fn for_each(&self, slot: usize, mut visit: impl FnMut(T)) {
        let mut kinds = self.kinds[slot];
        while kinds != 0 {
            let mut end = self.ends[(slot << self.kinds_shift) + kinds.trailing_zeros() as usize];
            kinds &= kinds - 1;
            while let Some(last) = end.checked_sub(1) {
                let chunk = last as usize / CHUNK;
                self.items[chunk * CHUNK..=last as usize].iter().copied().for_each(&mut visit);
                end = end_of(self.before[chunk]);
            }
        }
    }

    /// How far ahead of `from`, going round, the next used slot is.
    #[inline]
    pub fn next_used(&self, from: usize) -> Option<usize> {
        let words = self.used.len();
        let (first, bit) = (from / 64, from % 64);
        let here = self.used[first] >> bit;
        if here != 0 {
            return Some(here.trailing_zeros() as usize);
        }
        for step in 1..=words {
            let word = self.used[(first + step) % words];
            if word != 0 {
                return Some(step * 64 - bit + word.trailing_zeros() as usize);
            }
        }
        None
    }

    /// Reads a little of every cache line that `push` is going to need, in order; `read` says what of an item.
    pub fn read_through(&self, read: impl Fn(&T) -> u32) -> u32 {
        let ends = self.ends.iter().step_by(16).fold(0, |sum, end| sum ^ end);
        self.items.iter().step_by(CHUNK).fold(ends, |sum, item| sum ^ read(item))
    }
}

/// Where a list ends whose last chunk, if it has one, is full.
#[inline]
fn end_of(chunk: u32) -> u32 {
    chunk.wrapping_add(1).wrapping_mul(CHUNK as u32)
}
