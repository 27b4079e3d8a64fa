//! How far ours is from theirs, and how far it may be.

use super::curves::{Curve, KNOWN_DIFFERENCES, Size, Tolerance};
use super::measure::Ours;
use super::reference::Row;

/// Where a point is on its curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Up to half of saturation.
    Low,
    /// Up to 90 % of it, or as the curve's tolerance says.
    High,
    /// Up to saturation: latencies hang on the last percent of throughput, and are not compared.
    Near,
    /// More is offered than was ever accepted, or than is accepted at this load.
    Beyond,
}

/// The largest load that a peer accepted.
pub fn saturation(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.accepted).fold(0.0, f64::max)
}

/// The zone of one of `rows`.
pub fn zone(rows: &[Row], row: &Row, tolerance: &Tolerance) -> Zone {
    let share = row.offered / saturation(rows);
    match share {
        // Some mechanisms fall short of a load and carry a higher one: they misroute too little to see the need.
        _ if row.accepted < 0.96 * row.offered => Zone::Beyond,
        _ if share <= 0.5 => Zone::Low,
        _ if share <= tolerance.high_until => Zone::High,
        _ if share <= 1.0 => Zone::Near,
        _ => Zone::Beyond,
    }
}

/// Ours and theirs at one load.
#[derive(Clone, Debug)]
pub struct Point {
    pub ours: Ours,
    pub theirs: Row,
    pub zone: Zone,
}

/// Ours and theirs at all loads of a curve.
#[derive(Debug)]
pub struct Comparison {
    pub curve: &'static Curve,
    pub points: Vec<Point>,
}

/// A quantity at a load, and by how many percent ours is larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub quantity: &'static str,
    pub ours: f64,
    pub theirs: f64,
}

impl Difference {
    pub fn percent(&self) -> f64 {
        (self.ours / self.theirs - 1.0) * 100.0
    }
}

impl Comparison {
    /// Everything that can be compared at a point.
    pub fn differences(&self, point: &Point) -> Vec<Difference> {
        let Point { ours, theirs, zone } = point;
        if *zone == Zone::Beyond {
            return vec![Difference { quantity: "accepted", ours: ours.accepted, theirs: theirs.accepted }];
        }
        let later = self.curve.columns.network_begins_later_by;
        let total = theirs.total.map(|theirs| Difference { quantity: "total", ours: ours.total, theirs });
        let network =
            theirs.network.map(|theirs| Difference { quantity: "network", ours: ours.network - later, theirs });
        total.into_iter().chain(network).collect()
    }

    /// All that is not as it should be.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for point in &self.points {
            let tolerated = match point.zone {
                Zone::Low => self.curve.tolerance.low,
                Zone::High => self.curve.tolerance.high,
                Zone::Beyond => self.curve.tolerance.beyond,
                Zone::Near => continue,
            };
            for difference in self.differences(point) {
                complaints.extend(self.complaint(point, &difference, tolerated));
            }
        }
        complaints
    }

    fn complaint(&self, point: &Point, difference: &Difference, tolerated: f64) -> Option<String> {
        let Difference { quantity, ours, theirs } = difference;
        let percent = difference.percent();
        let of_curve = KNOWN_DIFFERENCES.iter().filter(|known| known.curve == self.curve.name);
        let mut sizes = of_curve.flat_map(|known| known.sizes);
        let known = sizes.find(|size| size.offered == point.theirs.offered && size.quantity == *quantity);
        let wrong = match known {
            None if percent.abs() <= tolerated => return None,
            None => format!("tolerated are {tolerated} %"),
            Some(_) if percent.abs() <= tolerated => "the known difference is gone: strike it out".to_owned(),
            Some(known) if (percent - known.percent).abs() <= known.give_or_take => return None,
            Some(known) => format!("known are {} ± {} %", known.percent, known.give_or_take),
        };
        let Self { curve, .. } = self;
        let offered = &point.theirs.text;
        Some(format!("{} at {offered}: {quantity} {ours:.4}, theirs {theirs:.4}, {percent:+.2} %; {wrong}", curve.name))
    }

    /// Whether this curve has such a quantity at such a load.
    pub fn has(&self, size: &Size) -> bool {
        self.points.iter().any(|point| {
            let is_quantity = |found: &Difference| found.quantity == size.quantity;
            point.theirs.offered == size.offered && self.differences(point).iter().any(is_quantity)
        })
    }
}
