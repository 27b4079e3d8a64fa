//! How far long work has come: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::output::{tell_line, tell_object, tells_programs};

/// The time from one plain line to the next.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// The same of lines for programs.
const OBJECT_EVERY: Duration = Duration::from_millis(100);
/// Before that nobody knows how long it will take.
const FORETOLD_AFTER: Duration = Duration::from_secs(2);

/// Something that comes along from 0 to an end.
pub struct Bar {
    bar: Option<ProgressBar>,
    /// When the next plain line is due; none if nothing is to be said.
    next_line: Option<Instant>,
    start: Instant,
    end: u64,
    /// Whether it is foretold how long it will take.
    foretells: bool,
}

impl Bar {
    /// A bar for something that goes on to `end`.
    pub fn new(end: u64, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !tells_programs();
        let bar = (terminal && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(end), ProgressDrawTarget::stderr_with_hz(8));
            bar.with_style(ProgressStyle::with_template("{bar:40} {msg}").expect("the template is well formed"))
        });
        let start = Instant::now();
        let next_line = (!terminal && !quiet).then(|| start + line_every());
        Self { bar, next_line, start, end, foretells: true }
    }

    /// The same for something that may be over long before: nobody knows how long it will take.
    pub fn at_most(end: u64, quiet: bool) -> Self {
        Self { foretells: false, ..Self::new(end, quiet) }
    }

    /// It has come to `position`, which is described in words.
    pub fn show(&mut self, position: u64, describe: impl Fn() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.set_message(format!("{}{}", describe(), self.left(position)));
        }
        if let Some(due) = self.next_line
            && Instant::now() >= due
        {
            let text = format!("{}{}", describe(), self.left(position));
            if tells_programs() {
                tell_object(&Come { position, end: self.end, text });
            } else {
                tell_line!("{text}");
            }
            self.next_line = Some(Instant::now() + line_every());
        }
    }

    /// The time that is left if all goes on as before.
    fn left(&self, position: u64) -> String {
        let passed = self.start.elapsed();
        if !self.foretells || position == 0 || passed < FORETOLD_AFTER {
            return String::new();
        }
        let seconds = passed.as_secs_f64() * self.end.saturating_sub(position) as f64 / position as f64;
        format!(", {} left", duration(seconds))
    }

    /// It is over, and the bar disappears.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How far it has come, for programs.
#[derive(Serialize)]
struct Come {
    position: u64,
    end: u64,
    text: String,
}

fn line_every() -> Duration {
    if tells_programs() { OBJECT_EVERY } else { LINE_EVERY }
}

/// A time in its two largest units.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn times_have_their_two_largest_units() {
        assert_eq!([0.4, 59.0, 61.0, 7384.0].map(duration), ["0 s", "59 s", "1 min 1 s", "2 h 3 min"]);
    }
}
