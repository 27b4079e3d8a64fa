//! Distributions as curves, from the tables of histograms.

use std::collections::BTreeMap;

use super::Curve;
use crate::{Table, TableError};

/// In a histogram, an octave has so many bars at most: the buckets of tables are finer than anybody sees.
const BARS_PER_OCTAVE: f64 = 8.0;

/// Up to so many values, as numbers of hops, have a bar each.
const SINGLE_BARS: usize = 32;

/// How often values from one number to another were seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// The least of them.
    pub from: f64,
    /// The largest of them.
    pub to: f64,
    /// How many were seen.
    pub count: f64,
}

/// A histogram among others.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedOf {
    /// What tells it from the others.
    pub names: Vec<String>,
    /// What was counted.
    pub counted: Vec<Counted>,
}

impl Counted {
    /// The rows of a table with the columns `from`, `to` and `count`, by what the columns `by` hold, in the order in which that comes first.
    ///
    /// # Errors
    /// When one of the columns is not there.
    pub fn of_table(table: &Table, by: &[&str]) -> Result<Vec<CountedOf>, TableError> {
        let [from, to, count] = ["from", "to", "count"].map(|name| table.column(name));
        let (from, to, count) = (from?, to?, count?);
        let by = by.iter().map(|name| table.column(name)).collect::<Result<Vec<_>, _>>()?;
        let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut groups: Vec<CountedOf> = Vec::new();
        for row in &table.rows {
            let numbers = [from, to, count].map(|column| row[column].number());
            let [Some(from), Some(to), Some(count)] = numbers else { continue };
            let key: Vec<String> = by.iter().map(|&column| row[column].to_string()).collect();
            let place = *places.entry(key.clone()).or_insert(groups.len());
            if place == groups.len() {
                groups.push(CountedOf { names: key, counted: Vec::new() });
            }
            groups[place].counted.push(Self { from, to, count });
        }
        Ok(groups)
    }

    fn times(self, factor: f64) -> Self {
        Self { from: factor * self.from, to: factor * self.to, ..self }
    }
}

impl Curve {
    /// The share of values that are not larger, over values that are multiplied by a factor, as for another unit.
    #[must_use]
    pub fn cumulative(name: String, counted: &[Counted], factor: f64) -> Self {
        let mut counted: Vec<Counted> = counted.iter().map(|bucket| bucket.times(factor)).collect();
        counted.sort_by(|a, b| a.from.total_cmp(&b.from));
        let all: f64 = counted.iter().map(|bucket| bucket.count).sum();
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut seen = 0.0;
        for bucket in &counted {
            // Between buckets there is nothing.
            points.push((bucket.from, seen / all));
            seen += bucket.count;
            points.push((bucket.to, seen / all));
        }
        // The last value of all is at a share that no scale of nines has: it is where half of it is left.
        if let Some(last) = points.last_mut() {
            last.1 = 1.0 - 0.5 / all;
        }
        Self { name, points, ..Curve::default() }
    }

    /// How many values there are in bars of equal ratio, of which an octave has eight, or in one for each if there are few; each begins at its
    /// point and ends at the next.
    #[must_use]
    pub fn histogram(name: String, counted: &[Counted], factor: f64) -> Self {
        if counted.len() <= SINGLE_BARS && counted.iter().all(|bucket| bucket.from == bucket.to) {
            return Self::bars(name, counted, factor);
        }
        let mut bars: BTreeMap<i64, f64> = BTreeMap::new();
        for bucket in counted.iter().filter(|bucket| bucket.to > 0.0) {
            let middle = factor * (bucket.from + bucket.to) / 2.0;
            *bars.entry((BARS_PER_OCTAVE * libm::log2(middle)).floor() as i64).or_default() += bucket.count;
        }
        let start = |bar: i64| libm::exp2(bar as f64 / BARS_PER_OCTAVE);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (&bar, &count) in &bars {
            // Between bars there is nothing.
            match points.last() {
                Some(&(end, _)) if end < 0.999 * start(bar) => points.push((start(bar), count)),
                _ => {
                    points.pop();
                    points.push((start(bar), count));
                }
            }
            points.push((start(bar + 1), 0.0));
        }
        Self { name, points, ..Curve::default() }
    }
}

impl Curve {
    /// A bar for each value, as wide as the smallest distance between two.
    fn bars(name: String, counted: &[Counted], factor: f64) -> Self {
        let mut counted: Vec<Counted> = counted.iter().map(|bucket| bucket.times(factor)).collect();
        counted.sort_by(|a, b| a.from.total_cmp(&b.from));
        let gaps = counted.windows(2).map(|pair| pair[1].from - pair[0].from);
        let half = 0.5 * gaps.fold(factor, f64::min);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for bucket in counted {
            if points.last().is_some_and(|last| last.0 > bucket.from - 1.001 * half) {
                points.pop();
            }
            points.extend([(bucket.from - half, bucket.count), (bucket.from + half, 0.0)]);
        }
        Self { name, points, ..Curve::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let csv = "flow,figure,from,to,count\na,x,10.0,10.0,3\na,x,20.0,20.0,1\nb,x,5.0,5.5,2\n";
        Table::read_csv(csv.as_bytes()).unwrap()
    }

    #[test]
    fn counts_add_up_to_shares() {
        let groups = Counted::of_table(&table(), &["flow"]).unwrap();
        assert_eq!(groups.iter().map(|group| group.names[0].as_str()).collect::<Vec<_>>(), ["a", "b"]);
        let curve = Curve::cumulative("a".to_owned(), &groups[0].counted, 2.0);
        assert_eq!(curve.points, [(20.0, 0.0), (20.0, 0.75), (40.0, 0.75), (40.0, 0.875)]);
        assert!(Counted::of_table(&table(), &["nothing"]).is_err());
    }

    #[test]
    fn bars_hold_all_values() {
        let hops = [(2.0, 5.0), (3.0, 6.0), (5.0, 1.0)].map(|(at, count)| Counted { from: at, to: at, count });
        let bars = [(1.5, 5.0), (2.5, 6.0), (3.5, 0.0), (4.5, 1.0), (5.5, 0.0)];
        assert_eq!(Curve::histogram(String::new(), &hops, 1.0).points, bars);
        let counted = [(8.0, 8.1, 3.0), (8.2, 8.3, 4.0), (16.0, 16.0, 5.0)];
        let counted = counted.map(|(from, to, count)| Counted { from, to, count });
        let curve = Curve::histogram(String::new(), &counted, 1.0);
        let points: Vec<_> = curve.points.iter().map(|(x, y)| (x.round(), *y)).collect();
        assert_eq!(points, [(8.0, 7.0), (9.0, 0.0), (16.0, 5.0), (17.0, 0.0)]);
    }
}
