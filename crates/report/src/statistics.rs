//! Means with confidence intervals, and a judgement of the warm-up.
//!
//! Everything is computed from integers in a fixed order and with the same elementary functions on every machine, so
//! equal records give equal figures.

use crate::{Point, Timeline, Window};

/// How many batches the window is cut into for [`batch_means`].
pub const BATCHES: usize = 20;

/// A mean and how far off it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the samples.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval around the mean; unknown from fewer than two samples.
    pub half_width_95: Option<f64>,
    /// How many samples there were.
    pub n: u64,
}

impl Estimate {
    /// The mean of independent samples, with Student's confidence interval; none when there are no samples.
    #[must_use]
    pub fn from_samples(samples: &[f64]) -> Option<Self> {
        let n = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let half_width = || {
            let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
            student_t_975(samples.len() as u64 - 1) * libm::sqrt(squares / (n - 1.0) / n)
        };
        let half_width_95 = (samples.len() > 1).then(half_width);
        (!samples.is_empty()).then_some(Self { mean, half_width_95, n: samples.len() as u64 })
    }
}

/// The 0.975 quantile of Student's t distribution: half a 95 % confidence interval, in standard errors.
///
/// # Panics
/// When there is no degree of freedom.
#[must_use]
pub fn student_t_975(degrees_of_freedom: u64) -> f64 {
    assert!(degrees_of_freedom > 0, "a confidence interval needs two samples at least");
    if degrees_of_freedom <= 200 {
        t_by_bisection(degrees_of_freedom)
    } else {
        t_by_expansion(degrees_of_freedom as f64)
    }
}

/// Finds t with P(|T| < t) = 0.95 on the angle θ = atan(t / √ν), in which the distribution is a finite series.
fn t_by_bisection(degrees_of_freedom: u64) -> f64 {
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if two_sided_probability(middle, degrees_of_freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::tan((low + high) / 2.0) * libm::sqrt(degrees_of_freedom as f64)
}

/// P(|T| < √ν · tan θ), by Abramowitz and Stegun 26.7.3 and 26.7.4.
fn two_sided_probability(angle: f64, degrees_of_freedom: u64) -> f64 {
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    // Odd: θ + sin θ (cos θ + 2/3 cos³ θ + …). Even: sin θ (1 + 1/2 cos² θ + 1·3/(2·4) cos⁴ θ + …).
    let odd = degrees_of_freedom % 2 == 1;
    let (mut term, mut sum) = if odd { (cos, 0.0) } else { (1.0, 0.0) };
    let mut power = u64::from(odd);
    while power + 2 <= degrees_of_freedom {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    if odd { (angle + sin * sum) * std::f64::consts::FRAC_2_PI } else { sin * sum }
}

/// The expansion around the normal distribution (Abramowitz and Stegun 26.7.5), for many degrees of freedom.
fn t_by_expansion(degrees_of_freedom: f64) -> f64 {
    let z = 1.959_963_984_540_054_f64;
    let z2 = z * z;
    let first = z * (z2 + 1.0) / 4.0;
    let second = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let inverse = 1.0 / degrees_of_freedom;
    z + inverse * (first + inverse * (second + inverse * third))
}

/// The mean of a measure over the window, from up to [`BATCHES`] batches of intervals of equal length.
///
/// `measure` gives the sum and the number of what is averaged. Batches in which there is nothing to average are left
/// out. Neighbouring batches are taken to be independent, which long batches nearly are.
#[must_use]
pub fn batch_means(timeline: &Timeline, window: Window, measure: impl Fn(&Point) -> (u64, u64)) -> Option<Estimate> {
    let intervals = window.ticks().div_ceil(timeline.intervals().width()) as usize;
    let per_batch = intervals.div_ceil(BATCHES).max(1);
    let points = timeline.between(window.from, window.until);
    let means: Vec<f64> = points.chunks(per_batch).filter_map(|batch| mean(batch, &measure)).collect();
    Estimate::from_samples(&means)
}

/// The mean of a measure over some points.
fn mean(points: &[Point], measure: impl Fn(&Point) -> (u64, u64)) -> Option<f64> {
    let (sum, count) = points.iter().map(measure).fold((0, 0), |(s, n), (sum, count)| (s + sum, n + count));
    (count > 0).then(|| sum as f64 / count as f64)
}

/// What the latencies of a run say about its warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUpHint {
    /// The tick before which MSER would cut the run off.
    pub steady_from: u64,
    /// By how much the mean of the window would change with that cut, relative to what it is now.
    pub change: f64,
    /// Whether the cut lies inside the window and the change is not negligible.
    pub looks_short: bool,
}

/// A change of the mean that is not worth a warning.
const NEGLIGIBLE_CHANGE: f64 = 0.02;

/// Judges the warm-up by MSER over the interval means of message latency; none when too little was delivered to tell.
///
/// MSER (White 1997) cuts off the beginning whose removal makes the standard error of the rest smallest. It is a hint:
/// a run that never becomes steady, as in saturation, looks like one whose warm-up is too short.
#[must_use]
pub fn warm_up_hint(timeline: &Timeline, window: Window) -> Option<WarmUpHint> {
    let intervals = timeline.intervals();
    let kept = timeline.between(intervals.origin(), window.until).iter().enumerate();
    let means: Vec<(u64, f64)> = kept
        .filter_map(|(index, point)| Some((intervals.start(index), mean(&[*point], Point::message_latency)?)))
        .collect();
    let measured = means.partition_point(|(start, _)| *start < window.from);
    let cut = mser_cut(&means, measured + (means.len() - measured) / 2)?;
    let steady_from = means[cut].0;
    let average = |from| mean(timeline.between(from, window.until), Point::message_latency);
    let now = average(window.from).filter(|&now| now > 0.0)?;
    let change = if cut > measured { average(steady_from)? / now - 1.0 } else { 0.0 };
    Some(WarmUpHint { steady_from, change, looks_short: change.abs() > NEGLIGIBLE_CHANGE })
}

/// How many of the first `means` to cut off, at most `cut_max`; none when fewer than ten would remain.
fn mser_cut(means: &[(u64, f64)], cut_max: usize) -> Option<usize> {
    const REMAINING_MIN: usize = 10;
    let cut_max = cut_max.min(means.len().checked_sub(REMAINING_MIN)?);
    // From the end, so that every sum takes one step. Differences from a typical value keep digits.
    let typical = means[means.len() - 1].1;
    let (mut sum, mut squares, mut best) = (0.0, 0.0, None);
    for (cut, (_, mean)) in means.iter().enumerate().rev() {
        let difference = mean - typical;
        sum += difference;
        squares += difference * difference;
        let n = (means.len() - cut) as f64;
        let error = (squares - sum * sum / n) / (n * n);
        // Of equals the earliest cut.
        if cut <= cut_max && best.is_none_or(|(least, _)| error <= least) {
            best = Some((error, cut));
        }
    }
    best.map(|(_, cut)| cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Intervals;

    #[test]
    fn student_t_is_that_of_the_tables() {
        let known = [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (4, 2.776_445_105),
            (5, 2.570_581_836),
            (9, 2.262_157_163),
            (10, 2.228_138_852),
            (19, 2.093_024_054),
            (29, 2.045_229_642),
            (30, 2.042_272_456),
            (100, 1.983_971_519),
            (1_000_000, 1.959_966_357),
        ];
        for (degrees_of_freedom, t) in known {
            let found = student_t_975(degrees_of_freedom);
            assert!((found - t).abs() < 1e-7, "{degrees_of_freedom}: {found}, not {t}");
        }
        assert!((t_by_bisection(200) - t_by_expansion(200.0)).abs() < 1e-8);
        assert!((t_by_bisection(201) - t_by_expansion(201.0)).abs() < 1e-8);
    }

    #[test]
    fn estimates_are_those_of_the_textbook() {
        assert_eq!(Estimate::from_samples(&[]), None);
        assert_eq!(Estimate::from_samples(&[3.0]), Some(Estimate { mean: 3.0, half_width_95: None, n: 1 }));
        let estimate = Estimate::from_samples(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        // Standard deviation √2.5, so the standard error is √0.5.
        assert_eq!((estimate.mean, estimate.n), (3.0, 5));
        assert!((estimate.half_width_95.unwrap() - 2.776_445_105 * 0.5_f64.sqrt()).abs() < 1e-8);
    }

    /// A run of one message per tick, whose latency is given by the tick.
    fn run(warm_up: u64, until: u64, latency: impl Fn(u64) -> u64) -> (Timeline, Window) {
        let window = Window { from: warm_up, until };
        let mut timeline = Timeline::new(Intervals::around(warm_up, until, 100, 1000));
        for tick in 0..until {
            if let Some(point) = timeline.at(tick) {
                point.delivered_messages += 1;
                point.message_latency_ticks += latency(tick);
            }
        }
        (timeline, window)
    }

    /// Noise without a trend.
    fn noise(tick: u64) -> u64 {
        (tick.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % 100
    }

    /// As a queue that fills up at first.
    fn filling(tick: u64) -> u64 {
        noise(tick) + (1000.0 * (1.0 - (-(tick as f64) / 2000.0).exp())) as u64
    }

    #[test]
    fn batch_means_cover_the_window_and_nothing_else() {
        let (timeline, window) = run(1000, 3000, |tick| if tick < 1000 { 9999 } else { tick / 2000 });
        let estimate = batch_means(&timeline, window, Point::message_latency).unwrap();
        assert_eq!((estimate.mean, estimate.n), (0.5, 20));
        let deviation = (20.0 * 0.25 / 19.0_f64).sqrt();
        let expected = student_t_975(19) * deviation / 20.0_f64.sqrt();
        assert!((estimate.half_width_95.unwrap() - expected).abs() < 1e-12);
        assert_eq!(batch_means(&timeline, window, Point::network_latency), None);
    }

    #[test]
    fn short_windows_make_fewer_batches() {
        let (timeline, window) = run(0, 7, |_| 3);
        let estimate = batch_means(&timeline, window, Point::message_latency).unwrap();
        assert_eq!((estimate.mean, estimate.half_width_95, estimate.n), (3.0, Some(0.0), 7));
    }

    #[test]
    fn a_warm_up_that_is_too_short_is_noticed() {
        for warm_up in [0, 1000, 2000] {
            let (timeline, window) = run(warm_up, warm_up + 20_000, filling);
            let hint = warm_up_hint(&timeline, window).unwrap();
            assert!(hint.looks_short, "after {warm_up}: {hint:?}");
            assert!((4000..=12_000).contains(&hint.steady_from), "{hint:?}");
        }
    }

    #[test]
    fn a_warm_up_that_is_long_enough_is_left_alone() {
        for warm_up in [10_000, 20_000, 50_000] {
            let (timeline, window) = run(warm_up, warm_up + 20_000, filling);
            assert!(!warm_up_hint(&timeline, window).unwrap().looks_short, "after {warm_up}");
        }
        let (timeline, window) = run(0, 20_000, noise);
        assert!(!warm_up_hint(&timeline, window).unwrap().looks_short, "steady from the start");
        let (timeline, window) = run(0, 5, noise);
        assert_eq!(warm_up_hint(&timeline, window), None);
    }
}
