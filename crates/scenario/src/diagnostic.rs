//! What is wrong with a document, and where.

use std::fmt;
use std::sync::Arc;

use crate::bounds::Excess;

/// A text that a document was read from: a file, or an override on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// How a person knows it.
    pub name: String,
    /// All of it; copies share it.
    pub text: Arc<str>,
}

/// A place in a source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The index of the source.
    pub source: usize,
    /// Where it starts.
    pub start: usize,
    /// Where it has ended.
    pub end: usize,
}

/// A mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in lower case.
    pub message: String,
    /// Where; none for what is not there at all.
    pub span: Option<Span>,
    /// What to do about it.
    pub help: Option<String>,
    /// More about it, line by line: the channels of a cycle, say.
    pub details: Vec<String>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), span: Some(span), ..Self::default() }
    }

    /// A mistake of the document as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what to do about it, if anything is known.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }
}

/// All mistakes of a document, with the texts that they point into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// The texts.
    pub sources: Vec<Source>,
    /// The mistakes, in the order of their places.
    pub list: Vec<Diagnostic>,
    /// How many more there are: nobody reads so many.
    pub untold: usize,
    /// What the document asks too much of, if that is among the mistakes.
    pub excess: Option<Excess>,
}

impl Diagnostics {
    /// The line and the column of a place, counted from 1.
    #[must_use]
    pub fn position(&self, span: Span) -> (usize, usize) {
        let text = &self.sources[span.source].text;
        let before = &text[..span.start.min(text.len())];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// Adds the mistakes of another document.
    pub fn append(&mut self, mut other: Self) {
        for span in other.list.iter_mut().filter_map(|diagnostic| diagnostic.span.as_mut()) {
            span.source += self.sources.len();
        }
        self.sources.append(&mut other.sources);
        self.list.append(&mut other.list);
        self.untold += other.untold;
    }

    pub(crate) fn sort(&mut self) {
        self.list.sort_by_key(|d| d.span.map_or((usize::MAX, 0), |span| (span.source, span.start)));
        self.list.dedup();
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.list.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            if let Some(span) = diagnostic.span {
                let (line, column) = self.position(span);
                write!(f, "{}:{line}:{column}: ", self.sources[span.source].name)?;
            }
            write!(f, "{}", diagnostic.message)?;
            for detail in &diagnostic.details {
                write!(f, "\n  {detail}")?;
            }
            if let Some(help) = &diagnostic.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        if self.untold > 0 {
            write!(f, "\nand {} more", self.untold)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
