//! The timing wheel: where a region keeps the events it has yet to handle.
//!
//! Events are small plain records. Those of the near future sit in one slot per tick, those further ahead
//! in slots of many ticks that are spread out when time gets there, and the very far ones in a heap.
//! Slots are lists of chunks from one pool that is used last in, first out, so that a region with few
//! events touches little memory however long its delays are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::{NEVER, Tick};

/// Slots of the second level; each covers as many ticks as the first level has slots.
const FAR_SLOTS: usize = 256;

/// A priority queue of events by tick, which hands out all events of one tick at once, in their own order.
///
/// `E`'s order is the total order of the events of one tick: two equal events in one tick are refused (in
/// builds with debug assertions), because their order could then depend on how the simulation is cut up.
#[derive(Clone, Debug)]
pub struct Wheel<E> {
    /// The earliest tick that can still be scheduled: everything before it has been taken.
    floor: Tick,
    shift: u32,
    near: Slots<E>,
    far: Slots<(Tick, E)>,
    beyond: BinaryHeap<Reverse<(Tick, E)>>,
    /// How many events are scheduled.
    len: usize,
}

impl<E: Copy + Default + Ord> Wheel<E> {
    /// An empty wheel that is quickest for events up to `horizon` ticks ahead.
    #[must_use]
    pub fn new(horizon: Tick) -> Self {
        let slots = horizon.saturating_add(1).clamp(64, 1 << 14).next_power_of_two() as usize;
        Self {
            floor: 0,
            shift: slots.trailing_zeros(),
            near: Slots::new(slots),
            far: Slots::new(FAR_SLOTS),
            beyond: BinaryHeap::new(),
            len: 0,
        }
    }

    /// How many events are scheduled.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is scheduled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Schedules `event` for `tick`.
    ///
    /// # Panics
    /// When that tick has been taken already.
    #[inline]
    pub fn schedule(&mut self, tick: Tick, event: E) {
        self.len += 1;
        // What lies in the past is very far ahead by this measure.
        if tick.wrapping_sub(self.floor) < self.near.len() as Tick {
            self.near.push(tick as usize & (self.near.len() - 1), event);
        } else {
            self.schedule_far(tick, event);
        }
    }

    #[cold]
    fn schedule_far(&mut self, tick: Tick, event: E) {
        assert!(tick >= self.floor, "tick {tick} is over: the present is {}", self.floor);
        if (tick >> self.shift) - (self.floor >> self.shift) < FAR_SLOTS as Tick {
            self.far.push((tick >> self.shift) as usize % FAR_SLOTS, (tick, event));
        } else {
            self.beyond.push(Reverse((tick, event)));
        }
    }

    /// A tick before which nothing is scheduled: exact for near events, the start of their slot for far ones.
    #[must_use]
    pub fn next_tick(&self) -> Tick {
        let mask = self.near.len() - 1;
        let near = self.near.next_used(self.floor as usize & mask).map_or(NEVER, |ahead| self.floor + ahead as Tick);
        if near != NEVER && near >> self.shift == self.floor >> self.shift {
            return near; // whatever is far lies in a later block
        }
        let block = self.floor >> self.shift;
        let far =
            self.far.next_used(block as usize % FAR_SLOTS).map_or(NEVER, |ahead| (block + ahead as Tick) << self.shift);
        let beyond = self.beyond.peek().map_or(NEVER, |Reverse((tick, _))| *tick);
        near.min(far).min(beyond)
    }

    /// Shows the events before `until`, in no particular order and without taking them; perhaps not those that lie far
    /// ahead.
    #[inline]
    pub fn glance(&self, until: Tick, mut visit: impl FnMut(E)) {
        let mask = self.near.len() - 1;
        let mut tick = self.floor;
        while let Some(ahead) = self.near.next_used(tick as usize & mask) {
            tick += ahead as Tick;
            // Beyond one turn the wheel shows the same events again.
            if tick >= until || tick - self.floor > mask as Tick {
                break;
            }
            self.near.for_each(tick as usize & mask, &mut visit);
            tick += 1;
        }
    }

    /// Moves time to `tick` and fills `events` with all events of that tick, in order.
    ///
    /// # Panics
    /// With debug assertions, when two events of the tick are equal, or events before `tick` were passed over.
    pub fn take_ordered(&mut self, tick: Tick, events: &mut Vec<E>) {
        events.clear();
        self.take(tick, |event| events.push(event));
        events.sort_unstable();
        debug_assert!(events.windows(2).all(|pair| pair[0] < pair[1]), "two equal events at tick {tick}");
    }

    /// Moves time to `tick` and hands out all events of that tick in no particular order: for models that have an order
    /// of their own for those whose effects do not commute.
    #[inline]
    pub fn take(&mut self, tick: Tick, mut visit: impl FnMut(E)) {
        self.move_to(tick);
        let len = &mut self.len;
        self.near.drain(tick as usize & (self.near.heads.len() - 1), |event| {
            *len -= 1;
            visit(event);
        });
        self.floor = tick + 1;
        self.spread_if_block_changed(tick);
    }

    /// Moves time to `tick`, before which nothing must be scheduled.
    pub fn move_to(&mut self, tick: Tick) {
        debug_assert!(tick >= self.floor, "time runs forward only");
        debug_assert!(self.next_tick() >= (tick >> self.shift) << self.shift, "events before {tick} were passed over");
        let from = self.floor;
        self.floor = tick;
        self.spread_if_block_changed(from);
    }

    /// Spreads out the far slot of the current block when `floor` has entered it since `from`.
    #[inline]
    fn spread_if_block_changed(&mut self, from: Tick) {
        if from >> self.shift != self.floor >> self.shift {
            self.spread();
        }
    }

    #[cold]
    fn spread(&mut self) {
        let block = self.floor >> self.shift;
        let mut spilled = Vec::new();
        self.far.drain(block as usize % FAR_SLOTS, |entry| spilled.push(entry));
        while let Some(&Reverse((tick, event))) = self.beyond.peek() {
            if (tick >> self.shift) - block >= FAR_SLOTS as Tick {
                break;
            }
            self.beyond.pop();
            spilled.push((tick, event));
        }
        self.len -= spilled.len();
        for (tick, event) in spilled {
            self.schedule(tick, event);
        }
    }

    /// All scheduled events by tick, and in order within a tick.
    #[must_use]
    pub fn entries(&self) -> Vec<(Tick, E)> {
        let mask = self.near.len() as Tick - 1;
        let mut entries = Vec::with_capacity(self.len);
        for slot in 0..self.near.len() {
            let tick = self.floor + ((slot as Tick).wrapping_sub(self.floor) & mask);
            self.near.for_each(slot, |event| entries.push((tick, event)));
        }
        for slot in 0..FAR_SLOTS {
            self.far.for_each(slot, |entry| entries.push(entry));
        }
        entries.extend(self.beyond.iter().map(|Reverse(entry)| *entry));
        entries.sort_unstable();
        entries
    }
}

/// What of a wheel is written down: the rest follows from it.
#[derive(Serialize, Deserialize)]
struct Saved<E> {
    slots: u32,
    floor: Tick,
    entries: Vec<(Tick, E)>,
}

impl<E: Copy + Default + Ord + Serialize> Serialize for Wheel<E> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = Saved { slots: self.near.len() as u32, floor: self.floor, entries: self.entries() };
        saved.serialize(serializer)
    }
}

impl<'de, E: Copy + Default + Ord + Deserialize<'de>> Deserialize<'de> for Wheel<E> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        let mut wheel = Self::new(Tick::from(saved.slots) - 1);
        wheel.floor = saved.floor;
        for (tick, event) in saved.entries {
            if tick < saved.floor {
                return Err(serde::de::Error::custom("a saved event lies in the past"));
            }
            wheel.schedule(tick, event);
        }
        Ok(wheel)
    }
}

const CHUNK: usize = 15;
const NONE: u32 = u32::MAX;

/// A run of events in one slot; with 8-byte events it fills two cache lines.
#[derive(Clone, Debug)]
struct Chunk<T> {
    next: u32,
    len: u32,
    items: [T; CHUNK],
}

/// Bags of items by slot, all from one pool of chunks.
#[derive(Clone, Debug)]
struct Slots<T> {
    heads: Vec<u32>,
    used: Vec<u64>,
    chunks: Vec<Chunk<T>>,
    free: u32,
}

impl<T: Copy + Default> Slots<T> {
    fn new(slots: usize) -> Self {
        Self { heads: vec![NONE; slots], used: vec![0; slots.div_ceil(64)], chunks: Vec::new(), free: NONE }
    }

    #[inline]
    fn len(&self) -> usize {
        self.heads.len()
    }

    #[inline]
    fn push(&mut self, slot: usize, item: T) {
        let head = self.heads[slot];
        if head != NONE {
            let chunk = &mut self.chunks[head as usize];
            if (chunk.len as usize) < CHUNK {
                chunk.items[chunk.len as usize] = item;
                chunk.len += 1;
                return;
            }
        }
        self.push_chunk(slot, head, item);
    }

    fn push_chunk(&mut self, slot: usize, next: u32, item: T) {
        let index = if self.free == NONE {
            self.chunks.push(Chunk { next, len: 0, items: [T::default(); CHUNK] });
            self.chunks.len() as u32 - 1
        } else {
            self.free
        };
        let chunk = &mut self.chunks[index as usize];
        if self.free == index {
            self.free = chunk.next;
        }
        chunk.next = next;
        chunk.len = 1;
        chunk.items[0] = item;
        self.heads[slot] = index;
        self.used[slot / 64] |= 1 << (slot % 64);
    }

    /// Hands out the items of `slot` and empties the slot.
    #[inline]
    fn drain(&mut self, slot: usize, mut visit: impl FnMut(T)) {
        let mut index = std::mem::replace(&mut self.heads[slot], NONE);
        self.used[slot / 64] &= !(1 << (slot % 64));
        while index != NONE {
            let chunk = &mut self.chunks[index as usize];
            chunk.items[..chunk.len as usize].iter().copied().for_each(&mut visit);
            let next = std::mem::replace(&mut chunk.next, self.free);
            self.free = index;
            index = next;
        }
    }

    fn for_each(&self, slot: usize, mut visit: impl FnMut(T)) {
        let mut index = self.heads[slot];
        while index != NONE {
            let chunk = &self.chunks[index as usize];
            chunk.items[..chunk.len as usize].iter().copied().for_each(&mut visit);
            index = chunk.next;
        }
    }

    /// How far ahead of `from`, going round, the next used slot is.
    #[inline]
    fn next_used(&self, from: usize) -> Option<usize> {
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_come_by_tick_and_in_order() {
        let mut wheel = Wheel::new(10);
        for (tick, event) in [(3, 'b'), (70_000, 'z'), (3, 'a'), (5, 'c'), (200, 'd'), (9_000_000, 'y')] {
            wheel.schedule(tick, event);
        }
        let mut seen = Vec::new();
        let mut events = Vec::new();
        while !wheel.is_empty() {
            let tick = wheel.next_tick();
            wheel.take_ordered(tick, &mut events);
            seen.extend(events.iter().map(|&e| (tick, e)));
        }
        assert_eq!(seen, [(3, 'a'), (3, 'b'), (5, 'c'), (200, 'd'), (70_000, 'z'), (9_000_000, 'y')]);
        assert_eq!(wheel.next_tick(), NEVER);
    }

    #[test]
    #[should_panic(expected = "two equal events at tick 4")]
    #[cfg(debug_assertions)]
    fn ties_are_refused() {
        let mut wheel = Wheel::new(10);
        wheel.schedule(4, 1u64);
        wheel.schedule(4, 1u64);
        wheel.take_ordered(4, &mut Vec::new());
    }

    #[test]
    #[should_panic(expected = "tick 4 is over: the present is 5")]
    fn the_past_is_closed() {
        let mut wheel = Wheel::new(10);
        wheel.take(4, |_| {});
        let wheel: &mut Wheel<u64> = &mut wheel;
        wheel.schedule(4, 1u64);
    }

    proptest! {
        /// Against a sorted list: same events, same order, whatever is scheduled while time runs, and
        /// also when the wheel is written down and read back in between.
        #[test]
        fn a_wheel_is_a_sorted_list(
            horizon in 1u64..300,
            steps in prop::collection::vec((prop::collection::vec(0u64..100_000, 0..6), any::<bool>()), 1..60),
        ) {
            let mut wheel = Wheel::new(horizon);
            let mut list: Vec<(Tick, u64)> = Vec::new();
            let mut present = 0;
            let mut serial = 0u64;
            let mut events = Vec::new();
            for (delays, save) in steps {
                for delay in delays {
                    // Mostly short delays, some long ones.
                    let delay = if delay % 3 == 0 { delay } else { delay % 500 };
                    wheel.schedule(present + delay, serial);
                    list.push((present + delay, serial));
                    serial += 1;
                }
                if save {
                    let bytes = postcard::to_allocvec(&wheel).unwrap();
                    wheel = postcard::from_bytes(&bytes).unwrap();
                }
                list.sort_unstable();
                prop_assert_eq!(wheel.entries(), list.clone());
                let tick = wheel.next_tick();
                if tick == NEVER {
                    prop_assert!(list.is_empty());
                    continue;
                }
                prop_assert!(list[0].0 >= tick);
                wheel.take_ordered(tick, &mut events);
                let expected: Vec<u64> = list.iter().filter(|e| e.0 == tick).map(|e| e.1).collect();
                prop_assert_eq!(&events, &expected);
                list.retain(|e| e.0 != tick);
                present = tick + 1;
            }
        }
    }
}
