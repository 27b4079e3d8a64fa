//! How curves are told apart: by colour, dash and marker.

use super::shapes::{Colour, Dash, Drawing, Place, Shape};

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito), without those that are lost on white.
const COLOURS: [Colour; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#333333"];

/// What tells curves apart that share a colour.
const DASHES: [Dash; 4] = [&[], &[6.0, 2.5], &[1.5, 2.0], &[7.0, 2.0, 1.5, 2.0]];

/// The look of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub colour: Colour,
    pub dash: Dash,
    /// Which marker.
    marker: usize,
    /// Whether it is filled.
    filled: bool,
}

impl Look {
    /// The look of a curve by its place in the legend. Twelve differ in colour or in dash, and in their markers without any colour; twice
    /// as many differ somehow.
    pub fn of(index: usize) -> Self {
        let round = index / COLOURS.len();
        Self {
            colour: COLOURS[index % COLOURS.len()],
            dash: DASHES[round % DASHES.len()],
            marker: index % COLOURS.len(),
            filled: round.is_multiple_of(2),
        }
    }

    /// A marker of a size at a place.
    pub fn mark(&self, drawing: &mut Drawing, (x, y): Place, size: f64) {
        let fill = if self.filled { self.colour } else { "#ffffff" };
        let outline = Some((self.colour, 0.28 * size));
        let corners: &[(f64, f64)] = match self.marker {
            0 => {
                drawing.shapes.push(Shape::Circle { centre: (x, y), radius: 0.95 * size, fill, outline });
                return;
            }
            1 => &[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
            2 => &[(0.0, -1.15), (1.05, 0.75), (-1.05, 0.75)],
            3 => &[(0.0, -1.25), (1.0, 0.0), (0.0, 1.25), (-1.0, 0.0)],
            4 => &[(0.0, 1.15), (1.05, -0.75), (-1.05, -0.75)],
            _ => &[(0.0, -1.1), (1.05, -0.34), (0.65, 0.9), (-0.65, 0.9), (-1.05, -0.34)],
        };
        let places = corners.iter().map(|(dx, dy)| (x + size * dx, y + size * dy)).collect();
        drawing.shapes.push(Shape::Area { places, fill, opacity: 1.0, outline });
    }

    /// A rectangle of its colour, of a width and a height, about a place.
    pub fn patch(&self, drawing: &mut Drawing, (x, y): Place, (width, height): (f64, f64)) {
        let (across, up) = (0.5 * width, 0.5 * height);
        let places = vec![(x - across, y - up), (x + across, y - up), (x + across, y + up), (x - across, y + up)];
        drawing.area(places, self.colour, 1.0);
    }

    /// An arrow whose tip is at a place, and that comes from another.
    pub fn arrow(&self, drawing: &mut Drawing, tip: Place, from: Place, size: f64) {
        let (dx, dy) = (tip.0 - from.0, tip.1 - from.1);
        let length = libm::sqrt(dx * dx + dy * dy);
        let (dx, dy) = (dx / length, dy / length);
        let back = (tip.0 - 2.2 * size * dx, tip.1 - 2.2 * size * dy);
        let side = |sign: f64| (back.0 - sign * 1.1 * size * dy, back.1 + sign * 1.1 * size * dx);
        drawing.area(vec![tip, side(1.0), side(-1.0)], self.colour, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_curves_differ_with_and_without_colour() {
        let looks: Vec<Look> = (0..12).map(Look::of).collect();
        for (place, look) in looks.iter().enumerate() {
            for other in &looks[..place] {
                assert!((look.colour, look.dash) != (other.colour, other.dash));
                assert!((look.marker, look.filled) != (other.marker, other.filled));
            }
        }
    }
}
