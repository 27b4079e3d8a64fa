//! Times that protocols work with: when something is due first, and what may be repeated.

use tailback_parameters::{BuildError, Values};

/// The first tick from `now` on that is open, where all ticks after one that is open are open too, and `latest` is.
#[must_use]
pub fn first_open(now: u64, latest: u64, open: impl Fn(u64) -> bool) -> u64 {
    if open(now) {
        return now;
    }
    let (mut closed, mut opened) = (now, latest);
    while opened - closed > 1 {
        let middle = closed + (opened - closed) / 2;
        if open(middle) { opened = middle } else { closed = middle }
    }
    opened
}

/// The value of a parameter that is the time after which something happens again and again.
///
/// # Errors
/// If it is no time at all.
pub fn period(values: &Values, name: &'static str) -> Result<u64, BuildError> {
    match values.ticks(name) {
        0 => Err(BuildError::at(name, "a timer cannot go off all the time").help("give it a cycle or more")),
        ticks => Ok(ticks),
    }
}

/// How long packets take to leave a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectionTime {
    /// Ticks from one flit to the next; 0 where all flits of a packet leave at once.
    pub flit_ticks: u32,
    /// Ticks that each packet takes at least: a link cycle.
    pub least_ticks: u32,
}

impl InjectionTime {
    /// That of a link which takes one flit after the other.
    #[must_use]
    pub const fn of_link(flit_ticks: u32) -> Self {
        Self { flit_ticks, least_ticks: flit_ticks }
    }

    /// Ticks from when a packet of so many flits begins to leave until its last one is gone.
    #[must_use]
    #[inline]
    pub fn of(self, flits: u16) -> u64 {
        (u64::from(flits) * u64::from(self.flit_ticks)).max(self.least_ticks.into())
    }
}

#[cfg(test)]
mod tests {
    use tailback_parameters::Value;

    use super::*;

    #[test]
    fn packets_take_the_time_of_their_flits_to_leave_or_a_cycle_as_wholes() {
        let takes = |time: InjectionTime| [1, 8].map(|flits| time.of(flits));
        assert_eq!(takes(InjectionTime::of_link(4)), [4, 32]);
        assert_eq!(takes(InjectionTime { flit_ticks: 4, least_ticks: 2 }), [4, 32]);
        assert_eq!(takes(InjectionTime { flit_ticks: 0, least_ticks: 2 }), [2, 2]);
    }

    #[test]
    fn the_first_open_tick_is_found_wherever_it_is() {
        for opens in 0..40 {
            assert_eq!(first_open(10, 40, |tick| tick >= opens), opens.max(10));
        }
    }

    #[test]
    fn nothing_is_repeated_all_the_time() {
        let with = |ticks| {
            let mut values = Values::default();
            values.set("timer", Value::Ticks(ticks));
            period(&values, "timer").map_err(|refused| refused.message)
        };
        assert_eq!([with(0), with(1)], [Err("a timer cannot go off all the time".to_owned()), Ok(1)]);
    }
}
