//! Where the legend lies inside of the axes: in the corner in which it hides least.

use super::{Curve, Figure};

/// From where to where the axes go.
pub(super) struct Axes {
    pub x: (f64, f64),
    pub y: (f64, f64),
}

/// A corner of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corner {
    TopLeft,
    TopRight,
    BottomRight,
    BottomLeft,
}

/// The corners in the order in which they are taken if they are equally free: curves of load and latency leave the first free.
/// With each, whether it is right, and whether it is at the top.
const CORNERS: [(Corner, bool, bool); 4] = [
    (Corner::TopLeft, false, true),
    (Corner::TopRight, true, true),
    (Corner::BottomRight, true, false),
    (Corner::BottomLeft, false, false),
];

/// About how much of the axes a legend takes: of its frame and for each character of a line, and of its frame and for each line.
const WIDTH: (f64, f64) = (0.08, 0.011);
const HEIGHT: (f64, f64) = (0.06, 0.045);

/// Places on a curve between two of its points that are looked at.
const STEPS: u32 = 40;

impl Figure {
    /// The corner in which the legend hides least of the curves.
    pub(super) fn freest_corner(&self, axes: &Axes) -> Corner {
        let longest = self.curves.iter().map(|curve| curve.name.chars().count()).max().unwrap_or(0);
        let size = (WIDTH.0 + WIDTH.1 * longest as f64, HEIGHT.0 + HEIGHT.1 * self.curves.len() as f64);
        let places: Vec<(f64, f64)> = self.curves.iter().flat_map(|curve| self.places(curve, axes)).collect();
        let hidden = |right: bool, top: bool| {
            let is_near = |place: f64, end: bool, size: f64| if end { place > 1.0 - size } else { place < size };
            places.iter().filter(|(x, y)| is_near(*x, right, size.0) && is_near(*y, top, size.1)).count()
        };
        let (corner, _, _) = CORNERS.iter().min_by_key(|(_, right, top)| hidden(*right, *top)).expect("there are four");
        *corner
    }

    /// Places along a curve that can be seen, as shares of the axes.
    fn places(&self, curve: &Curve, axes: &Axes) -> Vec<(f64, f64)> {
        let share = |value: f64, (from, to): (f64, f64), is_log: bool| {
            if is_log { libm::log(value / from) / libm::log(to / from) } else { (value - from) / (to - from) }
        };
        let place = |&(x, y): &(f64, f64)| (share(x, axes.x, self.log_x), share(y, axes.y, self.log_y));
        let points: Vec<(f64, f64)> = curve.points.iter().map(place).collect();
        let mut places = points.clone();
        for pair in points.windows(2) {
            let between = |from: f64, to: f64, step: u32| from + (to - from) * f64::from(step) / f64::from(STEPS);
            places.extend((1..STEPS).map(|s| (between(pair[0].0, pair[1].0, s), between(pair[0].1, pair[1].1, s))));
        }
        places.retain(|(x, y)| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(points: &[(f64, f64)], log_x: bool) -> Corner {
        let curve = Curve { name: "a curve".to_owned(), points: points.to_vec(), ..Curve::default() };
        let figure = Figure { curves: vec![curve], log_x, ..Figure::default() };
        figure.freest_corner(&Axes { x: (1.0, 101.0), y: (0.0, 10.0) })
    }

    #[test]
    fn legends_lie_where_no_curve_is() {
        assert_eq!(corner(&[(1.0, 1.0), (101.0, 9.5)], false), Corner::TopLeft);
        assert_eq!(corner(&[(1.0, 9.5), (101.0, 1.0)], false), Corner::TopRight);
        // What is beyond the axes is not seen.
        assert_eq!(corner(&[(1.0, 90.0), (101.0, 95.0)], false), Corner::TopLeft);
        assert_eq!(corner(&[(1.0, 9.5), (101.0, 9.5)], false), Corner::BottomRight);
        assert_eq!(corner(&[(1.0, 9.5), (101.0, 9.5), (101.0, 0.1)], false), Corner::BottomLeft);
        // On a logarithmic axis 5 is a third of the way to the right.
        assert_eq!(corner(&[(5.0, 9.5), (101.0, 9.5)], true), Corner::TopLeft);
    }
}
