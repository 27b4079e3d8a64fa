//! Checks a binary schedule.
//!
//! Ranks must lie one behind the other and fill the file, and so must the edges of operations in their rank: then no part is read more
//! often than once or twice, whatever the counts in it say.

use std::sync::Arc;

use crate::binary_error::OperationFault;
use crate::block::{Records, Region};
use crate::layout::{
    ANY, CALC, ENTRY_BYTES, HEAD_BYTES, INDEX_BYTES, MARK, MARK_BYTES, NODE_BYTES, Node, RANK_HEAD_BYTES, RECEIVE,
    SEND, Span, u32_at, u64_at,
};
use crate::schedule::{Rank, Totals};
use crate::{BinaryError, RANKS_MAX, RankCounts, ReadAt, Schedule, circle};

/// Checks all of it.
pub fn check(file: Arc<dyn ReadAt>) -> Result<Schedule, BinaryError> {
    let (ranks, named) = head(&*file)?;
    let mut checker = Checker::new(&*file, ranks);
    let table = Region { begin: MARK_BYTES + HEAD_BYTES, end: table_end(ranks) };
    let mut entries = Records::default();
    entries.restart(table);
    let (mut places, mut before) = (Vec::new(), table.end);
    for rank in 0..ranks {
        let entry: [u8; ENTRY_BYTES as usize] = entries.next(&*file)?.expect("the table has its length");
        let place = place(&*file, rank, &entry, before)?;
        before = place.edges().end;
        places.push(checker.rank(rank, place)?);
    }
    if before != file.len() {
        return Err(BinaryError::TooLong { end: before, bytes: file.len() });
    }
    let totals = checker.totals(named)?;
    Ok(Schedule { file, ranks: places.into(), totals })
}

/// The number of ranks, and the largest processor and adapter by the head.
fn head(file: &dyn ReadAt) -> Result<(u32, [u8; 2]), BinaryError> {
    let bytes = file.len();
    let fits = |what, needed| if needed > bytes { Err(BinaryError::TooShort { what, needed, bytes }) } else { Ok(()) };
    fits("first bytes", MARK_BYTES + HEAD_BYTES)?;
    let mut head = [0; (MARK_BYTES + HEAD_BYTES) as usize];
    file.read_exact_at(&mut head, 0)?;
    let mark = u64_at(&head, 0);
    if mark != MARK {
        return Err(BinaryError::Mark(mark));
    }
    let ranks = u32_at(&head, 8);
    if !(1..=RANKS_MAX).contains(&ranks) {
        return Err(BinaryError::Ranks(ranks));
    }
    fits("offsets of ranks", table_end(ranks))?;
    Ok((ranks, [head[12], head[13]]))
}

fn table_end(ranks: u32) -> u64 {
    MARK_BYTES + HEAD_BYTES + u64::from(ranks) * ENTRY_BYTES
}

/// Where a rank lies, with the counts that its head and its length tell.
fn place(file: &dyn ReadAt, rank: u32, entry: &[u8], before: u64) -> Result<Rank, BinaryError> {
    let (begin, end) = (u64_at(entry, 0), u64_at(entry, 8));
    let wrong = BinaryError::Place { rank, begin, end, before: before - MARK_BYTES };
    if begin != before - MARK_BYTES || end < begin {
        return Err(wrong);
    }
    let bytes = end - begin;
    if end > file.len() - MARK_BYTES {
        // The end may be any number of 64 bits.
        return Err(BinaryError::TooShort { what: "ranks", needed: end.saturating_add(MARK_BYTES), bytes: file.len() });
    }
    if bytes < RANK_HEAD_BYTES {
        return Err(wrong);
    }
    let mut head = [0; RANK_HEAD_BYTES as usize];
    file.read_exact_at(&mut head, before)?;
    let (operations, roots) = (u32_at(&head, 0), u32_at(&head, 4));
    let used = RANK_HEAD_BYTES + u64::from(roots) * INDEX_BYTES + u64::from(operations) * NODE_BYTES;
    let rest = bytes.checked_sub(used).filter(|rest| rest.is_multiple_of(INDEX_BYTES) && roots <= operations);
    let requirements = rest.and_then(|rest| u32::try_from(rest / INDEX_BYTES).ok());
    let requirements = requirements.ok_or(BinaryError::Counts { rank, bytes, operations, roots })?;
    Ok(Rank { begin: before, counts: RankCounts { operations, roots, requirements, ..RankCounts::default() } })
}

/// Goes through ranks; what it needs for one is used again for the next.
struct Checker<'a> {
    file: &'a dyn ReadAt,
    ranks: u32,
    roots: Records,
    nodes: Records,
    edges: Records,
    /// For each operation what it counts less what was found; right at the end if 0, even if it went below.
    open: Vec<u32>,
    totals: Totals,
}

impl<'a> Checker<'a> {
    fn new(file: &'a dyn ReadAt, ranks: u32) -> Self {
        let (roots, nodes, edges) = (Records::default(), Records::default(), Records::default());
        Self { file, ranks, roots, nodes, edges, open: Vec::new(), totals: Totals::default() }
    }

    /// Checks one rank and counts what it has.
    fn rank(&mut self, number: u32, mut rank: Rank) -> Result<Rank, BinaryError> {
        self.roots.restart(rank.roots());
        self.nodes.restart(rank.nodes());
        self.edges.restart(rank.edges());
        self.open.clear();
        self.open.resize(rank.counts.operations as usize, 0);
        let (mut used, mut backward) = (0, false);
        let at = |operation| move |fault| BinaryError::Operation { rank: number, operation, fault };
        for index in 0..rank.counts.operations {
            let node = Node::decode(&self.nodes.next(self.file)?.expect("operations have their place"));
            self.node(&node).map_err(at(index))?;
            if node.open == 0 && self.roots.next(self.file)? != Some(index.to_le_bytes()) {
                return Err(BinaryError::Roots { rank: number });
            }
            let slot = &mut self.open[index as usize];
            *slot = slot.wrapping_add(node.open);
            let edges = edges_of(&node, used, rank.counts.requirements).map_err(at(index))?;
            for _ in 0..edges {
                let next = u32::from_le_bytes(self.edges.next(self.file)?.expect("edges have their place"));
                let slot = self.open.get_mut(next as usize).ok_or(OperationFault::Waiting(next)).map_err(at(index))?;
                *slot = slot.wrapping_sub(1);
                backward |= next <= index;
            }
            used += edges;
            rank.counts.sends += u32::from(node.kind == SEND);
            rank.counts.receives += u32::from(node.kind == RECEIVE);
        }
        self.end(number, &rank, used)?;
        if backward && let Some(operation) = self.circle(&rank)? {
            return Err(at(operation)(OperationFault::Circle));
        }
        self.totals.operations += u64::from(rank.counts.operations);
        self.totals.sends += u64::from(rank.counts.sends);
        self.totals.requirements += u64::from(rank.counts.requirements);
        Ok(rank)
    }

    /// Checks what an operation says of itself.
    fn node(&mut self, node: &Node) -> Result<(), OperationFault> {
        let names_any = node.kind == RECEIVE && node.peer == ANY;
        match node.kind {
            SEND | RECEIVE if node.peer < self.ranks || names_any => {}
            SEND | RECEIVE => return Err(OperationFault::Peer(node.peer)),
            CALC => {}
            kind => return Err(OperationFault::Kind(kind)),
        }
        if node.kind == SEND {
            self.totals.bytes_max = self.totals.bytes_max.max(node.size);
        }
        self.totals.largest_cpu = self.totals.largest_cpu.max(node.cpu);
        if node.kind != CALC {
            self.totals.largest_nic = self.totals.largest_nic.max(node.nic);
        }
        Ok(())
    }

    /// Checks what can only be told when all operations were seen.
    fn end(&mut self, number: u32, rank: &Rank, used: u32) -> Result<(), BinaryError> {
        if self.roots.next::<4>(self.file)?.is_some() {
            return Err(BinaryError::Roots { rank: number });
        }
        if used != rank.counts.requirements {
            let (edges, used) = (rank.counts.requirements.into(), used.into());
            return Err(BinaryError::Edges { rank: number, edges, used });
        }
        if let Some((operation, _)) = (0..).zip(&self.open).find(|&(_, &open)| open != 0) {
            return Err(BinaryError::Operation { rank: number, operation, fault: OperationFault::Open });
        }
        Ok(())
    }

    /// An operation that waits for itself. Only ranks with an operation that waits for a later one come here: all others wait
    /// for what stands before them. Everything else of the rank is known to be right.
    fn circle(&mut self, rank: &Rank) -> Result<Option<u32>, BinaryError> {
        let mut ends = Vec::with_capacity(rank.counts.operations as usize);
        let mut edges = Vec::with_capacity(rank.counts.requirements as usize);
        self.nodes.restart(rank.nodes());
        self.edges.restart(rank.edges());
        let mut end = 0;
        self.open.clear();
        while let Some(bytes) = self.nodes.next(self.file)? {
            let node = Node::decode(&bytes);
            end += node.requires.count + node.irequires.count;
            ends.push(end);
            self.open.push(node.open);
        }
        while let Some(edge) = self.edges.next(self.file)? {
            edges.push(u32::from_le_bytes(edge));
        }
        let begin = |operation: u32| operation.checked_sub(1).map_or(0, |before| ends[before as usize]);
        let waiting = |operation: u32| begin(operation) as usize..ends[operation as usize] as usize;
        Ok(circle::find(std::mem::take(&mut self.open), waiting, &edges))
    }

    /// What all ranks have, if the head agrees with it.
    fn totals(self, named: [u8; 2]) -> Result<Totals, BinaryError> {
        let found = [self.totals.largest_cpu, self.totals.largest_nic];
        for ((what, found), named) in ["cpu", "nic"].into_iter().zip(found).zip(named) {
            if found > named {
                return Err(BinaryError::Largest { what, found, named });
            }
        }
        Ok(Totals { largest_cpu: named[0], largest_nic: named[1], ..self.totals })
    }
}

/// How many edges an operation has, which must follow the `used` ones of those before it. Where a span without edges begins
/// does not count: other programs leave anything there.
fn edges_of(node: &Node, used: u32, edges: u32) -> Result<u32, OperationFault> {
    let mut next = u64::from(used);
    for span in [node.requires, node.irequires] {
        let Span { count, first } = span;
        if count > 0 && (u64::from(first) != next || span.end() > u64::from(edges)) {
            return Err(OperationFault::Edges);
        }
        next += u64::from(count);
    }
    Ok(node.requires.count + node.irequires.count)
}
