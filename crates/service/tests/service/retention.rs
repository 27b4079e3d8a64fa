//! What a server deletes by itself.

use tailback_api::v1::RunState;
use tailback_service::Limits;
use tonic::Code;

use crate::harness::{SMALL, Served, endless, limits, named};

#[tokio::test]
async fn what_has_ended_goes_when_it_takes_too_much_room_and_what_runs_stays() {
    let kept = Limits { ended_artifact_bytes_max: 1, retention_interval_s: 1, ..limits() };
    let server = Served::with(kept).await;
    let mut client = server.client().await;
    client.create(named("endless", &endless())).await.expect("it is accepted");
    client.until("endless", RunState::Running).await;
    client.create(named("small", SMALL)).await.expect("it is accepted");
    let gone = loop {
        match client.get("small").await {
            Ok(run) => assert_ne!(run.state(), RunState::Failed, "{run:?}"),
            Err(status) => break status,
        }
    };
    assert_eq!(gone.code(), Code::NotFound);
    assert_eq!(client.get("endless").await.expect("it is there").state(), RunState::Running);
    // Its name is free again.
    client.create(named("small", SMALL)).await.expect("it is accepted");
    server.stop().await;
}
