//! Who gets in by tokens, and what one may do then.

use tailback_api::v1::{CancelRunRequest, DeleteRunRequest, GetRunRequest, ListRunsRequest, RunState, WatchRunRequest};
use tailback_service::{Limits, Role, add_line, new_token, remove_name};
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::harness::{SMALL, endless, limits, named, reason};
use crate::tokens::{Bearing, bearing, connect, over, serve, tokens};

#[tokio::test]
async fn tokens_say_who_one_is_and_what_one_may_do() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let people = [("alice", Role::Submit), ("bob", Role::Submit), ("carol", Role::Read), ("dave", Role::Admin)];
    let (file, tokens) = tokens(folder.path(), &people);
    let server = serve(folder.path(), &file, limits()).await;
    let mut nobody = server.client().await;
    let refused = nobody.get("one").await.expect_err("there is no token");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::Unauthenticated, "NOT_AUTHENTICATED"));
    for header in ["Bearer tb_0000", "Basic YWxpY2U6", "Bearer", ""] {
        let refused = bearing(&server, header).await.list_runs(ListRunsRequest::default()).await;
        assert_eq!(refused.expect_err("nobody bears that").code(), Code::Unauthenticated, "{header}");
    }
    let mut alice = bearing(&server, &tokens[0]).await;
    let mut bob = bearing(&server, &tokens[1].replace("Bearer", "bearer")).await;
    let mut carol = bearing(&server, &tokens[2]).await;
    let mut dave = bearing(&server, &tokens[3]).await;
    let created = alice.create_run(named("one", &endless())).await.expect("she may").into_inner();
    assert_eq!(created.run.expect("there is a run").owner, "alice");
    let run_id = || "one".to_owned();
    assert!(carol.get_run(GetRunRequest { run_id: run_id() }).await.is_ok(), "everybody may see it");
    let refused = carol.create_run(named("two", SMALL)).await.expect_err("she may only read");
    assert_eq!((refused.code(), reason(&refused).1["role"].as_str()), (Code::PermissionDenied, "read"));
    let refused = bob.cancel_run(CancelRunRequest { run_id: run_id() }).await.expect_err("it is not his");
    assert_eq!((refused.code(), reason(&refused).1["owner"].as_str()), (Code::PermissionDenied, "alice"));
    assert!(dave.cancel_run(CancelRunRequest { run_id: run_id() }).await.is_ok(), "he may do everything");
    let mut ended = false;
    while !ended {
        let run = alice.get_run(GetRunRequest { run_id: run_id() }).await.expect("it is there").into_inner().run;
        ended = run.expect("there is a run").state() == RunState::Cancelled;
    }
    let refused = bob.delete_run(DeleteRunRequest { run_id: run_id() }).await.expect_err("it is not his");
    assert_eq!(refused.code(), Code::PermissionDenied);
    alice.delete_run(DeleteRunRequest { run_id: run_id() }).await.expect("it is hers");
    server.stop().await;
}

/// Watches a run, as one who bears a token.
async fn watch(client: &mut Bearing, run: &str) -> tonic::Streaming<tailback_api::v1::WatchRunResponse> {
    let request = WatchRunRequest { run_id: run.to_owned(), ..WatchRunRequest::default() };
    client.watch_run(request).await.expect("it can be watched").into_inner()
}

#[tokio::test]
async fn who_is_revoked_is_out_at_the_next_message_and_others_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &[("alice", Role::Submit), ("bob", Role::Submit)]);
    let server = serve(folder.path(), &file, limits()).await;
    let mut alice = bearing(&server, &tokens[0]).await;
    let mut bob = bearing(&server, &tokens[1]).await;
    alice.create_run(named("one", &endless())).await.expect("she may");
    let (mut hers, mut his) = (watch(&mut alice, "one").await, watch(&mut bob, "one").await);
    remove_name(&file, "alice").expect("it can be written");
    hers.message().await.expect("the server does not know yet");
    server.tokens.read_again();
    let end = loop {
        match hers.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the run has not ended"),
            Err(end) => break end,
        }
    };
    assert_eq!(end.code(), Code::Unauthenticated);
    assert_eq!(
        alice.list_runs(ListRunsRequest::default()).await.expect_err("she is out").code(),
        Code::Unauthenticated
    );
    assert!(his.message().await.expect("he is not").is_some());
    // A file that cannot be read, or is open to others, changes nothing.
    let good = std::fs::read(&file).expect("it is there");
    std::fs::write(&file, "bob boss 00").expect("it can be written");
    server.tokens.read_again();
    assert!(bob.list_runs(ListRunsRequest::default()).await.is_ok());
    std::fs::write(&file, &good).expect("it can be written");
    let (carol, line) = new_token("carol", &Role::Read.into()).expect("there are random bytes");
    add_line(&file, &line).expect("it can be written");
    server.tokens.read_again();
    assert!(bearing(&server, &format!("Bearer {carol}")).await.list_runs(ListRunsRequest::default()).await.is_ok());
    server.stop().await;
}

const UNKNOWN: &str = "Bearer tb_00";

async fn is_refused(stranger: &mut Bearing) {
    let refused = stranger.list_runs(ListRunsRequest::default()).await.expect_err("nobody bears that");
    assert_eq!(refused.code(), Code::Unauthenticated);
}

/// Has many calls refused. As others of this connection are let in, none of them has to wait.
async fn fail_often(known: &Channel) {
    for _ in 0..25 {
        is_refused(&mut over(known, UNKNOWN)).await;
    }
}

/// Who fails again and again is not listened to, and cannot get around that by connecting again. Neither those who are
/// known nor those who come from elsewhere wait for it.
#[tokio::test]
async fn only_strangers_are_made_to_wait() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &[("alice", Role::Submit)]);
    // Who is not listened to does not hear that the server stops either.
    let limits = Limits { refusal_pause_ms_max: u64::from(u32::MAX), shutdown_s_max: 1, ..limits() };
    let server = serve(folder.path(), &file, limits).await;
    let channel = connect(&server).await;
    let mut known = over(&channel, &tokens[0]);
    let list = ListRunsRequest::default;
    known.list_runs(list()).await.expect("she is let in");
    let mut stranger = bearing(&server, UNKNOWN).await;
    is_refused(&mut stranger).await;
    fail_often(&channel).await;
    is_refused(&mut stranger).await;
    {
        let newcomer = async |header: &str| bearing(&server, header).await.list_runs(list()).await;
        let not_heard = async {
            tokio::select! {
                answered = stranger.list_runs(list()) => answered,
                answered = newcomer(UNKNOWN) => answered,
                answered = newcomer(&tokens[0]) => answered,
            }
        };
        tokio::pin!(not_heard);
        let elsewhere = async || {
            let endpoint = Endpoint::from_shared(server.url.clone()).expect("an address");
            let from = endpoint.local_address(Some([127, 0, 0, 2].into())).connect().await;
            over(&from.expect("somebody listens"), &tokens[0]).list_runs(list()).await
        };
        for _ in 0..3 {
            tokio::select! {
                biased;
                answered = &mut not_heard => panic!("nobody listens: {answered:?}"),
                answered = known.list_runs(list()) => drop(answered.expect("she is known")),
            }
            tokio::select! {
                biased;
                answered = &mut not_heard => panic!("nobody listens: {answered:?}"),
                answered = elsewhere() => drop(answered.expect("nobody has failed there")),
            }
        }
    }
    server.stop().await;
}

/// As behind one address there may be many.
#[tokio::test]
async fn who_bears_a_good_token_is_let_in_after_the_wait() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = tokens(folder.path(), &[("alice", Role::Submit)]);
    let server = serve(folder.path(), &file, Limits { refusal_pause_ms_max: 20, ..limits() }).await;
    let channel = connect(&server).await;
    over(&channel, &tokens[0]).list_runs(ListRunsRequest::default()).await.expect("she is let in");
    for _ in 0..3 {
        fail_often(&channel).await;
        let fresh = bearing(&server, &tokens[0]).await.list_runs(ListRunsRequest::default()).await;
        fresh.expect("a good token is good on any connection");
        is_refused(&mut bearing(&server, UNKNOWN).await).await;
    }
    server.stop().await;
}
