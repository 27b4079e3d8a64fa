//! The command line of tailback.
//!
//! Each command is a module of `commands`: it reads a scenario, asks the crates below for what it needs, and renders it.
//! Results go to standard output, everything else to standard error.
//!
//! **What this crate must never know:** how anything is simulated or computed.
//!
//! **The invariant it keeps:** bad input ends with exit code 2 and all diagnostics, and nothing has been written.

mod arguments;
mod commands;
mod complaint;
mod files;
mod host;
mod input;
mod interrupt;
mod output;
mod progress;
mod ranks;
mod remote;
mod rendering;
mod results;
mod shard;
mod store;
mod telemetry;
mod work;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::output::tell;

fn main() -> ExitCode {
    interrupt::outlive_large_files();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            tell(format_args!("{}", error.render()));
            return ExitCode::from(2);
        }
        // Somebody has asked for help.
        Err(error) => error.exit(),
    };
    output::tell_as(arguments.command.tell());
    let outcome = match &arguments.command {
        Command::Run(arguments) => commands::run::run(arguments),
        Command::Sweep(arguments) => commands::sweep::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments),
        Command::Explain(arguments) => commands::explain::run(arguments),
        Command::Models(arguments) => commands::models::run(arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments),
        Command::Plot(arguments) => commands::plot::run(arguments),
        Command::Serve(arguments) => commands::serve::run(arguments),
        Command::Token(arguments) => commands::token::run(arguments),
        Command::Submit(arguments) => commands::submit::run(arguments),
        Command::Watch(arguments) => commands::watch::run(arguments),
        Command::List(arguments) => commands::list::run(arguments),
        Command::Cancel(arguments) => commands::cancel::run(arguments),
        Command::Retry(arguments) => commands::retry::run(arguments),
        Command::Fetch(arguments) => commands::fetch::run(arguments),
        Command::Files(arguments) => commands::files::run(arguments),
        Command::Fsck(arguments) => commands::data::fsck(arguments),
        Command::Backup(arguments) => commands::data::backup(arguments),
        Command::Restore(arguments) => commands::data::restore_backup(arguments),
        Command::Worker(arguments) => commands::worker::run(arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => complaint.tell(),
    }
}
