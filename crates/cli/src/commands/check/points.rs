//! Whether the points of a sweep are scenarios that can be run.

use std::collections::BTreeSet;

use serde::Serialize;
use tailback_scenario::{Diagnostic, Diagnostics, Document, Sweep};

use crate::complaint::Complaint;
use crate::rendering::Notes;

/// So many points are checked: more would take longer than anybody waits for a check.
const POINTS_MAX: usize = 256;
/// So many mistakes are told.
const MISTAKES_MAX: usize = 100;

/// How many points were checked, and how many there are.
#[derive(Clone, Copy, Serialize)]
pub struct Points {
    pub checked: usize,
    pub of: usize,
}

/// Checks the first points of a sweep, with one seed each; nothing if nothing is varied. A mistake that several of them have is told once.
pub fn check(document: &Document, sweep: &Sweep, notes: &mut Notes) -> Result<Option<Points>, Complaint> {
    let sweep = Sweep { seeds: sweep.seeds.first().copied().into_iter().collect(), ..sweep.clone() };
    let of = sweep.run_count().unwrap_or(usize::MAX);
    if sweep.axes.is_empty() && sweep.variants.is_empty() {
        return Ok(None);
    }
    let (mut mistakes, mut known) = (Diagnostics::default(), BTreeSet::new());
    for run in sweep.runs(document).take(POINTS_MAX) {
        match run.document.resolve() {
            Ok(scenario) => notes.tell(&scenario.notes),
            Err(found) => add_new(&mut mistakes, found, &mut known),
        }
    }
    if mistakes.list.is_empty() { Ok(Some(Points { checked: of.min(POINTS_MAX), of })) } else { Err(mistakes.into()) }
}

/// Adds the mistakes of a point that no point before it has.
fn add_new(mistakes: &mut Diagnostics, mut found: Diagnostics, known: &mut BTreeSet<(String, usize, String)>) {
    let Diagnostics { sources, list, .. } = &mut found;
    list.retain(|Diagnostic { message, span, .. }| {
        let place = span.map_or_else(Default::default, |span| (sources[span.source].name.clone(), span.start));
        known.insert((place.0, place.1, message.clone()))
    });
    let untold = (mistakes.list.len() + list.len()).saturating_sub(MISTAKES_MAX);
    list.truncate(list.len() - untold.min(list.len()));
    found.untold += untold;
    mistakes.append(found);
}
