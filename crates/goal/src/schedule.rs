//! A binary schedule that was checked.

use std::fmt;
use std::sync::Arc;

use crate::binary_error::OperationFault;
use crate::block::{Records, Region};
use crate::layout::{INDEX_BYTES, NODE_BYTES, Node, RANK_HEAD_BYTES};
use crate::{BinaryError, Cache, Operation, ReadAt, check};

/// A binary schedule. It stays where it is and is read piece by piece; in memory are a few numbers for each rank.
#[derive(Clone)]
pub struct Schedule {
    pub(crate) file: Arc<dyn ReadAt>,
    pub(crate) ranks: Arc<[Rank]>,
    pub(crate) totals: Totals,
}

/// What a rank has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankCounts {
    /// Operations.
    pub operations: u32,
    /// Operations that wait for nothing.
    pub roots: u32,
    /// Operations that send.
    pub sends: u32,
    /// Operations that receive.
    pub receives: u32,
    /// How often an operation waits for another.
    pub requirements: u32,
}

/// Where a rank lies, and what it has.
#[derive(Clone, Copy, Debug)]
pub struct Rank {
    /// Where it begins in the file.
    pub begin: u64,
    /// What it has.
    pub counts: RankCounts,
}

impl Rank {
    /// Where its roots are.
    pub fn roots(&self) -> Region {
        let begin = self.begin + RANK_HEAD_BYTES;
        Region { begin, end: begin + u64::from(self.counts.roots) * INDEX_BYTES }
    }

    /// Where its operations are.
    pub fn nodes(&self) -> Region {
        let begin = self.roots().end;
        Region { begin, end: begin + u64::from(self.counts.operations) * NODE_BYTES }
    }

    /// Where its edges are.
    pub fn edges(&self) -> Region {
        let begin = self.nodes().end;
        Region { begin, end: begin + u64::from(self.counts.requirements) * INDEX_BYTES }
    }
}

/// What all ranks have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Operations.
    pub operations: u64,
    /// Operations that send.
    pub sends: u64,
    /// Requirements.
    pub requirements: u64,
    /// The bytes of the largest message.
    pub bytes_max: u64,
    /// The largest processor, by the head.
    pub largest_cpu: u8,
    /// The largest adapter, by the head.
    pub largest_nic: u8,
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule").field("ranks", &self.ranks()).field("totals", &self.totals).finish_non_exhaustive()
    }
}

impl Schedule {
    /// Checks a binary schedule from end to end. That needs up to twelve bytes for each operation of a rank, and four for each
    /// edge, of one rank at a time.
    ///
    /// # Errors
    /// When it is damaged, or no schedule, or has operations that wait for themselves.
    pub fn open(file: Arc<dyn ReadAt>) -> Result<Self, BinaryError> {
        check::check(file)
    }

    /// How many ranks there are.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        u32::try_from(self.ranks.len()).expect("ranks have 32-bit numbers")
    }

    /// How many operations all ranks have.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.totals.operations
    }

    /// How many operations send.
    #[must_use]
    pub const fn sends(&self) -> u64 {
        self.totals.sends
    }

    /// How often an operation waits for another.
    #[must_use]
    pub const fn requirements(&self) -> u64 {
        self.totals.requirements
    }

    /// The largest number of a processor.
    #[must_use]
    pub const fn largest_cpu(&self) -> u8 {
        self.totals.largest_cpu
    }

    /// The largest number of an adapter.
    #[must_use]
    pub const fn largest_nic(&self) -> u8 {
        self.totals.largest_nic
    }

    /// The bytes of the largest message that is sent; 0 if none is.
    #[must_use]
    pub const fn bytes_max(&self) -> u64 {
        self.totals.bytes_max
    }

    /// What a rank has.
    ///
    /// # Panics
    /// When there is no such rank.
    #[must_use]
    pub fn counts(&self, rank: u32) -> RankCounts {
        self.ranks[rank as usize].counts
    }

    /// An operation of a rank. What lies around it is read with it into `cache`, which must not have seen another schedule.
    ///
    /// # Errors
    /// When there is no such operation, or it cannot be read any more.
    pub fn operation(&self, rank: u32, index: u32, cache: &mut Cache) -> Result<Operation, BinaryError> {
        let node = self.node(rank, index, cache)?;
        operation_of(&node, rank, index)
    }

    /// The operations of a rank that wait for nothing, in their order.
    ///
    /// # Errors
    /// When there is no such rank, or they cannot be read any more.
    pub fn roots(&self, rank: u32) -> Result<Vec<u32>, BinaryError> {
        let mut records = Records::default();
        records.restart(self.rank(rank, 0)?.roots());
        let mut roots = Vec::new();
        while let Some(root) = records.next(&*self.file)? {
            roots.push(u32::from_le_bytes(root));
        }
        Ok(roots)
    }

    /// Shows all operations of a rank, in their order.
    ///
    /// # Errors
    /// When there is no such rank, or they cannot be read any more.
    pub fn visit_operations(&self, rank: u32, mut visit: impl FnMut(u32, Operation)) -> Result<(), BinaryError> {
        let mut records = Records::default();
        records.restart(self.rank(rank, 0)?.nodes());
        let mut index = 0;
        while let Some(bytes) = records.next(&*self.file)? {
            visit(index, operation_of(&Node::decode(&bytes), rank, index)?);
            index += 1;
        }
        Ok(())
    }

    /// A rank, on the way to an operation.
    pub(crate) fn rank(&self, rank: u32, operation: u32) -> Result<&Rank, BinaryError> {
        self.ranks.get(rank as usize).ok_or(BinaryError::NoSuchOperation { rank, operation })
    }

    /// An operation as it is stored.
    pub(crate) fn node(&self, rank: u32, index: u32, cache: &mut Cache) -> Result<Node, BinaryError> {
        let place = self.rank(rank, index)?;
        if index >= place.counts.operations {
            return Err(BinaryError::NoSuchOperation { rank, operation: index });
        }
        Ok(cache.node(&*self.file, place.nodes(), index)?)
    }

    /// An edge of a rank.
    pub(crate) fn edge(&self, rank: u32, index: u32, cache: &mut Cache) -> Result<u32, BinaryError> {
        let place = self.rank(rank, 0)?;
        if index >= place.counts.requirements {
            let (edges, used) = (place.counts.requirements.into(), u64::from(index) + 1);
            return Err(BinaryError::Edges { rank, edges, used });
        }
        Ok(cache.edge(&*self.file, place.edges(), index)?)
    }
}

/// What is stored, as an operation.
pub(crate) fn operation_of(node: &Node, rank: u32, operation: u32) -> Result<Operation, BinaryError> {
    let fault = OperationFault::Kind(node.kind);
    node.operation().ok_or(BinaryError::Operation { rank, operation, fault })
}
