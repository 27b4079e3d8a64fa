//! The labels of a rank, by name.

/// The names of the operations of one rank. Nothing is allocated for a label once there is room.
///
/// The hash is fixed and not secret: whoever writes a text for the purpose can make it slow.
#[derive(Debug, Default)]
pub struct Labels {
    names: Vec<u8>,
    entries: Vec<Entry>,
    /// A power of two of them.
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    length: u32,
    operation: u32,
}

/// A place for an entry.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Part of the hash, so that most other names are told apart without a look at them.
    check: u32,
    /// The number of the entry and 1, or 0.
    entry: u32,
}

const SLOTS_MIN: usize = 1 << 8;

impl Labels {
    /// Forgets all of them, in a time that goes by their number and not by how many there once were.
    pub fn clear(&mut self) {
        if self.entries.len() * 8 > self.slots.len() {
            self.slots.fill(Slot::default());
        } else {
            let mask = self.slots.len().wrapping_sub(1);
            for entry in &self.entries {
                // An entry lies in the run of full slots that its place is in, and runs are emptied up to their ends.
                let mut at = Hash::new(name_of(&self.names, entry)).place & mask;
                while self.slots[at].entry != 0 {
                    self.slots[at] = Slot::default();
                    at = (at + 1) & mask;
                }
            }
        }
        self.names.clear();
        self.entries.clear();
    }

    /// Names an operation. A name that there is already stays with the first.
    pub fn define(&mut self, name: &[u8], operation: u32) {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = Hash::new(name);
        let (slot, None) = self.slot(name, hash) else { return };
        let entry = Entry {
            start: self.names.len(),
            length: u32::try_from(name.len()).expect("a label fits a line"),
            operation,
        };
        self.names.extend_from_slice(name);
        self.entries.push(entry);
        // There are fewer than 2^32 operations, so the count has room, too.
        let entry = u32::try_from(self.entries.len()).expect("there are no more labels than operations");
        self.slots[slot] = Slot { check: hash.check, entry };
    }

    /// The operation of a name.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        self.slot(name, Hash::new(name)).1
    }

    /// A name of an operation.
    pub fn name_of(&self, operation: u32) -> Option<&[u8]> {
        self.entries.iter().find(|entry| entry.operation == operation).map(|entry| name_of(&self.names, entry))
    }

    /// Where a name is, with its operation, or where it would be.
    fn slot(&self, name: &[u8], hash: Hash) -> (usize, Option<u32>) {
        let mask = self.slots.len() - 1;
        let mut at = hash.place & mask;
        loop {
            let Slot { check, entry } = self.slots[at];
            if entry == 0 {
                return (at, None);
            }
            if check == hash.check {
                let entry = &self.entries[entry as usize - 1];
                if name_of(&self.names, entry) == name {
                    return (at, Some(entry.operation));
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let mask = (self.slots.len() * 2).max(SLOTS_MIN) - 1;
        self.slots = vec![Slot::default(); mask + 1];
        for (number, entry) in (1..).zip(&self.entries) {
            let hash = Hash::new(name_of(&self.names, entry));
            let mut at = hash.place & mask;
            while self.slots[at].entry != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = Slot { check: hash.check, entry: number };
        }
    }
}

fn name_of<'a>(names: &'a [u8], entry: &Entry) -> &'a [u8] {
    &names[entry.start..entry.start + entry.length as usize]
}

/// Where a name belongs, and what tells it from others.
#[derive(Clone, Copy, Debug)]
struct Hash {
    place: usize,
    check: u32,
}

impl Hash {
    /// Multiplies and folds eight bytes at a time, all but the last byte. That one chooses among sixteen neighbours: labels are
    /// numbered for the most part, and those that come one behind the other are then in one or two lines of the processor's cache.
    fn new(name: &[u8]) -> Self {
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mix = |state: u64, word: u64| {
            let product = u128::from(state ^ word) * u128::from(FACTOR);
            (product as u64) ^ (product >> 64) as u64
        };
        let (&last, front) = name.split_last().unwrap_or((&0, &[]));
        let mut chunks = front.chunks_exact(8);
        let mut state = FACTOR ^ front.len() as u64;
        for chunk in &mut chunks {
            state = mix(state, u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        }
        state = mix(state, chunks.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        let place = (state << 4) as usize | usize::from(last & 15);
        Self { place, check: (state >> 32) as u32 ^ u32::from(last) << 24 }
    }
}

#[cfg(test)]
mod tests {
    use super::Labels;

    #[test]
    fn a_name_stays_with_the_first_operation() {
        let mut labels = Labels::default();
        labels.define(b"a", 1);
        labels.define(b"a", 2);
        assert_eq!(labels.find(b"a"), Some(1));
        assert_eq!(labels.name_of(1), Some(&b"a"[..]));
        assert_eq!(labels.name_of(2), None);
    }

    #[test]
    fn many_names_are_told_apart_and_forgotten() {
        let mut labels = Labels::default();
        assert_eq!(labels.find(b"l0"), None);
        for round in 0..3 {
            for operation in 0..5000_u32 {
                labels.define(format!("label_{operation}").as_bytes(), operation + round);
            }
            for operation in 0..5000_u32 {
                assert_eq!(labels.find(format!("label_{operation}").as_bytes()), Some(operation + round));
            }
            assert_eq!(labels.find(b"label_5000"), None);
            labels.clear();
            assert_eq!(labels.find(b"label_1"), None);
        }
    }

    /// After many labels there are many slots, and a few labels are forgotten one by one.
    #[test]
    fn few_names_are_forgotten_among_many_slots() {
        let mut labels = Labels::default();
        for operation in 0..5000_u32 {
            labels.define(format!("l{operation}").as_bytes(), operation);
        }
        labels.clear();
        for first in [0, 7, 4990] {
            for operation in first..first + 700_u32 {
                labels.define(format!("x{operation}").as_bytes(), operation);
            }
            assert_eq!(labels.find(format!("x{first}").as_bytes()), Some(first));
            labels.clear();
            assert!(labels.slots.iter().all(|slot| slot.entry == 0));
        }
    }
}
