//! Pfister's implementation of what InfiniBand leaves open: marks of output queues, and an index into a table of pauses.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_protocol::{Clock, ProtocolModel, first_open, period};

use crate::marks::{Signal, Thresholds};
use crate::parameters::{self as shared, time};
use crate::protocol::Marked;
use crate::response::Response;
use crate::sender::Reset;

/// Pfister's implementation.
pub const PFISTER: ProtocolModel = ProtocolModel {
    name: "pfister",
    summary: "Pfister: packets that enter full output queues are marked, and sources pause by a table whose index marks \
              raise and a timer lowers",
    parameters: &[
        shared::marking("\"output\""),
        Parameter {
            name: "weight",
            kind: Kind::Integer { min: 0, max: 15 },
            default: Some("11"),
            help: "the threshold of output queues: (16 - weight) / 16 of what they hold; 0 marks nothing (3.2.2: 0 to 15, and \
                   no value)",
        },
        Parameter {
            name: "increment",
            kind: Kind::Integer { min: 0, max: u16::MAX as u64 },
            default: Some("4"),
            help: "by how much a mark raises the index (3.2.2: by the hot spot's degree; a sixteenth of 64 sources)",
        },
        Parameter {
            name: "limit",
            kind: Kind::Integer { min: 0, max: u16::MAX as u64 },
            default: Some("127"),
            help: "the largest index (not given)",
        },
        time("step", "278", "the pause of an index is as many of these, unless a table is given (not given)"),
        Parameter {
            name: "table",
            kind: Kind::Times,
            default: Some("[]"),
            help: "the pauses, from that of index 0, which is 0; the last is that of all larger ones (3.2.2: CCT, no values)",
        },
        time("timer", "8900", "how often the index falls by one (3.2.2: a defined interval, no value)"),
        Parameter {
            name: "timer_runs",
            kind: Kind::Choice(&[
                Choice { word: "since-mark", help: "from the last mark on: it goes off only where no more marks come" },
                Choice { word: "freely", help: "from the beginning on, in all nodes at once, as in InfiniBand" },
            ]),
            default: Some("\"since-mark\""),
            help: "from when on the timer runs (3.2.2: it goes off if no more marks come)",
        },
        shared::SCOPE,
        shared::INPUT_THRESHOLD,
        shared::ACKNOWLEDGEMENT,
        shared::CONTROL_ROUTING,
    ],
    control_kinds: shared::CONTROL_KINDS,
    build: |values| {
        let weight = values.integer("weight");
        let output = (weight > 0).then(|| f64::from(16 - weight) / 16.0);
        let thresholds = Thresholds { input: values.number("input_threshold"), output };
        Ok(Marked::of(values, Pfister::of(values)?, thresholds, Reset::Never))
    },
};

/// How flows respond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pfister {
    pub increment: u64,
    pub limit: u64,
    pub pauses: Pauses,
    pub timer: u64,
    pub timer_runs: TimerRuns,
}

/// The pauses by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pauses {
    /// Each is longer by so much than the one before.
    Step(u64),
    /// These; the last is that of all larger indices.
    Table(Arc<[u64]>),
}

/// From when on the timer runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerRuns {
    /// From the last mark on.
    SinceMark,
    /// From the beginning on.
    Freely,
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The index when the last mark came.
    index: u64,
    /// When that was.
    marked: u64,
    /// When the last packet was gone.
    left: u64,
}

impl Pauses {
    fn of(&self, index: u64) -> u64 {
        match self {
            Self::Step(step) => index.saturating_mul(*step),
            Self::Table(pauses) => {
                let last = pauses.len().saturating_sub(1);
                pauses.get(last.min(index as usize)).copied().unwrap_or(0)
            }
        }
    }
}

impl Pfister {
    pub fn of(values: &Values) -> Result<Self, BuildError> {
        let table = values.times("table");
        if !table.is_sorted() || table.first().is_some_and(|&pause| pause > 0) {
            let message = "pauses are 0 at index 0, and do not become shorter with a larger one";
            return Err(BuildError::at("table", message).help("sort them, and begin with 0"));
        }
        Ok(Self {
            increment: values.integer("increment").into(),
            limit: values.integer("limit").into(),
            pauses: if table.is_empty() { Pauses::Step(values.ticks("step")) } else { Pauses::Table(table.into()) },
            timer: period(values, "timer")?,
            timer_runs: if values.text("timer_runs") == "freely" { TimerRuns::Freely } else { TimerRuns::SinceMark },
        })
    }

    /// The index at a tick, if no mark has come meanwhile.
    pub fn index_at(&self, state: &State, now: u64) -> u64 {
        let fallen = match self.timer_runs {
            TimerRuns::SinceMark => now.saturating_sub(state.marked) / self.timer,
            TimerRuns::Freely => now / self.timer - (state.marked / self.timer).min(now / self.timer),
        };
        state.index.saturating_sub(fallen)
    }
}

impl Response for Pfister {
    type State = State;

    fn begin(&self) -> State {
        State { index: 0, marked: 0, left: 0 }
    }

    fn window(&self, _: &State) -> Option<u32> {
        None
    }

    fn open_at(&self, state: &State, now: u64) -> u64 {
        // Time passes and the index falls, so there is one such tick.
        let opens = |tick| state.left.saturating_add(self.pauses.of(self.index_at(state, tick)));
        first_open(now, opens(now), |tick| tick >= opens(tick))
    }

    fn left(&self, state: &mut State, _: u64, end: u64) {
        state.left = end;
    }

    fn heard(&self, state: &mut State, signal: Signal, now: u64) {
        if signal == Signal::Hot {
            state.index = self.limit.min(self.index_at(state, now) + self.increment);
            state.marked = now;
        }
    }

    fn is_recovered(&self, state: &State, now: u64) -> bool {
        self.index_at(state, now) == 0
    }

    fn tell(&self, state: &State, now: u64, clock: Clock) -> String {
        let index = self.index_at(state, now);
        format!("index {index}, a pause of {} cycles", clock.cycles(self.pauses.of(index)))
    }

    fn describe(&self) -> String {
        let Self { increment, limit, timer, .. } = self;
        let longest = self.pauses.of(*limit);
        format!(
            "Pfister: a mark raises the index by {increment}, {timer} ticks lower it by one; pauses up to {longest} ticks"
        )
    }
}
