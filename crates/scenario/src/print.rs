//! A resolved tree as text.

use std::fmt::{self, Write};

use crate::tree::{Item, Table};

/// A document as text: plain values first, then a section for each table.
pub(crate) fn print(table: &Table) -> String {
    let mut text = String::new();
    print_into(table, &mut text);
    text
}

/// The same, written to what takes everything.
pub(crate) fn print_into(table: &Table, text: &mut impl Write) {
    let mut text = WithoutLeadingLines { text, has_begun: false };
    print_table(table, "", &mut text).expect("it takes everything");
}

/// Leaves out the empty line before a section that comes first.
struct WithoutLeadingLines<'t, W> {
    text: &'t mut W,
    has_begun: bool,
}

impl<W: Write> Write for WithoutLeadingLines<'_, W> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let piece = if self.has_begun { piece } else { piece.trim_start() };
        self.has_begun |= !piece.is_empty();
        self.text.write_str(piece)
    }
}

fn print_table(table: &Table, path: &str, text: &mut impl Write) -> fmt::Result {
    for entry in &table.0 {
        if !matches!(&entry.node.item, Item::Table(_)) && !is_list_of_tables(&entry.node.item) {
            print_line(&entry.key, &entry.node.item, text)?;
        }
    }
    for entry in &table.0 {
        let path = if path.is_empty() { key(&entry.key) } else { format!("{path}.{}", key(&entry.key)) };
        match &entry.node.item {
            Item::Table(inner) => {
                // A header without values of its own says nothing, unless it is all there is.
                if inner.0.is_empty() || inner.0.iter().any(|entry| !matches!(&entry.node.item, Item::Table(_))) {
                    writeln!(text, "\n[{path}]")?;
                }
                print_table(inner, &path, text)?;
            }
            Item::List(list) if is_list_of_tables(&entry.node.item) => {
                for node in list {
                    writeln!(text, "\n[[{path}]]")?;
                    let Item::Table(inner) = &node.item else { continue };
                    for entry in &inner.0 {
                        print_line(&entry.key, &entry.node.item, text)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn print_line(name: &str, item: &Item, text: &mut impl Write) -> fmt::Result {
    write!(text, "{} = ", key(name))?;
    print_inline(item, text)?;
    writeln!(text)
}

/// Whether each element deserves a section of its own.
fn is_list_of_tables(item: &Item) -> bool {
    matches!(item, Item::List(list) if !list.is_empty() && list.iter().all(|node| matches!(node.item, Item::Table(_))))
}

fn key(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !key.is_empty() && key.bytes().all(plain) { key.to_owned() } else { quote(key) }
}

/// A value on one line.
pub(crate) fn inline(item: &Item) -> String {
    let mut text = String::new();
    print_inline(item, &mut text).expect("a text takes everything");
    text
}

fn print_inline(item: &Item, text: &mut impl Write) -> fmt::Result {
    match item {
        Item::Text(word) => text.write_str(&quote(word)),
        Item::Integer(number) => write!(text, "{number}"),
        Item::Number(number) => write!(text, "{number:?}"),
        Item::Flag(flag) => write!(text, "{flag}"),
        Item::Other(name) => text.write_str(&quote(name)),
        Item::List(list) => print_list(text, list.iter(), |node, text| print_inline(&node.item, text)),
        Item::Nodes(nodes) => print_list(text, nodes.iter(), |node, text| write!(text, "{node}")),
        Item::Table(table) if table.0.is_empty() => text.write_str("{}"),
        Item::Table(table) => {
            for (index, entry) in table.0.iter().enumerate() {
                write!(text, "{} {} = ", if index == 0 { "{" } else { "," }, key(&entry.key))?;
                print_inline(&entry.node.item, text)?;
            }
            text.write_str(" }")
        }
    }
}

fn print_list<T, W: Write>(
    text: &mut W,
    elements: impl Iterator<Item = T>,
    print: impl Fn(T, &mut W) -> fmt::Result,
) -> fmt::Result {
    text.write_str("[")?;
    for (index, element) in elements.enumerate() {
        text.write_str(if index == 0 { "" } else { ", " })?;
        print(element, text)?;
    }
    text.write_str("]")
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
