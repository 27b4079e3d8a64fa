//! Time as the network stores it.

use tailback_engine::Tick;

/// A tick, in half the space: simulations end before it runs out.
pub(crate) type Time = u32;

const _: () = assert!(tailback_hardware::TICKS_MAX < Time::MAX as Tick);

/// What `tick` is as a [`Time`].
///
/// # Panics
/// With debug assertions, when it is beyond what times can tell.
#[inline]
pub(crate) fn time(tick: Tick) -> Time {
    debug_assert!(tick <= Tick::from(Time::MAX), "tick {tick} is beyond the end of time");
    tick as Time
}
