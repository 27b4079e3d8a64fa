//! What a drawing is made of, whatever it becomes: lines, areas and texts, in points (1/72 inch) from the top left corner.

/// A colour as `#rrggbb`.
pub(super) type Colour = &'static str;

/// A place in a drawing.
pub(super) type Place = (f64, f64);

/// How a line is interrupted: lengths of what is drawn and left out, in turn. Empty if it is not.
pub(super) type Dash = &'static [f64];

/// Which end of a text its place is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A part of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A line through places.
    Line { places: Vec<Place>, colour: Colour, width: f64, dash: Dash },
    /// What places enclose.
    Area { places: Vec<Place>, fill: Colour, opacity: f64, outline: Option<(Colour, f64)> },
    /// A circle.
    Circle { centre: Place, radius: f64, fill: Colour, outline: Option<(Colour, f64)> },
    /// A text, whose place is on its base line; turned by a quarter to the left if it runs upwards.
    Text { place: Place, text: String, size: u32, anchor: Anchor, upwards: bool, colour: Colour },
    /// What follows until [`Shape::End`] belongs together, and is of this kind.
    Begin(&'static str),
    /// See [`Shape::Begin`].
    End,
}

/// The shapes of a drawing and its size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawing {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

impl Drawing {
    /// A line, unless it has no length.
    pub fn line(&mut self, places: Vec<Place>, colour: Colour, width: f64, dash: Dash) {
        if places.len() < 2 {
            return;
        }
        self.shapes.push(Shape::Line { places, colour, width, dash });
    }

    pub fn area(&mut self, places: Vec<Place>, fill: Colour, opacity: f64) {
        self.shapes.push(Shape::Area { places, fill, opacity, outline: None });
    }

    pub fn text(&mut self, place: Place, text: impl Into<String>, size: u32, anchor: Anchor) {
        self.shapes.push(Shape::Text { place, text: text.into(), size, anchor, upwards: false, colour: TEXT });
    }

    /// What `draw` draws, as a group of a kind.
    pub fn group(&mut self, kind: &'static str, draw: impl FnOnce(&mut Self)) {
        self.shapes.push(Shape::Begin(kind));
        draw(self);
        self.shapes.push(Shape::End);
    }
}

/// The colour of texts.
pub(super) const TEXT: Colour = "#222222";

/// About how wide a text of this size is, in a wide sans-serif font: what is placed by it does not overlap in any.
pub(super) fn width_of(text: &str, size: u32) -> f64 {
    let width = |character: char| match character {
        'i' | 'j' | 'l' | '\'' => 0.28,
        'f' | 'r' | 't' | 'I' | ' ' | '.' | ',' | ':' | ';' | '|' | '!' | '(' | ')' | '[' | ']' | '/' | '-' => 0.39,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' | '…' | '→' => 0.98,
        'A'..='Z' | '=' | '+' | '<' | '>' | '×' | '~' => 0.78,
        _ => 0.63,
    };
    f64::from(size) * text.chars().map(width).sum::<f64>()
}

/// A text in lines of at most this width; a word that is wider has a line of its own.
pub(super) fn lines(text: &str, size: u32, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The same, in as many lines that are about equally long.
pub(super) fn balanced(text: &str, size: u32, width: f64) -> Vec<String> {
    let count = lines(text, size, width).len();
    let widths = (1..20).map(|part| width * f64::from(part) / 20.0);
    let fits = |lines: &Vec<String>| lines.len() <= count && lines.iter().all(|line| width_of(line, size) <= width);
    widths.map(|width| lines(text, size, width)).find(fits).unwrap_or_else(|| lines(text, size, width))
}

/// The beginning of a text that fits into a width.
pub(super) fn shortened(text: &str, size: u32, width: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while !short.is_empty() && width_of(&short, size) + width_of("…", size) > width {
        short.pop();
    }
    short.trim_end().to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_between_words_and_cut_where_there_is_no_room() {
        let width = width_of("one two", 10);
        assert_eq!(lines("one two three", 10, width), ["one two", "three"]);
        assert_eq!(lines("", 10, width), [""; 0]);
        let text = "data to outputs that are not hot (flits per input and cycle)";
        let width = width_of(text, 10) * 0.95;
        assert_eq!(lines(text, 10, width)[1], "cycle)");
        assert_eq!(balanced(text, 10, width), ["data to outputs that are not", "hot (flits per input and cycle)"]);
        assert_eq!(balanced("one two", 10, width), ["one two"]);
        let width = width_of("one two", 10);
        assert_eq!(shortened("one two", 10, width), "one two");
        assert_eq!(shortened("one two three", 10, width), "one t…");
    }
}
