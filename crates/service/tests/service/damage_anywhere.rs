//! Files of a data directory, damaged anywhere: what a server says then is right, or a clear error; nothing is deleted.
//!
//! Damage is drawn from a seed, 60 cases by default; `TAILBACK_DAMAGE_CASES` says how many.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tailback_api::v1::{
    CreateRunRequest, File, ListFilesRequest, Run, RunErrorReason, RunState, Scenario, Sweep, ValidateScenarioRequest,
};
use tailback_service::Configuration;
use tempfile::TempDir;
use tonic::{Code, Status};

use crate::acknowledged::{copied, left, start};
use crate::damage::{content, files, listed};
use crate::harness::{Client, SMALL, Served, configuration, in_time, limits, named, reason};
use crate::uploading::{LIST, sha256, upload};

const DATABASE: &str = "tailback.sqlite";
const LOG: &str = "tailback.sqlite-wal";
const ACKNOWLEDGED: &str = "acknowledged";

/// Numbers that look random, the same in each run of the test.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// A data directory, and what is true of it.
struct Truth {
    folder: TempDir,
    /// The same after a kill, with the end of the last run in the log.
    killed: TempDir,
    ended: Vec<Run>,
    artifacts: BTreeMap<(String, String), Vec<u8>>,
    /// What was uploaded, and the digest of a scenario that names it.
    file: File,
    scenario_digest: String,
    /// What the run that has not ended will find.
    digest: String,
}

const ARTIFACTS: [(&str, &[&str]); 4] = [
    ("one", &["histograms.csv", "report.json", "report.txt", "scenario.toml", "series.csv", "series.parquet"]),
    ("curve", &["histograms.csv", "scenario.toml", "sweep.csv", "sweep.json", "sweep.parquet"]),
    ("curve.1", &["report.json", "report.txt", "scenario.toml"]),
    ("curve.2", &["report.json", "report.txt", "scenario.toml"]),
];

/// Asks for a run that names the file which was uploaded, and takes so long.
fn naming_a_file(id: &str, cycles: u64) -> CreateRunRequest {
    let program =
        "\n[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n\n[[program]]\nmessages = \"list.csv\"\nnodes = [7, 50]\n";
    let document = SMALL.replace("cycles = 400", &format!("cycles = {cycles}")) + program;
    let request = named(id, &document);
    let files = [("list.csv".to_owned(), sha256(LIST.as_bytes()))].into();
    CreateRunRequest { scenario: request.scenario.map(|scenario| Scenario { files, ..scenario }), ..request }
}

/// The digest of its scenario, as a check finds it.
async fn checked_digest(client: &mut Client) -> Result<String, Status> {
    let asked = ValidateScenarioRequest { scenario: naming_a_file("long", 30_000).scenario, sweep: None };
    let answer = client.scenarios.validate_scenario(asked).await?.into_inner();
    assert!(answer.diagnostics.is_empty(), "{:?}", answer.diagnostics);
    Ok(answer.scenario_digest)
}

impl Truth {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let server = Served::at(folder.path(), limits()).await;
        let mut client = server.client().await;
        client.create(named("one", &format!("{SMALL}series = 10\n"))).await.expect("it is accepted");
        let sweep = Some(Sweep { over: vec!["traffic.load=0.1,0.2".to_owned()], seeds: 0, run_saturated: true });
        client.create(CreateRunRequest { sweep, ..named("curve", SMALL) }).await.expect("it is accepted");
        client.ended("one").await;
        client.ended("curve").await;
        let (mut ended, mut artifacts) = (Vec::new(), BTreeMap::new());
        for (id, names) in ARTIFACTS {
            ended.push(client.get(id).await.expect("it is there"));
            for name in names {
                let bytes = content(&mut client, id, name).await.expect("it is there");
                artifacts.insert((id.to_owned(), (*name).to_owned()), bytes);
            }
        }
        let file = upload(&mut client.files, "list.csv", LIST.as_bytes()).await.expect("it is kept");
        let scenario_digest = checked_digest(&mut client).await.expect("it can be checked");
        client.create(naming_a_file("same", 30_000)).await.expect("it is accepted");
        let digest = client.ended("same").await.result_digest;
        client
            .runs
            .delete_run(tailback_api::v1::DeleteRunRequest { run_id: "same".to_owned() })
            .await
            .expect("it can be");
        client.create(naming_a_file("long", 30_000)).await.expect("it is accepted");
        client.until("long", RunState::Running).await;
        server.stop().await;
        assert!(folder.path().join("checkpoints/6").exists(), "it was stopped in the middle");
        let later = copied(folder.path());
        let server = start(later.path()).await.expect("it is whole");
        server.client().await.ended("long").await;
        let killed = copied(later.path());
        server.stop().await;
        assert!(fs::metadata(killed.path().join(LOG)).is_ok_and(|about| about.len() > 0), "it has ended there");
        Self { folder, killed, ended, artifacts, file, scenario_digest, digest }
    }

    /// Whatever is said about a run is true, or tells of damage.
    async fn holds(&self, client: &mut Client, what: &str) {
        let ids: Vec<String> = listed(client).await.into_iter().map(|run| run.id).collect();
        assert_eq!(ids, ["long", "curve", "one"], "{what}");
        for truth in &self.ended {
            let run = client.get(&truth.id).await.expect("it is there");
            let whole = Run { scenario: truth.scenario.clone(), note: truth.note.clone(), ..run.clone() };
            let lacks_scenario = run.scenario.is_none() && run.note.contains("is damaged") && whole == *truth;
            assert!(&run == truth || lacks_scenario || is_damaged(&run), "{what}: {run:?}");
        }
        for ((id, name), truth) in &self.artifacts {
            match content(client, id, name).await {
                Ok(found) => assert!(&found == truth, "{what}: {name} of {id} is not what it was"),
                Err(status) => is_loss(&status, what),
            }
        }
        let long = client.ended("long").await;
        let is_right = long.state() == RunState::Succeeded && long.result_digest == self.digest;
        assert!(is_right || is_damaged(&long) || lacks_its_file(&long, &self.file), "{what}: {long:?}");
        match client.files.list_files(ListFilesRequest::default()).await {
            Ok(listed) => assert_eq!(listed.into_inner().files, std::slice::from_ref(&self.file), "{what}"),
            Err(status) => is_loss(&status, what),
        }
        match checked_digest(client).await {
            Ok(digest) => assert_eq!(digest, self.scenario_digest, "{what}"),
            Err(status) => is_loss(&status, what),
        }
        match client.watch("one", 0).await {
            Ok(mut events) => loop {
                match events.message().await {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(status) => break is_loss(&status, what),
                }
            },
            Err(status) => is_loss(&status, what),
        }
    }
}

fn is_damaged(run: &Run) -> bool {
    let error = run.error.clone().unwrap_or_default();
    run.state() == RunState::Failed && error.reason() == RunErrorReason::Storage && error.message.contains("is damaged")
}

fn lacks_its_file(run: &Run, file: &File) -> bool {
    let error = run.error.clone().unwrap_or_default();
    let why = format!("the file {} is lost or damaged", file.sha256);
    run.state() == RunState::Failed && error.reason() == RunErrorReason::Storage && error.message.starts_with(&why)
}

fn is_loss(status: &Status, what: &str) {
    assert_eq!((status.code(), reason(status).0.as_str()), (Code::DataLoss, "DATA_LOSS"), "{what}: {status:?}");
}

/// Damages a file: it is cut short, a few bytes of it are changed, or it is gone.
fn damage(path: &Path, draw: &mut Draw) -> &'static str {
    let mut bytes = fs::read(path).expect("it is there");
    match draw.below(5) {
        0 => {
            bytes.truncate(draw.below(bytes.len()));
            fs::write(path, bytes).expect("it can be written");
            "cut short"
        }
        1 => {
            fs::remove_file(path).expect("it is there");
            "gone"
        }
        _ => {
            let from = draw.below(bytes.len());
            let until = bytes.len().min(from + 1 + draw.below(16));
            bytes[from..until].iter_mut().for_each(|byte| *byte ^= 1 + draw.below(255) as u8);
            fs::write(path, bytes).expect("it can be written");
            "changed"
        }
    }
}

/// All that was there is there, where it was or in the quarantine; but for the database with its count, which a server
/// writes to, and what a run that has ended needs no more.
fn nothing_is_deleted(before: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path, checkpoint_is_good: bool, what: &str) {
    let after = files(folder);
    for (path, bytes) in before {
        let is_database = [DATABASE, LOG, ACKNOWLEDGED].iter().any(|name| path.starts_with(name));
        if is_database || (checkpoint_is_good && path.starts_with("checkpoints")) {
            continue;
        }
        let aside = after.iter().any(|(path, found)| path.starts_with("quarantine") && found == bytes);
        assert!(after.get(path) == Some(bytes) || aside, "{what}: {} is lost", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_anywhere_gives_right_results_or_a_clear_error() {
    let cases = std::env::var("TAILBACK_DAMAGE_CASES").ok();
    let cases: u64 = cases.map_or(60, |cases| cases.parse().expect("TAILBACK_DAMAGE_CASES is a number"));
    let truth = Truth::new().await;
    let mut refused = 0;
    for case in 0..cases {
        let mut draw = Draw(case);
        // Each kind of file as often as the others.
        let kind = case % 6;
        let copy = copied(if kind < 3 { truth.killed.path() } else { truth.folder.path() });
        let folder = copy.path();
        let path = match kind {
            0 => PathBuf::from(DATABASE),
            1 => PathBuf::from(LOG),
            2 => PathBuf::from(ACKNOWLEDGED),
            3 => PathBuf::from("checkpoints/6"),
            kind => {
                let kind = if kind == 4 { "artifacts" } else { "files" };
                let files: Vec<_> = files(folder).into_keys().filter(|path| path.starts_with(kind)).collect();
                files[draw.below(files.len())].clone()
            }
        };
        let how = damage(&folder.join(&path), &mut draw);
        let what = format!("case {case}, {} {how}", path.display());
        let before = left(folder);
        let local = Configuration { limits: limits(), ..configuration(folder) };
        let server = match Served::try_configured(local).await {
            Ok(server) => server,
            Err(error) => {
                let problem = error.to_string();
                assert!(path.starts_with(DATABASE) || path.starts_with(LOG), "{what}: {problem}");
                // The number of the version may be what is damaged.
                let words = ["is damaged", "lacks changes", "knows no runs", "has version", "the database says"];
                assert!(words.iter().any(|words| problem.contains(words)), "{what}: {problem}");
                assert!(left(folder) == before, "{what}: something was changed");
                refused += 1;
                continue;
            }
        };
        in_time(&what, async { truth.holds(&mut server.client().await, &what).await }).await;
        server.stop().await;
        nothing_is_deleted(&before, folder, !path.starts_with("checkpoints"), &what);
    }
    assert!(refused >= cases / 20, "only {refused} of {cases} were refused");
}
