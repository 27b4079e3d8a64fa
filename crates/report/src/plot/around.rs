//! What stands around the panel: axes, their labels, the title, the legend and the captions.

use super::clip::Frame;
use super::layout::{GAP, Layout, line_height};
use super::looks::Look;
use super::shapes::{Anchor, Colour, Drawing, Shape, TEXT, width_of};
use super::{Figure, Style};

const AXIS: Colour = "#444444";

impl Figure {
    /// What stands around the panel.
    pub(super) fn around(&self, drawing: &mut Drawing, layout: &Layout) {
        let Frame { left, top, right, bottom } = layout.frame;
        let fonts = layout.fonts;
        let line = line_height;
        let mut base = GAP + f64::from(fonts.title);
        for text in &layout.title {
            drawing.text((layout.size.width / 2.0, base), text, fonts.title, Anchor::Middle);
            base += line(fonts.title);
        }
        let mut below = bottom + GAP + layout.x_rows as f64 * line(fonts.tick);
        if !self.x_label.is_empty() {
            below += line(fonts.label);
            drawing.text(((left + right) / 2.0, below - 2.0), &self.x_label, fonts.label, Anchor::Middle);
        }
        let mut beside = GAP + f64::from(fonts.label);
        for text in &layout.y_label {
            let place = (beside, (f64::midpoint(top, bottom)).max(width_of(text, fonts.label) / 2.0));
            let (text, size) = (text.clone(), fonts.label);
            let label = Shape::Text { place, text, size, anchor: Anchor::Middle, upwards: true, colour: TEXT };
            drawing.shapes.push(label);
            beside += line(fonts.label);
        }
        drawing.group("legend", |drawing| self.legend(drawing, layout, below + 2.0));
        below += layout.legend.height_below();
        drawing.group("caption", |drawing| {
            for text in &layout.caption {
                below += line(fonts.caption);
                drawing.text((GAP + 2.0, below), text, fonts.caption, Anchor::Start);
            }
        });
    }

    fn legend(&self, drawing: &mut Drawing, layout: &Layout, top: f64) {
        let sample = layout.legend.sample();
        for (index, (name, (x, y))) in layout.legend.entries(&layout.frame, layout.size.width, top).iter().enumerate() {
            let look = Look::of(index);
            if self.style == Style::Bars {
                look.patch(drawing, (x + sample / 2.0, *y), (sample, 2.0 * layout.marker()));
            } else {
                let width = 0.155 * f64::from(layout.fonts.tick);
                drawing.line(vec![(*x, *y), (x + sample, *y)], look.colour, width, look.dash);
            }
            if self.has_markers() {
                look.mark(drawing, (x + sample / 2.0, *y), layout.marker());
            }
            let font = layout.fonts.tick;
            let place = (x + sample + 0.6 * f64::from(font), y + 0.35 * f64::from(font));
            drawing.text(place, *name, font, Anchor::Start);
        }
    }
}

/// The frame and what is written along it.
pub(super) fn axes(drawing: &mut Drawing, layout: &Layout) {
    let Frame { left, top, right, bottom } = layout.frame;
    let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    drawing.line(corners, AXIS, 0.7, &[]);
    let font = layout.fonts.tick;
    let length = |label: &str| if label.is_empty() { 1.5 } else { 3.0 };
    for (place, tick) in layout.x_ticks.iter().enumerate() {
        let x = left + tick.share * layout.frame.width();
        let row = (place % layout.x_rows) as f64 * line_height(font);
        drawing.line(vec![(x, bottom), (x, bottom + length(&tick.label))], AXIS, 0.7, &[]);
        if !tick.label.is_empty() {
            drawing.text((x, bottom + GAP + f64::from(font) + row), &tick.label, font, Anchor::Middle);
        }
    }
    for tick in &layout.y_ticks {
        let y = bottom - tick.share * layout.frame.height();
        drawing.line(vec![(left - length(&tick.label), y), (left, y)], AXIS, 0.7, &[]);
        if !tick.label.is_empty() {
            drawing.text((left - 1.4 * GAP, y + 0.36 * f64::from(font)), &tick.label, font, Anchor::End);
        }
    }
}
