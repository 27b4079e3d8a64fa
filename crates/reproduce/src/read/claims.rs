//! Reading what a paper says.

use tailback_scenario::reading::{Node, Reading, TableReader};
use tailback_scenario::{Diagnostic, Span};

use super::fields::{needed_number, needed_text, number, range, text};
use super::measures::measure;
use crate::claim::{Claim, Expectation, Judgement, Refutation};
use crate::experiment::{Experiment, Scale};
use crate::measure::Measure;

/// What is said about how a claim is judged; a scale may say it anew.
#[derive(Default)]
struct Said {
    measure: Option<(Span, Measure)>,
    expect: Option<Expectation>,
    /// Whether they are there, right or wrong.
    has_measure: bool,
    has_expectation: bool,
    why: Option<String>,
    tried: Option<String>,
}

/// Reads a claim. `experiments` are the runs at each scale.
pub fn claim(node: &Node, experiments: &[Experiment; 2], reading: &mut Reading) -> Option<Claim> {
    let mut table = TableReader::of(node, "claim".to_owned(), reading);
    let name = needed_text(&mut table, "name", "a short name for it", reading);
    if let Some(name) = &name {
        table.path = format!("claim.{name}");
    }
    let says = needed_text(&mut table, "says", "the sentence", reading);
    let paper = needed_text(&mut table, "paper", "the paper's value or ordering, with its place", reading);
    let scales = scales(&mut table, reading);
    let general = said(&mut table, reading);
    let own = Scale::ALL.map(|scale| match table.take(scale.name()) {
        None => Said::default(),
        Some(entry) => {
            let mut inner = TableReader::of(&entry.node, table.path_of(scale.name()), reading);
            let own = said(&mut inner, reading);
            inner.close(reading);
            own
        }
    });
    let used: Vec<&Said> = scales.iter().map(|&scale| &own[scale as usize]).collect();
    blame_gaps(&table, &general, &used, reading);
    let mut own = own.into_iter();
    let judgements = Scale::ALL.map(|scale| {
        let own = own.next().filter(|_| scales.contains(&scale))?;
        judgement(own, &general, &experiments[scale as usize], reading)
    });
    let refutation = table.take("authors_program").and_then(|entry| refutation(&entry.node, reading));
    if let (Some((span, refutation)), Some(full)) = (&refutation, &judgements[Scale::Full as usize])
        && full.expect.holds(refutation.gives)
    {
        let message = "what the authors' program gives is what the paper says: it refutes nothing";
        reading.blame(Diagnostic::at(*span, message).help(format!("the claim holds for {}", full.expect)));
    }
    table.close(reading);
    let refutation = refutation.map(|(_, refutation)| refutation);
    Some(Claim { name: name?, says: says?, paper: paper?, judgements, refutation })
}

/// `{ gives = …, at = "…", evidence = "…" }`
fn refutation(node: &Node, reading: &mut Reading) -> Option<(Span, Refutation)> {
    let mut table = TableReader::of(node, "authors_program".to_owned(), reading);
    let gives = needed_number(&mut table, "gives", "the number of the claim, from the authors' program", reading);
    let at = needed_text(&mut table, "at", "of which of its runs", reading);
    let evidence = needed_text(&mut table, "evidence", "the file that has those runs", reading);
    table.close(reading);
    Some((node.span, Refutation { gives: gives?, at: at?, evidence: evidence? }))
}

/// At which scales it is made.
fn scales(table: &mut TableReader<'_>, reading: &mut Reading) -> Vec<Scale> {
    let Some((word, span)) = table.text("scale", reading) else { return Scale::ALL.to_vec() };
    match Scale::ALL.into_iter().find(|scale| scale.name() == word) {
        Some(scale) => vec![scale],
        None => {
            reading.unknown_word(span, "scale", word, &Scale::ALL.map(Scale::name));
            Vec::new()
        }
    }
}

fn said(table: &mut TableReader<'_>, reading: &mut Reading) -> Said {
    let measured = table.take("measure").and_then(|entry| Some((entry.node.span, measure(&entry.node, reading)?)));
    let expect = table.take("expect").and_then(|entry| expectation(&entry.node, reading));
    let (why, tried) = (text(table, "why", reading), text(table, "tried", reading));
    let has = |key| table.table.get(key).is_some();
    Said { has_measure: has("measure"), has_expectation: has("expect"), measure: measured, expect, why, tried }
}

/// Complains about what is said neither for all scales nor for one at which the claim is made.
fn blame_gaps(table: &TableReader<'_>, general: &Said, own: &[&Said], reading: &mut Reading) {
    let is_said = |has: fn(&Said) -> bool| has(general) || own.iter().all(|own| has(own));
    for (key, is_said) in [
        ("measure", is_said(|said| said.has_measure)),
        ("expect", is_said(|said| said.has_expectation)),
        ("why", is_said(|said| said.why.is_some())),
    ] {
        if !is_said {
            let message = format!("`{}` is missing", table.path_of(key));
            reading.blame(Diagnostic::at(table.span, message).help("say it for all scales, or for each"));
        }
    }
}

fn judgement(own: Said, general: &Said, experiment: &Experiment, reading: &mut Reading) -> Option<Judgement> {
    let (span, measure) = own.measure.or_else(|| general.measure.clone())?;
    if let Err(complaint) = measure.check(experiment) {
        reading.blame(Diagnostic::at(span, complaint));
    }
    Some(Judgement {
        measure,
        expect: own.expect.or(general.expect)?,
        why: own.why.or_else(|| general.why.clone())?,
        tried: own.tried.or_else(|| general.tried.clone()),
    })
}

/// `{ below = … }`, `{ above = … }`, `{ between = [a, b] }`, `{ about = …, within = … }` or `within_percent`.
fn expectation(node: &Node, reading: &mut Reading) -> Option<Expectation> {
    let mut table = TableReader::of(node, "expect".to_owned(), reading);
    let words: Vec<&str> = table.table.0.iter().map(|entry| entry.key.as_str()).collect();
    let expectation = match words.as_slice() {
        ["below"] => number(&mut table, "below", reading).map(Expectation::Below),
        ["above"] => number(&mut table, "above", reading).map(Expectation::Above),
        ["between"] => range(&mut table, "between", reading).map(|(low, high)| Expectation::Between(low, high)),
        _ if words.contains(&"about") => {
            let about = number(&mut table, "about", reading);
            let percent = number(&mut table, "within_percent", reading);
            let within = match (about, percent) {
                (Some(about), Some(percent)) => Some(about.abs() * percent / 100.0),
                _ => needed_number(&mut table, "within", "how much more or less it may be", reading),
            };
            about.zip(within).map(|(about, within)| Expectation::About(about, within))
        }
        _ => {
            let help = "write `below`, `above`, `between = [a, b]`, or `about` with `within` or `within_percent`";
            reading.blame(Diagnostic::at(node.span, "an expectation is one of four").help(help));
            return None;
        }
    };
    table.close(reading);
    expectation
}
