//! Spans of time with units.

use crate::decimal::Decimal;

/// How times in a document become ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeScale {
    /// Femtoseconds of a link cycle, if it is known.
    pub cycle_fs: Option<u64>,
    pub ticks_per_cycle: u32,
}

/// Units of time in femtoseconds; those of cycles are in `parse_ticks`.
const UNITS: [(&str, u64); 7] = [
    ("fs", 1),
    ("ps", 1_000),
    ("ns", 1_000_000),
    ("us", 1_000_000_000),
    ("µs", 1_000_000_000),
    ("ms", 1_000_000_000_000),
    ("s", 1_000_000_000_000_000),
];

/// What is wrong with a time, and what to do about it.
pub(crate) type Complaint = (String, String);

/// Reads a time such as `50 ns` or `3 cycles`, in ticks.
pub(crate) fn parse_ticks(text: &str, scale: &TimeScale) -> Result<u64, Complaint> {
    let (number, unit) = split(text)?;
    if unit == "cycle" || unit == "cycles" {
        let scaled = number.units * i128::from(scale.ticks_per_cycle);
        return whole(scaled, 10i128.pow(number.places)).ok_or_else(|| {
            let steps = scale.ticks_per_cycle;
            (format!("{text} is not a whole number of steps of 1/{steps} cycle"), "round it".to_owned())
        });
    }
    let Some(fs) = femtoseconds(number, unit) else { return Err(unknown_unit(text)) };
    let Some(cycle_fs) = scale.cycle_fs else {
        let help = "give the length of a link cycle, as in `clock.cycle = \"1 ns\"`, or write the time in cycles";
        return Err((format!("{text} cannot be counted in cycles of unknown length"), help.to_owned()));
    };
    whole(fs * i128::from(scale.ticks_per_cycle), cycle_fs.into()).ok_or_else(|| {
        let cycles = fs as f64 / cycle_fs as f64;
        let near = cycles.round() * cycle_fs as f64 / 1e6;
        let message = format!("{text} is {cycles} cycles, which is not a whole number of steps of the crossbar");
        (message, format!("the nearest whole number of cycles is {near} ns"))
    })
}

/// Reads the length of a cycle such as `1.25 ns`, in femtoseconds.
pub(crate) fn parse_cycle(text: &str) -> Result<u64, Complaint> {
    let (number, unit) = split(text)?;
    let fs = femtoseconds(number, unit).ok_or_else(|| unknown_unit(text))?;
    match u64::try_from(fs) {
        Ok(fs) if fs > 0 => Ok(fs),
        _ => Err((format!("a cycle cannot take {text}"), "write a time such as \"1 ns\"".to_owned())),
    }
}

fn split(text: &str) -> Result<(Decimal, &str), Complaint> {
    let trimmed = text.trim();
    let at = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..at], trimmed[at..].trim());
    match Decimal::parse(number) {
        Some(number) if !unit.is_empty() => Ok((number, unit)),
        _ => Err((format!("`{text}` is no time"), "write a number and a unit, as in \"50 ns\" or \"3 cycles\"".into())),
    }
}

/// `None` for an unknown unit, or for a time that is not a whole number of them.
fn femtoseconds(number: Decimal, unit: &str) -> Option<i128> {
    let (_, fs) = UNITS.iter().find(|(name, _)| *name == unit)?;
    whole(number.units.checked_mul((*fs).into())?, 10i128.pow(number.places)).map(i128::from)
}

fn unknown_unit(text: &str) -> Complaint {
    let units = UNITS.map(|(name, _)| name).join(", ");
    (format!("`{text}` is no time in a known unit"), format!("the units are cycles, {units}"))
}

/// `a / b` if that is a whole number.
fn whole(a: i128, b: i128) -> Option<u64> {
    (a % b == 0).then(|| u64::try_from(a / b).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(text: &str) -> Result<u64, String> {
        let scale = TimeScale { cycle_fs: Some(1_250_000), ticks_per_cycle: 2 };
        parse_ticks(text, &scale).map_err(|(message, _)| message)
    }

    #[test]
    fn times_are_exact_in_steps_of_the_crossbar() {
        assert_eq!(ticks("1.25 ns"), Ok(2));
        assert_eq!(ticks("625ps"), Ok(1));
        assert_eq!(ticks("1 us"), Ok(1600));
        assert_eq!(ticks("2.5 cycles"), Ok(5));
        assert_eq!(
            ticks("1 ns").unwrap_err(),
            "1 ns is 0.8 cycles, which is not a whole number of steps of the crossbar"
        );
        assert!(ticks("2.3 cycles").unwrap_err().contains("1/2 cycle"));
        assert!(ticks("5 parsec").unwrap_err().contains("unit"));
        assert!(ticks("soon").unwrap_err().contains("no time"));
        assert!(ticks("5").unwrap_err().contains("no time"));
        let scale = TimeScale { cycle_fs: None, ticks_per_cycle: 1 };
        assert!(parse_ticks("5 ns", &scale).unwrap_err().0.contains("unknown length"));
    }
}
