//! Slots and what is taken of them in words, for people who trace a message.

use tailback_protocol::{Clock, Control};

use crate::kind;
use crate::table::{Grid, Slots, Table, Taken};

/// What a control packet says.
pub(crate) fn describe(control: &Control, grid: Grid, clock: Clock) -> String {
    let cycle = |tick| clock.cycles(tick);
    match (control.kind, control.time) {
        (kind::REQUEST, _) => {
            let slots = Slots::from_words(&control.payload);
            let (free, eager) = (list(slots.first, slots.free), list(slots.first, slots.eager));
            let eager = if slots.eager == 0 { String::new() } else { format!("; reserved eagerly: {eager}") };
            format!("for {} flits in one of slots {free}{eager}", control.flits)
        }
        (kind::GRANT, Some(tick)) => {
            format!("{} flits from cycle {} on, which is in slot {}", control.flits, cycle(tick), grid.slot_at(tick))
        }
        (kind::RETRY, Some(tick)) => {
            format!("the node's table is full; the next request is to come at cycle {}", cycle(tick))
        }
        (kind::NACK, _) => format!("{} flits were dropped", control.flits),
        _ => String::new(),
    }
}

/// The slots of a set of bits of which the first is slot `first`: `3–7, 9`.
pub(crate) fn list(first: u64, bits: u32) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for slot in (0..32).filter(|index| bits >> index & 1 == 1).map(|index| first + index) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == slot => *last = slot,
            _ => ranges.push((slot, slot)),
        }
    }
    let text =
        |&(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}–{last}") };
    let ranges: Vec<String> = ranges.iter().map(text).collect();
    if ranges.is_empty() { "none".to_owned() } else { ranges.join(", ") }
}

/// The slots of a table that have room for so many flits.
pub(crate) fn room(table: &Table, flits: u32) -> String {
    let cells = table.free().len() as u64;
    let (first, last) = (table.first(), table.first() + cells - 1);
    let room = list(first, table.availability(flits));
    format!("of slots {first}–{last} there is room for {flits} flits in {room}")
}

/// What is taken of one slot, or of two.
pub(crate) fn taken(taken: Taken) -> String {
    let Taken { slot, here, after } = taken;
    let next = slot + 1;
    match (here, after) {
        (_, 0) => format!("{here} flits of slot {slot}"),
        (0, _) => format!("{after} flits of slot {next}"),
        _ => format!("{here} flits of slot {slot} and {after} of slot {next}"),
    }
}

/// The same of several.
pub(crate) fn all_taken(all: &[Taken]) -> String {
    all.iter().copied().map(taken).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_slots_are_ranges() {
        assert_eq!([0, 0b1, 0b1011, u32::MAX].map(|bits| list(3, bits)), ["none", "3", "3–4, 6", "3–34"]);
    }
}
