//! The trace of a message or of packets, as it is printed and kept.

use std::fs::{self, File};
use std::path::Path;

use tailback_scenario::Scenario;
use tailback_sim::{PacketChoice, Run, Tracing};

use crate::arguments::{Format, RunArguments};
use crate::complaint::Complaint;
use crate::output::{say, tell_line};
use crate::results::Directory;

/// What is to be traced, if anything is.
pub fn wanted(scenario: &Scenario, arguments: &RunArguments) -> Result<Option<Tracing>, Complaint> {
    if let Some(choice) = arguments.trace_message {
        let message = choice.find(scenario).map_err(|error| Complaint::BadInput(error.to_string(), error.help()))?;
        return Ok(Some(message.into()));
    }
    let packets = packets(arguments).map(|choice| choice.find(scenario)).transpose();
    Ok(packets.map_err(|error| Complaint::BadInput(error.to_string(), None))?.map(Tracing::from))
}

/// The packets that are to be traced.
fn packets(arguments: &RunArguments) -> Option<PacketChoice> {
    let (source, destination) = arguments.trace_packets?;
    Some(PacketChoice { source, destination, most: arguments.trace_most, from_cycle: arguments.trace_from })
}

/// What is traced, in words.
fn about(arguments: &RunArguments) -> String {
    let message = arguments.trace_message.map(|choice| choice.to_string());
    message.or_else(|| packets(arguments).map(|choice| choice.to_string())).unwrap_or_default()
}

/// Complains about a file for the trace that cannot be written, before anything is run. Nothing is left behind.
pub fn check_out(arguments: &RunArguments) -> Result<(), Complaint> {
    let Some(path) = &arguments.trace_out else { return Ok(()) };
    let folder = folder_of(path);
    let tried = match fs::metadata(path) {
        // Opening what is no file, as a pipe, may wait for somebody.
        Ok(known) if !known.is_file() && !known.is_dir() => Ok(()),
        Ok(_) => File::options().append(true).open(path).map(drop),
        Err(_) if !folder.exists() => return Directory::at(folder).map(drop),
        Err(_) => File::create_new(path).and_then(|_| fs::remove_file(path)),
    };
    tried.map_err(|error| Complaint::bad_input(format!("cannot write `{}`: {error}", path.display())))
}

/// Writes the trace for people who look at it with a program, if they want to.
pub fn write_chrome(run: &Run<'_>, arguments: &RunArguments) -> Result<(), Complaint> {
    let Some(path) = &arguments.trace_out else { return Ok(()) };
    let Some(trace) = run.chrome_trace(&about(arguments)) else { return Ok(()) };
    let text = serde_json::to_string(&trace).expect("plain data can be written");
    fs::create_dir_all(folder_of(path))
        .and_then(|()| fs::write(path, text))
        .map_err(|error| Complaint::failed(format!("cannot write `{}`: {error}", path.display())))?;
    let nothing_leaves = run.packet_trace().is_some_and(|trace| trace.lines.is_empty());
    match packets(arguments) {
        _ if arguments.quiet => {}
        Some(PacketChoice { source, destination, from_cycle, .. }) if nothing_leaves => {
            let from = if from_cycle > 0 { format!(" from cycle {from_cycle} on") } else { String::new() };
            let file = path.display();
            tell_line!("no packet of node {source} for node {destination} leaves{from}: the trace in {file} is empty");
        }
        _ => tell_line!("{} has the trace: open it in ui.perfetto.dev or chrome://tracing", path.display()),
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The trace of a message or of packets.
pub struct Trace {
    format: Format,
    text: String,
    /// Whether it is printed, and not written for a program instead.
    is_printed: bool,
}

/// The names of traces of runs that were interrupted.
pub const INTERRUPTED: [&str; 2] = ["interrupted-trace.txt", "interrupted-trace.jsonl"];

impl Trace {
    /// What has happened to what is traced, if anything is.
    pub fn of(run: &Run<'_>, arguments: &RunArguments) -> Option<Self> {
        let (format, is_printed) = (arguments.format, arguments.trace_out.is_none());
        let (lines, told) = match (run.trace(), run.packet_trace()) {
            (Some(trace), _) => (trace.lines.clone(), trace.to_string()),
            (None, Some(trace)) => (trace.lines.clone(), trace.to_string()),
            (None, None) => return None,
        };
        let text = match format {
            Format::Text => format!("{}\n\n{told}\n", about(arguments)),
            Format::Json => {
                let line = |line| serde_json::to_string(line).expect("plain data can be written") + "\n";
                lines.iter().map(line).collect()
            }
        };
        Some(Self { format, text, is_printed })
    }

    /// Prints it.
    pub fn show(&self) {
        if self.is_printed {
            say!("{}", self.text);
        }
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
