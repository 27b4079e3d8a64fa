//! The labels of a rank, by name.

/// The names of the operations of one rank. Nothing is allocated for a label, and emptying costs nothing.
///
/// The hash is fixed and not secret: whoever writes a text for the purpose can make it slow.
#[derive(Debug, Default)]
pub struct Labels {
    names: Vec<u8>,
    entries: Vec<Entry>,
    /// A power of two of them; each is empty unless it is of this generation.
    slots: Vec<Slot>,
    generation: u32,
}

#[derive(Debug)]
struct Entry {
    start: usize,
    length: u32,
    hash: u32,
    operation: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    generation: u32,
    entry: u32,
}

const SLOTS_MIN: usize = 1 << 8;

impl Labels {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill(Slot::default());
            self.generation = 1;
        }
    }

    /// Names an operation. A name that there is already stays with the first.
    pub fn define(&mut self, name: &[u8], operation: u32) {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(name);
        let (slot, None) = self.slot(name, hash) else { return };
        let entry = u32::try_from(self.entries.len()).expect("there are no more labels than operations");
        self.slots[slot] = Slot { generation: self.generation, entry };
        let length = u32::try_from(name.len()).expect("a label fits a line");
        self.entries.push(Entry { start: self.names.len(), length, hash, operation });
        self.names.extend_from_slice(name);
    }

    /// The operation of a name.
    pub fn find(&self, name: &[u8]) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        self.slot(name, hash(name)).1
    }

    /// A name of an operation.
    pub fn name_of(&self, operation: u32) -> Option<&[u8]> {
        self.entries.iter().find(|entry| entry.operation == operation).map(|entry| self.name(entry))
    }

    fn name(&self, entry: &Entry) -> &[u8] {
        &self.names[entry.start..entry.start + entry.length as usize]
    }

    /// Where a name is, with its operation, or where it would be.
    fn slot(&self, name: &[u8], hash: u32) -> (usize, Option<u32>) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.generation != self.generation {
                return (at, None);
            }
            let entry = &self.entries[slot.entry as usize];
            if entry.hash == hash && self.name(entry) == name {
                return (at, Some(entry.operation));
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(SLOTS_MIN);
        self.slots = vec![Slot::default(); count];
        // Zero is the generation of slots that never held anything.
        self.generation = 1;
        for (number, entry) in (0..).zip(&self.entries) {
            let mut at = entry.hash as usize & (count - 1);
            while self.slots[at].generation == self.generation {
                at = (at + 1) & (count - 1);
            }
            self.slots[at] = Slot { generation: self.generation, entry: number };
        }
    }
}

/// Multiplies and folds eight bytes at a time.
fn hash(name: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product as u64) ^ (product >> 64) as u64
    };
    let mut chunks = name.chunks_exact(8);
    let mut state = FACTOR ^ name.len() as u64;
    for chunk in &mut chunks {
        state = mix(state, u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
    }
    let rest = chunks.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    state = mix(state, rest);
    (state ^ state >> 32) as u32
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

    #[test]
    fn generations_come_round() {
        let mut labels = Labels::default();
        labels.define(b"a", 1);
        labels.generation = u32::MAX;
        labels.clear();
        assert_eq!(labels.find(b"a"), None);
        labels.define(b"b", 2);
        assert_eq!(labels.find(b"b"), Some(2));
        assert_eq!(labels.find(b"a"), None);
    }
}
