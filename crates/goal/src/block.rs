//! Pieces of a file in memory: in a row, and here and there.

use std::io;

use crate::ReadAt;
use crate::layout::{INDEX_BYTES, NODE_BYTES, Node};

/// The most bytes of a block of operations in a [`Cache`], which has two of them.
pub const NODE_BLOCK_BYTES: usize = 4 << 10;

/// The most bytes of the block of edges in a [`Cache`].
pub const EDGE_BLOCK_BYTES: usize = 1 << 10;

/// How much is read at a time of what is read in a row.
const RECORDS_BYTES: usize = 32 << 10;

/// A part of a file that is full of records of one size.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Where it begins.
    pub begin: u64,
    /// Where it ends.
    pub end: u64,
}

/// Reads records in a row.
#[derive(Debug, Default)]
pub struct Records {
    block: Vec<u8>,
    used: usize,
    next: u64,
    end: u64,
}

impl Records {
    /// Goes to the beginning of a region.
    pub fn restart(&mut self, region: Region) {
        self.block.clear();
        (self.used, self.next, self.end) = (0, region.begin, region.end);
    }

    /// Reads the next record, unless the region is over.
    pub fn next<const BYTES: usize>(&mut self, file: &dyn ReadAt) -> io::Result<Option<[u8; BYTES]>> {
        if self.used == self.block.len() {
            let whole = (RECORDS_BYTES / BYTES * BYTES) as u64;
            // A last record that is cut off is never asked for: regions are full of records.
            let length = whole.min(self.end - self.next) as usize / BYTES * BYTES;
            if length == 0 {
                return Ok(None);
            }
            self.block.resize(length, 0);
            file.read_exact_at(&mut self.block, self.next)?;
            self.next += length as u64;
            self.used = 0;
        }
        let record = &self.block[self.used..self.used + BYTES];
        self.used += BYTES;
        Ok(Some(record.try_into().expect("a record")))
    }
}

/// What was read last of one schedule. Each rank that is walked should have one, as they are at different places.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    /// The one that was used last is the first: operations that follow each other may lie in two blocks.
    nodes: [Block; 2],
    edges: Block,
}

impl Cache {
    /// Reads an operation by number.
    pub(crate) fn node(&mut self, file: &dyn ReadAt, nodes: Region, index: u32) -> io::Result<Node> {
        let place = nodes.begin + u64::from(index) * NODE_BYTES;
        if !self.nodes[0].holds(place) {
            self.nodes.swap(0, 1);
        }
        Ok(Node::decode(&self.nodes[0].record(file, nodes, place, NODE_BLOCK_BYTES)?))
    }

    /// Reads an edge, or a root, by number.
    pub(crate) fn edge(&mut self, file: &dyn ReadAt, edges: Region, index: u32) -> io::Result<u32> {
        let place = edges.begin + u64::from(index) * INDEX_BYTES;
        Ok(u32::from_le_bytes(self.edges.record(file, edges, place, EDGE_BLOCK_BYTES)?))
    }
}

/// A piece of a region that holds whole records.
#[derive(Clone, Debug, Default)]
struct Block {
    begin: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn holds(&self, place: u64) -> bool {
        place.checked_sub(self.begin).is_some_and(|offset| offset < self.bytes.len() as u64)
    }

    /// The record at a place of a region, which is read as part of a block.
    fn record<const BYTES: usize>(
        &mut self,
        file: &dyn ReadAt,
        region: Region,
        place: u64,
        most: usize,
    ) -> io::Result<[u8; BYTES]> {
        if !self.holds(place) {
            let whole = (most / BYTES * BYTES) as u64;
            let begin = region.begin + (place - region.begin) / whole * whole;
            let length = whole.min(region.end - begin) as usize;
            self.bytes.clear();
            self.bytes.reserve_exact(length);
            self.bytes.resize(length, 0);
            if let Err(error) = file.read_exact_at(&mut self.bytes, begin) {
                // What is there now is no part of the file.
                self.bytes.clear();
                return Err(error);
            }
            self.begin = begin;
        }
        let offset = (place - self.begin) as usize;
        Ok(self.bytes[offset..offset + BYTES].try_into().expect("a record"))
    }
}
