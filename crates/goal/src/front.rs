//! Which operations of a rank may start.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layout::Span;
use crate::schedule::operation_of;
use crate::{BinaryError, Cache, Operation, Schedule};

/// How far a rank is. It decides which operations may start and knows nothing of when they do or end.
///
/// Whoever walks a rank calls [`Self::begin`] once, then for each operation that was ready once [`Self::started`] and later
/// once [`Self::finished`]. What that releases is added to `ready`, in the order of the file. In memory are only operations
/// for which a part of what they wait for has come about.
///
/// After an error part of what was to be released may have been: the front must not go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Front {
    rank: u32,
    operations: u32,
    finished: u32,
    /// What is left of what an operation waits for, if some of it has come about.
    waiting: BTreeMap<u32, u32>,
    #[serde(skip)]
    cache: Cache,
}

impl Front {
    /// The front of a rank that has not begun.
    ///
    /// # Panics
    /// When the schedule has no such rank.
    #[must_use]
    pub fn new(schedule: &Schedule, rank: u32) -> Self {
        let operations = schedule.counts(rank).operations;
        Self { rank, operations, finished: 0, waiting: BTreeMap::new(), cache: Cache::default() }
    }

    /// The rank.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// Gives the operations that wait for nothing, in their order.
    ///
    /// # Errors
    /// When the schedule cannot be read any more.
    pub fn begin(&mut self, schedule: &Schedule, ready: &mut Vec<(u32, Operation)>) -> Result<(), BinaryError> {
        for root in schedule.roots(self.rank)? {
            ready.push((root, schedule.operation(self.rank, root, &mut self.cache)?));
        }
        Ok(())
    }

    /// Releases what waits for the start of an operation.
    ///
    /// # Errors
    /// When the schedule cannot be read any more, or is another one.
    pub fn started(
        &mut self,
        operation: u32,
        schedule: &Schedule,
        ready: &mut Vec<(u32, Operation)>,
    ) -> Result<(), BinaryError> {
        let node = schedule.node(self.rank, operation, &mut self.cache)?;
        self.release(node.irequires, schedule, ready)
    }

    /// Releases what waits for the end of an operation, and counts it.
    ///
    /// # Errors
    /// When the schedule cannot be read any more, or is another one.
    pub fn finished(
        &mut self,
        operation: u32,
        schedule: &Schedule,
        ready: &mut Vec<(u32, Operation)>,
    ) -> Result<(), BinaryError> {
        let node = schedule.node(self.rank, operation, &mut self.cache)?;
        self.release(node.requires, schedule, ready)?;
        self.finished += 1;
        debug_assert!(self.finished <= self.operations, "an operation ends once");
        Ok(())
    }

    /// How many operations have finished.
    #[must_use]
    pub const fn finished_count(&self) -> u32 {
        self.finished
    }

    /// How many operations wait for a part of what they waited for: what the memory of a front goes by.
    #[must_use]
    pub fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    /// Whether all operations have finished.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.finished == self.operations
    }

    fn release(
        &mut self,
        edges: Span,
        schedule: &Schedule,
        ready: &mut Vec<(u32, Operation)>,
    ) -> Result<(), BinaryError> {
        for edge in 0..edges.count {
            let operation = schedule.edge(self.rank, edges.first.saturating_add(edge), &mut self.cache)?;
            let left = self.waiting.get_mut(&operation);
            if let Some(left) = left
                && *left > 1
            {
                *left -= 1;
                continue;
            }
            let node = schedule.node(self.rank, operation, &mut self.cache)?;
            if self.waiting.remove(&operation).is_some() || node.open <= 1 {
                ready.push((operation, operation_of(&node, self.rank, operation)?));
            } else {
                self.waiting.insert(operation, node.open - 1);
            }
        }
        Ok(())
    }
}
