//! Drawings as PDF: one page of their size, with lines as lines and text as text.
//!
//! The font is Helvetica, one of those that every reader has; it is named and not embedded.

use pdf_writer::types::LineJoinStyle;
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str};

use super::Figure;
use super::shapes::{Anchor, Dash, Drawing, Place, Shape};

const FONT: Name<'_> = Name(b"F1");
/// The part of a name of a graphics state that is before its opacity in percent.
const OPACITY: &str = "O";

/// Widths of the characters from the space to the tilde, in thousandths of the size of the text, as the metrics of Helvetica have them.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// Digits of exponents are smaller and higher, as the font has few of them.
const RAISED_SIZE: f32 = 0.7;
const RAISED_BY: f32 = 0.35;

impl Figure {
    /// The figure as a PDF document of one page.
    #[must_use]
    pub fn to_pdf(&self) -> Vec<u8> {
        let drawing = self.drawing();
        let [catalog, pages, page_id, font, content] = [1, 2, 3, 4, 5].map(Ref::new);
        let mut opacities: Vec<u8> = drawing.shapes.iter().filter_map(percent).collect();
        opacities.sort_unstable();
        opacities.dedup();
        let states: Vec<(u8, Ref)> = opacities.into_iter().zip((6..).map(Ref::new)).collect();
        let mut pdf = Pdf::new();
        pdf.catalog(catalog).pages(pages);
        pdf.pages(pages).kids([page_id]).count(1);
        let mut page = pdf.page(page_id);
        page.media_box(Rect::new(0.0, 0.0, drawing.width as f32, drawing.height as f32))
            .parent(pages)
            .contents(content);
        let mut resources = page.resources();
        resources.fonts().pair(FONT, font);
        let mut named = resources.ext_g_states();
        for (opacity, id) in &states {
            named.pair(Name(format!("{OPACITY}{opacity}").as_bytes()), *id);
        }
        named.finish();
        resources.finish();
        page.finish();
        for (opacity, id) in states {
            pdf.ext_graphics(id).non_stroking_alpha(f32::from(opacity) / 100.0);
        }
        let mut helvetica = pdf.type1_font(font);
        helvetica.base_font(Name(b"Helvetica")).encoding_predefined(Name(b"WinAnsiEncoding"));
        helvetica.finish();
        pdf.stream(content, &Page { height: drawing.height, content: Content::new() }.of(&drawing));
        pdf.finish()
    }
}

/// The opacity of what can be seen through.
fn percent(shape: &Shape) -> Option<u8> {
    match shape {
        Shape::Area { opacity, .. } if *opacity < 1.0 => Some((100.0 * opacity) as u8),
        _ => None,
    }
}

/// A page, whose places are counted from the bottom.
struct Page {
    height: f64,
    content: Content,
}

impl Page {
    fn of(mut self, drawing: &Drawing) -> Vec<u8> {
        self.content.set_line_join(LineJoinStyle::RoundJoin);
        for shape in &drawing.shapes {
            match shape {
                Shape::Line { places, colour, width, dash } => self.line(places, colour, *width, dash),
                Shape::Area { places, fill, outline, .. } => {
                    self.content.save_state();
                    if let Some(opacity) = percent(shape) {
                        self.content.set_parameters(Name(format!("{OPACITY}{opacity}").as_bytes()));
                    }
                    self.path(places);
                    self.content.close_path();
                    self.fill(fill, *outline);
                    self.content.restore_state();
                }
                Shape::Circle { centre, radius, fill, outline } => {
                    self.circle(*centre, *radius);
                    self.fill(fill, *outline);
                }
                Shape::Text { place, text, size, anchor, upwards, colour } => {
                    self.text(*place, text, *size, *anchor, *upwards, colour);
                }
                Shape::Begin(_) | Shape::End => {}
            }
        }
        self.content.finish().into_vec()
    }

    fn place(&self, (x, y): Place) -> (f32, f32) {
        // Hundredths of a point are smaller than anybody sees.
        let rounded = |value: f64| ((100.0 * value).round() / 100.0) as f32;
        (rounded(x), rounded(self.height - y))
    }

    fn path(&mut self, places: &[Place]) {
        for (index, &place) in places.iter().enumerate() {
            let (x, y) = self.place(place);
            if index == 0 {
                self.content.move_to(x, y)
            } else {
                self.content.line_to(x, y)
            };
        }
    }

    fn line(&mut self, places: &[Place], colour: &str, width: f64, dash: Dash) {
        let [red, green, blue] = parts(colour);
        self.content.set_stroke_rgb(red, green, blue).set_line_width(width as f32);
        self.content.set_dash_pattern(dash.iter().map(|&length| length as f32), 0.0);
        self.path(places);
        self.content.stroke();
    }

    /// Fills the path, and draws its outline.
    fn fill(&mut self, colour: &str, outline: Option<(&'static str, f64)>) {
        let [red, green, blue] = parts(colour);
        self.content.set_fill_rgb(red, green, blue);
        match outline {
            Some((colour, width)) => {
                let [red, green, blue] = parts(colour);
                self.content.set_stroke_rgb(red, green, blue).set_line_width(width as f32);
                self.content.set_dash_pattern([], 0.0).fill_nonzero_and_stroke();
            }
            None => {
                self.content.fill_nonzero();
            }
        }
    }

    /// Four curves that nobody can tell from a circle.
    fn circle(&mut self, centre: Place, radius: f64) {
        let ((x, y), r) = (self.place(centre), radius as f32);
        let k = 0.5523 * r;
        self.content.move_to(x + r, y);
        self.content.cubic_to(x + r, y + k, x + k, y + r, x, y + r);
        self.content.cubic_to(x - k, y + r, x - r, y + k, x - r, y);
        self.content.cubic_to(x - r, y - k, x - k, y - r, x, y - r);
        self.content.cubic_to(x + k, y - r, x + r, y - k, x + r, y);
        self.content.close_path();
    }

    fn text(&mut self, place: Place, text: &str, size: u32, anchor: Anchor, upwards: bool, colour: &str) {
        let parts_of_text = raised(text);
        let size = size as f32;
        let width: f32 = parts_of_text
            .iter()
            .map(|(raised, part)| width_of(part, if *raised { RAISED_SIZE * size } else { size }))
            .sum();
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (x, y) = self.place(place);
        let [red, green, blue] = parts(colour);
        self.content.begin_text().set_fill_rgb(red, green, blue);
        self.content.set_text_matrix(if upwards {
            [0.0, 1.0, -1.0, 0.0, x, y - back]
        } else {
            [1.0, 0.0, 0.0, 1.0, x - back, y]
        });
        for (raised, part) in parts_of_text {
            let (size, rise) = if raised { (RAISED_SIZE * size, RAISED_BY * size) } else { (size, 0.0) };
            self.content.set_font(FONT, size).set_rise(rise).show(Str(&part));
        }
        self.content.end_text();
    }
}

/// Red, green and blue of `#rrggbb`.
fn parts(colour: &str) -> [f32; 3] {
    [1, 3, 5]
        .map(|from| colour.get(from..from + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0))
        .map(|part| f32::from(part) / 255.0)
}

/// A text in the encoding of the font, cut where digits begin or cease to be raised.
fn raised(text: &str) -> Vec<(bool, Vec<u8>)> {
    let mut parts: Vec<(bool, Vec<u8>)> = Vec::new();
    for character in text.chars() {
        let (is_raised, byte) = encoded(character);
        match parts.last_mut() {
            Some((known, part)) if *known == is_raised => part.push(byte),
            _ => parts.push((is_raised, vec![byte])),
        }
    }
    parts
}

/// A character in Windows' Latin encoding, and whether it is raised. What that has no place for becomes a question mark.
fn encoded(character: char) -> (bool, u8) {
    let byte = match character {
        '⁰' => return (true, b'0'),
        '¹' => return (true, b'1'),
        '²' => return (true, b'2'),
        '³' => return (true, b'3'),
        '⁴'..='⁹' => return (true, b'4' + (character as u32 - '⁴' as u32) as u8),
        '⁻' => return (true, 0x96),
        '€' => 0x80,
        '…' => 0x85,
        '’' => 0x92,
        '•' => 0x95,
        '–' | '−' => 0x96,
        '—' => 0x97,
        ' '..='~' | '\u{a0}'..='\u{ff}' => character as u32 as u8,
        _ => b'?',
    };
    (false, byte)
}

fn width_of(text: &[u8], size: f32) -> f32 {
    let width = |&byte: &u8| match byte {
        b' '..=b'~' => WIDTHS[usize::from(byte - b' ')],
        0x85 | 0x97 => 1000,
        0xd7 => 584,
        _ => 556,
    };
    size * text.iter().map(|byte| f32::from(width(byte))).sum::<f32>() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Curve;

    #[test]
    fn documents_have_text_as_text_and_end_as_they_should() {
        let curve = Curve { name: "a (b) 50 %".to_owned(), points: vec![(0.1, 1e7), (0.9, 3e9)], ..Curve::default() };
        let figure = Figure { log_y: true, ..Figure::latency("Größe", "ns", vec![curve.clone(), curve]) };
        let pdf = figure.to_pdf();
        assert!(pdf.starts_with(b"%PDF-") && pdf.ends_with(b"%%EOF"));
        let holds = |wanted: &[u8]| pdf.windows(wanted.len()).any(|part| part == wanted);
        assert!(holds(b"/Helvetica") && holds(b"WinAnsiEncoding") && holds(b"[0 0 570 375]"));
        assert!(holds(b"50 %") && holds(b"(offered load"));
        assert_eq!(pdf, figure.to_pdf());
    }

    #[test]
    fn exponents_are_raised() {
        assert_eq!(
            raised("2×10⁻⁷ s"),
            [(false, b"2\xd710".to_vec()), (true, b"\x967".to_vec()), (false, b" s".to_vec())]
        );
        assert!((width_of(b"Wii", 10.0) - 13.88).abs() < 1e-3);
    }
}
