//! How far long work has come: a bar on a terminal, a line now and then elsewhere.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time from one plain line to the next.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Something that comes along from 0 to an end.
pub struct Bar {
    bar: Option<ProgressBar>,
    /// When the next plain line is due; none if nothing is to be said.
    next_line: Cell<Option<Instant>>,
    end: u64,
    what: &'static str,
}

impl Bar {
    /// A bar for `end` units of `what`.
    pub fn new(end: u64, what: &'static str, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(Some(end), ProgressDrawTarget::stderr_with_hz(8));
            let template = format!("{{bar:40}} {{human_pos}}/{{human_len}} {what}, {{eta}} left {{msg}}");
            bar.with_style(ProgressStyle::with_template(&template).expect("the template is well formed"))
        });
        let next_line = (!terminal && !quiet).then(|| Instant::now() + LINE_EVERY);
        Self { bar, next_line: Cell::new(next_line), end, what }
    }

    /// It has come to `position`.
    pub fn show(&self, position: u64, message: impl Fn() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            bar.set_message(message());
        }
        if let Some(due) = self.next_line.get()
            && Instant::now() >= due
        {
            eprintln!("{position} of {} {} {}", self.end, self.what, message());
            self.next_line.set(Some(Instant::now() + LINE_EVERY));
        }
    }

    /// It is over, and the bar disappears.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
