//! A resolved tree as text.

use std::fmt::Write as _;

use crate::tree::{Item, Table};

/// A document as text: plain values first, then a section for each table.
pub(crate) fn print(table: &Table) -> String {
    let mut text = String::new();
    print_table(table, "", &mut text);
    text.trim_start().to_owned()
}

fn print_table(table: &Table, path: &str, text: &mut String) {
    for entry in &table.0 {
        if !matches!(&entry.node.item, Item::Table(_)) && !is_list_of_tables(&entry.node.item) {
            let _ = writeln!(text, "{} = {}", key(&entry.key), inline(&entry.node.item));
        }
    }
    for entry in &table.0 {
        let path = if path.is_empty() { key(&entry.key) } else { format!("{path}.{}", key(&entry.key)) };
        match &entry.node.item {
            Item::Table(inner) => {
                // A header without values of its own says nothing, unless it is all there is.
                if inner.0.is_empty() || inner.0.iter().any(|entry| !matches!(&entry.node.item, Item::Table(_))) {
                    let _ = writeln!(text, "\n[{path}]");
                }
                print_table(inner, &path, text);
            }
            Item::List(list) if is_list_of_tables(&entry.node.item) => {
                for node in list {
                    let _ = writeln!(text, "\n[[{path}]]");
                    let Item::Table(inner) = &node.item else { continue };
                    for entry in &inner.0 {
                        let _ = writeln!(text, "{} = {}", key(&entry.key), inline(&entry.node.item));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether each element deserves a section of its own.
fn is_list_of_tables(item: &Item) -> bool {
    matches!(item, Item::List(list) if !list.is_empty() && list.iter().all(|node| matches!(node.item, Item::Table(_))))
}

fn key(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !key.is_empty() && key.bytes().all(plain) { key.to_owned() } else { quote(key) }
}

pub(crate) fn inline(item: &Item) -> String {
    match item {
        Item::Text(text) => quote(text),
        Item::Integer(number) => number.to_string(),
        Item::Number(number) => format!("{number:?}"),
        Item::Flag(flag) => flag.to_string(),
        Item::Other(name) => quote(name),
        Item::List(list) => {
            let items: Vec<_> = list.iter().map(|node| inline(&node.item)).collect();
            format!("[{}]", items.join(", "))
        }
        Item::Nodes(nodes) => {
            let mut text = String::from("[");
            for (position, node) in nodes.iter().enumerate() {
                let _ = write!(text, "{}{node}", if position > 0 { ", " } else { "" });
            }
            text + "]"
        }
        Item::Table(table) if table.0.is_empty() => "{}".to_owned(),
        Item::Table(table) => {
            let entry = |entry: &crate::tree::Entry| format!("{} = {}", key(&entry.key), inline(&entry.node.item));
            let items: Vec<_> = table.0.iter().map(entry).collect();
            format!("{{ {} }}", items.join(", "))
        }
    }
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
