//! The legend: beside the panel if the figure is wide enough, else below it; never on it.

use super::Size;
use super::clip::Frame;
use super::shapes::{Place, shortened, width_of};

/// Below this width of a figure, in points, the panel needs all of it.
const NARROW: f64 = 400.0;

/// The largest share of the width that a legend beside the panel may take.
const SHARE_BESIDE: f64 = 0.3;

/// The length of the sample of a line, with the room behind it, in sizes of the text.
const SAMPLE: f64 = 3.2;

/// The names of curves, with where they lie.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Legend {
    names: Vec<String>,
    font: u32,
    /// How many columns it has below the panel; none if it is beside.
    columns: Option<usize>,
    column_width: f64,
}

impl Legend {
    /// The legend of curves with these names; without any if none has one.
    pub fn new(names: &[&str], size: Size, font: u32) -> Self {
        let names = if names.iter().all(|name| name.is_empty()) { &[] } else { names };
        let sample = (SAMPLE + 0.8) * f64::from(font);
        let width = |name: &str| sample + width_of(name, font);
        let widest = names.iter().map(|name| width(name)).fold(0.0, f64::max);
        let room = size.width - 4.0 * f64::from(font);
        let fits = names.len() as f64 * 1.45 * f64::from(font) < 0.8 * size.height;
        let beside = size.width >= NARROW && widest <= SHARE_BESIDE * size.width && fits;
        let column_width = widest.min(room);
        let columns = ((room / column_width.max(1.0)) as usize).clamp(1, names.len().max(1));
        // Rows of about the same length look better than a last one that is almost empty.
        let rows = names.len().div_ceil(columns).max(1);
        let columns = names.len().div_ceil(rows).max(1);
        Self {
            names: names.iter().map(|name| shortened(name, font, column_width - sample + 0.5)).collect(),
            font,
            columns: (!beside).then_some(columns),
            column_width,
        }
    }

    fn row_height(&self) -> f64 {
        1.45 * f64::from(self.font)
    }

    /// The width that it takes beside the panel.
    pub fn width_beside(&self) -> f64 {
        if self.columns.is_none() && !self.names.is_empty() { self.column_width + f64::from(self.font) } else { 0.0 }
    }

    /// The height that it takes below the panel.
    pub fn height_below(&self) -> f64 {
        match self.columns {
            Some(columns) if !self.names.is_empty() => {
                self.names.len().div_ceil(columns) as f64 * self.row_height() + 2.0
            }
            _ => 0.0,
        }
    }

    /// The names with where the samples of their lines begin: beside the panel from its top, or below from `top`.
    pub fn entries(&self, frame: &Frame, width: f64, top: f64) -> Vec<(&str, Place)> {
        let place = |index: usize| match self.columns {
            None => {
                let x = frame.right + f64::from(self.font);
                (x, frame.top + (index as f64 + 0.5) * self.row_height())
            }
            Some(columns) => {
                let all = columns as f64 * self.column_width;
                // In the middle of the panel, unless that is beyond the edge.
                let middle = (frame.left + frame.right - all) / 2.0;
                let left = middle.min(width - all - 2.0).max(4.0);
                let (row, column) = (index / columns, index % columns);
                (left + column as f64 * self.column_width, top + (row as f64 + 0.5) * self.row_height())
            }
        };
        self.names.iter().enumerate().map(|(index, name)| (name.as_str(), place(index))).collect()
    }

    /// The length of the sample of a line.
    pub fn sample(&self) -> f64 {
        (SAMPLE - 0.6) * f64::from(self.font)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_are_below_where_figures_are_narrow_or_names_long() {
        let names = ["MIN", "VAL", "UGAL-L"];
        assert!(Legend::new(&names, Size::default(), 9).width_beside() > 20.0);
        let below = Legend::new(&names, Size::SINGLE_COLUMN, 7);
        assert!(below.width_beside() == 0.0 && below.height_below() > 5.0);
        let long = "a name that is much too long to stand beside anything at all in a figure";
        assert!(Legend::new(&[long, "b"], Size::default(), 9).width_beside() == 0.0);
        assert!(Legend::new(&["", ""], Size::default(), 9).names.is_empty());
    }

    #[test]
    fn entries_do_not_overlap_and_stay_in_the_figure() {
        let names: Vec<String> = (0..12).map(|index| format!("curve {index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let size = Size::SINGLE_COLUMN;
        let legend = Legend::new(&names, size, 7);
        let frame = Frame { left: 40.0, top: 10.0, right: 240.0, bottom: 100.0 };
        let entries = legend.entries(&frame, size.width, 120.0);
        for (place, (name, (x, y))) in entries.iter().enumerate() {
            assert!(*x >= 0.0 && x + legend.column_width <= size.width + 1.0, "{name} at {x}");
            for (_, (other_x, other_y)) in &entries[..place] {
                assert!((x - other_x).abs() + 0.01 >= legend.column_width || (y - other_y).abs() > 7.0);
            }
        }
    }
}
