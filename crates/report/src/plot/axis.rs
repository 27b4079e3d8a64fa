//! From where to where axes go, and what is written along them.

use super::ticks::{decade_ticks, linear_ticks, step_for};

/// How values are laid out along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scale {
    /// Equal differences at equal distances.
    Linear,
    /// As [`Scale::Linear`], of whole numbers.
    Whole,
    /// Equal ratios at equal distances.
    Log,
    /// Shares: each further nine at the same distance, so that the tail of a distribution can be seen.
    Nines,
    /// Names at whole numbers from 0.
    Names(Vec<String>),
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub scale: Scale,
    pub from: f64,
    pub to: f64,
}

/// A mark along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Where it is, as a share of the axis.
    pub share: f64,
    /// What is written at it; nothing at small ones.
    pub label: String,
}

/// The ends that somebody has asked for.
pub(super) type Ends = (Option<f64>, Option<f64>);

/// Up to which share a distribution is shown.
pub(super) const SHARE_MAX: f64 = 0.9999;

/// Data that take less of an axis are in a corner.
const FILLED: f64 = 0.5;

/// Data that reach down to this share of their maximum are drawn from zero.
const NEAR_ZERO: f64 = 0.5;

impl Axis {
    /// An axis on which all values can be seen, and little else. What lies `above` the values, as the ends of error bars, may widen it by
    /// a quarter.
    pub fn around(scale: Scale, ends: Ends, values: &[f64], above: &[f64], air: bool) -> Self {
        let usable = |value: &&f64| value.is_finite() && (scale != Scale::Log || **value > 0.0);
        let fold = |values: &[f64]| {
            let start = (f64::INFINITY, f64::NEG_INFINITY);
            values.iter().filter(usable).fold(start, |(least, most), &value| (least.min(value), most.max(value)))
        };
        let (least, mut most) = fold(values);
        if least > most {
            return Self::without_values(scale, ends);
        }
        most = most.max(fold(above).1.min(most + 0.25 * most.abs()));
        let (from, to) = match &scale {
            Scale::Linear => linear(least, most, ends, air),
            Scale::Whole => {
                let (from, to) = linear(least, most, ends, air);
                (from.floor(), to.ceil())
            }
            Scale::Log => (decade_part(least, true), decade_part(if air { 1.05 * most } else { most }, false)),
            Scale::Nines => (0.0, SHARE_MAX),
            Scale::Names(names) => (-0.5, names.len() as f64 - 0.5),
        };
        Self::between(scale, ends.0.unwrap_or(from), ends.1.unwrap_or(to))
    }

    fn without_values(scale: Scale, (from, to): Ends) -> Self {
        let (least, most) = match &scale {
            Scale::Log => (0.1, 1.0),
            Scale::Linear | Scale::Whole => (0.0, 1.0),
            Scale::Nines => (0.0, SHARE_MAX),
            Scale::Names(names) => (-0.5, names.len() as f64 - 0.5),
        };
        Self::between(scale, from.unwrap_or(least), to.unwrap_or(most))
    }

    /// An axis has a length, whatever it is asked for.
    fn between(scale: Scale, from: f64, to: f64) -> Self {
        let to = match scale {
            Scale::Log if to <= from => 10.0 * from,
            _ if to <= from => from + from.abs().max(1.0),
            _ => to,
        };
        Self { scale, from, to }
    }

    /// Where a value lies as a share of the axis, below 0 or above 1 if it is beyond its ends; none if the scale has no place for it.
    pub fn share(&self, value: f64) -> Option<f64> {
        let along = |value: f64| match self.scale {
            Scale::Linear | Scale::Whole | Scale::Names(_) => value,
            Scale::Log => libm::log10(value),
            Scale::Nines => -libm::log10(1.0 - value),
        };
        let share = (along(value) - along(self.from)) / (along(self.to) - along(self.from));
        share.is_finite().then_some(share)
    }

    /// The marks, at most about so many with a label.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let ticks: Vec<(f64, String)> = match &self.scale {
            Scale::Linear => self.linear_ticks(step_for(self.to - self.from, most)),
            Scale::Whole => self.linear_ticks(step_for(self.to - self.from, most).max(1.0)),
            Scale::Log => decade_ticks(self.from, self.to, most),
            Scale::Nines => nines(self.to),
            Scale::Names(names) => names.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect(),
        };
        let tick = |(value, label)| Some(Tick { share: self.share(value)?, label });
        ticks.into_iter().filter_map(tick).filter(|tick| (-1e-9..=1.0 + 1e-9).contains(&tick.share)).collect()
    }

    fn linear_ticks(&self, step: f64) -> Vec<(f64, String)> {
        linear_ticks(self.from, self.to, step)
    }
}

/// Whether values take half of an axis from zero, or from the end that is given, to the end that is given; none do of an axis without ends.
pub(super) fn is_filled(ends: Ends, is_log: bool, values: &[f64]) -> bool {
    let (Some(to), false) = (ends.1, values.is_empty()) else { return true };
    let scale = if is_log { Scale::Log } else { Scale::Linear };
    let from = ends.0.unwrap_or(if is_log { values.iter().copied().fold(to, f64::min) } else { 0.0 });
    let axis = Axis { scale, from, to };
    let shares = || values.iter().filter_map(|&value| axis.share(value)).map(|share| share.clamp(0.0, 1.0));
    let (least, most) = shares().fold((1.0_f64, 0.0_f64), |(least, most), share| (least.min(share), most.max(share)));
    // Linear axes are looked at from their beginning.
    let taken = if is_log || from < 0.0 { most - least } else { most };
    taken >= FILLED
}

/// From zero if the data are not far from it, else from a little below them; to a little above them.
fn linear(least: f64, most: f64, ends: Ends, air: bool) -> (f64, f64) {
    if !air {
        let from = if least >= 0.0 && least <= 0.25 * most { 0.0 } else { least };
        // A measured load of 0.7997 is to have the tick of 0.8.
        let tick = round_up(most, most - from);
        return (from, if tick - most < 0.02 * (most - from) { tick } else { most });
    }
    if least >= 0.0 && (least <= NEAR_ZERO * most || least == most) {
        let top = if most > 0.0 { 1.02 * most } else { 1.0 };
        return (0.0, round_up(top, top - ends.0.unwrap_or(0.0)));
    }
    let span = (most - least).max(1e-3 * most.abs());
    let (low, high) = (least - 0.04 * span, most + 0.04 * span);
    (-round_up(-low, span), round_up(high, span))
}

/// The next number upwards that looks good at the end of an axis of this length.
fn round_up(value: f64, length: f64) -> f64 {
    let step = step_for(length, 10);
    (value / step - 1e-9).ceil() * step
}

/// The multiple of a power of ten, by one digit, below or above a value.
fn decade_part(value: f64, below: bool) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(value) + 1e-12));
    let parts = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0].map(|part| part * power);
    let fitting = |part: &f64| if below { *part <= value * (1.0 + 1e-9) } else { *part >= value * (1.0 - 1e-9) };
    if below {
        parts.into_iter().rev().find(fitting).unwrap_or(power)
    } else {
        parts.into_iter().find(fitting).unwrap_or(10.0 * power)
    }
}

/// Percentiles up to the last that is asked for.
fn nines(to: f64) -> Vec<(f64, String)> {
    let named = [(0.0, "0"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];
    let more = [(0.99999, "p99.999"), (0.999_999, "p99.9999")];
    named.into_iter().chain(more).filter(|(at, _)| *at <= to + 1e-9).map(|(at, name)| (at, name.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(scale: Scale, values: &[f64], air: bool) -> (f64, f64) {
        let axis = Axis::around(scale, (None, None), values, &[], air);
        (axis.from, axis.to)
    }

    #[test]
    fn data_fill_their_axis() {
        assert_eq!(ends(Scale::Linear, &[100.0, 912.0], true), (0.0, 1000.0));
        assert_eq!(ends(Scale::Linear, &[0.1, 0.9], false), (0.0, 0.9));
        assert_eq!(ends(Scale::Linear, &[2000.0, 6990.0], false), (2000.0, 7000.0));
        let (from, to) = ends(Scale::Linear, &[128.0, 161.0], true);
        assert!((120.0..128.0).contains(&from) && (161.0..=170.0).contains(&to), "{from} {to}");
        assert_eq!(ends(Scale::Log, &[0.0, 13.0, 690.0], true), (10.0, 800.0));
        assert_eq!(ends(Scale::Log, &[20.0, 150.0], true), (20.0, 200.0));
        assert_eq!(ends(Scale::Log, &[4.1, 9.6], true), (4.0, 20.0));
        assert_eq!(ends(Scale::Linear, &[], true), (0.0, 1.0));
    }

    #[test]
    fn there_is_nothing_between_whole_numbers() {
        let axis = Axis::around(Scale::Whole, (None, None), &[0.0, 1.0, 3.0], &[], true);
        let labels: Vec<_> = axis.ticks(9).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0", "1", "2", "3", "4"]);
        assert_eq!(Axis::around(Scale::Whole, (None, None), &[0.0, 3400.0], &[], true).ticks(9)[1].label, "500");
    }

    #[test]
    fn error_bars_widen_an_axis_by_little() {
        let axis = |above: f64| Axis::around(Scale::Linear, (None, None), &[1.0, 80.0], &[above], true).to;
        assert_eq!((axis(90.0), axis(1e6)), (100.0, 120.0));
    }

    #[test]
    fn each_nine_takes_as_much_room_as_the_last() {
        let axis = Axis::around(Scale::Nines, (None, None), &[0.0, 1.0], &[], true);
        let shares: Vec<_> = axis.ticks(9).into_iter().map(|tick| (tick.label, (100.0 * tick.share).round())).collect();
        let expected = [("0", 0.0), ("p50", 8.0), ("p90", 25.0), ("p99", 50.0), ("p99.9", 75.0), ("p99.99", 100.0)];
        assert_eq!(shares, expected.map(|(label, share)| (label.to_owned(), share)));
        assert_eq!(axis.share(1.0), None, "there is no last nine");
    }

    #[test]
    fn axes_that_somebody_asks_for_are_as_asked() {
        let axis = Axis::around(Scale::Linear, (Some(0.2), Some(0.7)), &[0.0, 1.0], &[], true);
        assert_eq!((axis.from, axis.to), (0.2, 0.7));
        let labels: Vec<_> = axis.ticks(6).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]);
    }
}
