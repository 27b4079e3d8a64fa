//! Where a program comes from: a file beside the scenario, or a text in it.

use crate::reader::{Reading, TableReader};
use crate::tree::{Item, Node, Table};

/// Where the resolved text says which file it was.
pub(crate) const FILE: &str = "file";

/// Where it says what was in it, which is what results depend on.
const SHA256: &str = "sha256";

const TEXT: &str = "text";

/// A file or a text, of which exactly one is there.
pub(super) enum Source<'a> {
    File(&'a str),
    Text(&'a str),
}

/// What a key says: where something is, and perhaps what must be in it.
pub(super) struct Said<'a> {
    pub source: Source<'a>,
    sha256: Option<&'a str>,
}

impl<'a> Said<'a> {
    /// Reads `"FILE"`, or a table with `file` or `text`.
    pub fn read(node: &'a Node, path: &str, reading: &mut Reading) -> Option<Self> {
        if let Item::Text(file) = &node.item {
            return Some(Self { source: Source::File(file), sha256: None });
        }
        let mut found = None;
        if let Item::Table(_) = &node.item {
            let mut table = TableReader::of(node, path.to_owned(), reading);
            let mut get = |key| table.text(key, reading).map(|(text, _)| text);
            let (file, text, sha256) = (get(FILE), get(TEXT), get(SHA256));
            table.close(reading);
            found = match (file, text) {
                (Some(file), None) => Some(Self { source: Source::File(file), sha256 }),
                (None, Some(text)) => Some(Self { source: Source::Text(text), sha256 }),
                _ => None,
            };
        }
        if found.is_none() {
            reading.mismatch(node, path, "the name of a file, or a table with either `file` or `text`");
        }
        found
    }

    /// Complains if what is there has another SHA-256 than it must.
    pub fn check(&self, sha256: &str) -> Result<(), String> {
        match self.sha256 {
            Some(expected) if expected != sha256 => {
                Err(format!("it is not what it was: its SHA-256 is {sha256}, leave `sha256` out to take it as it is"))
            }
            _ => Ok(()),
        }
    }

    /// What the resolved text says of it.
    pub fn resolved(&self, sha256: &str) -> Item {
        let (key, text) = match self.source {
            Source::File(file) => (FILE, file),
            Source::Text(text) => (TEXT, text),
        };
        let mut table = Table::default();
        table.put(key, Item::Text(text.to_owned()));
        table.put(SHA256, Item::Text(sha256.to_owned()));
        Item::Table(table)
    }
}
