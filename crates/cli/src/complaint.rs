//! Why a command did not do what it was asked for, and how that is told.

use std::process::ExitCode;

use miette::Severity;
use tailback_scenario::Diagnostics;
use tailback_sim::Failure;

use crate::output::{count, tell_line};
use crate::rendering;

/// Why a command ended early.
#[derive(Debug)]
pub enum Complaint {
    /// The scenario has mistakes.
    Mistakes(Diagnostics),
    /// Something else about the input is wrong: what, and what to do about it.
    BadInput(String, Option<String>),
    /// Something failed on the way: what, and more about it.
    Failed(String, Vec<String>),
    /// The command did what it was asked for, and the run that it waited for has failed: why, and more about it.
    RunFailed(String, Vec<String>),
    /// The same of a run that was cancelled.
    RunCancelled(String),
    /// Somebody asked to stop.
    Interrupted(String),
    /// Another process of the run tells why, and how it ends.
    Elsewhere,
}

impl Complaint {
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::BadInput(message.into(), None)
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into(), Vec::new())
    }

    /// Tells it on standard error, and gives the exit code that goes with it.
    pub fn tell(&self) -> ExitCode {
        match self {
            Self::Mistakes(diagnostics) => {
                for mistake in &diagnostics.list {
                    rendering::tell(diagnostics, mistake, Severity::Error);
                }
                let mistakes = diagnostics.list.len() + diagnostics.untold;
                let shown = match diagnostics.untold {
                    0 => String::new(),
                    _ => format!(", of which {} are shown", diagnostics.list.len()),
                };
                tell_line!("{}{shown}; nothing was run or written", count(mistakes as u32, "mistake"));
                ExitCode::from(2)
            }
            Self::BadInput(message, help) => {
                tell_line!("error: {message}");
                if let Some(help) = help {
                    tell_line!("  help: {help}");
                }
                ExitCode::from(2)
            }
            Self::Failed(message, details) => {
                tell_with_details(message, details);
                ExitCode::FAILURE
            }
            Self::RunFailed(message, details) => {
                tell_with_details(message, details);
                ExitCode::from(3)
            }
            Self::RunCancelled(message) => {
                tell_line!("error: {message}");
                ExitCode::from(4)
            }
            Self::Interrupted(message) => {
                tell_line!("{message}");
                ExitCode::from(130)
            }
            Self::Elsewhere => ExitCode::SUCCESS,
        }
    }
}

fn tell_with_details(message: &str, details: &[String]) {
    tell_line!("error: {message}");
    details.iter().for_each(|detail| tell_line!("  {detail}"));
}

impl From<Diagnostics> for Complaint {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Mistakes(diagnostics)
    }
}

impl From<Failure> for Complaint {
    fn from(failure: Failure) -> Self {
        let message = failure.to_string();
        match failure {
            Failure::Deadlock { circle, .. } => Self::Failed(message, circle),
            Failure::Elsewhere => Self::Elsewhere,
            _ => Self::failed(message),
        }
    }
}
