//! Reading a table key by key, and noticing what nobody asked for.

use crate::bounds::{Bounded, Bounds, Excess};
use crate::diagnostic::{Diagnostic, Span};
use crate::nearest::nearest;
use crate::tree::{Entry, Item, Node, Table};
use crate::wanted::Wanted;

/// What all parts of the reading share: what has been found so far.
#[derive(Debug, Default)]
pub struct Reading {
    /// The mistakes.
    pub diagnostics: Vec<Diagnostic>,
    /// What is no mistake yet: names that the next version does not accept.
    pub notes: Vec<Diagnostic>,
    /// Mistakes beyond those: nobody reads so many.
    pub(crate) untold: usize,
    /// What may be asked for, how many nodes were listed one by one, and what was too much.
    pub(crate) bounds: Bounds,
    listed_nodes: u64,
    pub(crate) excess: Option<Excess>,
    /// Whether anybody still waits for what is read.
    pub(crate) wanted: Wanted,
}

/// The most mistakes that are told.
pub(crate) const MISTAKES_MAX: usize = 100;

impl Reading {
    /// A reading in which a document may ask for so much, for as long as it is wanted.
    pub(crate) fn within(bounds: Bounds, wanted: Wanted) -> Self {
        Self { bounds, wanted, ..Self::default() }
    }

    /// Nothing if nobody waits any more.
    pub(crate) fn go_on(&self) -> Option<()> {
        self.wanted.is_wanted().then_some(())
    }

    /// Adds a mistake.
    pub fn blame(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MISTAKES_MAX {
            self.diagnostics.push(diagnostic);
        } else {
            self.untold += 1;
        }
    }

    /// A time that has to be whole link cycles, with its path and where it stands, if it is not a default.
    pub(crate) fn whole_cycles(
        &mut self,
        (path, place): (&str, Option<Span>),
        ticks: u64,
        ticks_per_cycle: u32,
    ) -> Option<u64> {
        let ticks_per_cycle = u64::from(ticks_per_cycle);
        if ticks.is_multiple_of(ticks_per_cycle) {
            return Some(ticks / ticks_per_cycle);
        }
        let message = format!("`{path}` is not a whole number of link cycles");
        self.blame(Diagnostic { span: place, ..Diagnostic::new(message).help("round it") });
        None
    }

    /// Refuses what asks for more than it may; it is a mistake, too.
    pub(crate) fn bound(&mut self, span: Span, what: Bounded, asked: u64, allowed: u64) -> Option<()> {
        if asked <= allowed {
            return Some(());
        }
        let excess = Excess { what, asked, allowed };
        if self.excess.is_none_or(|known| known.what != what) {
            self.blame(Diagnostic::at(span, excess.to_string()));
        }
        self.excess.get_or_insert(excess);
        None
    }

    /// So many nodes are going to be listed one by one.
    pub(crate) fn lists(&mut self, span: Span, nodes: u64) -> Option<()> {
        self.go_on()?;
        self.listed_nodes = self.listed_nodes.saturating_add(nodes);
        self.bound(span, Bounded::ListedNodes, self.listed_nodes, self.bounds.listed_nodes)
    }

    /// A value that is not of the kind that is needed.
    pub fn mismatch(&mut self, node: &Node, path: &str, wanted: &str) {
        let found = node.item.describe();
        self.blame(Diagnostic::at(node.span, format!("`{path}` is {wanted}, not {found}")));
    }

    /// A word that is none of those that are known.
    pub fn unknown_word(&mut self, span: Span, what: &str, word: &str, known: &[&str]) {
        let help = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("there is {}", list(known)),
        };
        self.blame(Diagnostic::at(span, format!("unknown {what} \"{word}\"")).help(help));
    }
}

/// `a`, `b` and `c`, quoted.
#[must_use]
pub fn list(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.join(""),
    }
}

/// A table that is being read.
pub struct TableReader<'a> {
    /// The table.
    pub table: &'a Table,
    /// Where the table stands.
    pub span: Span,
    /// How a person would name it.
    pub path: String,
    known: Vec<&'static str>,
    /// What has been read, with defaults filled in.
    pub(crate) resolved: Table,
}

static NO_TABLE: Table = Table(Vec::new());

impl<'a> TableReader<'a> {
    /// Of a table that stands at `span` and is called `path`.
    pub fn new(table: &'a Table, span: Span, path: impl Into<String>) -> Self {
        Self { table, span, path: path.into(), known: Vec::new(), resolved: Table::default() }
    }

    /// A table that is not there.
    pub(crate) fn absent(span: Span, path: impl Into<String>) -> Self {
        Self::new(&NO_TABLE, span, path)
    }

    /// A table at a key, empty if it is not there.
    pub(crate) fn section(&mut self, key: &'static str, reading: &mut Reading) -> Self {
        let path = self.path_of(key);
        match self.take(key) {
            Some(entry) => Self::of(&entry.node, path, reading),
            None => Self::absent(self.span, path),
        }
    }

    /// A table that a node should be.
    pub fn of(node: &'a Node, path: String, reading: &mut Reading) -> Self {
        if let Item::Table(table) = &node.item {
            return Self::new(table, node.span, path);
        }
        reading.mismatch(node, &path, "a table");
        Self::absent(node.span, path)
    }

    /// How a person would name a key of it.
    #[must_use]
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The time at a key, which has to be whole link cycles.
    pub(crate) fn whole_cycles(
        &self,
        key: &str,
        ticks: u64,
        ticks_per_cycle: u32,
        reading: &mut Reading,
    ) -> Option<u64> {
        let place = self.table.get(key).map(|entry| entry.node.span);
        reading.whole_cycles((&self.path_of(key), place), ticks, ticks_per_cycle)
    }

    /// The entry at a key, which is known from now on.
    pub fn take(&mut self, key: &'static str) -> Option<&'a Entry> {
        self.known.push(key);
        self.table.get(key)
    }

    /// The text at a key.
    pub fn text(&mut self, key: &'static str, reading: &mut Reading) -> Option<(&'a str, Span)> {
        let entry = self.take(key)?;
        match &entry.node.item {
            Item::Text(text) => Some((text, entry.node.span)),
            _ => {
                reading.mismatch(&entry.node, &self.path_of(key), "a text");
                None
            }
        }
    }

    /// Complains about all keys that nobody has asked for.
    pub fn close(self, reading: &mut Reading) {
        let _ = self.finish(reading);
    }

    /// The same, and gives what has been read.
    pub(crate) fn finish(self, reading: &mut Reading) -> Table {
        for entry in &self.table.0 {
            if self.known.contains(&entry.key.as_str()) {
                continue;
            }
            if reading.diagnostics.len() >= MISTAKES_MAX {
                // It is only counted: looking for what was meant takes longer than all else.
                reading.untold += 1;
                continue;
            }
            let place = if self.path.is_empty() { String::new() } else { format!(" in [{}]", self.path) };
            let help = match nearest(&entry.key, self.known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.known.is_empty() => "there is nothing to set here".to_owned(),
                None => format!("the keys are {}", self.known.join(", ")),
            };
            let message = format!("unknown key `{}`{place}", entry.key);
            reading.blame(Diagnostic::at(entry.key_span, message).help(help));
        }
        self.resolved
    }
}
