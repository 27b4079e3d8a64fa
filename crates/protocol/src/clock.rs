//! How ticks are told to people.

use std::fmt;

/// How long a link cycle is: people count in cycles, machines in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Ticks of a link cycle.
    pub ticks_per_cycle: u32,
}

impl Clock {
    /// A time or a duration in cycles.
    #[must_use]
    pub fn cycles(self, ticks: u64) -> impl fmt::Display {
        // Cycles have a power of two of ticks, so a few digits are exact.
        ticks as f64 / f64::from(self.ticks_per_cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_cycle_are_told_exactly() {
        let told = [(1, 984), (2, 984), (2, 985), (4, 3)]
            .map(|(ticks_per_cycle, ticks)| Clock { ticks_per_cycle }.cycles(ticks).to_string());
        assert_eq!(told, ["984", "492", "492.5", "0.75"]);
    }
}
