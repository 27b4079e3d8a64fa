//! The timing wheel: where a region keeps the events it has yet to handle.
//!
//! Events are small plain records. Those of the near future sit in one slot per tick, those further ahead
//! in slots of many ticks that are spread out when time gets there, and the very far ones in a heap.
//! Slots are lists of chunks, one list for each kind of event, from one pool that is used last in, first out, so that a
//! region with few events touches little memory however long its delays are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::slots::{Chunk, Slots};
use crate::{NEVER, Tick};

/// Slots of the second level; each covers as many ticks as the first level has slots.
const FAR_SLOTS: usize = 256;

/// What a [`Wheel`] holds.
pub trait Scheduled: Copy + Default + Ord {
    /// How many kinds there are. The events of a tick are kept apart by kind, so that a model can handle those of a kind
    /// together without sorting.
    const KINDS: usize = 1;

    /// Which of these this one is.
    #[inline]
    fn kind(&self) -> usize {
        0
    }
}

impl Scheduled for u64 {}

/// A set of kinds of events.
pub type Kinds = u32;

/// A priority queue of events by tick, which hands out all events of one tick at once, in their own order or by kind.
///
/// `E`'s order is the total order of the events of one tick: two equal events in one tick are refused (in
/// builds with debug assertions), because their order could then depend on how the simulation is cut up.
#[derive(Clone, Debug)]
pub struct Wheel<E> {
    /// Everything before this tick has been taken.
    floor: Tick,
    /// The first tick that can still be scheduled, the one after `floor` while that is being taken, and how many from there
    /// on have a near slot that is not in use for another tick.
    open_from: Tick,
    open_ticks: Tick,
    /// One less than there are near slots, which are a power of two.
    mask: usize,
    shift: u32,
    near: Slots<E>,
    far: Slots<(Tick, E)>,
    beyond: BinaryHeap<Reverse<(Tick, E)>>,
    /// How many events have been taken.
    taken: u64,
}

impl<E: Scheduled> Wheel<E> {
    /// Lists of a slot: one for each kind, and some more, so that their number is a power of two.
    const KINDS_SHIFT: u32 = E::KINDS.next_power_of_two().trailing_zeros();

    /// An empty wheel that is quickest for events up to `horizon` ticks ahead.
    #[must_use]
    pub fn new(horizon: Tick) -> Self {
        let slots = horizon.saturating_add(1).clamp(64, 1 << 14).next_power_of_two() as usize;
        Self {
            floor: 0,
            open_from: 0,
            open_ticks: slots as Tick,
            mask: slots - 1,
            shift: slots.trailing_zeros(),
            near: Slots::new(slots, E::KINDS),
            far: Slots::new(FAR_SLOTS, 1),
            beyond: BinaryHeap::new(),
            taken: 0,
        }
    }

    /// How many events are scheduled.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether no event is scheduled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next_tick() == NEVER
    }

    /// How many events have been taken since this was made.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Schedules `event` for `tick`.
    ///
    /// # Panics
    /// When that tick has been taken already.
    #[inline(always)]
    pub fn schedule(&mut self, tick: Tick, event: E) {
        // What lies in the past is very far ahead by this measure.
        if tick.wrapping_sub(self.open_from) < self.open_ticks {
            let slot = tick as usize & self.mask;
            self.near.push(slot, (slot << Self::KINDS_SHIFT) + event.kind(), event);
        } else {
            self.schedule_far(tick, event);
        }
    }

    #[cold]
    fn schedule_far(&mut self, tick: Tick, event: E) {
        assert!(tick >= self.open_from, "tick {tick} is over: the present is {}", self.open_from);
        if (tick >> self.shift) - (self.floor >> self.shift) < FAR_SLOTS as Tick {
            let slot = (tick >> self.shift) as usize % FAR_SLOTS;
            self.far.push(slot, slot, (tick, event));
        } else {
            self.beyond.push(Reverse((tick, event)));
        }
    }

    /// A tick before which nothing is scheduled: exact for near events, the start of their slot for far ones.
    #[must_use]
    pub fn next_tick(&self) -> Tick {
        let mask = self.mask;
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

    /// Reads a little of every cache line of what is near, in order: where much is scheduled, that is quicker than to wait for
    /// each when it is needed.
    #[must_use]
    pub fn read_through(&self) -> u32 {
        self.near.read_through(|event| event.kind() as u32)
    }

    /// Shows the events before `until`, in no particular order and without taking them; perhaps not those that lie far
    /// ahead.
    #[inline]
    pub fn glance(&self, until: Tick, mut visit: impl FnMut(E)) {
        let mask = self.mask;
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

    /// Moves time to `tick` and hands out all events of that tick in no particular order.
    pub fn take(&mut self, tick: Tick, mut visit: impl FnMut(E)) {
        let kinds = self.begin(tick);
        for kind in (0..E::KINDS).filter(|kind| kinds & 1 << kind != 0) {
            while let Some(batch) = self.take_batch(kind) {
                batch.events().iter().copied().for_each(&mut visit);
                if batch.is_last() {
                    break;
                }
            }
        }
        self.finish();
    }

    /// Moves time to `tick` and says of which kinds there are events. All of them are to be taken by
    /// [`Wheel::take_batch`] before the tick is finished by [`Wheel::finish`]; meanwhile events can be scheduled for later
    /// ticks. This is for models that have an order of their own for events whose effects do not commute.
    #[inline]
    pub fn begin(&mut self, tick: Tick) -> Kinds {
        self.move_to(tick);
        self.open_from = tick + 1;
        self.open_ticks -= 1;
        self.near.begin(self.slot())
    }

    /// Closes the tick that has begun.
    #[inline]
    pub fn finish(&mut self) {
        let tick = self.floor;
        self.floor = tick + 1;
        self.open_ticks = self.near.len() as Tick;
        self.spread_if_block_changed(tick);
    }

    /// The near slot of the present tick.
    #[inline]
    fn slot(&self) -> usize {
        self.floor as usize & self.mask
    }

    /// Takes some events of a kind, of the tick that has begun, in no particular order; `None` when there are no more.
    #[inline]
    pub fn take_batch(&mut self, kind: usize) -> Option<Batch<E>> {
        let batch = self.near.take_chunk(self.slot(), kind)?;
        self.taken += batch.len as u64;
        Some(Batch(batch))
    }

    /// Moves time to `tick`, before which nothing must be scheduled.
    pub fn move_to(&mut self, tick: Tick) {
        debug_assert!(tick >= self.floor, "time runs forward only");
        debug_assert!(self.next_tick() >= (tick >> self.shift) << self.shift, "events before {tick} were passed over");
        let from = self.floor;
        (self.floor, self.open_from) = (tick, tick);
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
        let slot = block as usize % FAR_SLOTS;
        self.far.begin(slot);
        while let Some(chunk) = self.far.take_chunk(slot, 0) {
            spilled.extend_from_slice(chunk.items());
        }
        while let Some(&Reverse((tick, event))) = self.beyond.peek() {
            if (tick >> self.shift) - block >= FAR_SLOTS as Tick {
                break;
            }
            self.beyond.pop();
            spilled.push((tick, event));
        }
        for (tick, event) in spilled {
            self.schedule(tick, event);
        }
    }

    /// All scheduled events by tick, and in order within a tick.
    #[must_use]
    pub fn entries(&self) -> Vec<(Tick, E)> {
        let mask = self.near.len() as Tick - 1;
        let mut entries = Vec::new();
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

impl<E: Scheduled + Serialize> Serialize for Wheel<E> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = Saved { slots: self.near.len() as u32, floor: self.floor, entries: self.entries() };
        saved.serialize(serializer)
    }
}

impl<'de, E: Scheduled + Deserialize<'de>> Deserialize<'de> for Wheel<E> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        let mut wheel = Self::new(Tick::from(saved.slots) - 1);
        (wheel.floor, wheel.open_from) = (saved.floor, saved.floor);
        for (tick, event) in saved.entries {
            if tick < saved.floor {
                return Err(serde::de::Error::custom("a saved event lies in the past"));
            }
            wheel.schedule(tick, event);
        }
        Ok(wheel)
    }
}

/// Some events of a kind, in no particular order.
#[derive(Clone, Copy, Debug)]
pub struct Batch<E>(Chunk<E>);

impl<E> Batch<E> {
    /// The events.
    #[inline]
    #[must_use]
    pub fn events(&self) -> &[E] {
        self.0.items()
    }

    /// Whether there are no more of the kind in this tick.
    #[inline]
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.0.is_last
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Scheduled for char {}

    /// An event of one of three kinds.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    struct OfKind(u8);

    impl Scheduled for OfKind {
        const KINDS: usize = 3;

        fn kind(&self) -> usize {
            usize::from(self.0 % 3)
        }
    }

    #[test]
    fn events_of_a_tick_come_by_kind() {
        let mut wheel = Wheel::new(10);
        (0..40).for_each(|number| wheel.schedule(5, OfKind(number)));
        wheel.schedule(6, OfKind(0));
        assert_eq!(wheel.begin(5), 0b111);
        for kind in 0..3 {
            let mut seen = Vec::new();
            while let Some(batch) = wheel.take_batch(kind) {
                seen.extend_from_slice(batch.events());
                assert_eq!(batch.is_last(), wheel.clone().take_batch(kind).is_none());
            }
            seen.sort_unstable();
            assert!(seen.iter().copied().eq((0..40).filter(|n| n % 3 == kind as u8).map(OfKind)));
        }
        // What comes a turn of the wheel later is in the same slot.
        wheel.schedule(5 + 64, OfKind(1));
        assert!(wheel.take_batch(1).is_none());
        wheel.finish();
        assert_eq!((wheel.len(), wheel.begin(6)), (2, 0b001));
        assert_eq!(wheel.take_batch(0).expect("it is there").events(), [OfKind(0)]);
        wheel.finish();
        assert_eq!((wheel.next_tick(), wheel.begin(69)), (64, 0b010));
    }

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
