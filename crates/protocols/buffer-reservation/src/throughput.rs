//! The throughput of a single stage of reservations (section 4 of the paper): by analysis, as a bound, and simulated slot by slot.
//!
//! All inputs have packets for all outputs. In a slot, an output with *x* credits grants that many inputs, drawn by chance; an input accepts one
//! of its grants, drawn by chance; the packet enters the buffer of the output, of *b* places; a buffer that is not empty sends one packet, in the
//! same slot if need be. With one place this is parallel iterative matching.

use tailback_random::Stream;

/// What the analysis finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Credits that an output has at the start of a slot, on average.
    pub credits: f64,
    /// Packets that leave an output in a slot, on average.
    pub packets: f64,
}

/// More than any iteration needs.
const STEPS_MAX: u32 = 100_000;
const PRECISION: f64 = 1e-12;

/// The bound: as if all places of all buffers were free at the start of each slot.
#[must_use]
pub fn bound(inputs: u32, buffer: u32) -> f64 {
    accepted(inputs, buffer.into())
}

/// The analysis: the occupancy of a buffer as a chain whose steps depend on the mean of its credits.
///
/// # Panics
/// If there are no inputs or no places.
#[must_use]
pub fn analyse(inputs: u32, buffer: u32) -> Throughput {
    assert!(inputs > 0 && buffer > 0, "{inputs} inputs and {buffer} places");
    let mut credits = f64::from(buffer);
    let mut occupancy = vec![1.0 / f64::from(buffer); buffer as usize];
    for _ in 0..STEPS_MAX {
        let chance = accepted(inputs, credits) / credits;
        occupancy = step(&occupancy, chance.min(1.0));
        let mean: f64 = occupancy.iter().enumerate().map(|(packets, share)| packets as f64 * share).sum();
        let next = f64::from(buffer) - mean;
        if (next - std::mem::replace(&mut credits, next)).abs() < PRECISION {
            break;
        }
    }
    Throughput { credits, packets: accepted(inputs, credits) }
}

/// Grants that inputs accept, per input, if each output grants so many.
fn accepted(inputs: u32, credits: f64) -> f64 {
    let inputs = f64::from(inputs);
    if credits >= inputs { 1.0 } else { 1.0 - (inputs * (-credits / inputs).ln_1p()).exp() }
}

/// One slot of the chain: of the `b - n` grants of an output with `n` packets each is accepted by this chance, and one packet leaves.
fn step(occupancy: &[f64], chance: f64) -> Vec<f64> {
    let buffer = occupancy.len();
    let mut next = vec![0.0; buffer];
    for (packets, share) in occupancy.iter().enumerate() {
        for (accepted, probability) in binomial(buffer - packets, chance).into_iter().enumerate() {
            next[(packets + accepted).saturating_sub(1)] += share * probability;
        }
    }
    next
}

/// The probability of each count among `trials`.
fn binomial(trials: usize, chance: f64) -> Vec<f64> {
    let mut shares = vec![1.0];
    for _ in 0..trials {
        let mut more = vec![0.0; shares.len() + 1];
        for (count, share) in shares.iter().enumerate() {
            more[count] += share * (1.0 - chance);
            more[count + 1] += share * chance;
        }
        shares = more;
    }
    shares
}

/// Simulates so many slots, of which the first tenth does not count. Returns the packets that leave an output in a slot, on average.
pub fn simulate(inputs: u32, buffer: u32, slots: u32, stream: &mut Stream) -> f64 {
    let mut packets = vec![0; inputs as usize];
    let mut order: Vec<u32> = (0..inputs).collect();
    // By input: how many grants it has got, and the one that it accepts.
    let mut grants = vec![(0, 0); inputs as usize];
    let (mut sent, warm) = (0u64, slots / 10);
    for slot in 0..slots {
        grants.fill((0, 0));
        for (output, &packets) in packets.iter().enumerate() {
            for place in 0..(buffer - packets).min(inputs) {
                let other = place + stream.below(inputs - place);
                order.swap(place as usize, other as usize);
                let (count, accepted) = &mut grants[order[place as usize] as usize];
                *count += 1;
                if stream.below(*count) == 0 {
                    *accepted = output;
                }
            }
        }
        for &(_, output) in grants.iter().filter(|(count, _)| *count > 0) {
            packets[output] += 1;
        }
        let leaving = packets.iter_mut().filter(|packets| **packets > 0).map(|packets| *packets -= 1).count();
        if slot >= warm {
            sent += leaving as u64;
        }
    }
    sent as f64 / (f64::from(slots - warm) * f64::from(inputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFERS: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12];

    #[test]
    fn the_analysis_is_that_of_the_sheet() {
        let table = [
            (
                8,
                [1.0, 1.653, 2.206, 2.701, 3.157, 3.585, 3.989, 4.374, 5.093, 6.037],
                [0.6564, 0.8431, 0.9243, 0.9629, 0.9820, 0.9914, 0.9960, 0.9982, 0.9997, 1.0],
                [0.6564, 0.8999, 0.9767, 0.9961, 0.9996, 1.0, 1.0, 1.0, 1.0, 1.0],
            ),
            (
                256,
                [1.0, 1.689, 2.296, 2.861, 3.399, 3.920, 4.430, 4.931, 5.918, 6.892],
                [0.6328, 0.8162, 0.9004, 0.9437, 0.9673, 0.9808, 0.9885, 0.9931, 0.9975, 0.9991],
                [0.6328, 0.8657, 0.9511, 0.9823, 0.9936, 0.9977, 0.9992, 0.9997, 1.0, 1.0],
            ),
        ];
        for (inputs, credits, packets, bounds) in table {
            for (index, buffer) in BUFFERS.into_iter().enumerate() {
                let found = analyse(inputs, buffer);
                assert!((found.packets - packets[index]).abs() < 1e-3, "{inputs}, {buffer}: {found:?}");
                assert!((bound(inputs, buffer) - bounds[index]).abs() < 1e-3, "{inputs}, {buffer}");
                assert!((found.credits - credits[index]).abs() < 5e-3 || buffer == 12, "{inputs}, {buffer}: {found:?}");
            }
        }
    }

    #[test]
    fn a_simulation_agrees_with_the_analysis() {
        let buffers = [1, 2, 4, 7, 8, 10, 12];
        for (inputs, slots, expected) in [
            (8, 20_000, [0.656, 0.847, 0.968, 0.997, 0.999, 1.0, 1.0]),
            (256, 1000, [0.632, 0.816, 0.944, 0.989, 0.993, 0.998, 0.999]),
        ] {
            for (buffer, expected) in buffers.into_iter().zip(expected) {
                let found = simulate(inputs, buffer, slots, &mut Stream::new(1, inputs.into(), buffer.into()));
                assert!((found - expected).abs() < 0.005, "{inputs}, {buffer}: {found} for {expected}");
                assert!((found - analyse(inputs, buffer).packets).abs() < 0.01, "{inputs}, {buffer}: {found}");
            }
        }
    }
}
