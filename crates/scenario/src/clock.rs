//! Link cycles and flits in seconds and bytes.

use crate::choice::peek_speedup;
use crate::decimal::Decimal;
use crate::diagnostic::Diagnostic;
use crate::models::Key;
use crate::quantity::{Complaint, TimeScale, parse_bytes, parse_cycle, parse_rate};
use crate::reader::{Reading, TableReader};
use crate::tree::Item;

pub(crate) const CLOCK_KEYS: &[Key] = &[
    Key {
        name: "cycle",
        values: "time with a unit, as \"1 ns\"",
        default: Some("not known: times are cycles"),
        help: "how long a link cycle is; times that are not whole steps of the crossbar are refused",
    },
    Key {
        name: "flit",
        values: "bytes with a unit, as \"64 B\"",
        default: Some("not known: amounts of data are flits"),
        help: "how large a flit is; what is given in bytes takes whole flits",
    },
    Key {
        name: "link",
        values: "rate with a unit, as \"400 Gb/s\"",
        default: Some("not known"),
        help: "in place of `cycle`: what a link carries that takes a flit per cycle; times are rounded to whole cycles",
    },
];

/// Reads `[clock]`. What is wrong in it is told, and then not known.
pub(crate) fn read_clock(root: &mut TableReader<'_>, reading: &mut Reading) -> TimeScale {
    let mut section = root.section("clock", reading);
    let mut scale = TimeScale { ticks_per_cycle: peek_speedup(root.table), ..TimeScale::default() };
    scale.cycle_fs = read(&mut section, "cycle", reading, parse_cycle);
    scale.flit_bytes = read(&mut section, "flit", reading, parse_bytes);
    if section.table.get("link").is_some() {
        let (flit_bytes, has_cycle) = (scale.flit_bytes, section.table.get("cycle").is_some());
        let derived = read(&mut section, "link", reading, |text| match flit_bytes {
            _ if has_cycle => {
                Err(("a link is as fast as its cycle".to_owned(), "leave out `cycle` or `link`".to_owned()))
            }
            Some(bytes) => parse_rate(text, bytes),
            None => {
                let help = "add the size of a flit, as in `flit = \"64 B\"`";
                Err(("a cycle is what a link takes for a flit of unknown size".to_owned(), help.to_owned()))
            }
        });
        // What it was derived from is said by it and the size of a flit.
        section.resolved.remove("link");
        if let Some((fs, bytes)) = derived.zip(flit_bytes) {
            section.resolved.remove("flit");
            section.resolved.put("cycle", Item::Text(format!("{} ns", Decimal { units: fs.into(), places: 6 })));
            section.resolved.put("flit", Item::Text(format!("{bytes} B")));
            (scale.cycle_fs, scale.rounds) = (derived, true);
        }
    }
    let resolved = section.finish(reading);
    if !resolved.0.is_empty() {
        root.resolved.put("clock", Item::Table(resolved));
    }
    scale
}

/// Reads a quantity, which stands in the resolved text as it is.
fn read(
    section: &mut TableReader<'_>,
    key: &'static str,
    reading: &mut Reading,
    parse: impl FnOnce(&str) -> Result<u64, Complaint>,
) -> Option<u64> {
    let (text, span) = section.text(key, reading)?;
    section.resolved.put(key, Item::Text(text.to_owned()));
    parse(text).map_err(|(message, help)| reading.blame(Diagnostic::at(span, message).help(help))).ok()
}
