//! Renato's proposal: marks of full input buffers, a static window, and one of three functions of the injection rate.

use serde::{Deserialize, Serialize};
use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_protocol::{Clock, ProtocolModel, first_open, period};

use crate::marks::Signal;
use crate::parameters::{self as shared, number, time};
use crate::protocol::Marked;
use crate::response::{Response, WaitFrom};
use crate::sender::Reset;

/// Renato's proposal.
pub const RENATO: ProtocolModel = ProtocolModel {
    name: "renato",
    summary: "Renato: what is queued like the packets of a full input buffer is marked, and sources have a static window \
              and a wait or a rate that marks change",
    parameters: &[
        shared::marking("\"full-buffer\""),
        Parameter {
            name: "response",
            kind: Kind::Choice(&[
                Choice { word: "lipd", help: "linear inter-packet delay: a slot more for each mark, one less without" },
                Choice { word: "aimd", help: "the rate is divided at a mark, and grows by a step without" },
                Choice { word: "fimd", help: "the rate is divided at a mark, and multiplied as time passes without" },
                Choice { word: "none", help: "only the window" },
            ]),
            default: Some("\"lipd\""),
            help: "how a flow responds to marks (3.2.1: LIPD is what the paper compares with)",
        },
        shared::window("1", "packets of a flow that may be unacknowledged at most (3.2.1: one)"),
        shared::SLOT,
        shared::slots_most("255", "LIPD: slots of the longest wait (not given; 8 bits of InfiniBand)"),
        shared::WAIT_FROM,
        Parameter {
            name: "divisor",
            kind: Kind::Integer { min: 2, max: 256 },
            default: Some("2"),
            help: "AIMD, FIMD: what a mark divides the rate by, and FIMD multiplies it by (3.2.1: m = 2)",
        },
        number(
            "increase",
            "0.00390625",
            "AIMD: the share of the full rate that an unmarked packet adds, rounded to 65,536ths (not given)",
        ),
        time("recovery", "71168", "FIMD: the time without a mark after which the rate is multiplied (not given)"),
        number(
            "least_rate",
            "0.00390625",
            "AIMD, FIMD: the least rate, as a share of the full one, rounded to 65,536ths (not given)",
        ),
        shared::SCOPE,
        shared::INPUT_THRESHOLD,
        shared::OUTPUT_THRESHOLD,
        shared::ACKNOWLEDGEMENT,
        shared::CONTROL_ROUTING,
    ],
    control_kinds: shared::CONTROL_KINDS,
    build: |values| {
        let response = Renato::of(values)?;
        Ok(Marked::of(values, response, shared::thresholds(values), Reset::Never))
    },
};

/// The full rate. Rates are shares of it.
const FULL: u64 = 1 << 16;

/// How flows respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Renato {
    /// Packets that may be unacknowledged.
    pub window: Option<u32>,
    pub function: Function,
    /// The least rate, of [`FULL`].
    pub least: u64,
}

/// How the injection rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// Linear inter-packet delay: slots, at most so many.
    Lipd { slot: u64, most: u64, from: WaitFrom },
    /// Additive increase, multiplicative decrease.
    Aimd { increase: u64, divisor: u64 },
    /// Fast increase, multiplicative decrease: multiplied as often as `recovery` has passed without a mark.
    Fimd { recovery: u64, divisor: u64 },
    /// It does not.
    None,
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Slots between packets.
    pub slots: u64,
    /// The rate when it was last changed by something heard.
    pub rate: u64,
    /// When the last mark came.
    marked: u64,
    /// When the last acknowledgement came.
    heard: u64,
    /// When the last packet began to leave, and when it was gone.
    left: (u64, u64),
}

/// A rate of [`FULL`]. One that is less than the smallest there is would silently be none.
fn rate(values: &Values, name: &'static str) -> Result<u64, BuildError> {
    let share = values.number(name);
    match (share * FULL as f64).round() as u64 {
        0 if share > 0.0 => {
            let message = format!("rates are 65,536ths of the full one, and {share:e} is less than half of one");
            let least = 1.0 / FULL as f64;
            Err(BuildError::at(name, message).help(format!("give it {least} or more, or 0.0")))
        }
        rate => Ok(rate),
    }
}

impl Renato {
    pub fn of(values: &Values) -> Result<Self, BuildError> {
        let divisor = values.integer("divisor").into();
        let function = match values.text("response") {
            "aimd" => Function::Aimd { increase: rate(values, "increase")?, divisor },
            "fimd" => Function::Fimd { recovery: period(values, "recovery")?, divisor },
            "none" => Function::None,
            _ => Function::Lipd {
                slot: values.ticks("slot"),
                most: shared::slots_most_of(values),
                from: shared::wait_from(values),
            },
        };
        Ok(Self { window: shared::window_of(values), function, least: rate(values, "least_rate")?.max(1) })
    }

    /// The rate at a tick, if nothing has been heard meanwhile.
    pub fn rate_at(&self, state: &State, now: u64) -> u64 {
        let Function::Fimd { recovery, divisor } = self.function else { return state.rate };
        // The rate is 1 at least and [`FULL`] at most, and doubles at least.
        let times = (now.saturating_sub(state.marked) / recovery).min(FULL.ilog2().into());
        state.rate.saturating_mul(divisor.saturating_pow(times as u32)).min(FULL)
    }
}

impl Response for Renato {
    type State = State;

    fn begin(&self) -> State {
        State { slots: 0, rate: FULL, marked: 0, heard: 0, left: (0, 0) }
    }

    fn window(&self, _: &State) -> Option<u32> {
        self.window
    }

    fn open_at(&self, state: &State, now: u64) -> u64 {
        let (start, end) = state.left;
        // Packets are as far apart as it takes to send one at the rate.
        let next = |rate: u64| start + ((end - start) * FULL).div_ceil(rate);
        match self.function {
            Function::Lipd { slot, from, .. } => {
                let from = if from == WaitFrom::Acknowledgement { state.heard } else { end };
                if state.slots == 0 { now } else { now.max(from.saturating_add(state.slots.saturating_mul(slot))) }
            }
            Function::Aimd { .. } | Function::Fimd { .. } => {
                let latest = next(self.rate_at(state, now));
                first_open(now, latest, |tick| tick >= next(self.rate_at(state, tick)))
            }
            Function::None => now,
        }
    }

    fn left(&self, state: &mut State, start: u64, end: u64) {
        state.left = (start, end);
    }

    fn heard(&self, state: &mut State, signal: Signal, now: u64) {
        let marked = signal == Signal::Hot;
        match self.function {
            Function::Lipd { most, .. } if marked => state.slots = most.min(state.slots + 1),
            Function::Lipd { .. } => state.slots = state.slots.saturating_sub(1),
            Function::Aimd { divisor, .. } | Function::Fimd { divisor, .. } if marked => {
                state.rate = self.least.max(self.rate_at(state, now) / divisor);
                state.marked = now;
            }
            Function::Aimd { increase, .. } => state.rate = FULL.min(state.rate + increase),
            Function::Fimd { .. } | Function::None => {}
        }
        state.heard = now;
    }

    fn is_recovered(&self, state: &State, now: u64) -> bool {
        state.slots == 0 && self.rate_at(state, now) == FULL
    }

    fn tell(&self, state: &State, now: u64, _: Clock) -> String {
        match self.function {
            Function::Lipd { .. } => format!("{} slots between packets", state.slots),
            Function::Aimd { .. } | Function::Fimd { .. } => {
                format!("{:.4} of its full rate", self.rate_at(state, now) as f64 / FULL as f64)
            }
            Function::None => "its window".to_owned(),
        }
    }

    fn describe(&self) -> String {
        let window = shared::describe_window(self.window);
        let function = match self.function {
            Function::Lipd { slot, .. } => format!("a mark is another slot of {slot} ticks between packets"),
            Function::Aimd { divisor, .. } => {
                format!("a mark divides the rate by {divisor}, an unmarked packet adds to it")
            }
            Function::Fimd { divisor, recovery } => {
                format!("a mark divides the rate by {divisor}, {recovery} ticks without one multiply it")
            }
            Function::None => "marks change nothing".to_owned(),
        };
        format!("Renato: {window}; {function}")
    }
}
