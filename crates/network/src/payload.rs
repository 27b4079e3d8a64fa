//! Payload: words that travel beside packets, where the protocol declares kinds of packets with any.

use serde::{Deserialize, Serialize};
use tailback_protocol::{Control, KindDeclaration, PathUse, RecordedPath};

/// The payload of all packets of a region, by their slot in the pool. Without payload it holds nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Payloads {
    /// Words of the kind that has most, and what is added.
    stride: usize,
    /// Which of the last words are the number of a packet in its flow and what a program tells with a message, if they are there.
    added: Added,
    words: Vec<u64>,
}

/// What travels behind the words that the protocol declares, in this order from the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Added {
    /// The number of a packet in its flow.
    pub number: bool,
    /// The word that a program tells with a message.
    pub message_word: bool,
    /// Which ranks of the two nodes are meant, where nodes run several.
    pub places: bool,
}

impl Added {
    fn words(self) -> usize {
        usize::from(self.number) + usize::from(self.message_word) + usize::from(self.places)
    }
}

/// What a program tells with a message: a word, and which of the ranks of its node sends it and which of the other gets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The word in halves, so that what waits in interfaces is no larger than with the word alone.
    halves: [u32; 2],
    /// The place of the sender among the ranks of its node.
    pub from: u8,
    /// The place of the receiver among those of its node.
    pub to: u8,
}

impl Told {
    pub fn new(word: u64, from: u8, to: u8) -> Self {
        Self { halves: [word as u32, (word >> 32) as u32], from, to }
    }

    pub fn word(self) -> u64 {
        u64::from(self.halves[0]) | u64::from(self.halves[1]) << 32
    }
}

impl Payloads {
    pub fn new(declared: usize, added: Added) -> Self {
        Self { stride: declared + added.words(), added, words: Vec::new() }
    }

    /// Whether any packet has payload.
    #[inline]
    pub fn exist(&self) -> bool {
        self.stride > 0
    }

    /// A packet gets its payload; what is not given is 0. Needed for each packet that is put into the pool, as its slot may have
    /// been that of another.
    pub fn set(&mut self, slot: u32, payload: &[u64]) {
        let from = slot as usize * self.stride;
        if self.words.len() < from + self.stride {
            self.words.resize(from + self.stride, 0);
        }
        let (given, rest) = self.words[from..][..self.stride].split_at_mut(payload.len());
        given.copy_from_slice(payload);
        rest.fill(0);
    }

    /// A packet that is put into the pool gets payload, which is 0 but for its number: that has to be given where there is one.
    #[inline]
    pub fn clear(&mut self, slot: u32) {
        let from = slot as usize * self.stride;
        if self.words.len() < from + self.stride {
            self.words.resize(from + self.stride, 0);
        }
        // Numbers are all that is there in most networks that have any.
        let other = self.stride - usize::from(self.added.number);
        if other > 0 {
            self.words[from..][..other].fill(0);
        }
    }

    /// A control packet gets its payload, and its path behind that.
    #[inline]
    pub fn set_control(&mut self, slot: u32, control: &Control, kind: &KindDeclaration) {
        if self.exist() {
            self.set(slot, &control.payload);
            if kind.path != PathUse::None {
                self.set_path(slot, kind, &control.path);
            }
        }
    }

    /// The path of a control packet of a kind that has one.
    pub fn path(&self, slot: u32, kind: &KindDeclaration) -> RecordedPath {
        let words = &self.words[slot as usize * self.stride + usize::from(kind.payload_words)..];
        RecordedPath::from_words(std::array::from_fn(|word| words[word]))
    }

    /// The same, to be changed.
    pub fn set_path(&mut self, slot: u32, kind: &KindDeclaration, path: &RecordedPath) {
        let from = slot as usize * self.stride + usize::from(kind.payload_words);
        self.words[from..][..RecordedPath::WORDS].copy_from_slice(&path.words());
    }

    /// The first words of the payload of a packet.
    pub fn of(&self, slot: u32, words: u8) -> &[u64] {
        if words == 0 { &[] } else { &self.words[slot as usize * self.stride..][..words.into()] }
    }

    /// The same, to be changed.
    #[inline]
    pub fn of_mut(&mut self, slot: u32, words: u8) -> &mut [u64] {
        if words == 0 { &mut [] } else { &mut self.words[slot as usize * self.stride..][..words.into()] }
    }

    /// The number of a packet in its flow. Only where packets have numbers.
    pub fn number(&self, slot: u32) -> u32 {
        self.words[(slot as usize + 1) * self.stride - 1] as u32
    }

    pub fn set_number(&mut self, slot: u32, number: u32) {
        self.words[(slot as usize + 1) * self.stride - 1] = number.into();
    }

    /// What a program tells with the message of a packet; nothing where there are no programs.
    #[inline]
    pub fn told(&self, slot: u32) -> Told {
        if !self.added.message_word {
            return Told::default();
        }
        let at = self.added_at(slot);
        let places = if self.added.places { self.words[at + 1] } else { 0 };
        Told::new(self.words[at], places as u8, (places >> 8) as u8)
    }

    pub fn set_told(&mut self, slot: u32, told: Told) {
        if self.added.message_word {
            let at = self.added_at(slot);
            self.words[at] = told.word();
            if self.added.places {
                self.words[at + 1] = u64::from(told.from) | u64::from(told.to) << 8;
            }
        }
    }

    /// Where the words are of a packet that are added to what the protocol declares.
    fn added_at(&self, slot: u32) -> usize {
        (slot as usize + 1) * self.stride - self.added.words()
    }

    /// Appends the payload of a packet that leaves the region.
    pub fn mail(&self, slot: u32, mail: &mut Vec<u64>) {
        mail.extend_from_slice(&self.words[slot as usize * self.stride..][..self.stride]);
    }

    /// The payloads in mail, one for each packet.
    pub fn in_mail<'a>(&self, mail: &'a [u64]) -> std::slice::ChunksExact<'a, u64> {
        mail.chunks_exact(self.stride)
    }
}
