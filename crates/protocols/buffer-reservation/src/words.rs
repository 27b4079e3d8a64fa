//! What is said on the control network: one word each.

use tailback_protocol::Words;

use crate::parameters::NODES_MAX;

/// What somebody tells somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// An input asks for room for some packets to an output. The request takes a route, if it takes one, which need not be that of a packet.
    Request { input: u32, output: u32, route: u32, packets: u32 },
    /// An output grants it.
    Grant { input: u32, output: u32 },
    /// A packet is in order at its output: there is room again in front of it, on the route that the packet took.
    Credit { route: u32 },
    /// A request has left the queue of this number: there is room in it for another one.
    RequestRoom { queue: u32 },
    /// A grant has.
    GrantRoom { queue: u32 },
    /// A packet has been acknowledged.
    Acknowledgement,
}

/// Bits of a number: enough for the most nodes that arbiters have numbers for.
const BITS: u32 = NODES_MAX.trailing_zeros();

/// Bits of a kind. Above it is the number of packets.
const KIND_BITS: u32 = 4;

/// The most packets that a request can ask for.
pub(crate) const REQUEST_PACKETS_MAX: u32 = (1 << (u64::BITS - KIND_BITS - 3 * BITS)) - 1;

impl Word {
    /// As it is told.
    pub fn words(self) -> Words {
        let (kind, numbers) = match self {
            Self::Request { input, output, route, packets } => {
                (u64::from(packets) << KIND_BITS, [input, output, route])
            }
            Self::Grant { input, output } => (1, [input, output, 0]),
            Self::Credit { route } => (2, [0, 0, route]),
            Self::RequestRoom { queue } => (3, [0, 0, queue]),
            Self::GrantRoom { queue } => (4, [0, 0, queue]),
            Self::Acknowledgement => (5, [0; 3]),
        };
        [numbers.into_iter().fold(kind, |word, number| word << BITS | u64::from(number))].into()
    }

    /// What was told.
    ///
    /// # Panics
    /// If it is not one word of this protocol.
    pub fn of(words: &[u64]) -> Self {
        let &[word] = words else { panic!("{words:?} is not one word") };
        let [input, output, last] = [2 * BITS, BITS, 0].map(|shift| (word >> shift) as u32 % NODES_MAX);
        let packets = (word >> (3 * BITS + KIND_BITS)) as u32;
        match (word >> (3 * BITS)) % (1 << KIND_BITS) {
            0 => Self::Request { input, output, route: last, packets },
            1 => Self::Grant { input, output },
            2 => Self::Credit { route: last },
            3 => Self::RequestRoom { queue: last },
            4 => Self::GrantRoom { queue: last },
            5 => Self::Acknowledgement,
            kind => panic!("a word of kind {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let (input, output) = (NODES_MAX - 1, NODES_MAX - 2);
        for word in [
            Word::Request { input, output, route: 5, packets: 1 },
            Word::Request { input, output, route: NODES_MAX - 3, packets: REQUEST_PACKETS_MAX },
            Word::Grant { input, output },
            Word::Credit { route: 7 },
            Word::RequestRoom { queue: 8 },
            Word::GrantRoom { queue: 9 },
            Word::Acknowledgement,
        ] {
            assert_eq!(Word::of(&word.words()), word);
        }
    }
}
