//! `tailback fsck`, `backup` and `restore`: what a server keeps, without a server.

use std::path::Path;

use tailback_service::{Checkup, StoreError, back_up, check_data, keep_files_private, restore};

use crate::arguments::{BackupArguments, Format, FsckArguments, RestoreArguments};
use crate::complaint::Complaint;
use crate::output::{count, say_line};

/// Runs `fsck`.
pub fn fsck(arguments: &FsckArguments) -> Result<(), Complaint> {
    tell(check_data(&arguments.directory), arguments.format, &arguments.directory)
}

/// Runs `backup`.
pub fn backup(arguments: &BackupArguments) -> Result<(), Complaint> {
    keep_files_private();
    tell(back_up(&arguments.directory, &arguments.to), arguments.format, &arguments.to)
}

/// Runs `restore`.
pub fn restore_backup(arguments: &RestoreArguments) -> Result<(), Complaint> {
    keep_files_private();
    tell(restore(&arguments.from, &arguments.directory), arguments.format, &arguments.from)
}

/// Tells what was found in a folder; problems are a failure.
fn tell(found: Result<Checkup, StoreError>, format: Format, folder: &Path) -> Result<(), Complaint> {
    let found = found.map_err(|error| Complaint::failed(error.to_string()))?;
    match format {
        Format::Text => say_text(&found),
        Format::Json => say_line!("{}", serde_json::to_string_pretty(&found).expect("plain data")),
    }
    match found.problems.len() {
        0 => Ok(()),
        problems => Err(Complaint::failed(format!("{} in {}", count(problems as u32, "problem"), folder.display()))),
    }
}

fn say_text(found: &Checkup) {
    let number = |number: u64, thing: &str| count(u32::try_from(number).unwrap_or(u32::MAX), thing);
    let runs = number(found.runs, "run");
    let artifacts = number(found.artifacts, "artifact");
    let checkpoints = number(found.checkpoints, "checkpoint");
    say_line!("{runs}, {artifacts} ({} bytes), {checkpoints}", found.artifact_bytes);
    if found.files > 0 {
        say_line!("{} that were uploaded", number(found.files, "file"));
    }
    if found.quarantined > 0 {
        say_line!("{} in the quarantine", number(found.quarantined, "item"));
    }
    for problem in &found.problems {
        say_line!("{}: {}", problem.place, problem.problem);
    }
    if found.problems.is_empty() {
        say_line!("all is as it was written");
    }
}
