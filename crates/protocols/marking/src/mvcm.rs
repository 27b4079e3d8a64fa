//! MVCM: packets are marked at input buffers and validated at output queues; a window shrinks first, then waits grow.

use serde::{Deserialize, Serialize};
use tailback_parameters::{Choice, Kind, Parameter, Values};
use tailback_protocol::{Clock, ProtocolModel};

use crate::marks::Signal;
use crate::parameters as shared;
use crate::protocol::Marked;
use crate::response::{Response, WaitFrom};
use crate::sender::Reset;

/// MVCM.
pub const MVCM: ProtocolModel = ProtocolModel {
    name: "mvcm",
    summary: "MVCM: packets are marked at full input buffers and validated at full output queues; sources make their \
              windows smaller, and then wait between packets",
    parameters: &[
        shared::marking("\"validated\""),
        shared::window("2", "packets of a flow that may be unacknowledged at most (4.3: 2, omega of 1.4 rounded up)"),
        shared::SLOT,
        Parameter {
            name: "factor",
            kind: Kind::Integer { min: 1, max: 1024 },
            default: Some("4"),
            help: "what further validated packets multiply the slots of a wait by (4.3: k, the radix)",
        },
        shared::slots_most(
            "256",
            "slots of the longest wait; 0 for no waits at all (4.3: the factor applies n times at most, read as k^(n-1))",
        ),
        shared::WAIT_FROM,
        Parameter {
            name: "warm",
            kind: Kind::Choice(&[
                Choice { word: "act", help: "makes the window smaller" },
                Choice { word: "as-unmarked", help: "is taken for an unmarked one" },
                Choice { word: "ignore", help: "changes nothing" },
            ]),
            default: Some("\"act\""),
            help: "what a marked packet does that is not validated (4.2.1: moderate actions; Fig. 14 is without)",
        },
        Parameter {
            name: "reset",
            kind: Kind::Choice(&[
                Choice { word: "acknowledged", help: "empty is where nothing waits and all is acknowledged" },
                Choice { word: "sent", help: "empty is where nothing waits" },
                Choice { word: "never", help: "it never does" },
            ]),
            default: Some("\"acknowledged\""),
            help: "when a message makes its flow begin anew: as it is offered to an empty flow (4.2.2: an empty injection queue)",
        },
        shared::SCOPE,
        shared::INPUT_THRESHOLD,
        shared::OUTPUT_THRESHOLD,
        shared::ACKNOWLEDGEMENT,
        shared::CONTROL_ROUTING,
    ],
    control_kinds: shared::CONTROL_KINDS,
    build: |values| {
        let reset = match values.text("reset") {
            "sent" => Reset::Sent,
            "never" => Reset::Never,
            _ => Reset::Acknowledged,
        };
        Ok(Marked::of(values, Mvcm::of(values), shared::thresholds(values), reset))
    },
};

/// How flows respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mvcm {
    /// The largest window; without it there are only waits.
    pub window: Option<u32>,
    pub slot: u64,
    pub factor: u64,
    pub slots_most: u64,
    pub from: WaitFrom,
    pub warm: Warm,
}

/// What a marked packet does that is not validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warm {
    /// It makes the window smaller.
    Act,
    /// What an unmarked one does.
    AsUnmarked,
    /// Nothing.
    Ignore,
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// Packets that may be unacknowledged, where there is a window.
    pub window: u32,
    /// Slots of a wait. None unless the window is 1.
    pub slots: u64,
    /// When the last acknowledgement came.
    heard: u64,
    /// When the last packet was gone.
    left: u64,
}

impl Mvcm {
    pub fn of(values: &Values) -> Self {
        Self {
            window: shared::window_of(values),
            slot: values.ticks("slot"),
            factor: values.integer("factor").into(),
            slots_most: shared::slots_most_of(values),
            from: shared::wait_from(values),
            warm: match values.text("warm") {
                "as-unmarked" => Warm::AsUnmarked,
                "ignore" => Warm::Ignore,
                _ => Warm::Act,
            },
        }
    }

    /// The window of a flow that begins. Without windows it is as small as can be, so that waits begin at once.
    fn largest(&self) -> u32 {
        self.window.unwrap_or(1)
    }

    /// The congestion has to end.
    fn act_imminently(&self, state: &mut State) {
        if state.window > 1 {
            state.window -= 1;
        } else {
            state.slots =
                self.slots_most.min(if state.slots == 0 { 1 } else { state.slots.saturating_mul(self.factor) });
        }
    }

    fn recover(&self, state: &mut State) {
        if state.slots > 0 {
            state.slots = 0;
        } else {
            state.window = self.largest().min(state.window + 1);
        }
    }
}

impl Response for Mvcm {
    type State = State;

    fn begin(&self) -> State {
        State { window: self.largest(), slots: 0, heard: 0, left: 0 }
    }

    fn window(&self, state: &State) -> Option<u32> {
        self.window.map(|_| state.window)
    }

    fn open_at(&self, state: &State, now: u64) -> u64 {
        let from = if self.from == WaitFrom::Acknowledgement { state.heard } else { state.left };
        if state.slots == 0 { now } else { now.max(from.saturating_add(state.slots.saturating_mul(self.slot))) }
    }

    fn left(&self, state: &mut State, _: u64, end: u64) {
        state.left = end;
    }

    fn heard(&self, state: &mut State, signal: Signal, now: u64) {
        match (signal, self.warm) {
            (Signal::Hot, _) => self.act_imminently(state),
            (Signal::Warm, Warm::Act) => state.window = (state.window - 1).max(1),
            (Signal::Warm, Warm::Ignore) => {}
            (Signal::Warm, Warm::AsUnmarked) | (Signal::Unmarked, _) => self.recover(state),
        }
        state.heard = now;
    }

    fn is_recovered(&self, state: &State, _: u64) -> bool {
        state.window == self.largest() && state.slots == 0
    }

    fn tell(&self, state: &State, _: u64, _: Clock) -> String {
        let slots = format!("a wait of {} slots", state.slots);
        if self.window.is_some() { format!("a window of {} and {slots}", state.window) } else { slots }
    }

    fn describe(&self) -> String {
        let Self { slot, factor, slots_most, .. } = self;
        let window = shared::describe_window(self.window);
        format!("MVCM: {window} and less; waits of up to {slots_most} slots of {slot} ticks, by factors of {factor}")
    }
}
