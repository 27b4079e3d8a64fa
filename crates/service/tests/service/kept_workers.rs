//! Workers that carry out one run after the other.

use tailback_api::v1::{CreateRunRequest, RunState, Sweep};
use tailback_service::Limits;

use crate::harness::{SMALL, Served, limits, named};

/// How many runs a worker carries out at most.
const RUNS_MAX: u32 = 50;

#[tokio::test]
async fn runs_that_follow_each_other_share_workers_and_find_what_they_find_alone() {
    let server = Served::with(Limits { concurrent_runs_max: 1, ..limits() }).await;
    let mut client = server.client().await;
    let tiny = SMALL.replace("warmup = 100", "warmup = 0").replace("cycles = 400", "cycles = 50");
    let sweep = Some(Sweep { over: vec!["seed=0..59/1".to_owned()], ..Sweep::default() });
    client.create(CreateRunRequest { sweep, ..named("sweep", &tiny) }).await.expect("it is accepted");
    assert_eq!(client.ended("sweep").await.state(), RunState::Succeeded);
    let started: u32 = server.metric("workers_started_total").await;
    // More than two only where a run waits for a second for its turn, as no machine should have it.
    assert!(started >= 60u32.div_ceil(RUNS_MAX) && started < 20, "{started}");
    let mut digests = Vec::new();
    for (id, seed) in [("sweep.1", 0), ("sweep.30", 29), ("sweep.60", 59)] {
        let alone = format!("alone-{seed}");
        client.create(named(&alone, &format!("seed = {seed}\n{tiny}"))).await.expect("it is accepted");
        let (alone, in_line) = (client.ended(&alone).await, client.ended(id).await);
        assert_eq!(in_line.result_digest, alone.result_digest, "{id}");
        digests.push(alone.result_digest);
    }
    digests.dedup();
    assert_eq!(digests.len(), 3, "each has results of its own");
    server.stop().await;
}
