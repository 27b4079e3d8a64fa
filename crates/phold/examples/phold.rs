//! Runs PHOLD on one and on several threads and prints events per second.
//!
//! `cargo run --release -p tailback-phold --example phold`

#![allow(clippy::disallowed_types, reason = "it measures, and changes no result")]

use std::ops::ControlFlow;
use std::time::Instant;

use tailback_engine::{Executor, Rayon, Sequential};
use tailback_phold::Phold;

fn main() {
    let model = Phold { processes: 16_384, ..Phold::default() };
    let regions = 64;
    println!("{} processes with {} jobs each in {regions} regions", model.processes, model.jobs_per_process);
    run(&model, regions, &Sequential);
    for threads in [2, 4] {
        run(&model, regions, &Rayon::new(threads).expect("threads can be started"));
    }
}

fn run(model: &Phold, regions: u32, executor: &impl Executor) {
    let mut simulation = model.simulation(regions);
    let start = Instant::now();
    simulation.run_until(50_000, executor, |_| ControlFlow::Continue(()));
    let seconds = start.elapsed().as_secs_f64();
    let (events, checksum) = Phold::digest(&simulation);
    println!(
        "{} thread(s): {events} events in {seconds:.2} s, {:.2} million per second, checksum {checksum:016x}",
        executor.threads(),
        events as f64 / seconds / 1e6
    );
}
