//! What there is to say about scenarios, with the lines that it is about.

use std::collections::BTreeSet;
use std::fmt;
use std::io::IsTerminal as _;
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity, SourceCode};
use serde::Serialize;
use tailback_scenario::{Diagnostic, Diagnostics};
use tailback_service::tame;

use crate::output::{tame_in_place, tell_object, tell_tamed, tells_programs};

/// Tells on standard error what is to be changed in a scenario before the next version. Of the points of a sweep most have
/// the same notes, so each is told once.
#[derive(Debug, Default)]
pub struct Notes(BTreeSet<String>);

impl Notes {
    pub fn tell(&mut self, notes: &Diagnostics) {
        for note in &notes.list {
            if self.0.insert(note.message.clone()) {
                tell(notes, note, Severity::Warning);
            }
        }
    }
}

/// Tells one of several diagnostics on standard error.
pub fn tell(all: &Diagnostics, diagnostic: &Diagnostic, severity: Severity) {
    if !tells_programs() {
        return tell_tamed(&render(all, diagnostic, severity));
    }
    let (line, column) = diagnostic.span.map(|span| all.position(span)).unzip();
    tell_object(&Told {
        severity: if severity == Severity::Error { "error" } else { "warning" },
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        details: &diagnostic.details,
        source: diagnostic.span.map(|span| all.sources[span.source].name.as_str()),
        line,
        column,
    });
}

/// A diagnostic for programs.
#[derive(Serialize)]
struct Told<'a> {
    severity: &'static str,
    message: &'a str,
    help: Option<&'a str>,
    details: &'a [String],
    source: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

/// One of several diagnostics. The colours are the only thing in it that a terminal obeys.
fn render(all: &Diagnostics, diagnostic: &Diagnostic, severity: Severity) -> String {
    let colourful = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if colourful { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_context_lines(1);
    let source = diagnostic.span.map(|span| {
        let source = &all.sources[span.source];
        NamedSource::new(tame(&source.name), tame_in_place(&source.text))
    });
    let label = diagnostic.span.map(|span| LabeledSpan::underline(span.start..span.end.max(span.start)));
    let details = diagnostic.details.iter().map(|detail| format!("\n{detail}")).collect::<String>();
    let message = tame(&format!("{}{details}", diagnostic.message)).into_owned();
    let help = diagnostic.help.as_ref().map(|help| tame(help).into_owned());
    let rendered = Rendered { message, help, label, source, severity };
    let mut text = String::new();
    handler.render_report(&mut text, &rendered).expect("a text takes everything");
    text
}

/// A diagnostic as the renderer wants it.
#[derive(Debug)]
struct Rendered {
    message: String,
    help: Option<String>,
    label: Option<LabeledSpan>,
    source: Option<NamedSource<Arc<str>>>,
    severity: Severity,
}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Rendered {}

impl miette::Diagnostic for Rendered {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

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
