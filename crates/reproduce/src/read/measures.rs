//! Reading how numbers are computed.

use tailback_scenario::Diagnostic;
use tailback_scenario::reading::{Entry, Item, Node, Reading, TableReader};

use super::fields::{needed_number, needed_range, needed_text, number, positive, range, text, texts};
use crate::measure::{Along, Apart, At, Measure, Order, Timed, Trace};
use crate::quantity::{Quantity, SeriesColumn};
use crate::signal::Extreme;

/// The words of the vocabulary.
pub const MEASURES: [&str; 22] = [
    "value",
    "largest",
    "smallest",
    "average",
    "apart",
    "distance",
    "order",
    "widest",
    "ratio",
    "difference",
    "sum",
    "largest_of",
    "smallest_of",
    "during",
    "peak",
    "trough",
    "peak_time",
    "trough_time",
    "settling",
    "reaching",
    "amplitude",
    "period",
];

/// Reads a measure: a table with one of the words as its only key.
pub fn measure(node: &Node, reading: &mut Reading) -> Option<Measure> {
    let Item::Table(table) = &node.item else {
        reading.mismatch(node, "measure", "a table such as `{ value = { curve = …, metric = …, at = … } }`");
        return None;
    };
    let [Entry { key, key_span, node: inner }] = table.0.as_slice() else {
        let help = format!("choose one of {}", MEASURES.join(", "));
        reading.blame(Diagnostic::at(node.span, "a measure has one word").help(help));
        return None;
    };
    match key.as_str() {
        "ratio" => pair(inner, key, reading).map(Measure::Ratio),
        "difference" => pair(inner, key, reading).map(Measure::Difference),
        "sum" => several(inner, key, reading).map(Measure::Sum),
        "largest_of" => several(inner, key, reading).map(Measure::LargestOf),
        "smallest_of" => several(inner, key, reading).map(Measure::SmallestOf),
        word if MEASURES.contains(&word) => {
            let mut table = TableReader::of(inner, key.clone(), reading);
            let measure = plain(word, &mut table, reading);
            table.close(reading);
            measure
        }
        word => {
            reading.unknown_word(*key_span, "measure", word, &MEASURES);
            None
        }
    }
}

/// A measure with keys of its own.
fn plain(word: &str, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Measure> {
    match word {
        "value" => {
            let (curve, quantity) = (curve(table, reading), metric(table, reading));
            let (axis, at) = (text(table, "axis", reading), number(table, "at", reading));
            Some(Measure::Value(At { curve, quantity: quantity?, axis, at }))
        }
        "largest" => along(table, reading).map(Measure::Largest),
        "smallest" => along(table, reading).map(Measure::Smallest),
        "average" => along(table, reading).map(Measure::Average),
        "apart" => apart(table, reading).map(Measure::Apart),
        "distance" => apart(table, reading).map(Measure::Distance),
        "order" => order(word, table, reading).map(Measure::Order),
        "widest" => order(word, table, reading).map(Measure::Widest),
        "during" => timed(table, reading).map(Measure::During),
        "peak" => Some(Measure::Extreme(Extreme::Peak, timed(table, reading)?)),
        "trough" => Some(Measure::Extreme(Extreme::Trough, timed(table, reading)?)),
        "peak_time" => Some(Measure::ExtremeTime(Extreme::Peak, timed(table, reading)?)),
        "trough_time" => Some(Measure::ExtremeTime(Extreme::Trough, timed(table, reading)?)),
        "amplitude" => timed(table, reading).map(Measure::Amplitude),
        "period" => timed(table, reading).map(Measure::Period),
        "settling" => {
            let percent = needed_number(table, "within", "percent of the final value", reading);
            let last = needed_range(table, "final", "when the final value is taken", reading);
            let timed = timed(table, reading);
            Some(Measure::Settling(timed?, percent?, last?))
        }
        _ => {
            let percent = needed_number(table, "percent", "how much of the way", reading);
            let before = needed_range(table, "before", "when the value before is taken", reading);
            let last = needed_range(table, "final", "when the final value is taken", reading);
            let timed = timed(table, reading);
            Some(Measure::Reaching(timed?, percent?, before?, last?))
        }
    }
}

/// The name of a figure of reports.
pub fn quantity(node: &Node, reading: &mut Reading) -> Option<Quantity> {
    named(node, "metric", Quantity::parse, reading)
}

/// The name of a column of time series.
pub fn series_column(node: &Node, reading: &mut Reading) -> Option<SeriesColumn> {
    named(node, "series", SeriesColumn::parse, reading)
}

fn named<T>(
    node: &Node,
    path: &str,
    parse: impl Fn(&str) -> Result<T, (String, String)>,
    reading: &mut Reading,
) -> Option<T> {
    let Item::Text(name) = &node.item else {
        reading.mismatch(node, path, "the name of a figure");
        return None;
    };
    parse(name).map_err(|(message, help)| reading.blame(Diagnostic::at(node.span, message).help(help))).ok()
}

/// The name of a curve; where there is only one, it has none.
fn curve(table: &mut TableReader<'_>, reading: &mut Reading) -> String {
    text(table, "curve", reading).unwrap_or_default()
}

/// The metric that must be there.
pub fn metric(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Quantity> {
    needed_text(table, "metric", "what is measured", reading)?;
    quantity(&table.table.get("metric")?.node, reading)
}

fn along(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Along> {
    let (curve, quantity, axis) = (curve(table, reading), metric(table, reading), text(table, "axis", reading));
    let (from, until) = (number(table, "from", reading), number(table, "until", reading));
    Some(Along { curve, quantity: quantity?, axis, from, until })
}

fn apart(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Apart> {
    let other = needed_text(table, "other", "the curve that it is compared with", reading);
    let along = along(table, reading);
    Some(Apart { along: along?, other: other? })
}

fn order(word: &str, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Order> {
    let entry = table.take("curves");
    let along = along(table, reading);
    let curves = match entry.map(|entry| &entry.node) {
        Some(Node { item: Item::List(list), .. }) if list.len() > 1 => {
            let rank = |node: &Node| match &node.item {
                Item::Text(curve) => Some(vec![curve.clone()]),
                _ => texts(node, &format!("{word}.curves"), reading),
            };
            list.iter().map(rank).collect::<Option<_>>()
        }
        _ => {
            let message = format!("`{word}.curves` is a list of curves from the lowest to the highest");
            reading.blame(Diagnostic::at(table.span, message).help("equals may stand in a list of their own"));
            None
        }
    };
    Some(Order { curves: curves?, along: along? })
}

fn timed(table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Timed> {
    let curve = curve(table, reading);
    let name = needed_text(table, "series", "the column of the time series", reading);
    let column = name.and_then(|_| series_column(&table.table.get("series")?.node, reading));
    let (axis, at) = (text(table, "axis", reading), number(table, "at", reading));
    let bin = positive(table, "bin", reading);
    let (from, until) = range(table, "span", reading).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    Some(Timed { trace: Trace { curve, column: column?, axis, at, bin }, from, until })
}

fn several(node: &Node, word: &str, reading: &mut Reading) -> Option<Vec<Measure>> {
    match &node.item {
        Item::List(list) if !list.is_empty() => {
            let measures: Vec<_> = list.iter().map(|node| measure(node, reading)).collect();
            measures.into_iter().collect()
        }
        _ => {
            reading.mismatch(node, word, "a list of measures");
            None
        }
    }
}

fn pair(node: &Node, word: &str, reading: &mut Reading) -> Option<Box<[Measure; 2]>> {
    let measures = several(node, word, reading)?;
    let count = measures.len();
    let both = <[Measure; 2]>::try_from(measures).ok().map(Box::new);
    if both.is_none() {
        reading.blame(Diagnostic::at(node.span, format!("`{word}` is of two measures, not of {count}")));
    }
    both
}
