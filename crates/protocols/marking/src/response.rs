//! How a flow responds to what it hears: the part of a source that differs between the protocols.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tailback_protocol::Clock;

use crate::marks::Signal;

/// What one flow does with what it hears.
pub(crate) trait Response: Clone + Debug + Send + Sync + 'static {
    /// What it remembers of a flow.
    type State: Clone + Debug + PartialEq + Send + Serialize + DeserializeOwned;

    /// A flow that has heard nothing.
    fn begin(&self) -> Self::State;

    /// How many packets may be unacknowledged at most, if there is a limit; at least 1.
    fn window(&self, state: &Self::State) -> Option<u32>;

    /// The first tick from `now` on at which a packet may leave, if nothing is heard before.
    fn open_at(&self, state: &Self::State, now: u64) -> u64;

    /// A packet leaves, whose first flit is sent at `start` and whose last is gone at `end`.
    fn left(&self, state: &mut Self::State, start: u64, end: u64);

    /// An acknowledgement has come.
    fn heard(&self, state: &mut Self::State, signal: Signal, now: u64);

    /// Whether a flow is, but for the past, as one that begins.
    fn is_recovered(&self, state: &Self::State, now: u64) -> bool;

    /// How fast a flow may be, for people.
    fn tell(&self, state: &Self::State, now: u64, clock: Clock) -> String;

    /// What it does, for people.
    fn describe(&self) -> String;
}

/// From when on a flow waits for so many slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFrom {
    /// From the last acknowledgement.
    Acknowledgement,
    /// From the end of the packet that left last.
    Departure,
}
