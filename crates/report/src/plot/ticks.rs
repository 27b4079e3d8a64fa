//! Where ticks lie, and how numbers are written at them.

/// A logarithmic axis of fewer decades has too few multiples of powers of ten by one digit to have a scale by them: it has
/// the ticks of a linear one.
const FEW_DECADES: f64 = 0.5;

/// The distance of ticks along an axis of this length: 1, 2 or 5 times a power of ten, such that there are at most so many.
pub(super) fn step_for(length: f64, most: usize) -> f64 {
    let least = length / most.max(2) as f64;
    let exponent = format!("{least:e}");
    let exponent: i32 = exponent.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let power = libm::pow(10.0, exponent.into());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(length)
}

/// Ticks of a logarithmic axis: at powers of ten, and smaller ones between. Where there are few powers of ten, those between have labels,
/// too; where there are many, not all powers have.
pub(super) fn decade_ticks(from: f64, to: f64, most: usize) -> Vec<(f64, String)> {
    let (first, last) = (libm::floor(libm::log10(from)) as i32, libm::ceil(libm::log10(to)) as i32);
    let decades = libm::log10(to / from);
    if decades < FEW_DECADES {
        return linear_ticks(from, to, step_for(to - from, most));
    }
    let every = ((last - first) as usize).div_ceil(most.max(2)).max(1) as i32;
    let labelled: &[u32] = match decades {
        decades if decades < 1.2 => &[1, 2, 3, 4, 5, 7],
        decades if decades < 2.2 => &[1, 2, 5],
        _ => &[1],
    };
    let mut ticks = Vec::new();
    for exponent in first..=last {
        for part in 1..10 {
            // A power of ten that is written down: 10⁻³ as a product would not be 0.001.
            let value: f64 = format!("{part}e{exponent}").parse().unwrap_or(f64::NAN);
            let has_label = labelled.contains(&part) && (exponent - first) % every == 0;
            if every == 1 || part == 1 {
                ticks.push((value, if has_label { plain(value) } else { String::new() }));
            }
        }
    }
    ticks
}

/// Ticks at all multiples of a step from one number to another one, all with labels.
pub(super) fn linear_ticks(from: f64, to: f64, step: f64) -> Vec<(f64, String)> {
    let first = (from / step - 1e-9).ceil();
    let count = ((to / step + 1e-9).floor() - first).max(0.0) as u32;
    (0..=count).map(|index| (first + f64::from(index)) * step).map(|at| (at, label(at, step))).collect()
}

/// A number at a tick of a linear axis, where ticks are so far apart: all are written alike.
pub(super) fn label(value: f64, step: f64) -> String {
    let value = if value.abs() < 1e-9 * step { 0.0 } else { value };
    let small = step < 1e-6;
    if value != 0.0 && (small || value.abs() >= 1e8) {
        return scientific(value);
    }
    let text = format!("{value:.places$}", places = if small { 0 } else { decimals(step) });
    with_commas(&text)
}

/// A number at a tick of a logarithmic axis.
fn plain(value: f64) -> String {
    if (1e-3..1e6).contains(&value) { with_commas(&format!("{value}")) } else { scientific(value) }
}

/// `2×10⁶`.
fn scientific(value: f64) -> String {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: f64 = digits.parse().unwrap_or(1.0);
    let digits = format!("{digits:.4}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let exponent: String = exponent.chars().map(raised).collect();
    if digits == "1" { format!("10{exponent}") } else { format!("{digits}×10{exponent}") }
}

fn raised(character: char) -> char {
    match character {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '-' => '⁻',
        digit => char::from_u32('⁴' as u32 + (digit as u32).saturating_sub('4' as u32)).unwrap_or(digit),
    }
}

/// `12,000`; four digits need no comma.
fn with_commas(text: &str) -> String {
    let (sign, number) = text.strip_prefix('-').map_or(("", text), |number| ("−", number));
    let (whole, fraction) = number.split_once('.').map_or((number, ""), |(whole, fraction)| (whole, fraction));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if whole.len() > 4 && place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

/// The decimal places of a distance between ticks.
fn decimals(step: f64) -> usize {
    (0..12).find(|&places| step * libm::pow(10.0, f64::from(places)) > 0.999).unwrap_or(12) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_alike() {
        assert_eq!([0.0, 0.008, 0.01].map(|value| label(value, 0.002)), ["0.000", "0.008", "0.010"]);
        assert_eq!([1000.0, 12_000.0].map(|value| label(value, 1000.0)), ["1000", "12,000"]);
        assert_eq!([label(-5.0, 1.0), label(2e9, 1e8), label(3e-7, 1e-7)], ["−5", "2×10⁹", "3×10⁻⁷"]);
    }

    #[test]
    fn ticks_of_logarithmic_axes_have_as_many_labels_as_fit() {
        let labels = |from, to, most| {
            let ticks = decade_ticks(from, to, most).into_iter();
            ticks
                .filter(|(at, label)| (from..=to).contains(at) && !label.is_empty())
                .map(|(_, label)| label)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(10.0, 100.0, 6), ["10", "20", "30", "40", "50", "70", "100"]);
        assert_eq!(labels(0.01, 100.0, 6), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(1.0, 1e9, 4), ["1", "1000", "10⁶", "10⁹"]);
        assert_eq!(labels(1000.0, 2000.0, 6), ["1000", "1200", "1400", "1600", "1800", "2000"]);
    }

    #[test]
    fn steps_are_round() {
        for (length, most, step) in [(1.0, 10, 0.1), (912.0, 10, 100.0), (0.9, 4, 0.5), (33.0, 10, 5.0)] {
            assert!((step_for(length, most) / step - 1.0).abs() < 1e-9, "{length}: {}", step_for(length, most));
        }
    }
}
