//! Programs that GOAL schedules describe.

use tailback_goal::{BinaryError, Kind, Schedule};
use tailback_workload::{Machine, Program};

use crate::MESSAGE_FLITS_MAX;
use crate::endpoint::Transport;
use crate::goal_rank::GoalRank;

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
    /// A message is for receives of all tags.
    #[error(
        "operation {operation} of rank {rank} sends a message whose tag is -1: only receives can leave the tag open"
    )]
    AnyTag {
        /// Who sends it.
        rank: u32,
        /// Which of its operations that is.
        operation: u32,
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
        let mut messages = 0;
        let mut fault = None;
        for rank in 0..schedule.ranks() {
            schedule.visit_operations(rank, |operation, what| {
                let Kind::Send { to, size, tag } = what.kind else { return };
                let flits = scale.flits(size);
                if flits > MESSAGE_FLITS_MAX {
                    fault.get_or_insert(GoalError::TooLarge { rank, bytes: size, flits });
                } else if tag.is_none() {
                    fault.get_or_insert(GoalError::AnyTag { rank, operation });
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

    fn hears_of_departures(&self) -> bool {
        self.transport != Transport::EAGER
    }

    fn machine(&self, rank: u32) -> Box<dyn Machine> {
        Box::new(GoalRank::new(self.clone(), rank))
    }
}
