//! How large figures are.

/// The size of a figure on paper, in points of 1/72 inch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
    /// Whether a legend below the panel adds to the height, instead of taking it from the panel.
    pub grows: bool,
}

impl Size {
    /// A column of a paper with two of them: 3.5 inches wide, and as high as its legend needs.
    pub const SINGLE_COLUMN: Self = Self { width: 252.0, height: 180.0, grows: true };
    /// Both columns: 7.16 inches wide.
    pub const DOUBLE_COLUMN: Self = Self { width: 515.5, height: 250.0, grows: true };
    /// The sides that a figure may have: there must be room for its axes, and pixels for all of it.
    const SIDES: std::ops::RangeInclusive<f64> = 108.0..=2880.0;

    /// Reads `single`, `double`, or a width and a height as in `760x500` (pixels of 1/96 inch), `90x60mm`, `9x6cm`, `3.5x2.4in` or
    /// `252x180pt`.
    ///
    /// # Errors
    /// What is wrong, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, f64); 5] =
            [("mm", 72.0 / 25.4), ("cm", 72.0 / 2.54), ("in", 72.0), ("pt", 1.0), ("px", 0.75)];
        match text {
            "single" => return Ok(Self::SINGLE_COLUMN),
            "double" => return Ok(Self::DOUBLE_COLUMN),
            _ => {}
        }
        let unit = UNITS.into_iter().find_map(|(name, points)| Some((text.strip_suffix(name)?, points)));
        let (numbers, points) = unit.unwrap_or((text, 0.75));
        let sides = numbers.split_once('x').and_then(|(width, height)| {
            let side = |text: &str| text.trim().parse::<f64>().ok().map(|side| side * points);
            Some((side(width)?, side(height)?))
        });
        let Some((width, height)) = sides else {
            return Err("write `single`, `double`, or a width and a height as in `760x500` or `90x60mm`".to_owned());
        };
        if !Self::SIDES.contains(&width) || !Self::SIDES.contains(&height) {
            return Err(
                "a side is from 1.5 inches (38 mm, 144 pixels) to 40 inches (1016 mm, 3840 pixels) long".to_owned()
            );
        }
        Ok(Self { width, height, grows: false })
    }
}

impl Default for Size {
    /// 760 by 500 pixels, for screens.
    fn default() -> Self {
        Self { width: 570.0, height: 375.0, grows: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(Size::parse("760x500"), Ok(Size::default()));
        assert_eq!(Size::parse("single"), Ok(Size::SINGLE_COLUMN));
        assert_eq!(Size::parse("3.5x2.5in"), Ok(Size { grows: false, ..Size::SINGLE_COLUMN }));
        assert_eq!(Size::parse("254x127mm").map(|size| size.width.round()), Ok(720.0));
        for wrong in ["big", "10x10", "1x", "NaNx500", "infx500", "99999x500"] {
            assert!(Size::parse(wrong).is_err(), "{wrong}");
        }
    }
}
