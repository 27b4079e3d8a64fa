//! The log of the database, damaged after a server was killed: changes that clients were told of are there, or the start is
//! refused. Nothing is deleted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tailback_api::v1::{Run, RunState};
use tailback_service::{Configuration, Limits, ServeError, back_up, check_data, restore};
use tempfile::TempDir;

use crate::damage::{content, files, listed, recovered};
use crate::harness::{SMALL, Served, configuration, limits, named};

const DATABASE: &str = "tailback.sqlite";
const LOG: &str = "tailback.sqlite-wal";
const ACKNOWLEDGED: &str = "acknowledged";

/// A copy of a data directory as it is now.
pub fn copied(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().expect("a temporary folder can be made");
    for (path, bytes) in files(folder) {
        let to = copy.path().join(path);
        fs::create_dir_all(to.parent().expect("it is in a folder")).expect("it can be made");
        fs::write(to, bytes).expect("it can be written");
    }
    // The disk needs no reserve here.
    fs::write(copy.path().join("reserve"), []).expect("it can be written");
    copy
}

/// What a killed server has left: `long` had begun before it was started, and ended, and `new` came and ended. Both ends,
/// and the whole of `new`, are in the log only.
struct Killed {
    folder: TempDir,
    runs: Vec<Run>,
    artifacts: BTreeMap<(String, &'static str), Vec<u8>>,
}

/// As little is written as can be, so that nothing is moved out of the log.
fn quiet() -> Limits {
    Limits { sample_interval_ms: 60_000, checkpoint_interval_ms: 60_000, heartbeat_s: 60, ..limits() }
}

/// Starts a server that writes little.
pub async fn start(folder: &Path) -> Result<Served, ServeError> {
    Served::try_configured(Configuration { limits: quiet(), ..configuration(folder) }).await
}

impl Killed {
    async fn new() -> Self {
        let used = tempfile::tempdir().expect("a temporary folder can be made");
        let server = start(used.path()).await.expect("it is new");
        let mut client = server.client().await;
        client.create(named("long", &SMALL.replace("cycles = 400", "cycles = 300000"))).await.expect("it is accepted");
        client.until("long", RunState::Running).await;
        server.stop().await;
        let server = start(used.path()).await.expect("it is whole");
        let mut client = server.client().await;
        client.create(named("new", SMALL)).await.expect("it is accepted");
        for id in ["long", "new"] {
            assert_eq!(client.ended(id).await.state(), RunState::Succeeded);
        }
        // What is there now is what is there after it was killed.
        let folder = copied(used.path());
        let runs = listed(&mut client).await;
        let mut artifacts = BTreeMap::new();
        for id in ["long", "new"] {
            for name in ["report.json", "report.txt", "scenario.toml"] {
                let bytes = content(&mut client, id, name).await.expect("it is there");
                artifacts.insert((id.to_owned(), name), bytes);
            }
        }
        server.stop().await;
        let killed = Self { folder, runs, artifacts };
        assert_eq!(killed.known_without_log(), [("long".to_owned(), "running".to_owned())], "the rest is in the log");
        killed
    }

    /// The runs in the database itself.
    fn known_without_log(&self) -> Vec<(String, String)> {
        let alone = format!("file:{}?immutable=1", self.folder.path().join(DATABASE).display());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let database = Connection::open_with_flags(alone, flags).expect("it can be opened");
        let mut query = database.prepare("SELECT id, state FROM runs").expect("there are runs");
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("they can be read");
        rows.collect::<Result<_, _>>().expect("to their end")
    }

    /// All that clients were told is so.
    async fn holds(&self, server: &Served, what: &str) {
        let mut client = server.client().await;
        assert_eq!(listed(&mut client).await, self.runs, "{what}");
        for ((id, name), bytes) in &self.artifacts {
            let found = content(&mut client, id, name).await;
            assert!(found.is_ok_and(|found| found == *bytes), "{what}: {name} of {id}");
        }
    }
}

/// The log as it may be found, and what has happened to it.
fn damaged(log: &[u8]) -> Vec<(String, Option<Vec<u8>>)> {
    let mut all = vec![("gone".to_owned(), None)];
    for part in 0..8 {
        let at = log.len() * part / 8;
        all.push((format!("cut at {at}"), Some(log[..at].to_vec())));
        let mut changed = log.to_vec();
        changed[at + 20..at + 30].fill(0x5a);
        all.push((format!("changed at {at}"), Some(changed)));
    }
    all
}

/// All files, but for a log that holds nothing: whoever reads a database makes one.
pub fn left(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = files(folder);
    found.retain(|path, bytes| path != Path::new(LOG) || !bytes.is_empty());
    found
}

fn put(path: &Path, bytes: Option<&[u8]>) {
    match bytes {
        Some(bytes) => fs::write(path, bytes).expect("it can be written"),
        None => fs::remove_file(path).expect("it is there"),
    }
}

/// Whatever files there were with artifacts, they are there, or set aside.
fn is_kept(before: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path, what: &str) {
    let after = files(folder);
    for (path, bytes) in before.iter().filter(|(path, _)| path.starts_with("artifacts")) {
        let aside = after.iter().any(|(path, found)| path.starts_with("quarantine") && found == bytes);
        assert!(after.get(path) == Some(bytes) || aside, "{what}: {} is gone", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_log_is_not_taken_for_the_end_of_what_was_acknowledged() {
    let killed = Killed::new().await;
    let log = fs::read(killed.folder.path().join(LOG)).expect("it is there");
    let mut refused = 0;
    for (what, bytes) in damaged(&log) {
        let copy = copied(killed.folder.path());
        put(&copy.path().join(LOG), bytes.as_deref());
        let before = left(copy.path());
        match start(copy.path()).await {
            Ok(server) => {
                killed.holds(&server, &what).await;
                server.stop().await;
            }
            Err(error) => {
                let said = error.to_string();
                let names = ["tailback.sqlite", "acknowledged", "tailback restore", "--recover"];
                assert!(names.iter().all(|name| said.contains(name)), "{what}: {said}");
                assert!(left(copy.path()) == before, "{what}: something was changed");
                let found = check_data(copy.path()).expect("it can be looked at").problems;
                assert!(found.iter().any(|found| found.place == DATABASE), "{what}: {found:?}");
                assert!(left(copy.path()) == before, "{what}: looking at it has changed something");
                refused += 1;
            }
        }
    }
    assert!(refused > 10, "only {refused} were refused");
    // As it was, it is whole, and so it is after another start.
    for again in 0..2 {
        let server = start(killed.folder.path()).await.expect("it is whole");
        killed.holds(&server, &format!("start {again}")).await;
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_log_a_recovery_keeps_what_is_known_and_all_files() {
    let killed = Killed::new().await;
    let folder = killed.folder.path();
    let log = fs::read(folder.join(LOG)).expect("it is there");
    put(&folder.join(LOG), Some(&log[..1000]));
    let before = files(folder);
    assert!(start(folder).await.is_err());
    let server = recovered(folder).await;
    let mut client = server.client().await;
    // It is known under its name, and simulated again; of the other only the files are left.
    let long = client.ended("long").await;
    let expected = killed.runs.iter().find(|run| run.id == "long").expect("it was there");
    assert_eq!((long.state(), &long.result_digest), (RunState::Succeeded, &expected.result_digest));
    let ids: Vec<String> = listed(&mut client).await.into_iter().map(|run| run.id).collect();
    assert_eq!(ids, ["recovered-2", "long"]);
    for name in ["report.json", "report.txt", "scenario.toml"] {
        let found = content(&mut client, "recovered-2", name).await.expect("it is there");
        assert_eq!(found, killed.artifacts[&("new".to_owned(), name)]);
    }
    server.stop().await;
    is_kept(&before, folder, "recovered");
    assert_eq!(fs::read(folder.join("quarantine").join(LOG)).expect("it was set aside"), &log[..1000]);
    assert_eq!(check_data(folder).expect("it can be looked at").problems, []);
    start(folder).await.expect("it is as good as another").stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_it_is_not_known_what_was_acknowledged_nothing_is_deleted() {
    let killed = Killed::new().await;
    let whole = fs::read(killed.folder.path().join(ACKNOWLEDGED)).expect("it is there");
    let mut changed = whole.clone();
    changed[5] ^= 1;
    for (what, bytes) in [("gone", None), ("empty", Some(&[][..])), ("changed", Some(&changed[..]))] {
        for has_log in [true, false] {
            let copy = copied(killed.folder.path());
            put(&copy.path().join(ACKNOWLEDGED), bytes);
            let before = files(copy.path());
            if !has_log {
                put(&copy.path().join(LOG), None);
            }
            let found = check_data(copy.path()).expect("it can be looked at").problems;
            // With neither, there is nothing that was counted.
            let is_told = found.iter().any(|found| found.place == ACKNOWLEDGED);
            assert!(is_told, "{what}, {has_log}: {found:?}");
            let server = start(copy.path()).await.expect("nothing is known to be lost");
            if has_log {
                killed.holds(&server, what).await;
            } else {
                let mut client = server.client().await;
                assert_eq!(client.ended("long").await.state(), RunState::Succeeded);
            }
            server.stop().await;
            is_kept(&before, copy.path(), what);
            assert_eq!(fs::read(copy.path().join(ACKNOWLEDGED)).expect("it is written anew").len(), whole.len());
            start(copy.path()).await.expect("it is known again").stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_gone_with_all_that_waited_in_it_is_missed() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let server = start(folder.path()).await.expect("it is new");
    let mut client = server.client().await;
    client.create(named("one", SMALL)).await.expect("it is accepted");
    client.ended("one").await;
    let request = tailback_api::v1::DeleteRunRequest { run_id: "one".to_owned() };
    client.runs.delete_run(request).await.expect("it can be deleted");
    server.stop().await;
    fs::remove_file(folder.path().join(DATABASE)).expect("it is there");
    let said = start(folder.path()).await.err().expect("it is refused").to_string();
    assert!(said.contains("it has 0 of the ") && said.contains("--recover"), "{said}");
    recovered(folder.path()).await.stop().await;
    start(folder.path()).await.expect("it begins anew").stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_know_what_was_acknowledged() {
    let killed = Killed::new().await;
    let [kept, restored] = ["kept", "restored"].map(|name| killed.folder.path().join(name));
    assert_eq!(back_up(killed.folder.path(), &kept).expect("it can be copied").problems, []);
    assert_eq!(restore(&kept, &restored).expect("it can be copied").problems, []);
    assert_eq!(
        fs::read(restored.join(ACKNOWLEDGED)).expect("it is there"),
        fs::read(killed.folder.path().join(ACKNOWLEDGED)).expect("it is there")
    );
    let server = start(&restored).await.expect("it is whole");
    killed.holds(&server, "restored").await;
    server.stop().await;
    // An earlier database is not taken for the one that there was.
    fs::remove_file(killed.folder.path().join(LOG)).expect("it is there");
    let refused = back_up(killed.folder.path(), &killed.folder.path().join("other"));
    assert!(refused.is_err_and(|error| error.to_string().contains("were acknowledged")));
}
