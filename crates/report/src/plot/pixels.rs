//! Pictures as pixels, so that texts that run upwards are texts turned by a quarter: the plotting library turns what it has blended with black
//! already, and they would be bold and ragged.

use kuva::PngBackend;
use kuva::render::render::{Primitive, Scene, TextAnchor};

/// The room around a text, in sizes of it.
const ROOM: f64 = 0.5;

/// Pixels of red, green, blue and how opaque they are, row by row.
pub(super) struct Pixels {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

/// Bytes of a pixel.
const PIXEL: usize = 4;

impl Pixels {
    /// A scene, without its texts that run upwards, with so many pixels to its unit.
    fn of(scene: &Scene, scale: f32) -> Self {
        let encoded = PngBackend::new().with_scale(scale).render_scene(scene).expect("pixels can be encoded");
        let decoder = png::Decoder::new(std::io::Cursor::new(encoded));
        let mut reader = decoder.read_info().expect("it has been encoded above");
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        let mut bytes = vec![0; PIXEL * width * height];
        reader.next_frame(&mut bytes).expect("it has been encoded above");
        Self { width, height, bytes }
    }

    /// Draws another picture, which is dark on white, turned by a quarter to the left, such that its place `from` comes to lie at `to`.
    fn put_turned(&mut self, other: &Self, from: (f64, f64), to: (f64, f64)) {
        // What is to the right in the other is above, and what is below is to the right.
        let (left, bottom) = ((to.0 - from.1).round() as i64, (to.1 + from.0).round() as i64);
        for (y, row) in other.bytes.chunks(PIXEL * other.width).enumerate() {
            for (x, pixel) in row.chunks(PIXEL).enumerate() {
                let (at_x, at_y) = (left + y as i64, bottom - 1 - x as i64);
                if !(0..self.width as i64).contains(&at_x) || !(0..self.height as i64).contains(&at_y) {
                    continue;
                }
                let at = PIXEL * (at_y as usize * self.width + at_x as usize);
                for (mine, theirs) in self.bytes[at..].iter_mut().zip(&pixel[..3]) {
                    *mine = (*mine).min(*theirs);
                }
            }
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().expect("it has a width and a height");
        writer.write_image_data(&self.bytes).expect("there is a byte for each channel of each pixel");
        writer.finish().expect("memory takes all");
        png
    }
}

/// A scene as a PNG image, with so many pixels to its unit.
pub(super) fn encode(mut scene: Scene, scale: f32) -> Vec<u8> {
    let is_turned = |element: &Primitive| matches!(element, Primitive::Text { rotate: Some(_), .. });
    let (turned, flat) = std::mem::take(&mut scene.elements).into_iter().partition(is_turned);
    scene.elements = flat;
    let mut picture = Pixels::of(&scene, scale);
    let per_unit = f64::from(scale);
    for text in turned {
        let Primitive::Text { x, y, ref content, size, .. } = text else { continue };
        let size_units = f64::from(size);
        // No character is wider than it is high.
        let width = (content.chars().count() as f64 + 2.0 * ROOM) * size_units;
        let (middle, base) = (width / 2.0, (1.0 + ROOM) * size_units);
        let mut alone = Scene::new(width, base + ROOM * size_units);
        alone.font_family.clone_from(&scene.font_family);
        let mut flat = text.clone();
        if let Primitive::Text { x, y, anchor, rotate, .. } = &mut flat {
            (*x, *y, *anchor, *rotate) = (middle, base, TextAnchor::Middle, None);
        }
        alone.elements.push(flat);
        let alone = Pixels::of(&alone, scale);
        picture.put_turned(&alone, (per_unit * middle, per_unit * base), (per_unit * x, per_unit * y));
    }
    picture.encoded()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of so many pixels, white but for some.
    fn picture(width: usize, height: usize, dark: &[(usize, usize)]) -> Pixels {
        let mut bytes = vec![255; PIXEL * width * height];
        for (x, y) in dark {
            bytes[PIXEL * (y * width + x)..][..3].fill(7);
        }
        Pixels { width, height, bytes }
    }

    fn dark(picture: &Pixels) -> Vec<(usize, usize)> {
        let place = |place: usize| (place % picture.width, place / picture.width);
        let pixels = picture.bytes.chunks(PIXEL).enumerate();
        pixels.filter(|(_, pixel)| pixel[0] == 7).map(|(at, _)| place(at)).collect()
    }

    #[test]
    fn pictures_are_turned_to_the_left_about_a_place() {
        // Above the middle of a text is left of it, and its end is above its beginning.
        let text = picture(5, 3, &[(0, 2), (2, 0), (4, 2)]);
        let mut whole = picture(10, 10, &[(9, 9)]);
        whole.put_turned(&text, (2.0, 2.0), (6.0, 5.0));
        assert_eq!(dark(&whole), [(6, 2), (4, 4), (6, 6), (9, 9)]);
        whole.put_turned(&text, (2.0, 2.0), (0.0, 0.0));
        assert_eq!(dark(&whole).len(), 5, "what lies beyond the edges is left out");
    }

    #[test]
    fn what_is_encoded_is_read_again() {
        let first = picture(3, 2, &[(1, 1)]);
        let decoder = png::Decoder::new(std::io::Cursor::new(first.encoded()));
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; first.bytes.len()];
        reader.next_frame(&mut bytes).unwrap();
        assert_eq!(bytes, first.bytes);
    }
}
