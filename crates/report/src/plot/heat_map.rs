//! Heat maps: a field of cells whose colour tells a value, with a bar beside it that tells which colour is which value.

use super::axis::{Axis, Scale, Tick};
use super::clip::Frame;
use super::layout::{GAP, Layout};
use super::shapes::{Anchor, Colour, Drawing, Shape, TEXT, width_of};
use super::{Figure, round_up};

/// A field of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// What the columns are, from left to right.
    pub columns: Cells,
    /// What the rows are, from the lowest upwards.
    pub rows: Cells,
    /// The values, row by row; nothing where there is none.
    pub values: Vec<Option<f64>>,
    /// What they are, with their unit.
    pub label: String,
    /// Where the scale of colours ends, if not at the largest value. It begins at zero, or at the least value below.
    pub most: Option<f64>,
}

/// The columns or the rows of a heat map.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// So many with numbers from 0.
    Numbered(usize),
    /// With names.
    Named(Vec<String>),
    /// So many of the same length, from where to where.
    Between(usize, f64, f64),
}

impl Default for Cells {
    fn default() -> Self {
        Self::Numbered(0)
    }
}

/// So many numbers can stand side by side.
const NUMBERS_MAX: usize = 12;

impl Cells {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Numbered(count) | Self::Between(count, ..) => *count,
            Self::Named(names) => names.len(),
        }
    }

    /// The axis along them.
    pub(super) fn axis(&self) -> Axis {
        let whole = |scale, count: usize| Axis { scale, from: -0.5, to: count.max(1) as f64 - 0.5 };
        match self {
            Self::Named(names) => whole(Scale::Names(names.clone()), names.len()),
            // Between few numbers there would be halves.
            &Self::Numbered(count) if count <= NUMBERS_MAX => {
                whole(Scale::Names((0..count).map(|number| number.to_string()).collect()), count)
            }
            &Self::Numbered(count) => whole(Scale::Linear, count),
            &Self::Between(_, from, to) => {
                Axis { scale: Scale::Linear, from, to: if to > from { to } else { from + 1.0 } }
            }
        }
    }
}

/// Steps of lightness that look alike to people with any kind of colour vision, and printed in grey (viridis).
const COLOURS: [Colour; 64] = [
    "#440154", "#46075a", "#470d60", "#471365", "#48186a", "#481d6f", "#482374", "#482878", "#472d7b", "#46327e",
    "#453781", "#443b84", "#424086", "#404588", "#3e4989", "#3d4e8a", "#3a538b", "#38588c", "#365c8d", "#34608d",
    "#32648e", "#31688e", "#2f6c8e", "#2d708e", "#2c738e", "#2a778e", "#297b8e", "#277f8e", "#26828e", "#24868e",
    "#238a8d", "#218e8d", "#20928c", "#1f968b", "#1f9a8a", "#1f9e89", "#1fa187", "#21a585", "#23a983", "#26ad81",
    "#2ab07f", "#2fb47c", "#35b779", "#3bbb75", "#42be71", "#4ac16d", "#52c569", "#5ac864", "#65cb5e", "#6ece58",
    "#77d153", "#81d34d", "#8bd646", "#95d840", "#a0da39", "#aadc32", "#b5de2b", "#c0df25", "#cae11f", "#d5e21a",
    "#dfe318", "#eae51a", "#f4e61e", "#fde725",
];

/// Where there is no value.
const NOTHING: Colour = "#f2f2f2";
/// The width of the bar, in sizes of the text along the axes.
const BAR: f64 = 1.3;
/// Cells overlap by so much, so that nothing shines through between them.
const OVERLAP: f64 = 0.3;

impl HeatMap {
    /// The axis of the bar.
    pub(super) fn scale(&self) -> Axis {
        let values = || self.values.iter().flatten().copied();
        let least = values().fold(0.0, f64::min);
        let most = self.most.unwrap_or_else(|| values().fold(0.0, f64::max));
        let to = if most > least { most } else { least + 1.0 };
        Axis {
            scale: Scale::Linear,
            from: least,
            to: self.most.unwrap_or_else(|| if least < 0.0 { to } else { round_up(to) }),
        }
    }

    fn ticks(&self, height: f64, font: u32) -> Vec<Tick> {
        self.scale().ticks((height / (2.6 * f64::from(font))) as usize)
    }

    /// The room that the bar takes beside a panel of some height.
    pub(super) fn width_beside(&self, height: f64, tick: u32, label: u32) -> f64 {
        let widest = self.ticks(height, tick).iter().map(|mark| width_of(&mark.label, tick)).fold(0.0, f64::max);
        (1.0 + BAR) * f64::from(tick) + widest + 1.35 * f64::from(label) + 4.0 * GAP
    }
}

fn colour(share: f64) -> Colour {
    COLOURS[((share * COLOURS.len() as f64) as usize).min(COLOURS.len() - 1)]
}

impl Figure {
    /// The cells and the bar.
    pub(super) fn heat(&self, drawing: &mut Drawing, layout: &Layout, heat: &HeatMap) {
        let Frame { left, top, right, bottom } = layout.frame;
        let (columns, rows, scale) = (heat.columns.count(), heat.rows.count(), heat.scale());
        drawing.group("cells", |drawing| {
            drawing.area(vec![(left, top), (right, top), (right, bottom), (left, bottom)], NOTHING, 1.0);
            let (width, height) = (layout.frame.width() / columns as f64, layout.frame.height() / rows as f64);
            let of =
                |value: &Option<f64>| value.and_then(|value| scale.share(value)).map(|share| colour(share.max(0.0)));
            for (row, values) in heat.values.chunks(columns.max(1)).enumerate() {
                let colours: Vec<Option<Colour>> = values.iter().map(of).collect();
                let mut column = 0;
                // Neighbours of the same colour are one piece.
                for piece in colours.chunk_by(|one, other| one == other) {
                    if let Some(fill) = piece[0] {
                        let (x, y) = (left + column as f64 * width, bottom - row as f64 * height);
                        let end = (x + piece.len() as f64 * width + OVERLAP).min(right);
                        let above = (y - height - OVERLAP).max(top);
                        drawing.area(vec![(x, above), (end, above), (end, y), (x, y)], fill, 1.0);
                    }
                    column += piece.len();
                }
            }
        });
        drawing.group("bar", |drawing| bar(drawing, layout, heat, &scale));
    }
}

/// Which colour is which value.
fn bar(drawing: &mut Drawing, layout: &Layout, heat: &HeatMap, scale: &Axis) {
    let Frame { top, right, bottom, .. } = layout.frame;
    let font = layout.fonts.tick;
    let (from, to) = (right + f64::from(font), right + (1.0 + BAR) * f64::from(font));
    let height = layout.frame.height() / COLOURS.len() as f64;
    for (step, &fill) in COLOURS.iter().enumerate() {
        let (low, high) = (bottom - step as f64 * height, bottom - (step + 1) as f64 * height);
        let high = (high - OVERLAP).max(top);
        drawing.area(vec![(from, high), (to, high), (to, low), (from, low)], fill, 1.0);
    }
    drawing.line(vec![(from, top), (to, top), (to, bottom), (from, bottom), (from, top)], "#444444", 0.7, &[]);
    let mut widest = 0.0_f64;
    for tick in scale.ticks((layout.frame.height() / (2.6 * f64::from(font))) as usize) {
        let y = bottom - tick.share * layout.frame.height();
        drawing.line(vec![(to, y), (to + 3.0, y)], "#444444", 0.7, &[]);
        drawing.text((to + 1.4 * GAP, y + 0.36 * f64::from(font)), &tick.label, font, Anchor::Start);
        widest = widest.max(width_of(&tick.label, font));
    }
    let size = layout.fonts.label;
    let place = (to + 2.0 * GAP + widest + f64::from(size), f64::midpoint(top, bottom));
    let text = heat.label.clone();
    drawing.shapes.push(Shape::Text { place, text, size, anchor: Anchor::Middle, upwards: true, colour: TEXT });
}

#[cfg(test)]
mod tests {
    use super::super::Size;
    use super::*;

    fn figure(size: Size) -> Figure {
        let values = (0..12).map(|value| (value != 5).then_some(f64::from(value) / 10.0)).collect();
        let rows = Cells::Named(vec!["one".to_owned(), "another".to_owned(), "a third".to_owned()]);
        let (label, columns) = ("utilisation".to_owned(), Cells::Between(4, 0.0, 400.0));
        let heat = HeatMap { columns, rows, values, label, most: Some(1.0) };
        let (x_label, y_label) = ("time (cycles)".to_owned(), "link".to_owned());
        Figure { title: "Links".to_owned(), x_label, y_label, heat: Some(heat), size, ..Figure::default() }
    }

    /// The bar covers nothing, and all of it is on the paper.
    #[test]
    fn heat_maps_have_cells_and_a_bar_beside_them() {
        for size in [Size::SINGLE_COLUMN, Size::DOUBLE_COLUMN, Size::default()] {
            let drawing = figure(size).drawing();
            let (mut areas, mut rightmost, mut in_bar) = (Vec::new(), 0.0_f64, f64::INFINITY);
            for shape in &drawing.shapes {
                if let Shape::Area { places, fill, .. } = shape {
                    areas.push(*fill);
                    if areas.len() <= 12 {
                        rightmost = places.iter().map(|place| place.0).fold(rightmost, f64::max);
                    } else {
                        in_bar = places.iter().map(|place| place.0).fold(in_bar, f64::min);
                    }
                    assert!(places.iter().all(|&(x, y)| x <= drawing.width && y <= drawing.height && x.min(y) >= 0.0));
                }
            }
            // The ground and eleven cells, of which two have the colour of the end; then the bar.
            assert_eq!((areas[0], areas.len()), (NOTHING, 1 + 10 + COLOURS.len()), "{size:?}");
            assert!(in_bar > 0.5 * drawing.width && rightmost < drawing.width, "{size:?}");
        }
        let svg = figure(Size::default()).to_svg();
        for text in ["utilisation", ">another<", ">400<", ">1.0<", COLOURS[0], COLOURS[63]] {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert!(svg == figure(Size::default()).to_svg() && figure(Size::default()).to_pdf().starts_with(b"%PDF"));
    }
}
