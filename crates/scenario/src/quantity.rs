//! Spans of time, amounts of data and rates, with units.

use crate::decimal::Decimal;

/// How times in a document become ticks, and bytes flits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeScale {
    /// Femtoseconds of a link cycle, if it is known.
    pub cycle_fs: Option<u64>,
    pub ticks_per_cycle: u32,
    /// Bytes of a flit, if they are known.
    pub flit_bytes: Option<u64>,
    /// Whether times are rounded to whole cycles: where the cycle follows from the speed of links they hardly ever are.
    pub rounds: bool,
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
    if scale.rounds {
        // What takes some time takes a cycle at least.
        let nearest = ((fs + i128::from(cycle_fs) / 2) / i128::from(cycle_fs)).max(i128::from(fs > 0));
        return Ok(u64::try_from(nearest * i128::from(scale.ticks_per_cycle)).unwrap_or(u64::MAX));
    }
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

/// Units of data in bytes.
const DATA_UNITS: [(&str, u64); 8] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];

/// Units of rates in bits per second.
const RATE_UNITS: [(&str, u64); 3] = [("Mb/s", 1_000_000), ("Gb/s", 1_000_000_000), ("Tb/s", 1_000_000_000_000)];

/// Reads an amount of data such as `1 MiB`, in bytes.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, Complaint> {
    amount(text, &DATA_UNITS, "amount of data", "64 B")
}

/// The flits that an amount of data takes: the last one may be filled in part.
pub(crate) fn parse_flits(text: &str, flit_bytes: Option<u64>) -> Result<u64, Complaint> {
    let bytes = parse_bytes(text)?;
    let Some(flit_bytes) = flit_bytes else {
        let help = "give the size of a flit, as in `clock.flit = \"64 B\"`, or write the amount in flits";
        return Err((format!("{text} cannot be counted in flits of unknown size"), help.to_owned()));
    };
    Ok(bytes.div_ceil(flit_bytes))
}

/// The femtoseconds that a link takes for a flit, to the nearest: of such a rate as `400 Gb/s`.
pub(crate) fn parse_rate(text: &str, flit_bytes: u64) -> Result<u64, Complaint> {
    let bits_per_second = amount(text, &RATE_UNITS, "rate", "400 Gb/s")?;
    let fs = (i128::from(flit_bytes) * 8 * 1_000_000_000_000_000).checked_div(bits_per_second.into());
    let fs = fs.and_then(|fs| u64::try_from(fs).ok()).filter(|&fs| fs > 0);
    fs.ok_or_else(|| (format!("a link cannot carry {text}"), "write a rate such as \"400 Gb/s\"".to_owned()))
}

/// Reads a positive number with one of some units.
fn amount(text: &str, units: &[(&str, u64)], what: &str, example: &str) -> Result<u64, Complaint> {
    let wrong = || {
        let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        let help = format!("write a number and a unit, as in \"{example}\"; the units are {}", names.join(", "));
        (format!("`{text}` is no {what}"), help)
    };
    let (number, unit) = split(text).map_err(|_| wrong())?;
    let (_, size) = units.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let whole = number.units.checked_mul((*size).into()).and_then(|units| whole(units, 10i128.pow(number.places)));
    whole.filter(|&amount| amount > 0).ok_or_else(wrong)
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
        let scale = TimeScale { cycle_fs: Some(1_250_000), ticks_per_cycle: 2, ..TimeScale::default() };
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
        let scale = TimeScale { ticks_per_cycle: 1, ..TimeScale::default() };
        assert!(parse_ticks("5 ns", &scale).unwrap_err().0.contains("unknown length"));
    }

    #[test]
    fn bytes_take_whole_flits() {
        let flits = |text| parse_flits(text, Some(64)).map_err(|(message, _)| message);
        assert_eq!(["1 B", "64B", "65 B", "1 MiB", "1.5 KB"].map(flits), [1, 1, 2, 16_384, 24].map(Ok));
        assert_eq!(flits("0 B"), Err("`0 B` is no amount of data".to_owned()));
        assert_eq!(flits("0.5 B"), Err("`0.5 B` is no amount of data".to_owned()));
        assert_eq!(flits("12"), Err("`12` is no amount of data".to_owned()));
        assert_eq!(flits("1 Mb"), Err("`1 Mb` is no amount of data".to_owned()));
        assert!(parse_flits("1 KiB", None).unwrap_err().1.contains("clock.flit"));
    }

    #[test]
    fn the_cycle_of_a_link_is_what_a_flit_takes() {
        assert_eq!(parse_rate("400 Gb/s", 64), Ok(1_280_000));
        assert_eq!(parse_rate("0.1 Tb/s", 64), Ok(5_120_000));
        assert!(parse_rate("400 GB/s", 64).unwrap_err().1.contains("Gb/s"));
        assert!(parse_rate("0 Gb/s", 64).is_err());
        let scale = TimeScale { cycle_fs: Some(1_280_000), ticks_per_cycle: 1, rounds: true, ..TimeScale::default() };
        assert_eq!(["100 ns", "1.9 ns", "1 ps", "0 ns"].map(|text| parse_ticks(text, &scale)), [78, 1, 1, 0].map(Ok));
    }
}
