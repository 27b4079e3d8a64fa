//! Why a command did not do what it was asked for, and how that is told.

use std::fmt;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use tailback_scenario::Diagnostics;
use tailback_sim::Failure;

/// Why a command ended early.
#[derive(Debug)]
pub enum Complaint {
    /// The scenario has mistakes.
    Mistakes(Diagnostics),
    /// Something else about the input is wrong: what, and what to do about it.
    BadInput(String, Option<String>),
    /// Something failed on the way: what, and more about it.
    Failed(String, Vec<String>),
    /// Somebody asked to stop.
    Interrupted(String),
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
                eprint!("{}", render(diagnostics));
                ExitCode::from(2)
            }
            Self::BadInput(message, help) => {
                eprintln!("error: {message}");
                if let Some(help) = help {
                    eprintln!("  help: {help}");
                }
                ExitCode::from(2)
            }
            Self::Failed(message, details) => {
                eprintln!("error: {message}");
                details.iter().for_each(|detail| eprintln!("  {detail}"));
                ExitCode::FAILURE
            }
            Self::Interrupted(message) => {
                eprintln!("{message}");
                ExitCode::from(130)
            }
        }
    }
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
            _ => Self::failed(message),
        }
    }
}

/// All mistakes with the lines they are in.
fn render(diagnostics: &Diagnostics) -> String {
    let colourful = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colourful { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_context_lines(1);
    let mut text = String::new();
    for diagnostic in &diagnostics.list {
        let source = diagnostic.span.map(|span| {
            let source = &diagnostics.sources[span.source];
            NamedSource::new(&source.name, source.text.clone())
        });
        let label = diagnostic.span.map(|span| LabeledSpan::underline(span.start..span.end.max(span.start)));
        let details = diagnostic.details.iter().map(|detail| format!("\n{detail}")).collect::<String>();
        let message = format!("{}{details}", diagnostic.message);
        let mistake = Mistake { message, help: diagnostic.help.clone(), label, source };
        handler.render_report(&mut text, &mistake).expect("a text takes everything");
    }
    let count = diagnostics.list.len();
    text + &format!("{count} {}; nothing was run or written\n", if count == 1 { "mistake" } else { "mistakes" })
}

/// A mistake as the renderer wants it.
#[derive(Debug)]
struct Mistake {
    message: String,
    help: Option<String>,
    label: Option<LabeledSpan>,
    source: Option<NamedSource<String>>,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Mistake {}

impl miette::Diagnostic for Mistake {
    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.label.clone().map(|label| Box::new(std::iter::once(label)) as _)
    }
}
