//! Decimal numbers as people write them, exactly.

use std::fmt;

/// `units / 10^places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub units: i128,
    pub places: u32,
}

/// More places than any time or load has.
const PLACES_MAX: u32 = 12;

impl Decimal {
    /// Reads a number such as `12`, `0.35` or `2.50`.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let places = fraction.len() as u32;
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || places > PLACES_MAX || whole.len() > 18 {
            return None;
        }
        format!("{whole}{fraction}").parse().ok().map(|units| Self { units, places })
    }

    /// The units it has with that many places, at least its own.
    pub fn units_at(self, places: u32) -> i128 {
        self.units * 10i128.pow(places - self.places)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.places == 0 {
            return write!(f, "{}", self.units);
        }
        let scale = 10i128.pow(self.places);
        let fraction = format!("{:0width$}", self.units % scale, width = self.places as usize);
        let fraction = fraction.trim_end_matches('0');
        write!(f, "{}.{}", self.units / scale, if fraction.is_empty() { "0" } else { fraction })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_written_exactly() {
        for (text, written) in [("0.35", "0.35"), ("12", "12"), ("2.50", "2.5"), ("3.0", "3.0"), ("0.05", "0.05")] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), written);
        }
        for text in ["", ".5", "-1", "1e3", "1.2.3", "0.1234567890123", "x"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
