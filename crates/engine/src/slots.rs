//! Where a timing wheel keeps events: bags of items by slot and kind.
//!
//! **The invariant it keeps:** a slot is in the set of used ones from the first item on until its items are about to be
//! taken, and its kinds are those that have a list.

use crate::Kinds;

const CHUNK: usize = 7;
const NONE: u32 = u32::MAX;

/// A run of events in one list; with 8-byte events it fills a cache line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<T> {
    next: u32,
    pub len: u32,
    items: [T; CHUNK],
}

impl<T> Chunk<T> {
    #[inline]
    pub fn items(&self) -> &[T] {
        &self.items[..self.len as usize]
    }
}

/// Bags of items by slot and kind, all from one pool of chunks.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    /// By slot and kind, of which there is room for a power of two.
    heads: Vec<u32>,
    kinds_shift: u32,
    /// By slot: the kinds that have a list.
    kinds: Vec<Kinds>,
    /// The slots that have one.
    used: Vec<u64>,
    chunks: Vec<Chunk<T>>,
    free: u32,
}

impl<T: Copy + Default> Slots<T> {
    pub fn new(slots: usize, kinds: usize) -> Self {
        let room = kinds.next_power_of_two();
        assert!(room <= Kinds::BITS as usize, "a set of kinds is one word");
        Self {
            heads: vec![NONE; slots * room],
            kinds_shift: room.trailing_zeros(),
            kinds: vec![0; slots],
            used: vec![0; slots.div_ceil(64)],
            chunks: Vec::new(),
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
        let head = self.heads[list];
        if let Some(chunk) = self.chunks.get_mut(head as usize)
            && let Some(place) = chunk.items.get_mut(chunk.len as usize)
        {
            *place = item;
            chunk.len += 1;
            return;
        }
        self.push_chunk(slot, list, head, item);
    }

    /// Begins a chunk with an item, before chunk `next` of a list. It calls nothing but as the last thing that it does, so it
    /// need not save what it has.
    #[inline(never)]
    fn push_chunk(&mut self, slot: usize, list: usize, next: u32, item: T) {
        let index = self.free;
        let Some(chunk) = self.chunks.get_mut(index as usize) else {
            return self.push_new_chunk(slot, list, next, item);
        };
        self.free = chunk.next;
        chunk.next = next;
        chunk.len = 1;
        chunk.items[0] = item;
        self.heads[list] = index;
        if next == NONE {
            self.kinds[slot] |= 1 << (list - (slot << self.kinds_shift));
            self.used[slot / 64] |= 1 << (slot % 64);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_new_chunk(&mut self, slot: usize, list: usize, next: u32, item: T) {
        self.free = self.chunks.len() as u32;
        self.chunks.push(Chunk { next: NONE, len: 0, items: [T::default(); CHUNK] });
        self.push_chunk(slot, list, next, item);
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
        let list = (slot << self.kinds_shift) + kind;
        let index = self.heads[list];
        let chunk = self.chunks.get_mut(index as usize)?;
        let taken = *chunk;
        self.heads[list] = chunk.next;
        chunk.next = self.free;
        self.free = index;
        Some(taken)
    }

    pub fn for_each(&self, slot: usize, mut visit: impl FnMut(T)) {
        let mut kinds = self.kinds[slot];
        while kinds != 0 {
            let mut index = self.heads[(slot << self.kinds_shift) + kinds.trailing_zeros() as usize];
            kinds &= kinds - 1;
            while index != NONE {
                let chunk = &self.chunks[index as usize];
                chunk.items().iter().copied().for_each(&mut visit);
                index = chunk.next;
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

    /// Reads a little of every cache line, in order.
    pub fn read_through(&self) -> u32 {
        let heads = self.heads.iter().step_by(16).fold(0, |sum, head| sum ^ head);
        self.chunks.iter().fold(heads, |sum, chunk| sum ^ chunk.next)
    }
}
