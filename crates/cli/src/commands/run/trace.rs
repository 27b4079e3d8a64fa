//! The trace of a message, as it is printed and kept.

use tailback_sim::Run;

use crate::arguments::{Format, RunArguments};
use crate::complaint::Complaint;
use crate::output::say;
use crate::results::Directory;

/// The trace of a message.
pub struct Trace {
    format: Format,
    text: String,
}

/// The names of traces of runs that were interrupted.
pub const INTERRUPTED: [&str; 2] = ["interrupted-trace.txt", "interrupted-trace.jsonl"];

impl Trace {
    /// What has happened to the message that is traced, if one is.
    pub fn of(run: &Run<'_>, arguments: &RunArguments) -> Option<Self> {
        let (choice, trace, format) = (arguments.trace_message?, run.trace()?, arguments.format);
        let text = match format {
            Format::Text => format!("{choice}\n\n{trace}\n"),
            Format::Json => {
                let line = |line| serde_json::to_string(line).expect("plain data can be written") + "\n";
                trace.lines.iter().map(line).collect()
            }
        };
        Some(Self { format, text })
    }

    /// Prints it.
    pub fn show(&self) {
        say!("{}", self.text);
    }

    /// Writes it beside a report.
    pub fn write(&self, directory: &Directory, interrupted: bool) -> Result<(), Complaint> {
        let name = match (self.format, interrupted) {
            (Format::Text, false) => "trace.txt",
            (Format::Json, false) => "trace.jsonl",
            (Format::Text, true) => INTERRUPTED[0],
            (Format::Json, true) => INTERRUPTED[1],
        };
        directory.write(name, self.text.as_bytes())
    }
}
