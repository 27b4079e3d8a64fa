//! Lines of the log that strangers can cause at will: now and then one is written, with the number of those left out.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time from one line to the next.
const EVERY: Duration = Duration::from_secs(10);

/// How often something was to be logged, and was.
#[derive(Debug, Default)]
pub(crate) struct Sparingly {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    written: Option<Instant>,
    left_out: u64,
}

impl Sparingly {
    /// Whether a line is to be written now; if so, how many were left out since the one before.
    pub(crate) fn is_due(&self) -> Option<u64> {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.written.is_some_and(|written| now.saturating_duration_since(written) < EVERY) {
            state.left_out += 1;
            return None;
        }
        state.written = Some(now);
        Some(std::mem::take(&mut state.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_written_and_then_one_for_many() {
        let (lines, began) = (Sparingly::default(), Instant::now());
        let seconds = [0, 1, 9, 10, 11, 30, 30];
        let written = seconds.map(|second| lines.is_due_at(began + Duration::from_secs(second)));
        assert_eq!(written, [Some(0), None, None, Some(2), None, Some(1), None]);
    }
}
