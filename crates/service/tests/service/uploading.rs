//! Files that scenarios name: uploaded, named by their SHA-256, and read by checks and workers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tailback_api::v1::file_service_client::FileServiceClient;
use tailback_api::v1::upload_file_request::Part;
use tailback_api::v1::{
    CancelRunRequest, CreateRunRequest, DeleteFileRequest, DeleteRunRequest, File, ListFilesRequest, RetryRunRequest,
    RunErrorReason, RunState, Scenario, Sweep, UploadFileRequest, UploadHeader, ValidateScenarioRequest,
};
use tailback_report::{Cell, Column, Kind, Report, Table};
use tailback_scenario::{Document, Files, ReadAt};
use tailback_service::{Checkup, Configuration, Limits, Role, StoreError, back_up, check_data};
use tonic::codegen::{Body, Bytes, StdError};
use tonic::{Code, Status};

use crate::damage::{content, recovered};
use crate::harness::{Served, configuration, limits, named, reason, violations};
use crate::tokens::{bearing, serve, tokens, uploading};

const PAIR: &str = "num_ranks 2\nrank 0 {\nl1: send 64b to 1 tag 1\nl2: recv 64b from 1 tag 2\n}\nrank 1 {\n\
    l1: recv 64b from 0 tag 1\nl2: send 64b to 0 tag 2\nl2 requires l1\n}\n";
pub const LIST: &str = "time,source,destination,flits\n0,0,1,8\n50,1,0,4\n";

/// A scenario with a program of a schedule and one of a list of messages.
const PROGRAMS: &str = r#"routing = "minimal"

[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[clock]
flit = "64 B"
cycle = "1 ns"

[[program]]
goal = "traces/pair.goal"
nodes = [3, 40]

[[program]]
messages = "list.csv"
nodes = [7, 50]

[measure]
warmup = 0
cycles = 5000
"#;

pub fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A request for a run, whose files are those.
fn with_files(id: &str, files: &[(&str, &str)]) -> CreateRunRequest {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), sha256(text.as_bytes()))).collect();
    let scenario = Scenario { files, ..named(id, PROGRAMS).scenario.expect("there is one") };
    CreateRunRequest { scenario: Some(scenario), ..named(id, PROGRAMS) }
}

const BOTH: [(&str, &str); 2] = [("traces/pair.goal", PAIR), ("list.csv", LIST)];

/// What is sent to upload a content.
fn parts(name: &str, sha256: String, size: u64, content: &[u8]) -> Vec<UploadFileRequest> {
    let header = UploadHeader { name: name.to_owned(), size, sha256 };
    let pieces = content.chunks(100).map(|piece| Part::Content(Bytes::copy_from_slice(piece)));
    let parts = [Part::Header(header)].into_iter().chain(pieces);
    parts.map(|part| UploadFileRequest { part: Some(part) }).collect()
}

pub async fn upload<T>(client: &mut FileServiceClient<T>, name: &str, content: &[u8]) -> Result<File, Status>
where
    T: tonic::client::GrpcService<tonic::body::Body>,
    T::Error: Into<StdError>,
    T::ResponseBody: Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as Body>::Error: Into<StdError> + Send,
{
    let sent = parts(name, sha256(content), content.len() as u64, content);
    Ok(client.upload_file(tokio_stream::iter(sent)).await?.into_inner().file.expect("there is a file"))
}

async fn listed<T>(client: &mut FileServiceClient<T>) -> Vec<String>
where
    T: tonic::client::GrpcService<tonic::body::Body>,
    T::Error: Into<StdError>,
    T::ResponseBody: Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as Body>::Error: Into<StdError> + Send,
{
    let files = client.list_files(ListFilesRequest::default()).await.expect("they can be listed").into_inner().files;
    files.into_iter().map(|file| format!("{} {}", file.owner, file.name)).collect()
}

/// What lies in the folder of files.
fn on_disk(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder.join("files")).expect("it is there").map(|entry| entry.expect("to its end").path()).collect()
}

/// The same files beside the scenario.
#[derive(Debug)]
struct InMemory;

impl Files for InMemory {
    fn open(&self, name: &str) -> std::io::Result<Arc<dyn ReadAt>> {
        let found = BOTH.iter().find(|(known, _)| *known == name).expect("it is one of them");
        Ok(Arc::new(found.1.as_bytes().to_vec()))
    }
}

/// The result digest of the scenario, simulated here.
fn local_digest() -> String {
    let document = Document::read("test.toml", PROGRAMS).with_files(Arc::new(InMemory));
    let scenario = document.resolve().expect("it is valid");
    let mut run = tailback_sim::Run::new(&scenario, 0).expect("it can be simulated");
    run.finish(|_| std::ops::ControlFlow::Continue(())).expect("it goes well");
    let timing = tailback_sim::Timing { wall_s: 0.0, cpu_s: 0.0, peak_rss_bytes: None };
    let report: Report = run.findings().expect("it has ended").report(&scenario, "test", &timing);
    report.result_digest
}

#[tokio::test]
async fn a_scenario_names_files_and_finds_what_it_finds_beside_them() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let refused = client.create(with_files("early", &BOTH)).await.expect_err("they are not there yet");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::NotFound, "FILE_NOT_FOUND"));
    let kept = upload(&mut client.files, "pair.goal", PAIR.as_bytes()).await.expect("it is kept");
    assert_eq!((kept.sha256.as_str(), kept.size), (sha256(PAIR.as_bytes()).as_str(), PAIR.len() as u64));
    assert_eq!(kept.owner, "local");
    upload(&mut client.files, "list.csv", LIST.as_bytes()).await.expect("it is kept");
    // Once more, and nothing is there twice.
    upload(&mut client.files, "other.csv", LIST.as_bytes()).await.expect("it is kept");
    let mut names = listed(&mut client.files).await;
    names.sort();
    assert_eq!((names, on_disk(&server.folder).len()), (vec!["local other.csv".into(), "local pair.goal".into()], 2));

    let asked = with_files("programs", &BOTH);
    let valid = ValidateScenarioRequest { scenario: asked.scenario.clone(), sweep: None };
    let valid = client.scenarios.validate_scenario(valid).await.expect("it answers").into_inner();
    assert!(valid.diagnostics.is_empty() && valid.resolved.contains("sha256"), "{:?}", valid.diagnostics);
    client.create(CreateRunRequest { validate_only: true, ..asked.clone() }).await.expect("it is valid");
    client.create(asked.clone()).await.expect("it is accepted");
    let ended = client.ended("programs").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    assert_eq!(ended.result_digest, local_digest());
    assert_eq!(ended.scenario, asked.scenario);

    let sweep = Some(Sweep { over: vec!["traffic.load=0.1,0.2".to_owned()], ..Sweep::default() });
    let traffic = format!("{PROGRAMS}[[traffic]]\nload = 0.1\n");
    let mut asked = with_files("curve", &BOTH);
    asked.scenario.as_mut().expect("there is one").document = traffic;
    client.create(CreateRunRequest { sweep, ..asked }).await.expect("it is accepted");
    let ended = client.ended("curve").await;
    assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
    server.stop().await;
}

#[tokio::test]
async fn names_that_the_request_does_not_explain_are_mistakes() {
    let server = Served::start().await;
    let mut client = server.client().await;
    upload(&mut client.files, "pair.goal", PAIR.as_bytes()).await.expect("it is kept");
    let refused = client.create(with_files("one", &BOTH[..1])).await.expect_err("a file is missing");
    assert_eq!(reason(&refused).0, "INVALID_SCENARIO");
    let said = violations(&refused)[0].1.clone();
    assert!(said.contains("cannot read list.csv") && said.contains("scenario.files"), "{said}");
    for (name, digest) in [("", "0".repeat(64)), ("x", "0".repeat(63)), ("x", "../../tailback.sqlite".to_owned())] {
        let mut asked = with_files("one", &BOTH);
        let files = &mut asked.scenario.as_mut().expect("there is one").files;
        files.insert(name.to_owned(), digest);
        let refused = client.create(asked).await.expect_err("that is no name or digest");
        assert_eq!(violations(&refused)[0].0, "scenario.files", "{refused:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_is_not_as_the_header_says_is_refused_and_leaves_nothing() {
    let limits = Limits { file_bytes_max: 1000, file_text_bytes_max: 40, ..limits() };
    let server = Served::with(limits).await;
    let mut client = server.client().await;
    let bytes = PAIR.as_bytes();
    let size = bytes.len() as u64;
    let large_piece = UploadFileRequest { part: Some(Part::Content(vec![b'x'; 1 << 20].into())) };
    for (sent, field) in [
        (parts("x", sha256(b"other"), size, bytes), "header.sha256"),
        (parts("x", sha256(bytes), size - 1, bytes), "header.size"),
        (parts("x", sha256(bytes), size + 1, bytes), "header.size"),
        (parts("x", "short".to_owned(), size, bytes), "header.sha256"),
        (parts("", sha256(bytes), size, bytes), "header.name"),
        (parts("x", sha256(bytes), size, bytes)[1..].to_vec(), "header"),
        (Vec::new(), "header"),
        ([parts("x", sha256(bytes), size, bytes), parts("x", sha256(bytes), size, bytes)].concat(), "content"),
        (vec![parts("x", sha256(bytes), size, bytes)[0].clone(), large_piece], "content"),
    ] {
        let refused = client.files.upload_file(tokio_stream::iter(sent)).await.expect_err("it is wrong");
        assert_eq!((reason(&refused).0.as_str(), violations(&refused)[0].0.as_str()), ("INVALID_REQUEST", field));
    }
    // What is too large is refused before any of it is read: the client goes on for ever.
    let header = UploadHeader { name: "x".to_owned(), size: 1001, sha256: sha256(b"") };
    let header = UploadFileRequest { part: Some(Part::Header(header)) };
    let (_open, endless) = tokio::sync::mpsc::channel::<UploadFileRequest>(1);
    let sent = tokio_stream::StreamExt::chain(
        tokio_stream::iter([header]),
        tokio_stream::wrappers::ReceiverStream::new(endless),
    );
    let refused = client.files.upload_file(sent).await.expect_err("it is too large");
    let (name, numbers) = reason(&refused);
    assert_eq!((refused.code(), name.as_str()), (Code::ResourceExhausted, "LIMIT_EXCEEDED"));
    assert_eq!([&numbers["limit"], &numbers["allowed"], &numbers["asked"]], ["file_bytes_max", "1000", "1001"]);
    assert!(on_disk(&server.folder).is_empty() && listed(&mut client.files).await.is_empty());
    // Texts are read as a whole, and have a limit of their own.
    upload(&mut client.files, "pair.goal", bytes).await.expect("it is kept");
    let refused = client.create(with_files("one", &BOTH[..1])).await.expect_err("it is too long");
    let said = &violations(&refused)[0].1;
    assert!(said.contains(&format!("is a text of {size} bytes, the limit is 40")), "{said}");
    server.stop().await;
}

#[tokio::test]
async fn an_upload_that_is_cut_off_leaves_nothing() {
    let server = Served::with(Limits { uploads_max: 1, body_ms_max: 300, ..limits() }).await;
    let mut client = server.client().await;
    for cut_off in [true, false] {
        let (open, sent) = tokio::sync::mpsc::channel(8);
        for part in parts("x", sha256(PAIR.as_bytes()), PAIR.len() as u64, &PAIR.as_bytes()[..100]) {
            open.send(part).await.expect("there is room");
        }
        let mut other = server.client().await;
        let sent = tokio_stream::wrappers::ReceiverStream::new(sent);
        let upload = tokio::spawn(async move { other.files.upload_file(sent).await });
        while on_disk(&server.folder).is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let refused = client.files.upload_file(tokio_stream::iter(parts("y", sha256(b""), 0, b""))).await;
        let refused = refused.expect_err("there is one place");
        assert_eq!(reason(&refused).1["limit"], "uploads_max");
        if cut_off {
            upload.abort();
        } else {
            // The client is silent, and is given up.
            let refused = upload.await.expect("it ends").expect_err("nothing more came");
            assert_eq!(refused.code(), Code::DeadlineExceeded, "{refused:?}");
        }
        while !on_disk(&server.folder).is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(open);
    }
    server.stop().await;
}

#[tokio::test]
async fn owners_have_files_of_their_own_and_so_many() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let people = [("alice", Role::Submit), ("bob", Role::Submit), ("carol", Role::Read), ("dave", Role::Admin)];
    let (file, tokens) = tokens(folder.path(), &people);
    let limits = Limits { files_per_owner_max: 2, file_bytes_per_owner_max: 1000, ..limits() };
    let server = serve(folder.path(), &file, limits).await;
    let mut alice = uploading(&server, &tokens[0]).await;
    let mut bob = uploading(&server, &tokens[1]).await;
    let mut carol = uploading(&server, &tokens[2]).await;
    let mut dave = uploading(&server, &tokens[3]).await;
    let refused = upload(&mut carol, "x", b"x").await.expect_err("she may only read");
    assert_eq!((refused.code(), reason(&refused).1["role"].as_str()), (Code::PermissionDenied, "read"));
    let mut nobody = server.client().await;
    let refused = upload(&mut nobody.files, "x", b"x").await.expect_err("nobody knows who that is");
    assert_eq!(refused.code(), Code::Unauthenticated);

    upload(&mut alice, "pair.goal", PAIR.as_bytes()).await.expect("it is hers");
    let refused = upload(&mut alice, "large", &[b'x'; 900]).await.expect_err("together they are too large");
    assert_eq!(reason(&refused).1["limit"], "file_bytes_per_owner_max");
    assert_eq!(reason(&refused).1["asked"], (900 + PAIR.len()).to_string());
    upload(&mut alice, "list.csv", LIST.as_bytes()).await.expect("it is hers");
    let refused = upload(&mut alice, "third", b"x").await.expect_err("that is one too many");
    assert_eq!(
        (reason(&refused).1["limit"].as_str(), reason(&refused).1["asked"].as_str()),
        ("files_per_owner_max", "3")
    );
    upload(&mut alice, "again.csv", LIST.as_bytes()).await.expect("she has it");

    // He sees nothing of it, cannot name it, and has one of his own.
    assert!(listed(&mut bob).await.is_empty());
    let mut his = bearing(&server, &tokens[1]).await;
    let refused = his.create_run(with_files("his", &BOTH)).await.expect_err("he has none");
    assert_eq!(reason(&refused).0, "FILE_NOT_FOUND");
    upload(&mut bob, "his.csv", LIST.as_bytes()).await.expect("it is his");
    assert_eq!(on_disk(&server.folder).len(), 2, "the content is there once");
    let mut all = listed(&mut dave).await;
    all.sort();
    assert_eq!(all, ["alice again.csv", "alice pair.goal", "bob his.csv"]);

    let delete = |owner: &str| DeleteFileRequest { sha256: sha256(LIST.as_bytes()), owner: owner.to_owned() };
    let refused = bob.delete_file(delete("alice")).await.expect_err("it is not his");
    assert_eq!(refused.code(), Code::PermissionDenied);
    alice.delete_file(delete("")).await.expect("it is hers");
    assert_eq!(on_disk(&server.folder).len(), 2, "he has it");
    dave.delete_file(delete("bob")).await.expect("he may do everything");
    assert_eq!(on_disk(&server.folder).len(), 1);
    let refused = alice.delete_file(delete("")).await.expect_err("it is gone");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::NotFound, "FILE_NOT_FOUND"));
    server.stop().await;
}

/// A scenario that goes on for longer than any test waits.
fn endless(id: &str) -> CreateRunRequest {
    let mut asked = with_files(id, &BOTH);
    let document = PROGRAMS.replace("cycles = 5000", "cycles = 500000000");
    asked.scenario.as_mut().expect("there is one").document = format!("{document}[[traffic]]\nload = 0.1\n");
    asked
}

#[tokio::test]
async fn a_file_that_a_run_needs_stays_until_it_has_ended_also_over_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for (name, text) in BOTH {
        upload(&mut client.files, name, text.as_bytes()).await.expect("it is kept");
    }
    client.create(endless("long")).await.expect("it is accepted");
    client.until("long", RunState::Running).await;
    let delete = DeleteFileRequest { sha256: sha256(LIST.as_bytes()), owner: String::new() };
    let refused = client.files.delete_file(delete.clone()).await.expect_err("a run needs it");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::FailedPrecondition, "FILE_IN_USE"));
    assert_eq!(reason(&refused).1["run"], "long");
    server.stop().await;

    // What a killed server has left is removed; what nobody knows is set aside.
    fs::write(folder.path().join("files/77-1.unfinished"), "half").expect("it can be written");
    fs::write(folder.path().join("files/stranger"), "whole").expect("it can be written");
    let limits = Limits { file_age_s_max: 1, retention_interval_s: 1, ..limits() };
    let server = Served::at(folder.path(), limits).await;
    let mut client = server.client().await;
    assert_eq!(on_disk(folder.path()).len(), 2);
    assert!(folder.path().join("quarantine/file-stranger").exists());
    client.until("long", RunState::Running).await;
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(listed(&mut client.files).await.len(), 2, "however old they are");
    client.runs.cancel_run(CancelRunRequest { run_id: "long".to_owned() }).await.expect("it can be");
    client.ended("long").await;
    while !listed(&mut client.files).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // It cannot be simulated again without them.
    let again = RetryRunRequest { run_id: "long".to_owned(), ..Default::default() };
    let refused = client.runs.retry_run(again).await.expect_err("they are gone");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::NotFound, "FILE_NOT_FOUND"));
    server.stop().await;
}

/// What there is in a folder. Other tests of this process start workers, which share its locks for a moment.
fn checkup(folder: &Path) -> Checkup {
    loop {
        match check_data(folder) {
            Err(StoreError::Locked(_)) => std::thread::sleep(Duration::from_millis(10)),
            found => return found.expect("it can be looked at"),
        }
    }
}

#[tokio::test]
async fn damage_is_told_and_mended_by_uploading_again() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let data = folder.path().join("data");
    let local = || Configuration { limits: Limits { concurrent_runs_max: 1, ..limits() }, ..configuration(&data) };
    let server = Served::configured(local()).await;
    let mut client = server.client().await;
    for (name, text) in BOTH {
        upload(&mut client.files, name, text.as_bytes()).await.expect("it is kept");
    }
    client.create(endless("before")).await.expect("it is accepted");
    client.until("before", RunState::Running).await;
    client.create(with_files("waits", &BOTH)).await.expect("it is accepted");
    let path = data.join("files").join(sha256(LIST.as_bytes()));
    fs::write(&path, LIST.replace("8", "9")).expect("it can be written");
    client.runs.cancel_run(CancelRunRequest { run_id: "before".to_owned() }).await.expect("it can be");
    let error = client.ended("waits").await.error.expect("it has failed");
    assert_eq!(error.reason(), RunErrorReason::Storage);
    assert!(error.message.contains("is lost or damaged: its SHA-256 is"), "{}", error.message);
    let refused = client.create(with_files("after", &BOTH)).await.expect_err("it is damaged");
    let (name, about) = reason(&refused);
    assert_eq!((refused.code(), name.as_str()), (Code::DataLoss, "DATA_LOSS"));
    assert_eq!(about["file"], sha256(LIST.as_bytes()));
    client.ended("before").await;
    server.stop().await;
    let found = checkup(&data);
    let places: Vec<_> = found.problems.iter().map(|problem| problem.place.clone()).collect();
    assert_eq!((found.files, places), (2, vec![format!("files/{}", sha256(LIST.as_bytes()))]));

    let server = Served::configured(local()).await;
    let mut client = server.client().await;
    upload(&mut client.files, "list.csv", LIST.as_bytes()).await.expect("it is whole again");
    client
        .runs
        .retry_run(RetryRunRequest { run_id: "waits".to_owned(), ..Default::default() })
        .await
        .expect("it can be");
    let ended = client.ended("waits").await;
    assert_eq!((ended.state(), ended.result_digest), (RunState::Succeeded, local_digest()));
    assert!(!content(&mut client, "waits", "report.json").await.expect("it is there").is_empty());

    // A backup has them, too.
    let copy = folder.path().join("copy");
    let found = back_up(&data, &copy).expect("it can be copied");
    assert!(found.problems.is_empty() && found.files == 2, "{found:?}");
    server.stop().await;
    let server = Served::at(&copy, limits()).await;
    let mut client = server.client().await;
    client.create(with_files("there", &BOTH)).await.expect("they are there");
    assert_eq!(client.ended("there").await.result_digest, local_digest());
    server.stop().await;
}

#[tokio::test]
async fn without_the_database_files_are_set_aside() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    for (name, text) in BOTH {
        upload(&mut client.files, name, text.as_bytes()).await.expect("it is kept");
    }
    client.create(with_files("one", &BOTH)).await.expect("it is accepted");
    client.ended("one").await;
    client.runs.delete_run(DeleteRunRequest { run_id: "one".to_owned() }).await.expect("it can be");
    server.stop().await;
    fs::remove_file(folder.path().join("tailback.sqlite")).expect("it is there");
    let local = || Configuration { limits: limits(), ..configuration(folder.path()) };
    let refused = Served::try_configured(local()).await.err().expect("it is not started").to_string();
    assert!(refused.contains("knows no runs") && refused.contains("--recover"), "{refused}");
    assert_eq!(on_disk(folder.path()).len(), 2);
    let server = Served::configured(Configuration { recover: true, ..local() }).await;
    assert!(on_disk(folder.path()).is_empty() && listed(&mut server.client().await.files).await.is_empty());
    for (_, text) in BOTH {
        let aside = folder.path().join("quarantine").join(format!("file-{}", sha256(text.as_bytes())));
        assert_eq!(fs::read_to_string(aside).expect("it is there"), text);
    }
    server.stop().await;
}

/// Runs are rebuilt with the files that they name, in whichever form they were uploaded; what is damaged or nobody names is set aside.
#[tokio::test]
async fn without_the_database_runs_find_their_files() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = Served::at(folder.path(), limits()).await;
    let mut client = server.client().await;
    let other = LIST.replace("50", "70");
    for (name, text) in [BOTH[0], BOTH[1], ("list.csv", other.as_str()), ("unused.csv", "nobody names it")] {
        upload(&mut client.files, name, text.as_bytes()).await.expect("it is kept");
    }
    for (id, files) in [("sound", BOTH), ("damaged", [BOTH[0], ("list.csv", other.as_str())])] {
        client.create(with_files(id, &files)).await.expect("it is accepted");
        assert_eq!(client.ended(id).await.state(), RunState::Succeeded);
    }
    server.stop().await;
    fs::remove_file(folder.path().join("tailback.sqlite")).expect("it is there");
    fs::write(folder.path().join("files").join(sha256(other.as_bytes())), "damaged").expect("it can be written");
    let server = recovered(folder.path()).await;
    let mut client = server.client().await;
    let rebuilt = client.get("recovered-1").await.expect("it is rebuilt");
    assert_eq!((rebuilt.state(), rebuilt.result_digest.as_str()), (RunState::Succeeded, local_digest().as_str()));
    assert_eq!(
        rebuilt.scenario.expect("there is one").files,
        with_files("", &BOTH).scenario.expect("there is one").files
    );
    assert!(client.get("recovered-2").await.is_err(), "its list is damaged");
    let mut names = listed(&mut client.files).await;
    names.sort();
    assert_eq!(names, [" list.csv", " traces/pair.goal"]);
    let aside = |text: &str| folder.path().join("quarantine").join(format!("file-{}", sha256(text.as_bytes())));
    assert!(aside(&other).exists() && aside("nobody names it").exists());
    server.stop().await;
    let checkup = check_data(folder.path()).expect("it can be checked");
    assert!(checkup.problems.is_empty(), "{:?}", checkup.problems);
    let server = Served::at(folder.path(), limits()).await;
    assert_eq!(on_disk(folder.path()).len(), 2, "they stay");
    server.stop().await;
}

#[tokio::test]
async fn lists_in_parquet_and_maps_are_files_too() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let names = ["time", "source", "destination", "flits"];
    let mut table = Table::new(names.map(|name| Column::new(name, Kind::Integer)).into());
    for row in [[0, 0, 1, 8], [50, 1, 0, 4]] {
        table.push(row.map(Cell::Integer).into());
    }
    let mut parquet = Vec::new();
    table.write_parquet(&mut parquet).expect("memory can be written");
    let map = b"50\n7\n";
    let mut digests = Vec::new();
    for (id, name, content) in [("text", "list.csv", LIST.as_bytes()), ("parquet", "list.parquet", &parquet)] {
        upload(&mut client.files, name, content).await.expect("it is kept");
        upload(&mut client.files, "map.txt", map).await.expect("it is kept");
        let program = format!("[[program]]\nmessages = \"{name}\"\nnodes = [7, 50]\nmap.file = \"map.txt\"\n");
        let mut asked = named(id, &format!("{}\n{program}", PROGRAMS.replace("[[program]]", "[[unused]]")));
        let scenario = asked.scenario.as_mut().expect("there is one");
        scenario.document = scenario.document.replace("[[unused]]\ngoal = \"traces/pair.goal\"\nnodes = [3, 40]\n", "");
        scenario.document = scenario.document.replace("[[unused]]\nmessages = \"list.csv\"\nnodes = [7, 50]\n", "");
        scenario.files =
            [(name, sha256(content)), ("map.txt", sha256(map))].map(|(name, sha256)| (name.to_owned(), sha256)).into();
        client.create(asked).await.expect("it is accepted");
        let ended = client.ended(id).await;
        assert_eq!(ended.state(), RunState::Succeeded, "{:?}", ended.error);
        digests.push(ended.result_digest);
    }
    assert_eq!(digests[0], digests[1]);
    server.stop().await;
}
