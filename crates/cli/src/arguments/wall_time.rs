//! Times on the wall clock, as in `10 s`.

use std::time::Duration;

/// Units in seconds.
const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];

/// Reads a time that is longer than none.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "a number and one of the units ms, s, min, h are needed, as in \"10 s\"".to_owned();
    let text = text.trim();
    let at = text.find(|character: char| character.is_alphabetic()).ok_or_else(wrong)?;
    let (number, unit) = (text[..at].trim(), &text[at..]);
    let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let number: f64 = number.parse().map_err(|_| wrong())?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("it must be longer than none, and not for ever".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let times = [("10 s", 10_000), ("250ms", 250), (" 1.5 min", 90_000), ("2 h", 7_200_000)];
        for (text, milliseconds) in times {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "10", "s", "10 parsecs", "-1 s", "0 s", "nan s", "inf s", "1e300 h", "1 h 2 min"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
