//! Drawings as SVG and PNG. Beside `pixels` the only place that knows the plotting library.

use kuva::backend::svg::SvgBackend;
use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

use super::Figure;
use super::pixels::encode;
use super::shapes::{Anchor, Dash, Drawing, Place, Shape};

/// Points in a pixel, of which there are 96 in an inch.
const POINTS: f64 = 0.75;

/// Fonts that a viewer has, the one first that the widths of texts are made for.
const FONTS: &str = "DejaVu Sans, Verdana, Liberation Sans, Arial, Helvetica, sans-serif";

impl Figure {
    /// The figure as an SVG image. Its text is text in the viewer's own sans-serif font.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let drawing = self.drawing();
        let svg = SvgBackend::new().render_scene(&scene(&drawing, false));
        let sized = |width: f64, height: f64| format!("width=\"{}\" height=\"{}\"", rounded(width), rounded(height));
        let (width, height) = (drawing.width, drawing.height);
        // The library counts in pixels. What is in points has a size on paper.
        let view_box = format!(
            "{} viewBox=\"0 0 {} {}\"",
            sized(width / POINTS, height / POINTS),
            rounded(width),
            rounded(height)
        );
        svg.replacen(&sized(width, height), &view_box, 1)
    }

    /// The figure as a PNG image, with `scale` pixels to 1/96 inch: 1 for a small one, 2 for fine print. It needs no font
    /// of the system.
    ///
    /// # Panics
    /// When the library cannot encode its own pixels.
    #[must_use]
    pub fn to_png(&self, scale: f32) -> Vec<u8> {
        encode(scene(&self.drawing(), true), scale / POINTS as f32)
    }
}

fn rounded(length: f64) -> f64 {
    (100.0 * length).round() / 100.0
}

/// What the library draws. In pixels it begins a dash anew with each part of a line, so there `pieces` are drawn instead.
fn scene(drawing: &Drawing, pieces: bool) -> Scene {
    let mut scene = Scene::new(rounded(drawing.width), rounded(drawing.height));
    scene.font_family = Some(FONTS.to_owned());
    for shape in &drawing.shapes {
        match shape {
            Shape::Line { places, colour, width, dash } if pieces && !dash.is_empty() => {
                let lines = cut(places, dash);
                scene.elements.extend(lines.into_iter().map(|points| line(points, colour, *width, &[])));
            }
            Shape::Line { places, colour, width, dash } => {
                scene.elements.push(line(places.clone(), colour, *width, dash));
            }
            other => scene.elements.push(primitive(other)),
        }
    }
    scene
}

fn line(points: Vec<Place>, colour: &str, stroke_width: f64, dash: Dash) -> Primitive {
    let dash: Vec<String> = dash.iter().map(ToString::to_string).collect();
    let stroke_dasharray = (!dash.is_empty()).then(|| dash.join(" "));
    Primitive::PolyLine { points, stroke: Color::from(colour), stroke_width, stroke_dasharray }
}

fn primitive(shape: &Shape) -> Primitive {
    match shape {
        Shape::Line { places, colour, width, dash } => line(places.clone(), colour, *width, dash),
        Shape::Area { places, fill, opacity, outline } => Primitive::Path(Box::new(PathData {
            d: path(places),
            fill: Some(Color::from(*fill)),
            stroke: outline.map_or(Color::None, |(colour, _)| Color::from(colour)),
            stroke_width: outline.map_or(0.0, |(_, width)| width),
            opacity: (*opacity < 1.0).then_some(*opacity),
            stroke_dasharray: None,
        })),
        Shape::Circle { centre, radius, fill, outline } => Primitive::Circle {
            cx: centre.0,
            cy: centre.1,
            r: *radius,
            fill: Color::from(*fill),
            fill_opacity: None,
            stroke: outline.map(|(colour, _)| Color::from(colour)),
            stroke_width: outline.map(|(_, width)| width),
        },
        Shape::Text { place, text, size, anchor, upwards, colour } => Primitive::Text {
            x: place.0,
            y: place.1,
            // The library takes what is between dollar signs for a formula.
            content: text.replace('$', "\\$"),
            size: *size,
            anchor: match anchor {
                Anchor::Start => TextAnchor::Start,
                Anchor::Middle => TextAnchor::Middle,
                Anchor::End => TextAnchor::End,
            },
            rotate: upwards.then_some(-90.0),
            bold: false,
            color: Some(Color::from(*colour)),
        },
        Shape::Begin(kind) => {
            let extra_attrs = Some(format!("class=\"{kind}\""));
            Primitive::GroupStart { transform: None, title: None, extra_attrs }
        }
        Shape::End => Primitive::GroupEnd,
    }
}

fn path(places: &[Place]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        path += &format!("{command}{},{} ", rounded(*x), rounded(*y));
    }
    path + "Z"
}

/// The pieces of a line that is interrupted so.
fn cut(places: &[Place], dash: Dash) -> Vec<Vec<Place>> {
    let (mut pieces, mut piece): (Vec<Vec<Place>>, Vec<Place>) = (Vec::new(), Vec::new());
    let (mut index, mut left) = (0, dash[0]);
    for pair in places.windows(2) {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let length = libm::sqrt(dx * dx + dy * dy);
        let at = |gone: f64| (pair[0].0 + dx * gone / length, pair[0].1 + dy * gone / length);
        let mut gone = 0.0;
        while length - gone > 1e-9 {
            let step = left.min(length - gone);
            if index % 2 == 0 {
                if piece.is_empty() {
                    piece.push(at(gone));
                }
                piece.push(at(gone + step));
            }
            gone += step;
            left -= step;
            if left <= 1e-9 {
                index = (index + 1) % dash.len();
                left = dash[index];
                pieces.extend((piece.len() > 1).then(|| std::mem::take(&mut piece)));
                piece.clear();
            }
        }
    }
    pieces.extend((piece.len() > 1).then_some(piece));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_on_around_corners() {
        let pieces = cut(&[(0.0, 0.0), (3.0, 0.0), (3.0, 4.0)], &[4.0, 2.0]);
        assert_eq!(pieces, [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 3.0), (3.0, 4.0)]]);
    }
}
