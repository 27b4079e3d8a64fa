//! What the end of a window costs: `mpirun -n 2 target/release/examples/windows`, built with `--features mpi`.
//!
//! For letters of several lengths, which each rank sends to each other, it prints the microseconds of an exchange.
// It measures, and simulates nothing.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::time::Instant;

use tailback_engine::Notice;

/// So many exchanges are timed.
const TIMES: u32 = 5_000;

fn main() {
    let exchange = tailback_mpi::join(|name| std::env::var(name).ok()).expect("processes meet");
    let Some(mut exchange) = exchange else {
        println!("a process alone exchanges nothing");
        return;
    };
    let (rank, ranks) = (exchange.rank(), exchange.ranks());
    let mut notices = vec![Notice::default(); ranks];
    for bytes in [0, 64, 1 << 10, 16 << 10, 256 << 10] {
        let mut swap = || {
            let mut letters = vec![vec![7; bytes]; ranks];
            exchange.swap(&mut letters, &mut notices).expect("all ranks are there");
        };
        (0..100).for_each(|_| swap());
        let began = Instant::now();
        (0..TIMES).for_each(|_| swap());
        let microseconds = began.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES);
        if rank == 0 {
            println!("{ranks} ranks, {bytes} bytes to each other: {microseconds:.2} us");
        }
    }
}
