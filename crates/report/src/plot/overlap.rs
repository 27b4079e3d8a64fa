//! Curves that lie on each other. One that is covered by those drawn after it is hidden: they leave gaps for it, and the caption names it.

use std::collections::BTreeMap;

use super::clip::Frame;
use super::shapes::Place;

/// How far apart, in widths of a line, two lines are that look like one.
const NEAR: f64 = 0.6;
/// For how long, in points, each of several curves is seen in turn.
const TURN: f64 = 6.0;
/// So many curves are named in a caption.
const NAMED_MAX: usize = 12;

/// What is drawn of a curve.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    /// Its line, in parts.
    pub parts: Vec<Vec<Place>>,
    /// Where its points are.
    pub points: Vec<Place>,
}

/// Which curves of a figure are hidden, and by which.
#[derive(Debug)]
pub(super) struct Overlaps {
    profiles: Vec<Profile>,
    points: Vec<Vec<Place>>,
    /// For each curve, those drawn later that cover it; none unless all of it is covered.
    covered_by: Vec<Vec<usize>>,
    near: f64,
}

impl Overlaps {
    /// Compares curves, in the order in which they are drawn, with lines of some width.
    pub fn new(curves: Vec<Drawn>, frame: &Frame, line_width: f64) -> Self {
        let profiles: Vec<Profile> = curves.iter().map(|curve| Profile::new(curve, frame)).collect();
        let near = NEAR * line_width;
        let covered_by = (0..profiles.len()).map(|place| covering(&profiles, place, near)).collect();
        Self { profiles, points: curves.into_iter().map(|curve| curve.points).collect(), covered_by, near }
    }

    /// What a reader must know of hidden curves, by their names.
    pub fn captions(&self, names: &[&str]) -> Vec<String> {
        let mut hidden: BTreeMap<&[usize], Vec<&str>> = BTreeMap::new();
        for (place, covering) in self.covered_by.iter().enumerate().filter(|(_, covering)| !covering.is_empty()) {
            hidden.entry(covering).or_default().push(names[place]);
        }
        let of = |(covering, hidden): (&[usize], Vec<&str>)| {
            let covering: Vec<&str> = covering.iter().map(|&place| names[place]).collect();
            let verb = if hidden.len() > 1 { "lie" } else { "lies" };
            format!("drawn in turns: {} {verb} on {}", listed(&hidden), listed(&covering))
        };
        hidden.into_iter().map(of).collect()
    }

    /// The parts of the line of a curve that leave gaps for what they would hide.
    pub fn with_gaps(&self, curve: usize, parts: Vec<Vec<Place>>) -> Vec<Vec<Place>> {
        if !self.is_hidden_before(curve) {
            return parts;
        }
        parts.iter().flat_map(|part| self.pieces(curve, part)).collect()
    }

    /// Whether the marker of a curve at one of its points is the one that is seen there.
    pub fn is_marked(&self, curve: usize, place: Place) -> bool {
        let marks = |other: usize| self.points[other].iter().position(|&point| distance(point, place) <= self.near);
        let here: Vec<usize> = self.at(curve, place).into_iter().filter(|&other| marks(other).is_some()).collect();
        let turn = here.first().and_then(|&first| marks(first)).unwrap_or(0);
        here.is_empty() || here[turn % here.len()] == curve
    }

    fn is_hidden(&self, curve: usize) -> bool {
        !self.covered_by[curve].is_empty()
    }

    fn is_hidden_before(&self, curve: usize) -> bool {
        (0..curve).any(|other| self.is_hidden(other))
    }

    /// The curves that are seen in turn where one is: the first that is hidden there, and all on it. None if the curve is not among them.
    fn at(&self, curve: usize, place: Place) -> Vec<usize> {
        let is_here = |&other: &usize| other == curve || self.profiles[other].covers_place(place, self.near);
        let first = (0..=curve).filter(|&other| self.is_hidden(other)).find(is_here);
        first.map_or_else(Vec::new, |first| (first..self.profiles.len()).filter(is_here).collect())
    }

    /// A part of a line, cut where the turn changes. Gaps only let through what lies below, so that the line has no holes.
    fn pieces(&self, curve: usize, part: &[Place]) -> Vec<Vec<Place>> {
        let (mut pieces, mut piece): (Vec<Vec<Place>>, Vec<Place>) = (Vec::new(), Vec::new());
        let mut gone = 0.0;
        for pair in part.windows(2) {
            let length = distance(pair[0], pair[1]);
            let at =
                |share: f64| (pair[0].0 + share * (pair[1].0 - pair[0].0), pair[0].1 + share * (pair[1].1 - pair[0].1));
            let mut from = 0.0;
            while length - from > 1e-9 {
                let turn = libm::floor((gone + from) / TURN + 1e-9);
                let to = ((turn + 1.0) * TURN - gone).min(length);
                let here = self.at(curve, at(f64::midpoint(from, to) / length));
                let rank = here.iter().position(|&other| other == curve).unwrap_or(0);
                if turn as usize % here.len().max(1) >= rank {
                    if piece.is_empty() {
                        piece.push(at(from / length));
                    }
                    piece.push(at(to / length));
                } else if !piece.is_empty() {
                    pieces.push(std::mem::take(&mut piece));
                }
                from = to;
            }
            gone += length;
        }
        pieces.extend((piece.len() > 1).then_some(piece));
        // Without a gap there is nothing to be cut.
        let (start, end) = (part[0], part[part.len() - 1]);
        let is_whole = |piece: &[Place]| distance(piece[0], start) + distance(piece[piece.len() - 1], end) < 1e-6;
        match pieces.as_slice() {
            [piece] if is_whole(piece) => vec![part.to_vec()],
            _ => pieces,
        }
    }
}

/// Between which heights a line runs in each column of a frame; columns are a point wide.
#[derive(Debug)]
struct Profile {
    left: f64,
    columns: Vec<Option<(f64, f64)>>,
}

impl Profile {
    fn new(curve: &Drawn, frame: &Frame) -> Self {
        let columns = vec![None; libm::ceil(frame.width()).max(1.0) as usize + 1];
        let mut profile = Self { left: frame.left, columns };
        for part in &curve.parts {
            part.windows(2).for_each(|pair| profile.add(pair[0], pair[1]));
        }
        curve.points.iter().for_each(|&point| profile.add(point, point));
        profile
    }

    fn column(&self, x: f64) -> usize {
        (libm::floor(x - self.left).max(0.0) as usize).min(self.columns.len() - 1)
    }

    fn add(&mut self, from: Place, to: Place) {
        let (from, to) = if from.0 <= to.0 { (from, to) } else { (to, from) };
        let height = |x: f64| {
            let share = if to.0 > from.0 { ((x - from.0) / (to.0 - from.0)).clamp(0.0, 1.0) } else { 0.0 };
            from.1 + share * (to.1 - from.1)
        };
        for column in self.column(from.0)..=self.column(to.0) {
            let start = self.left + column as f64;
            let ends = if to.0 > from.0 { [height(start), height(start + 1.0)] } else { [from.1, to.1] };
            let (least, most) = self.columns[column].unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            self.columns[column] = Some((ends[0].min(ends[1]).min(least), ends[0].max(ends[1]).max(most)));
        }
    }

    /// Whether the line covers what is between two heights of a column. A line that is steep covers as much to the side.
    fn covers(&self, column: usize, (least, most): (f64, f64), near: f64) -> bool {
        let beside = column.saturating_sub(1)..=(column + 1).min(self.columns.len() - 1);
        let found = self.columns[beside].iter().flatten().copied();
        let found = found.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        found.is_some_and(|(top, bottom)| top - near <= least && most <= bottom + near)
    }

    fn covers_place(&self, (x, y): Place, near: f64) -> bool {
        self.covers(self.column(x), (y, y), near)
    }
}

/// The curves drawn after one that cover it: a single one if it can be, the last. None unless all of it is covered.
fn covering(profiles: &[Profile], place: usize, near: f64) -> Vec<usize> {
    let seen = || profiles[place].columns.iter().enumerate().filter_map(|(column, ends)| Some((column, (*ends)?)));
    if seen().next().is_none() {
        return Vec::new();
    }
    let later = || (place + 1..profiles.len()).rev();
    let covers = |other: usize, (column, ends)| profiles[other].covers(column, ends, near);
    if let Some(other) = later().find(|&other| seen().all(|piece| covers(other, piece))) {
        return vec![other];
    }
    let mut found = Vec::new();
    for piece in seen() {
        if found.iter().any(|&other| covers(other, piece)) {
            continue;
        }
        let Some(other) = later().find(|&other| covers(other, piece)) else { return Vec::new() };
        found.push(other);
    }
    found.sort_unstable();
    found
}

fn distance(one: Place, other: Place) -> f64 {
    libm::hypot(one.0 - other.0, one.1 - other.1)
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    // Names of several parts would look like several names.
    let named = |name: &&str| if name.contains(',') { format!("\"{name}\"") } else { (*name).to_owned() };
    let mut names: Vec<String> = names.iter().take(NAMED_MAX).map(named).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match names.as_slice() {
        [] => String::new(),
        [name] => name.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };

    fn line(points: &[Place]) -> Drawn {
        Drawn { parts: vec![points.to_vec()], points: points.to_vec() }
    }

    fn overlaps(curves: &[Drawn]) -> Overlaps {
        Overlaps::new(curves.to_vec(), &FRAME, 1.4)
    }

    /// Which curve is seen at steps along the line from (0, 50) to (60, 50).
    fn seen_along(overlaps: &Overlaps, curves: &[Drawn]) -> Vec<usize> {
        let gapped = |curve: usize| overlaps.with_gaps(curve, curves[curve].parts.clone());
        let gapped: Vec<_> = (0..curves.len()).map(gapped).collect();
        let is_at = |parts: &[Vec<Place>], x: f64| {
            parts.iter().any(|part| part[0].1 == 50.0 && part[0].0 < x && x < part[part.len() - 1].0)
        };
        let places = (0..10).map(|step| 3.0 + 6.0 * f64::from(step));
        places.map(|x| (0..curves.len()).rfind(|&curve| is_at(&gapped[curve], x)).expect("no holes")).collect()
    }

    #[test]
    fn equal_curves_are_seen_in_turn() {
        let flat = || line(&[(0.0, 50.0), (20.0, 50.0), (60.0, 50.0)]);
        let curves = [flat(), line(&[(0.0, 90.0), (60.0, 90.0)]), flat(), flat()];
        let overlaps = overlaps(&curves);
        assert_eq!(overlaps.captions(&["a", "b", "c", "d"]), ["drawn in turns: a and c lie on d"]);
        assert_eq!(seen_along(&overlaps, &curves), [0, 2, 3, 0, 2, 3, 0, 2, 3, 0]);
        let marked = |x: f64| [0, 2, 3].into_iter().filter(|&c| overlaps.is_marked(c, (x, 50.0))).collect::<Vec<_>>();
        assert_eq!([0.0, 20.0, 60.0].map(marked), [vec![0], vec![2], vec![3]]);
        assert!(overlaps.is_marked(1, (60.0, 90.0)) && overlaps.with_gaps(1, curves[1].parts.clone()).len() == 1);
    }

    #[test]
    fn what_can_be_seen_somewhere_is_not_hidden() {
        let curves = [
            line(&[(0.0, 50.0), (50.0, 50.0), (60.0, 60.0)]),
            line(&[(0.0, 50.0), (50.0, 50.0), (60.0, 40.0)]),
            // On the first up to its end: it is drawn later, so nothing of it is hidden.
            line(&[(0.0, 50.0), (40.0, 50.0)]),
        ];
        let overlaps = overlaps(&curves);
        assert!(overlaps.captions(&["a", "b", "c"]).is_empty());
        for (place, curve) in curves.iter().enumerate() {
            assert_eq!(overlaps.with_gaps(place, curve.parts.clone()), curve.parts);
            assert!(curve.points.iter().all(|&point| overlaps.is_marked(place, point)));
        }
    }

    #[test]
    fn a_curve_may_lie_on_several() {
        let curves = [
            line(&[(0.0, 50.0), (100.0, 50.0)]),
            line(&[(0.0, 50.0), (50.0, 50.0), (60.0, 0.0)]),
            line(&[(40.0, 100.0), (50.0, 50.2), (100.0, 50.2)]),
        ];
        assert_eq!(overlaps(&curves).captions(&["a", "b", "c"]), ["drawn in turns: a lies on b and c"]);
    }

    #[test]
    fn steep_curves_are_compared_to_the_side() {
        let steep = |x: f64| line(&[(x, 100.0), (x + 1.0, 0.0)]);
        assert_eq!(overlaps(&[steep(10.2), steep(10.2)]).captions(&["a", "b"]).len(), 1);
        assert!(overlaps(&[steep(10.2), steep(14.2)]).captions(&["a", "b"]).is_empty());
        assert!(overlaps(&[Drawn::default(), Drawn::default()]).captions(&["a", "b"]).is_empty());
    }

    #[test]
    fn captions_stay_short() {
        let names: Vec<String> = (0..20).map(|index| index.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(listed(&names), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more");
        assert_eq!(listed(&["hot, MIN", "calm"]), "\"hot, MIN\" and calm");
    }
}
