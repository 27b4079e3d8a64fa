//! The comparison as a table for people.

use std::fmt::Write as _;

use super::compare::{Comparison, Difference, Zone, saturation};
use super::curves::{KNOWN_DIFFERENCES, Size};

const HEAD: &str = "\
# Ours and the curves of others

Differences in percent of theirs; the largest of each part of a curve, with the load where it is. *Saturation* is the
largest load that the peer accepted. Tolerated are 1 % in mean latency up to half of it, 5 % up to 90 %, and 2 % in
accepted load beyond it; with adaptive routing 2 % up to 80 %, and 2.5 % beyond, with PB 4 % and 3 %. *Total* is from creation to the
last flit, *network* from the first flit leaving the source.
`README.md` tells where the curves come from and in what the peers' rules differ from ours.

Written by `TAILBACK_UPDATE_GOLDEN=1 cargo test -p tailback-tests peers`.

";

/// The table and the points that it is made of.
pub fn markdown(comparisons: &[Comparison]) -> String {
    let mut text = HEAD.to_owned();
    text += "| curve | saturation | up to 50 %: total | network | up to 90 %: total | network | accepted beyond | at most offered: ours | theirs |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for comparison in comparisons {
        let rows: Vec<_> = comparison.points.iter().map(|point| point.theirs.clone()).collect();
        let _ = write!(text, "| {} | {:.4} |", comparison.curve.name, saturation(&rows));
        for (zone, quantity) in [
            (Zone::Low, "total"),
            (Zone::Low, "network"),
            (Zone::High, "total"),
            (Zone::High, "network"),
            (Zone::Beyond, "accepted"),
        ] {
            let _ = write!(text, " {} |", worst(comparison, zone, quantity));
        }
        let last = comparison.points.last().expect("a curve has points");
        let _ = writeln!(text, " {:.4} | {:.4} |", last.ours.accepted, last.theirs.accepted);
    }
    text += "\n## Known differences\n\n";
    if KNOWN_DIFFERENCES.is_empty() {
        text += "None.\n";
    }
    for known in KNOWN_DIFFERENCES {
        let size = |size: &Size| format!("{} at {} {:+.1} %", size.quantity, size.offered, size.percent);
        let sizes: Vec<String> = known.sizes.iter().map(size).collect();
        let _ = writeln!(text, "* {}: {}. {}", known.curve, sizes.join(", "), known.cause);
    }
    comparisons.iter().for_each(|comparison| points(comparison, &mut text));
    text
}

/// The largest difference of a zone.
fn worst(comparison: &Comparison, zone: Zone, quantity: &str) -> String {
    let points = comparison.points.iter().filter(|point| point.zone == zone);
    let differences = points.flat_map(|point| {
        let of_point = comparison.differences(point).into_iter().filter(|found| found.quantity == quantity);
        of_point.map(|difference| (difference, &point.theirs.text))
    });
    let size = |difference: &Difference| difference.percent().abs();
    match differences.max_by(|(a, _), (b, _)| size(a).total_cmp(&size(b))) {
        Some((difference, offered)) => format!("{:+.2} at {offered}", difference.percent()),
        None => "–".to_owned(),
    }
}

/// All points of a curve.
fn points(comparison: &Comparison, text: &mut String) {
    let _ = write!(text, "\n## {}\n\n", comparison.curve.name);
    *text += "| offered | accepted | theirs | total | theirs | % | network | theirs | % |\n";
    *text += "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for point in &comparison.points {
        let (ours, theirs) = (point.ours, &point.theirs);
        let _ = write!(text, "| {} | {:.4} | {:.4} |", theirs.text, ours.accepted, theirs.accepted);
        let differences = comparison.differences(point);
        for quantity in ["total", "network"] {
            let cells = match differences.iter().find(|found| found.quantity == quantity) {
                Some(d) => format!(" {:.2} | {:.2} | {:+.2} |", d.ours, d.theirs, d.percent()),
                None => " | | |".to_owned(),
            };
            *text += &cells;
        }
        text.push('\n');
    }
}
