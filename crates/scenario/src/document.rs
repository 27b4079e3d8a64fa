//! A scenario file with overrides laid over it.

use std::sync::Arc;

use crate::bounds::{Bounds, Excess};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};
use crate::files::{Files, Library};
use crate::formula::{Formula, read_formula};
use crate::overrides::{self, Extent, NotSet};
use crate::reader::{MISTAKES_MAX, Reading, TableReader};
use crate::resolve::resolve;
use crate::scenario::Scenario;
use crate::sweep::{Sweep, read_sweep};
use crate::tree::{Item, Table};
use crate::wanted::Wanted;

/// The text of a scenario, as a tree, and what was wrong with the text itself.
#[derive(Clone, Debug)]
pub struct Document {
    pub(crate) sources: Vec<Source>,
    pub(crate) root: Table,
    mistakes: Vec<Diagnostic>,
    /// Whether the file itself is no TOML: then only that is worth saying.
    malformed: bool,
    /// Mistakes in the text beyond those that are kept.
    untold: usize,
    /// What it may ask for, and whether overrides have asked for more already.
    bounds: Bounds,
    excess: Option<Excess>,
    /// How much overrides have set.
    set_values: u64,
    /// The files that it may name.
    pub(crate) library: Library,
    /// Whether anybody still waits for what is read.
    wanted: Wanted,
}

impl Document {
    /// Reads the text of a scenario file that people know as `name`.
    #[must_use]
    pub fn read(name: &str, text: &str) -> Self {
        let (root, mistakes, untold) = Table::parse(text, 0);
        let sources = vec![Source { name: name.to_owned(), text: text.into() }];
        let (malformed, bounds) = (!mistakes.is_empty(), Bounds::default());
        let library = Library::default();
        let wanted = Wanted::default();
        Self { sources, root, malformed, mistakes, untold, bounds, excess: None, set_values: 0, library, wanted }
    }

    /// Of one that may ask for no more than that, from now on.
    #[must_use]
    pub fn within(self, bounds: Bounds) -> Self {
        Self { bounds, ..self }
    }

    /// Of one whose files are there, from now on. Without it no file is read.
    #[must_use]
    pub fn with_files(self, files: Arc<dyn Files>) -> Self {
        Self { library: Library::new(files), ..self }
    }

    /// Of one that is read for as long as it is `wanted`, from now on. What is not wanted any more is refused, for no reason that is worth telling; it is
    /// asked for at each step of the reading, and often where one takes long.
    #[must_use]
    pub fn while_wanted(self, wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { wanted: Wanted::as_long_as(wanted), ..self }
    }

    /// Lays an override such as `measure.cycles=4000` over it that was given with `--set`.
    #[must_use]
    pub fn with(self, assignment: &str) -> Self {
        self.with_from("--set", assignment)
    }

    /// The same of one that was given by other means: an option, or a part of the file, that mistakes in it name.
    #[must_use]
    pub fn with_from(mut self, origin: &str, assignment: &str) -> Self {
        let source = self.sources.len();
        let name = format!("{origin} {assignment}");
        self.sources.push(Source { name, text: assignment.into() });
        let mut extent = Extent { set: self.set_values, max: self.bounds.set_values };
        let applied = overrides::apply(&mut self.root, assignment, source, &mut extent);
        self.set_values = extent.set;
        let mistake = match applied {
            Ok(()) => return self,
            Err(NotSet::Mistake(mistake)) => mistake,
            Err(NotSet::TooMuch(span, excess)) => {
                self.excess.get_or_insert(excess);
                Diagnostic::at(span, excess.to_string())
            }
        };
        if self.mistakes.len() < MISTAKES_MAX {
            self.mistakes.push(mistake);
        } else {
            self.untold += 1;
        }
        self
    }

    /// The title, if there is one that can be read.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        match &self.root.get("title")?.node.item {
            Item::Text(title) => Some(title),
            _ => None,
        }
    }

    /// Reads everything and builds all models.
    ///
    /// # Errors
    /// All mistakes at once; if it asks for more than it may, those that were found before.
    pub fn resolve(&self) -> Result<Scenario, Diagnostics> {
        let (scenario, reading) = resolve(self, Reading::within(self.bounds, self.wanted.clone()));
        self.report(scenario, reading)
    }

    /// Reads the section about sweeps. Without one there is a single point.
    ///
    /// # Errors
    /// All mistakes in that section.
    pub fn sweep(&self) -> Result<Sweep, Diagnostics> {
        let mut reading = Reading::default();
        let sweep = read_sweep(self, &mut reading);
        self.report(Some(sweep), reading)
    }

    /// Reads a document that has a formula and a seed, and no network.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn formula(&self) -> Result<Formula, Diagnostics> {
        self.read_as(read_formula)
    }

    /// Reads a file that is written like a scenario and is another thing: `read` takes what it knows from the table, and
    /// what it leaves is a mistake.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn read_as<T>(
        &self,
        read: impl FnOnce(&mut TableReader<'_>, &mut Reading) -> Option<T>,
    ) -> Result<T, Diagnostics> {
        let mut reading = Reading::default();
        let mut root = self.reader();
        let found = read(&mut root, &mut reading);
        root.close(&mut reading);
        self.report(found, reading)
    }

    /// A reader of the whole table.
    pub(crate) fn reader(&self) -> TableReader<'_> {
        let end = self.sources[0].text.len();
        TableReader::new(&self.root, Span { source: 0, start: 0, end: end.min(1) }, "")
    }

    fn report<T>(&self, found: Option<T>, reading: Reading) -> Result<T, Diagnostics> {
        let Reading { diagnostics: mut list, mut untold, excess, .. } = reading;
        if self.malformed {
            list.clear();
            untold = 0;
        }
        list.extend(self.mistakes.iter().cloned());
        match found {
            Some(found) if list.is_empty() => Ok(found),
            _ => {
                let excess = self.excess.or(excess);
                Err(Diagnostics { untold: untold + self.untold, excess, ..self.diagnostics(list) })
            }
        }
    }

    /// What there is to say about the document, in the order of places.
    pub(crate) fn diagnostics(&self, list: Vec<Diagnostic>) -> Diagnostics {
        let mut diagnostics = Diagnostics { sources: self.sources.clone(), list, ..Diagnostics::default() };
        diagnostics.sort();
        diagnostics
    }
}
