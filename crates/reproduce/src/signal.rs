//! What can be told about something that changes with time.

use crate::series::{Sample, Together};

/// One end of what values there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The highest value.
    Peak,
    /// The lowest value.
    Trough,
}

impl Extreme {
    /// The value at that end, and the first of several; none of nothing.
    pub fn of(self, samples: &[Sample]) -> Option<Sample> {
        let further = |next: &Sample, best: &Sample| match self {
            Self::Peak => next.value > best.value,
            Self::Trough => next.value < best.value,
        };
        samples.iter().copied().reduce(|best, next| if further(&next, &best) { next } else { best })
    }
}

/// The weighted means, or the largest values, over intervals of `width` cycles, one of which begins at time 0; without a width each time keeps
/// its own. Sorted by time, each at the beginning of its interval, and as
/// complete as the least complete of them.
pub fn binned(mut samples: Vec<Sample>, width: Option<f64>) -> Vec<Sample> {
    if let Some(width) = width {
        for sample in &mut samples {
            sample.time = libm::floor(sample.time / width) * width;
        }
    }
    samples.sort_by(|a, b| a.time.total_cmp(&b.time));
    let merge = |group: &[Sample]| {
        let complete = group.iter().map(|sample| sample.complete).fold(1.0, f64::min);
        let age = group.iter().map(|sample| sample.age).fold(f64::INFINITY, f64::min);
        let nothing = Sample { value: 0.0, weight: 0.0, complete, age, ..group[0] };
        match together(group) {
            Some((value, weight)) => Some(Sample { value, weight, ..nothing }),
            None => (!nothing.is_complete()).then_some(nothing),
        }
    };
    samples.chunk_by(|a, b| a.time == b.time).filter_map(merge).collect()
}

/// What all are together, their mean or the largest of them, and how much they count; none of nothing.
fn together(samples: &[Sample]) -> Option<(f64, f64)> {
    let weight: f64 = samples.iter().map(|sample| sample.weight).sum();
    let value = match samples.first()?.together {
        Together::Mean => samples.iter().map(|sample| sample.weight * sample.value).sum::<f64>() / weight,
        Together::Largest => samples.iter().map(|sample| sample.value).fold(0.0, f64::max),
    };
    (weight > 0.0).then_some((value, weight))
}

/// The mean of all, of values that are the largest of something the largest.
pub fn mean(samples: &[Sample]) -> Option<f64> {
    together(samples).map(|(value, _)| value)
}

/// The least that the mean of all can be once what is missing has arrived: the mean of what has, if all that has not has waited for
/// longer already.
pub fn least_mean(samples: &[Sample]) -> Option<f64> {
    let mean = mean(samples)?;
    let mut missing = samples.iter().filter(|sample| sample.complete < 1.0);
    missing.all(|sample| sample.age >= mean).then_some(mean)
}

/// The time from 0 on after which no value is more than `percent` percent away from `level`: when the interval after the
/// last one that is begins. None if the very last is, as nobody knows how that would go on.
pub fn settling(samples: &[Sample], level: f64, percent: f64) -> Option<f64> {
    let after: Vec<_> = samples.iter().filter(|sample| sample.time >= 0.0).collect();
    let is_off = |sample: &&Sample| (sample.value - level).abs() > percent / 100.0 * level.abs();
    match after.iter().rposition(is_off) {
        None => after.first().map(|_| 0.0),
        Some(last) => after.get(last + 1).map(|next| next.time),
    }
}

/// The time from 0 on at which a value first has gone `percent` percent of the way from one level to another.
pub fn reaching(samples: &[Sample], from: f64, to: f64, percent: f64) -> Option<f64> {
    let goal = from + percent / 100.0 * (to - from);
    let is_there = |sample: &&Sample| if to >= from { sample.value >= goal } else { sample.value <= goal };
    samples.iter().filter(|sample| sample.time >= 0.0).find(is_there).map(|sample| sample.time)
}

/// The amplitude that a sine of the same variance would have, once a straight line is taken out.
pub fn amplitude(samples: &[Sample]) -> Option<f64> {
    let rest = detrended(samples)?;
    Some(libm::sqrt(2.0 * rest.iter().map(|value| value * value).sum::<f64>() / rest.len() as f64))
}

/// The time from one crest to the next: the lag of the first crest of the autocorrelation, after it was negative, that is at least half as high as its
/// highest value up to half of the time there is. None if nothing comes back, that is if that value is not above `least`.
///
/// Not the highest itself: what comes back after one period does so after two, and where crests differ in height that may be the higher one.
/// Samples are taken to be equally far apart.
pub fn period(samples: &[Sample], least: f64) -> Option<f64> {
    let rest = detrended(samples)?;
    let n = rest.len();
    let power: f64 = rest.iter().map(|value| value * value).sum();
    let correlation = |lag: usize| {
        let sum: f64 = rest.iter().zip(&rest[lag..]).map(|(a, b)| a * b).sum();
        sum / power * n as f64 / (n - lag) as f64
    };
    let correlations: Vec<f64> = (0..=n / 2).map(correlation).collect();
    let negative = correlations.iter().position(|&correlation| correlation < 0.0)?;
    let highest = correlations[negative..].iter().copied().max_by(f64::total_cmp)?;
    let is_crest = |lag: usize| correlations.get(lag + 1).is_none_or(|next| *next <= correlations[lag]);
    let lag = (negative..correlations.len()).find(|&lag| 2.0 * correlations[lag] >= highest && is_crest(lag))?;
    let step = (samples[n - 1].time - samples[0].time) / (n - 1) as f64;
    (highest > least).then_some(lag as f64 * step)
}

/// The values without the straight line that fits them best; none of fewer than three.
fn detrended(samples: &[Sample]) -> Option<Vec<f64>> {
    let n = samples.len() as f64;
    if samples.len() < 3 {
        return None;
    }
    let (t, v) = samples.iter().fold((0.0, 0.0), |(t, v), sample| (t + sample.time / n, v + sample.value / n));
    let (covariance, variance) = samples.iter().fold((0.0, 0.0), |(c, s), sample| {
        let (dt, dv) = (sample.time - t, sample.value - v);
        (c + dt * dv, s + dt * dt)
    });
    let slope = covariance / variance;
    Some(samples.iter().map(|sample| sample.value - v - slope * (sample.time - t)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: impl IntoIterator<Item = (f64, f64)>) -> Vec<Sample> {
        values
            .into_iter()
            .map(|(time, value)| Sample { time, value, weight: 1.0, complete: 1.0, age: 0.0, together: Together::Mean })
            .collect()
    }

    /// One value for each ten cycles from -100 on.
    fn every_ten(count: usize, value: impl Fn(f64) -> f64) -> Vec<Sample> {
        samples((0..count).map(|index| 10.0 * index as f64 - 100.0).map(|time| (time, value(time))))
    }

    #[test]
    fn bins_are_aligned_with_the_event_and_weighted() {
        let mut four = samples([(-3.0, 1.0), (-1.0, 3.0), (0.0, 5.0), (1.0, 8.0)]);
        four[3].weight = 2.0;
        let bins = binned(four.clone(), Some(4.0));
        assert_eq!(
            bins.iter().map(|bin| (bin.time, bin.value, bin.weight)).collect::<Vec<_>>(),
            [(-4.0, 2.0, 2.0), (0.0, 7.0, 3.0)]
        );
        let twice = [four.clone(), four.clone()].concat();
        assert_eq!(binned(twice, None).len(), 4, "equal times are one");
        // Of values that are the largest of something, the largest.
        four.iter_mut().for_each(|sample| sample.together = Together::Largest);
        assert_eq!(binned(four.clone(), Some(4.0)).iter().map(|bin| bin.value).collect::<Vec<_>>(), [3.0, 8.0]);
        assert_eq!(mean(&four), Some(8.0));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn a_mean_only_grows_by_what_has_waited_for_longer() {
        let mut three = samples([(0.0, 10.0), (1.0, 20.0), (2.0, 60.0)]);
        three[2].complete = 0.5;
        for (age, least) in [(29.0, None), (30.0, Some(30.0)), (1e9, Some(30.0))] {
            three[2].age = age;
            assert_eq!(least_mean(&three), least, "{age}");
        }
        assert_eq!(least_mean(&[]), None);
    }

    #[test]
    fn of_several_extremes_the_first_counts() {
        let waves = samples([(0.0, 5.0), (10.0, 9.0), (20.0, 2.0), (30.0, 9.0), (40.0, 2.0)]);
        let (high, low) = (Extreme::Peak.of(&waves).unwrap(), Extreme::Trough.of(&waves).unwrap());
        assert_eq!((high.time, high.value, low.time, low.value), (10.0, 9.0, 20.0, 2.0));
        assert_eq!((Extreme::Peak.of(&[]), Extreme::Trough.of(&[])), (None, None));
    }

    #[test]
    fn a_step_settles_when_it_is_over() {
        let step = every_ten(40, |time| if time < 0.0 { 100.0 } else { 200.0 + 100.0 * (-time / 50.0).exp() });
        // 200 + 100 exp(-t / 50) is within 10 % of 200 from t = 80.5 on.
        assert_eq!(settling(&step, 200.0, 10.0), Some(90.0));
        assert_eq!(settling(&step, 200.0, 60.0), Some(0.0));
        let restless = every_ten(40, |time| if time % 20.0 == 0.0 { 100.0 } else { 300.0 });
        assert_eq!(settling(&restless, 200.0, 10.0), None, "it goes on to the end");
        assert_eq!(settling(&[], 1.0, 1.0), None);
    }

    #[test]
    fn a_share_of_the_way_is_reached_upwards_and_downwards() {
        let ramp = every_ten(40, |time| time.clamp(0.0, 100.0));
        assert_eq!(reaching(&ramp, 0.0, 100.0, 90.0), Some(90.0));
        let down = every_ten(40, |time| 100.0 - time.clamp(0.0, 100.0));
        assert_eq!(reaching(&down, 100.0, 0.0, 45.0), Some(50.0));
        assert_eq!(reaching(&ramp, 0.0, 200.0, 90.0), None);
    }

    #[test]
    fn a_sine_has_its_amplitude_and_its_period_whatever_it_rides_on() {
        let wave = |time: f64| 50.0 + 0.1 * time + 7.0 * (time * std::f64::consts::TAU / 500.0).sin();
        let wave = every_ten(300, wave);
        let (height, length) = (amplitude(&wave).unwrap(), period(&wave, 0.1).unwrap());
        assert!((height - 7.0).abs() < 0.1, "{height}");
        assert!((length - 500.0).abs() <= 10.0, "{length}");
        let straight = every_ten(300, |time| 3.0 * time);
        assert!(amplitude(&straight).unwrap() < 1e-9);
        assert_eq!(amplitude(&straight[..2]), None);
    }

    #[test]
    fn crests_that_differ_in_height_are_a_period_apart() {
        let sine = |time: f64, length: f64| (time * std::f64::consts::TAU / length).sin();
        let wave = every_ten(300, |time| 7.0 * sine(time, 500.0) + 2.0 * sine(time, 1000.0));
        let length = period(&wave, 0.1).unwrap();
        assert!(
            (length - 500.0).abs() <= 10.0,
            "{length} is not the 1,000 after which every crest is as high as before"
        );
    }

    #[test]
    fn noise_has_no_period() {
        // What a linear congruential generator throws about.
        let mut state = 1_u32;
        let noise = every_ten(400, |_| 0.0).into_iter().map(|sample| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Sample { value: f64::from(state >> 16), ..sample }
        });
        assert_eq!(period(&noise.collect::<Vec<_>>(), 0.3), None);
    }
}
