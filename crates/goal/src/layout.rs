//! The binary form, byte by byte; all numbers are little-endian and nothing is aligned.
//!
//! ```text
//! u64 4223                         the mark; offsets count from behind it
//! u32 ranks, u8 largest cpu, u8 largest nic
//! ranks x (u64 begin, u64 end)     the table
//! for each rank: u32 nodes, u32 roots, roots x u32, nodes x 39 bytes, edges x u32
//! ```

use crate::{Kind, Operation};

/// The most ranks that a schedule may have.
pub const RANKS_MAX: u32 = 1 << 24;

/// What a binary schedule begins with.
pub const MARK: u64 = 4223;

/// What it begins with after another simulator used it up.
pub const MARK_USED_UP: u64 = 2342;

/// The bytes of the mark, which offsets do not count.
pub const MARK_BYTES: u64 = 8;

/// The bytes in front of the table, after the mark.
pub const HEAD_BYTES: u64 = 6;

/// The bytes of an entry of the table.
pub const ENTRY_BYTES: u64 = 16;

/// The bytes in front of the roots of a rank.
pub const RANK_HEAD_BYTES: u64 = 8;

/// The bytes of an index: of a root, or an edge.
pub const INDEX_BYTES: u64 = 4;

/// The bytes of a node.
pub const NODE_BYTES: u64 = 39;

/// A node.
pub type NodeBytes = [u8; NODE_BYTES as usize];

/// Any rank or any tag.
pub const ANY: u32 = u32::MAX;

/// The kinds of nodes.
pub const SEND: u8 = 1;
/// Receives.
pub const RECEIVE: u8 = 2;
/// Calculations.
pub const CALC: u8 = 3;

/// Part of the edges of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// How many edges.
    pub count: u32,
    /// The first of them.
    pub first: u32,
}

impl Span {
    /// The edge behind the last.
    pub const fn end(self) -> u64 {
        self.first as u64 + self.count as u64
    }
}

/// An operation as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// How many operations it waits for.
    pub open: u32,
    /// What it is.
    pub kind: u8,
    /// The other rank.
    pub peer: u32,
    /// Bytes, or nanoseconds.
    pub size: u64,
    /// The tag.
    pub tag: u32,
    /// The processor.
    pub cpu: u8,
    /// The adapter.
    pub nic: u8,
    /// What waits for its end.
    pub requires: Span,
    /// What waits for its start.
    pub irequires: Span,
}

impl Node {
    /// Reads one.
    pub fn decode(bytes: &NodeBytes) -> Self {
        Self {
            open: u32_at(bytes, 0),
            kind: bytes[4],
            peer: u32_at(bytes, 5),
            size: u64_at(bytes, 9),
            tag: u32_at(bytes, 17),
            cpu: bytes[21],
            nic: bytes[22],
            requires: Span { count: u32_at(bytes, 23), first: u32_at(bytes, 27) },
            irequires: Span { count: u32_at(bytes, 31), first: u32_at(bytes, 35) },
        }
    }

    /// Writes one.
    pub fn encode(&self) -> NodeBytes {
        let mut bytes = [0; NODE_BYTES as usize];
        bytes[0..4].copy_from_slice(&self.open.to_le_bytes());
        bytes[4] = self.kind;
        bytes[5..9].copy_from_slice(&self.peer.to_le_bytes());
        bytes[9..17].copy_from_slice(&self.size.to_le_bytes());
        bytes[17..21].copy_from_slice(&self.tag.to_le_bytes());
        bytes[21] = self.cpu;
        bytes[22] = self.nic;
        bytes[23..27].copy_from_slice(&self.requires.count.to_le_bytes());
        bytes[27..31].copy_from_slice(&self.requires.first.to_le_bytes());
        bytes[31..35].copy_from_slice(&self.irequires.count.to_le_bytes());
        bytes[35..39].copy_from_slice(&self.irequires.first.to_le_bytes());
        bytes
    }

    /// The operation, unless the kind is unknown. What a calculation says of a peer, a tag or an adapter does not count.
    pub fn operation(&self) -> Option<Operation> {
        let but_any = |number: u32| (number != ANY).then_some(number);
        let (size, tag) = (self.size, but_any(self.tag));
        let kind = match self.kind {
            SEND => Kind::Send { to: self.peer, size, tag },
            RECEIVE => Kind::Receive { from: but_any(self.peer), size, tag },
            CALC => return Some(Operation { kind: Kind::Calc { nanoseconds: size }, cpu: self.cpu, nic: 0 }),
            _ => return None,
        };
        Some(Operation { kind, cpu: self.cpu, nic: self.nic })
    }
}

/// The number at a place.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The number at a place.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
