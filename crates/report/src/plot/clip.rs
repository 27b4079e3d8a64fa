//! What of a curve lies in the frame, and where the curve leaves it.

use super::shapes::Place;

/// A rectangle, downwards from the top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Frame {
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Whether a place lies in it, or on its edge.
    pub fn holds(&self, (x, y): Place) -> bool {
        let near = 1e-6;
        (self.left - near..=self.right + near).contains(&x) && (self.top - near..=self.bottom + near).contains(&y)
    }
}

/// What can be seen of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Its parts, one after the other.
    pub parts: Vec<Vec<Place>>,
    /// Points without neighbours, through which no line goes.
    pub dots: Vec<Place>,
    /// Where it goes on above or below the frame: the place on the edge, and the one before it.
    pub leaves: Vec<(Place, Place)>,
}

/// What of a curve through places lies in a frame; where there is none, it is interrupted.
pub(super) fn seen(places: &[Option<Place>], frame: &Frame) -> Seen {
    let mut seen = Seen::default();
    let mut part: Vec<Place> = Vec::new();
    for pair in places.windows(2) {
        let [Some(from), Some(to)] = *pair else {
            close(&mut part, &mut seen);
            continue;
        };
        let Some((start, end)) = clipped(from, to, frame) else {
            close(&mut part, &mut seen);
            continue;
        };
        if part.is_empty() {
            part.push(start);
        }
        // A segment may only touch the edge. It goes the same way beyond it.
        let touches = start == end;
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        if !touches {
            part.push(end);
        }
        // What lies on the edge may seem to be beyond it by a rounding error.
        let (comes, goes) = (start != from && !frame.holds(from), end != to && !frame.holds(to));
        if goes {
            close(&mut part, &mut seen);
        }
        if goes && (end.1 <= frame.top + 1e-6 || end.1 >= frame.bottom - 1e-6) {
            seen.leaves.push((end, if touches { (end.0 - dx, end.1 - dy) } else { start }));
        }
        // A curve may come from above the frame, too.
        if comes && (start.1 <= frame.top + 1e-6 || start.1 >= frame.bottom - 1e-6) {
            seen.leaves.push((start, if touches { (start.0 + dx, start.1 + dy) } else { end }));
        }
    }
    close(&mut part, &mut seen);
    let is_missing = |place: Option<usize>| place.and_then(|place| places.get(place)).is_none_or(Option::is_none);
    let alone = (0..places.len()).filter(|&place| is_missing(place.checked_sub(1)) && is_missing(Some(place + 1)));
    seen.dots = alone.filter_map(|place| places[place]).filter(|&place| frame.holds(place)).collect();
    seen
}

fn close(part: &mut Vec<Place>, seen: &mut Seen) {
    if part.len() > 1 {
        seen.parts.push(std::mem::take(part));
    }
    part.clear();
}

/// The part of a segment that lies in a frame (Liang and Barsky).
fn clipped(from: Place, to: Place, frame: &Frame) -> Option<(Place, Place)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for (slope, room) in
        [(-dx, from.0 - frame.left), (dx, frame.right - from.0), (-dy, from.1 - frame.top), (dy, frame.bottom - from.1)]
    {
        if slope == 0.0 {
            if room < -1e-9 {
                return None;
            }
        } else if slope < 0.0 {
            first = first.max(room / slope);
        } else {
            last = last.min(room / slope);
        }
    }
    if first > last {
        return None;
    }
    let at = |share: f64| match share {
        ..=0.0 => from,
        1.0.. => to,
        _ => (from.0 + share * dx, from.1 + share * dy),
    };
    Some((at(first), at(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    #[test]
    fn curves_end_at_the_frame_and_say_where() {
        let places = [(1.0, 8.0), (3.0, 4.0), (5.0, -4.0), (7.0, -4.0)].map(Some);
        let found = seen(&places, &FRAME);
        assert_eq!(found.parts, [vec![(1.0, 8.0), (3.0, 4.0), (4.0, 0.0)]]);
        assert_eq!(found.leaves, [((4.0, 0.0), (3.0, 4.0))]);
    }

    #[test]
    fn what_goes_on_to_the_side_does_not_leave() {
        let found = seen(&[(-5.0, 5.0), (15.0, 5.0)].map(Some), &FRAME);
        assert_eq!((found.parts, found.leaves), (vec![vec![(0.0, 5.0), (10.0, 5.0)]], Vec::new()));
    }

    #[test]
    fn what_ends_at_the_edge_does_not_leave() {
        let found = seen(&[(1.0, 5.0), (2.0, -1e-13), (3.0, -1e-13)].map(Some), &FRAME);
        assert_eq!((found.parts.len(), found.leaves), (1, Vec::new()));
    }

    /// The last point before a curve leaves the frame, or the first after it has come back, may lie on the edge itself.
    #[test]
    fn from_the_edge_on_nothing_is_drawn() {
        let found = seen(&[(5.0, 5.0), (10.0, 5.0), (20.0, 5.0)].map(Some), &FRAME);
        assert_eq!((found.parts, found.leaves), (vec![vec![(5.0, 5.0), (10.0, 5.0)]], Vec::new()));
        let found = seen(&[(20.0, 5.0), (10.0, 5.0), (5.0, 5.0)].map(Some), &FRAME);
        assert_eq!((found.parts, found.leaves), (vec![vec![(10.0, 5.0), (5.0, 5.0)]], Vec::new()));
        let found = seen(&[(5.0, 5.0), (6.0, 0.0), (7.0, -5.0)].map(Some), &FRAME);
        assert_eq!((found.parts, found.leaves), (vec![vec![(5.0, 5.0), (6.0, 0.0)]], vec![((6.0, 0.0), (5.0, 5.0))]));
        let found = seen(&[(5.0, -5.0), (6.0, 0.0), (7.0, 5.0)].map(Some), &FRAME);
        assert_eq!((found.parts, found.leaves), (vec![vec![(6.0, 0.0), (7.0, 5.0)]], vec![((6.0, 0.0), (7.0, 5.0))]));
    }

    #[test]
    fn a_value_that_is_missing_interrupts() {
        let places = [Some((0.0, 1.0)), Some((1.0, 1.0)), None, Some((3.0, 1.0)), Some((4.0, 1.0))];
        assert_eq!((seen(&places, &FRAME).parts.len(), seen(&places, &FRAME).dots.len()), (2, 0));
        let alone = [None, Some((1.0, 1.0)), None, Some((3.0, 1.0)), Some((4.0, 1.0))];
        assert_eq!(seen(&alone, &FRAME).dots, [(1.0, 1.0)]);
        assert_eq!(seen(&[Some((1.0, 20.0))], &FRAME), Seen::default());
        assert_eq!(seen(&[Some((20.0, 20.0)), Some((30.0, 20.0))], &FRAME), Seen::default());
    }
}
