//! A document as a tree in which everything knows its place.

use tailback_parameters::NodeSet;
use toml::de::{DeTable, DeValue};

use crate::choice::tags_of;
use crate::diagnostic::{Diagnostic, Span};
use crate::reader::MISTAKES_MAX;

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub item: Item,
    /// Where it stands.
    pub span: Span,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
    /// A list of nodes, in a resolved tree.
    Nodes(NodeSet),
    /// Something that no scenario needs; kept as its name.
    Other(&'static str),
}

/// A table, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(pub Vec<Entry>);

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where it stands.
    pub key_span: Span,
    /// The value.
    pub node: Node,
}

impl Item {
    /// What it is, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the text \"{text}\""),
            Self::Integer(number) => format!("the number {number}"),
            Self::Number(number) => format!("the number {number}"),
            Self::Flag(flag) => format!("`{flag}`"),
            Self::List(_) | Self::Nodes(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Other(name) => (*name).to_owned(),
        }
    }

    /// The number that it is, whole or not.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl Node {
    /// How many values there are in it, each text counted by its length.
    pub(crate) fn weight(&self) -> usize {
        match &self.item {
            Item::Text(text) => 1 + text.len() / size_of::<Self>(),
            Item::List(list) => 1 + list.iter().map(Self::weight).sum::<usize>(),
            Item::Table(table) => 1 + table.0.iter().map(|entry| 1 + entry.node.weight()).sum::<usize>(),
            _ => 1,
        }
    }

    /// A value that stands nowhere: a default, or something resolved.
    pub(crate) fn free(item: Item) -> Self {
        Self { item, span: Span::default() }
    }

    /// Reads a value from text that starts at `offset` of its source. `None` if it is none.
    pub(crate) fn parse(text: &str, source: usize, offset: usize) -> Option<Self> {
        let value = DeValue::parse(text).ok()?;
        let span = value.span();
        Some(Origin { source, offset }.node(value.get_ref(), span))
    }
}

impl Table {
    /// The entry at a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.key == key)
    }

    /// Adds or replaces a value that stands nowhere.
    pub(crate) fn put(&mut self, key: &str, item: Item) {
        self.put_entry(Entry { key: key.to_owned(), key_span: Span::default(), node: Node::free(item) });
    }

    /// Takes a value out.
    pub(crate) fn remove(&mut self, key: &str) {
        self.0.retain(|entry| entry.key != key);
    }

    pub(crate) fn put_entry(&mut self, entry: Entry) {
        match self.get_mut(&entry.key) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }

    /// Reads a document, as far as it can be read; with the first mistakes, and how many more there are.
    pub(crate) fn parse(text: &str, source: usize) -> (Self, Vec<Diagnostic>, usize) {
        let origin = Origin { source, offset: 0 };
        if text.len() > LONG_BYTES {
            return match DeTable::parse(text) {
                Ok(table) => (origin.table(table.get_ref()), Vec::new(), 0),
                Err(error) => {
                    let help = format!("there may be more: in texts above {LONG_BYTES} bytes one is told at a time");
                    let span = error.span().map(|span| origin.span(span));
                    let mistake = Diagnostic { span, ..Diagnostic::new(error.message().trim_end()) };
                    (Self::default(), vec![mistake.help(help)], 0)
                }
            };
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        let diagnostic = |error: toml::de::Error| {
            let span = error.span().map(|span| origin.span(span));
            let message = error.message().trim_end().replace('\n', ", ");
            let choice = span.and_then(|span| given_twice(text, span, &message));
            choice.unwrap_or(Diagnostic { message, span, ..Diagnostic::default() })
        };
        let untold = errors.len().saturating_sub(MISTAKES_MAX);
        let mistakes = errors.into_iter().take(MISTAKES_MAX).map(diagnostic).collect();
        (origin.table(table.get_ref()), mistakes, untold)
    }
}

/// In a longer text mistakes are not collected: each of them takes many times the memory of the text that it is about.
const LONG_BYTES: usize = 16 << 10;

/// What there is to say if a model is chosen by `key = "name"` and by `[key.name]`, which TOML calls something else.
fn given_twice(text: &str, span: Span, message: &str) -> Option<Diagnostic> {
    let key = text.get(span.start..span.end).filter(|key| tags_of(key).is_some())?;
    let before = &text[..span.start];
    let is_header = before.trim_end().ends_with('[');
    let assigns =
        |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
    let was_name = before.lines().any(assigns);
    let name_and_table = message.starts_with("cannot extend value of type string")
        || message.starts_with("duplicate key") && is_header == was_name;
    let message = format!("`{key}` is given twice, as a name and as a table");
    let help = format!(
        "write either `{key} = \"…\"`, or `[{key}.…]` with parameters below it: the table names the model, too"
    );
    name_and_table.then(|| Diagnostic::at(span, message).help(help))
}

/// Where a piece of TOML stands in its source.
#[derive(Clone, Copy)]
struct Origin {
    source: usize,
    offset: usize,
}

impl Origin {
    fn span(self, range: std::ops::Range<usize>) -> Span {
        Span { source: self.source, start: range.start + self.offset, end: range.end + self.offset }
    }

    fn table(self, table: &DeTable<'_>) -> Table {
        let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| Entry {
            key: AsRef::<str>::as_ref(key.get_ref()).to_owned(),
            key_span: self.span(key.span()),
            node: self.node(value.get_ref(), value.span()),
        };
        Table(table.iter().map(|(key, value)| entry((key, value))).collect())
    }

    fn node(self, value: &DeValue<'_>, range: std::ops::Range<usize>) -> Node {
        let item = match value {
            DeValue::String(text) => Item::Text(text.to_string()),
            DeValue::Integer(integer) => match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Item::Integer(number),
                Err(_) => Item::Other("a number that is too large"),
            },
            DeValue::Float(float) => match float.as_str().parse() {
                Ok(number) => Item::Number(number),
                Err(_) => Item::Other("a number that cannot be read"),
            },
            DeValue::Boolean(flag) => Item::Flag(*flag),
            DeValue::Datetime(_) => Item::Other("a date"),
            DeValue::Array(list) => {
                Item::List(list.iter().map(|value| self.node(value.get_ref(), value.span())).collect())
            }
            DeValue::Table(table) => Item::Table(self.table(table)),
        };
        Node { item, span: self.span(range) }
    }
}
