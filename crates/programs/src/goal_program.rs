//! Programs that GOAL schedules describe.

use tailback_goal::{BinaryError, Kind, Operation, Schedule};
use tailback_workload::{Machine, Part, Program};

use crate::MESSAGE_FLITS_MAX;
use crate::endpoint::{AnnouncedSend, Endpoint, Transport};
use crate::goal_rank::{GoalRank, legible};

/// What bytes and nanoseconds are in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// The bytes of a flit.
    pub flit_bytes: u64,
    /// Femtoseconds of a link cycle.
    pub cycle_fs: u64,
    /// The ticks of a link cycle.
    pub ticks_per_cycle: u32,
}

impl Scale {
    /// The flits of a message: at least one, as what carries no data has to arrive, too.
    #[must_use]
    pub fn flits(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.flit_bytes).max(1)
    }

    /// The tick that is nearest to so many nanoseconds from now.
    #[must_use]
    pub fn ticks(&self, nanoseconds: u64) -> u64 {
        let (fs, cycle) = (u128::from(nanoseconds) * 1_000_000, u128::from(self.cycle_fs));
        let ticks = (fs * u128::from(self.ticks_per_cycle) + cycle / 2) / cycle;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

/// Why a schedule cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum GoalError {
    /// It cannot be read any more.
    #[error(transparent)]
    Read(#[from] BinaryError),
    /// A message is too large.
    #[error("rank {rank} sends a message of {bytes} bytes, which are {flits} flits; the limit is {MESSAGE_FLITS_MAX}")]
    TooLarge {
        /// Who sends it.
        rank: u32,
        /// Its size.
        bytes: u64,
        /// The same in flits.
        flits: u64,
    },
}

/// A program that a GOAL schedule describes. Its ranks read their operations as they come to them.
#[derive(Clone, Debug)]
pub struct GoalProgram {
    pub(crate) schedule: Schedule,
    pub(crate) scale: Scale,
    pub(crate) transport: Transport,
    /// Ticks that the processor takes for each message, at its sender and at its receiver.
    pub(crate) overhead_ticks: u64,
    messages: u64,
}

impl GoalProgram {
    /// The program of a schedule, which is gone through once to see that it can be run.
    ///
    /// # Errors
    /// When it cannot be read, or a message in it cannot be sent.
    pub fn new(schedule: Schedule, scale: Scale, transport: Transport, overhead_ticks: u64) -> Result<Self, GoalError> {
        let transport = Transport { announced_send: AnnouncedSend::Matched, ..transport };
        let mut messages = 0;
        let mut fault = None;
        for rank in 0..schedule.ranks() {
            schedule.visit_operations(rank, |_, what| {
                let Kind::Send { to, size, .. } = what.kind else { return };
                let flits = scale.flits(size);
                if flits > MESSAGE_FLITS_MAX {
                    fault.get_or_insert(GoalError::TooLarge { rank, bytes: size, flits });
                } else if to != rank {
                    messages += transport.messages(flits as u32);
                }
            })?;
        }
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Self { schedule, scale, transport, overhead_ticks, messages }),
        }
    }
}

impl Program for GoalProgram {
    fn ranks(&self) -> u32 {
        self.schedule.ranks()
    }

    fn phases(&self) -> Vec<String> {
        vec!["all".to_owned()]
    }

    fn messages(&self) -> u64 {
        self.messages
    }

    fn messages_between(&self, holds: &dyn Fn(u32, u32) -> bool) -> u64 {
        let mut messages = 0;
        for rank in 0..self.schedule.ranks() {
            let count = |_, what: Operation| {
                if let Kind::Send { to, size, .. } = what.kind
                    && to != rank
                    && holds(rank, to)
                {
                    messages += self.transport.messages(self.scale.flits(size) as u32);
                }
            };
            legible(self.schedule.visit_operations(rank, count));
        }
        messages
    }

    fn cautions(&self) -> Vec<String> {
        match self.schedule.largest_nic() {
            0 => Vec::new(),
            largest => vec![format!(
                "the schedule names network interfaces up to `nic {largest}`, and a node has one, which those of its ranks share"
            )],
        }
    }

    fn part(&self, word: u64) -> Part {
        Endpoint::part(word)
    }

    fn hears_of_departures(&self) -> bool {
        self.transport.hears_of_departures()
    }

    fn machine(&self, rank: u32) -> Box<dyn Machine> {
        Box::new(GoalRank::new(self.clone(), rank))
    }
}
