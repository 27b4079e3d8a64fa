//! Packets that wait for each other in a circle are found and named alike, however many ranks share the network. `tests/mpi` has processes do the same by
//! `examples/closed_ring.rs`.

mod ring;

use std::ops::ControlFlow;

use tailback_sim::{Failure, InProcess, Run};

use ring::scenario;

fn finish(run: &mut Run<'_>) -> Failure {
    run.finish(|_| ControlFlow::Continue(())).expect_err("the ring is closed")
}

#[test]
fn all_ranks_end_and_the_first_one_names_the_circle() {
    let scenario = scenario();
    let alone = finish(&mut Run::new(&scenario, 0).expect("it starts"));
    let Failure::Deadlock { circle, .. } = &alone else { panic!("{alone:?}") };
    assert_eq!(circle.len(), 5, "{circle:?}");
    for ranks in 1..=4 {
        let rank =
            |exchange: InProcess| finish(&mut Run::together(&scenario, 1, Box::new(exchange)).expect("threads start"));
        let ended: Vec<Failure> = std::thread::scope(|scope| {
            let started: Vec<_> =
                InProcess::ranks(ranks).into_iter().map(|exchange| scope.spawn(move || rank(exchange))).collect();
            started.into_iter().map(|rank| rank.join().expect("it does not panic")).collect()
        });
        assert_eq!(format!("{:?}", ended[0]), format!("{alone:?}"), "on {ranks} ranks");
        assert!(ended[1..].iter().all(|failure| matches!(failure, Failure::Elsewhere)), "{ended:?}");
    }
}
