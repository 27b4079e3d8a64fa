//! The resolved text of a scenario, and what of it counts.

use crate::digest::digest;
use crate::print::print;
use crate::program::FILE;
use crate::tree::{Item, Table};

/// The order of sections in the resolved text.
const ORDER: [&str; 14] = [
    "title",
    "seed",
    "clock",
    "topology",
    "links",
    "router",
    "nic",
    "routing",
    "protocol",
    "nodes",
    "traffic",
    "program",
    "measure",
    "execution",
];

/// What cannot change results.
const WITHOUT_EFFECT: [&str; 3] = ["title", "execution", "nodes"];

/// The resolved text, and the digest of what can change results.
pub(crate) fn texts(resolved: &Table) -> (String, String) {
    let part = |keys: &mut dyn Iterator<Item = &str>| {
        let mut table = Table::default();
        for key in keys {
            if let Some(entry) = resolved.get(key) {
                table.put(key, entry.node.item.clone());
            }
        }
        table
    };
    let whole = part(&mut ORDER.into_iter());
    let mut model = part(&mut ORDER.into_iter().filter(|key| !WITHOUT_EFFECT.contains(key)));
    forget_files(&mut model);
    (print(&whole), digest(&model))
}

/// Takes out what the files of programs are called: what is in them counts.
fn forget_files(model: &mut Table) {
    let Some(Item::List(programs)) = model.get_mut("program").map(|entry| &mut entry.node.item) else { return };
    for program in programs {
        let Item::Table(program) = &mut program.item else { continue };
        for key in ["goal", "messages", "map"] {
            if let Some(Item::Table(source)) = program.get_mut(key).map(|entry| &mut entry.node.item) {
                source.remove(FILE);
            }
        }
    }
}
