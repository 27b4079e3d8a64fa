//! Writes the binary form, rank by rank.

use std::io::{self, Seek, SeekFrom, Write};

use crate::gather::Gathered;
use crate::layout::{ENTRY_BYTES, HEAD_BYTES, MARK, MARK_BYTES};

/// How much is gathered before it is written.
const BLOCK_BYTES: usize = 64 << 10;

/// A file in the making. The table stands in front of the ranks, so it is written in pieces when they are known.
#[derive(Debug)]
pub struct BinaryWriter<'a, W> {
    to: &'a mut W,
    /// Where the file begins in what is written to.
    start: u64,
    ranks: u32,
    /// Where the next rank begins, as the table counts.
    next: u64,
    block: Vec<u8>,
    /// Entries of the table that are not written yet.
    entries: Vec<u8>,
    entries_written: u64,
    largest_cpu: u8,
    largest_nic: u8,
}

impl<'a, W: Write + Seek> BinaryWriter<'a, W> {
    /// Begins a file of some ranks.
    pub fn new(to: &'a mut W, ranks: u32) -> io::Result<Self> {
        let start = to.stream_position()?;
        let next = HEAD_BYTES + u64::from(ranks) * ENTRY_BYTES;
        to.seek(SeekFrom::Start(start + MARK_BYTES + next))?;
        let (block, entries) = (Vec::with_capacity(BLOCK_BYTES), Vec::new());
        Ok(Self { to, start, ranks, next, block, entries, entries_written: 0, largest_cpu: 0, largest_nic: 0 })
    }

    /// Adds a rank that was arranged.
    pub fn rank(&mut self, rank: &Gathered) -> io::Result<()> {
        let begin = self.next;
        let operations = u32::try_from(rank.nodes.len()).expect("operations have 32-bit numbers");
        self.put(&operations.to_le_bytes())?;
        self.put(&rank.roots().to_le_bytes())?;
        for (number, _) in (0_u32..).zip(&rank.nodes).filter(|(_, node)| node.open == 0) {
            self.put(&number.to_le_bytes())?;
        }
        for node in &rank.nodes {
            self.largest_cpu = self.largest_cpu.max(node.cpu);
            self.largest_nic = self.largest_nic.max(node.nic);
            self.put(&node.encode())?;
        }
        for edge in &rank.edges {
            self.put(&edge.to_le_bytes())?;
        }
        self.entries.extend_from_slice(&begin.to_le_bytes());
        self.entries.extend_from_slice(&self.next.to_le_bytes());
        if self.entries.len() >= BLOCK_BYTES { self.write_entries() } else { Ok(()) }
    }

    /// Writes what is left, and gives the bytes of the file, its largest cpu and its largest nic.
    pub fn finish(mut self) -> io::Result<(u64, u8, u8)> {
        self.write_entries()?;
        self.to.seek(SeekFrom::Start(self.start))?;
        self.to.write_all(&MARK.to_le_bytes())?;
        self.to.write_all(&self.ranks.to_le_bytes())?;
        self.to.write_all(&[self.largest_cpu, self.largest_nic])?;
        // Whoever goes on to write does so behind the file.
        self.to.seek(SeekFrom::Start(self.start + MARK_BYTES + self.next))?;
        self.to.flush()?;
        Ok((MARK_BYTES + self.next, self.largest_cpu, self.largest_nic))
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.block.len() + bytes.len() > BLOCK_BYTES {
            self.write_block()?;
        }
        self.block.extend_from_slice(bytes);
        self.next += bytes.len() as u64;
        Ok(())
    }

    fn write_block(&mut self) -> io::Result<()> {
        self.to.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    fn write_entries(&mut self) -> io::Result<()> {
        self.write_block()?;
        let table = self.start + MARK_BYTES + HEAD_BYTES;
        self.to.seek(SeekFrom::Start(table + self.entries_written))?;
        self.to.write_all(&self.entries)?;
        self.entries_written += self.entries.len() as u64;
        self.entries.clear();
        self.to.seek(SeekFrom::Start(self.start + MARK_BYTES + self.next))?;
        Ok(())
    }
}
