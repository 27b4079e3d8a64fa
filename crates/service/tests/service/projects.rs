//! Runs of projects: they are there for those who are in them, who share them.

use std::path::{Path, PathBuf};

use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteRunRequest, GetRunRequest, ListRunsRequest, RetryRunRequest, Run,
    RunState, Sweep, WaitRunRequest,
};
use tailback_service::{Grant, Role};
use tonic::{Code, Status};

use crate::harness::{SMALL, endless, limits, named, reason, violations};
use crate::private::{all_about, listed};
use crate::tokens::{Bearing, bearing, granted, serve};

/// Alice and Bob share a project that Dave may look at; Carol runs the server; Eve is in another project.
fn people(folder: &Path) -> (PathBuf, Vec<String>) {
    let grant = |role: Role, projects: &[&str]| Grant {
        projects: projects.iter().map(|&project| project.to_owned()).collect(),
        ..role.into()
    };
    let people = [
        ("alice", grant(Role::Submit, &["fabric", "storage"])),
        ("bob", grant(Role::Submit, &["fabric"])),
        ("carol", grant(Role::Admin, &[])),
        ("dave", grant(Role::Read, &["fabric"])),
        ("eve", grant(Role::Submit, &["storage"])),
    ];
    granted(folder, people)
}

fn of(project: &str, request: CreateRunRequest) -> CreateRunRequest {
    CreateRunRequest { project: project.to_owned(), ..request }
}

async fn ended(client: &mut Bearing, request: CreateRunRequest) -> Run {
    let id = client.create_run(request).await.expect("it is accepted").into_inner().run.expect("a run").id;
    let asked = WaitRunRequest { run_id: id, timeout: None };
    client.wait_run(asked).await.expect("it may be seen").into_inner().run.expect("a run")
}

#[tokio::test]
async fn those_in_a_project_share_its_runs_and_others_see_none() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = people(folder.path());
    let server = serve(folder.path(), &file, limits()).await;
    let mut alice = bearing(&server, &tokens[0]).await;
    let sweep = Some(Sweep { over: vec!["seed=1,2".to_owned()], ..Sweep::default() });
    for request in [named("single", SMALL), CreateRunRequest { sweep, ..named("curve", SMALL) }] {
        let run = ended(&mut alice, of("fabric", request)).await;
        assert_eq!((run.state(), run.project.as_str(), run.private), (RunState::Succeeded, "fabric", false));
    }
    ended(&mut alice, of("storage", named("stored", SMALL))).await;
    ended(&mut alice, named("open", SMALL)).await;

    // To the letter as one that is not there.
    for run in ["single", "curve", "curve.1"] {
        let said = |answers: Vec<Result<(), Status>>| -> Vec<_> {
            let refused = answers.into_iter().map(|answer| answer.expect_err("it is not there"));
            refused.map(|refused| (refused.code(), refused.message().replace(run, "nobody"))).collect()
        };
        let found = said(all_about(&server, &tokens[4], run).await);
        assert_eq!(found, said(all_about(&server, &tokens[4], "nobody").await), "{run}");
    }
    let all = || ListRunsRequest::default();
    let of_project = |project: &str| ListRunsRequest { project: project.to_owned(), ..ListRunsRequest::default() };
    for (who, seen, in_fabric) in [
        (0, &["open", "stored", "curve", "single"][..], &["curve", "single"][..]),
        (1, &["open", "curve", "single"], &["curve", "single"]),
        (2, &["open", "stored", "curve", "single"], &["curve", "single"]),
        (3, &["open", "curve", "single"], &["curve", "single"]),
        (4, &["open", "stored"], &[]),
    ] {
        let mut client = bearing(&server, &tokens[who]).await;
        assert_eq!(listed(&mut client, all()).await, seen);
        assert_eq!(listed(&mut client, of_project("fabric")).await, in_fabric);
    }
    // Who is in the project may do what its owner may, as far as the role goes.
    let (mut bob, mut dave) = (bearing(&server, &tokens[1]).await, bearing(&server, &tokens[3]).await);
    let single = || DeleteRunRequest { run_id: "single".to_owned() };
    assert_eq!(dave.delete_run(single()).await.expect_err("he reads").code(), Code::PermissionDenied);
    bob.delete_run(single()).await.expect("he may");
    alice.create_run(of("fabric", named("long", &endless()))).await.expect("she may");
    let long = || "long".to_owned();
    assert_eq!(
        dave.cancel_run(CancelRunRequest { run_id: long() }).await.expect_err("he reads").code(),
        Code::PermissionDenied
    );
    bob.cancel_run(CancelRunRequest { run_id: long() }).await.expect("he may");
    bob.wait_run(WaitRunRequest { run_id: long(), timeout: None }).await.expect("he sees it");
    let retried = bob.retry_run(RetryRunRequest { run_id: long(), request_id: String::new() }).await.expect("he may");
    assert_eq!(retried.into_inner().run.expect("a run").owner, "alice");
    bob.cancel_run(CancelRunRequest { run_id: long() }).await.expect("he may");
    server.stop().await;
}

#[tokio::test]
async fn runs_are_put_into_projects_by_those_who_are_in_them() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = people(folder.path());
    let server = serve(folder.path(), &file, limits()).await;
    let mut eve = bearing(&server, &tokens[4]).await;
    let refused = eve.create_run(of("fabric", named("hers", SMALL))).await.expect_err("she is not in it");
    let (why, about) = reason(&refused);
    assert_eq!(
        (refused.code(), why.as_str(), about["project"].as_str()),
        (Code::PermissionDenied, "NOT_ALLOWED", "fabric")
    );
    let both = CreateRunRequest { private: true, ..of("storage", named("hers", SMALL)) };
    for request in [both, of("Storage", named("hers", SMALL)), of("../storage", named("hers", SMALL))] {
        let refused = eve.create_run(request).await.expect_err("it cannot be one");
        assert_eq!((refused.code(), violations(&refused)[0].0.as_str()), (Code::InvalidArgument, "project"));
    }
    let asked = ListRunsRequest { project: "../storage".to_owned(), ..ListRunsRequest::default() };
    assert_eq!(eve.list_runs(asked).await.expect_err("it cannot be one").code(), Code::InvalidArgument);
    // An admin may put runs into any.
    let run = ended(&mut bearing(&server, &tokens[2]).await, of("fabric", named("theirs", SMALL))).await;
    assert_eq!(run.state(), RunState::Succeeded);
    // Who leaves a project sees what is in it no more.
    let mut bob = bearing(&server, &tokens[1]).await;
    let theirs = || GetRunRequest { run_id: "theirs".to_owned() };
    bob.get_run(theirs()).await.expect("he is in it");
    let lines = std::fs::read_to_string(&file).expect("it is there");
    std::fs::write(&file, lines.replace("projects=fabric\n", "projects=storage\n")).expect("it can be written");
    server.tokens.read_again();
    assert_eq!(bob.get_run(theirs()).await.expect_err("he has left").code(), Code::NotFound);
    server.stop().await;
}

#[tokio::test]
async fn results_of_a_project_are_reused_within_it() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (file, tokens) = people(folder.path());
    let server = serve(folder.path(), &file, limits()).await;
    let reusing = |request| CreateRunRequest { reuse: true, ..request };
    for (who, request, source) in [
        (0, of("fabric", named("first", SMALL)), ""),
        (4, reusing(of("storage", named("hers", SMALL))), ""),
        (1, reusing(of("fabric", named("his", SMALL))), "`first`"),
        (0, reusing(named("open", SMALL)), ""),
    ] {
        let run = ended(&mut bearing(&server, &tokens[who]).await, request).await;
        assert_eq!(run.state(), RunState::Succeeded);
        assert_eq!(
            (run.note.is_empty(), run.note.contains(source)),
            (source.is_empty(), true),
            "{}: {}",
            run.id,
            run.note
        );
    }
    server.stop().await;
}
