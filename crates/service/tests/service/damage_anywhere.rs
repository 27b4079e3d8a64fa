//! Files of a data directory, damaged anywhere: what a server says then is right, or a clear error; nothing is deleted.
//!
//! Damage is drawn from a seed, 60 cases by default; `TAILBACK_DAMAGE_CASES` says how many.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tailback_api::v1::{
    CreateRunRequest, File, ListFilesRequest, Run, RunErrorReason, RunState, Scenario, Sweep, ValidateScenarioRequest,
};
use tailback_service::Configuration;
use tempfile::TempDir;
use tonic::{Code, Status};

use crate::damage::{content, files, listed};
use crate::harness::{Client, SMALL, Served, configuration, in_time, limits, named, reason};
use crate::uploading::{LIST, sha256, upload};

const DATABASE: &str = "tailback.sqlite";
const LOG: &str = "tailback.sqlite-wal";

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
        Self { folder, ended, artifacts, file, scenario_digest, digest }
    }

    /// A copy of it, and the files in it that can be damaged.
    fn copy(&self) -> (TempDir, Vec<PathBuf>) {
        let copy = tempfile::tempdir().expect("a temporary folder can be made");
        let found = files(self.folder.path());
        for (path, bytes) in &found {
            let to = copy.path().join(path);
            fs::create_dir_all(to.parent().expect("it is in a folder")).expect("it can be made");
            fs::write(to, bytes).expect("it can be written");
        }
        // The disk needs no reserve here.
        fs::write(copy.path().join("reserve"), []).expect("it can be written");
        (copy, found.into_keys().filter(|path| !path.ends_with(LOG)).collect())
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

/// Leaves some of the database in its log, as a server that was killed does.
fn leave_a_log(folder: &Path) {
    let database = Connection::open(folder.join(DATABASE)).expect("it can be opened");
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("it can be set");
    database.execute("UPDATE runs SET sequence = sequence", []).expect("it can be changed");
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

/// All that was there is there, where it was or in the quarantine; but for the database, which a server writes to, and
/// what a run that has ended needs no more.
fn nothing_is_deleted(before: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path, checkpoint_is_good: bool, what: &str) {
    let after = files(folder);
    for (path, bytes) in before {
        let is_database = path.starts_with(DATABASE) || path.starts_with(LOG);
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
        let (copy, found) = truth.copy();
        let folder = copy.path();
        // Each kind of file as often as the others.
        let path = match case % 5 {
            0 => PathBuf::from(DATABASE),
            1 => PathBuf::from(LOG),
            2 => PathBuf::from("checkpoints/6"),
            kind => {
                let folder = if kind == 3 { "artifacts" } else { "files" };
                let files: Vec<_> = found.iter().filter(|path| path.starts_with(folder)).collect();
                files[draw.below(files.len())].clone()
            }
        };
        if path.ends_with(LOG) {
            leave_a_log(folder);
        }
        let how = damage(&folder.join(&path), &mut draw);
        let what = format!("case {case}, {} {how}", path.display());
        let before = files(folder);
        let local = Configuration { limits: limits(), ..configuration(folder) };
        let server = match Served::try_configured(local).await {
            Ok(server) => server,
            Err(error) => {
                let problem = error.to_string();
                assert!(path.starts_with(DATABASE), "{what}: {problem}");
                // The number of the version may be what is damaged.
                let words = ["is damaged", "knows no runs", "has version", "the database says"];
                assert!(words.iter().any(|words| problem.contains(words)), "{what}: {problem}");
                assert!(files(folder) == before, "{what}: something was changed");
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
