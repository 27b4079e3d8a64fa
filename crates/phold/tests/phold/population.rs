//! No job is lost or made, and as many arrive as the delays allow.

use std::ops::ControlFlow;

use proptest::prelude::*;
use tailback_engine::Sequential;
use tailback_phold::Phold;

use crate::sample::{run, samples};

proptest! {
    /// At each window boundary, wherever the jobs are.
    #[test]
    fn jobs_are_neither_lost_nor_made(sample in samples(), regions in any::<u32>()) {
        let regions = 1 + regions % sample.model.processes;
        let mut simulation = sample.model.simulation(regions).with_longest_window(1 + sample.end / 50);
        let expected = (sample.model.processes * sample.model.jobs_per_process) as usize;
        let mut windows = vec![Phold::population(&simulation)];
        simulation.run_until(sample.end, &Sequential, |simulation| {
            windows.push(Phold::population(simulation));
            ControlFlow::Continue(())
        });
        prop_assert!(windows.iter().all(|&jobs| jobs == expected), "{} jobs became {:?}", expected, windows);
    }

    /// Where all delays are alike, each job arrives once per delay.
    #[test]
    fn equal_delays_make_an_exact_count(sample in samples(), regions in any::<u32>()) {
        let model = Phold { delay_ticks_mean: 0.0, ..sample.model };
        let mut simulation = model.simulation(1 + regions % model.processes);
        run(&mut simulation, sample.end, &Sequential);
        let jobs = u64::from(model.processes * model.jobs_per_process);
        let arrivals_per_job = sample.end.saturating_sub(1) / model.delay_ticks_min;
        prop_assert_eq!(Phold::arrivals(&simulation), jobs * arrivals_per_job);
    }

    /// A job's arrivals are a renewal process: over a long time T their number has the mean
    /// T/μ + (σ²/μ² - 1)/2 and the variance T·σ²/μ³, where μ and σ² are those of a delay.
    #[test]
    fn random_delays_make_the_count_of_a_renewal_process(
        delay_ticks_min in 1u64..200, delay_ticks_mean in 5.0f64..400.0, remote in 0.0f64..1.0, seed in any::<u64>(),
    ) {
        let model = Phold { processes: 16, jobs_per_process: 4, delay_ticks_min, delay_ticks_mean, remote, seed };
        // Rounding an exponential down to whole ticks makes it geometric.
        let stays = (-1.0 / delay_ticks_mean).exp();
        let mean = delay_ticks_min as f64 + stays / (1.0 - stays);
        let variance = stays / (1.0 - stays).powi(2);
        let end = (200.0 * mean) as u64;
        let mut simulation = model.simulation(4);
        run(&mut simulation, end, &Sequential);

        let jobs = f64::from(model.processes * model.jobs_per_process);
        let time = (end - 1) as f64;
        let expected = jobs * (time / mean + (variance / mean.powi(2) - 1.0) / 2.0);
        let deviation = (jobs * time * variance / mean.powi(3)).sqrt();
        let found = Phold::arrivals(&simulation) as f64;
        // Six deviations, and half an arrival per job for what ticks and finite times add.
        prop_assert!((found - expected).abs() < 6.0 * deviation + 0.5 * jobs, "{} of {}", found, expected);
    }
}
