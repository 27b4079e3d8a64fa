//! Time as the network stores it.

use tailback_engine::Tick;

/// A tick, in half the space: simulations end before it runs out.
pub(crate) type Time = u32;

/// The longest that a network can be simulated, in ticks.
pub const TICKS_MAX: Tick = (u32::MAX - (1 << 24)) as Tick;

/// What `tick` is as a [`Time`].
///
/// # Panics
/// With debug assertions, when it is beyond what times can tell.
#[inline]
pub(crate) fn time(tick: Tick) -> Time {
    debug_assert!(tick <= Tick::from(Time::MAX), "tick {tick} is beyond the end of time");
    tick as Time
}
