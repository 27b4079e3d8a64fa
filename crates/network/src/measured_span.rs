//! Which flits links send while they are measured.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tailback_engine::Tick;

use crate::time::Time;

/// The ticks in which links are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredSpan {
    from: Time,
    pub until: Time,
}

impl MeasuredSpan {
    pub fn new(ticks: &Range<Tick>) -> Self {
        let limit = |tick| Time::try_from(tick).unwrap_or(Time::MAX);
        Self { from: limit(ticks.start), until: limit(ticks.end) }
    }

    /// The flits among those of a packet that a link sends in this span; the first leaves at `start`, the last at `last`, the others
    /// are spread evenly.
    #[inline]
    pub fn flits(self, flits: u16, start: Time, last: Time) -> u16 {
        if start >= self.from && last < self.until {
            return flits;
        }
        // All of a warm-up: only where a span begins or ends flits are counted one by one.
        if last < self.from || start >= self.until {
            return 0;
        }
        flits_before(self.until, flits, start, last) - flits_before(self.from, flits, start, last)
    }
}

/// The flits of a packet that leave before `time`.
#[cold]
fn flits_before(time: Time, flits: u16, start: Time, last: Time) -> u16 {
    let (time, start, last) = (u64::from(time), u64::from(start), u64::from(last));
    let leaves = |flit: u16| start + (last - start) * u64::from(flit) / u64::from(flits - 1).max(1);
    (0..flits).take_while(|&flit| leaves(flit) < time).count() as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn flits_of_a_packet_at_either_end() {
        let span = MeasuredSpan::new(&(100..200));
        // Ten flits that leave one after the other.
        let measured = |start| span.flits(10, start, start + 9);
        assert_eq!([80, 90, 91, 95, 99, 100].map(measured), [0, 0, 1, 5, 9, 10]);
        assert_eq!([190, 191, 195, 199, 200, 300].map(measured), [10, 9, 5, 1, 0, 0]);
        assert_eq!(span.flits(1, 99, 99) + span.flits(1, 200, 200), 0);
        assert_eq!(span.flits(1, 100, 100) + span.flits(1, 199, 199), 2);
    }

    proptest! {
        /// A link that is measured in two spans, one after the other, sends what it sends in both together.
        #[test]
        fn spans_add_up(
            (from, middle, until) in (0_u64..50, 50_u64..100, 100_u64..150),
            flits in 1_u16..30,
            start in 0_u32..160,
            flit_ticks in 1_u32..5,
        ) {
            let last = start + u32::from(flits - 1) * flit_ticks;
            let measured = |ticks| MeasuredSpan::new(&ticks).flits(flits, start, last);
            prop_assert_eq!(measured(from..middle) + measured(middle..until), measured(from..until));
            prop_assert_eq!(measured(0..from) + measured(from..u64::MAX), flits);
        }
    }
}
