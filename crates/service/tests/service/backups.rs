//! Copies of data directories, as others on the same machine see them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tailback_api::v1::{DeleteRunRequest, Run, RunState};
use tailback_service::{back_up, restore};

use crate::damage::content;
use crate::harness::{Client, SMALL, Served, endless, in_time, limits, named};

/// A folder, and all that is below it.
fn all_of(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut next) = (vec![folder.to_owned()], 0);
    while let Some(path) = found.get(next).cloned() {
        if path.is_dir() {
            found.extend(fs::read_dir(path).expect("it can be read").map(|entry| entry.expect("to its end").path()));
        }
        next += 1;
    }
    found
}

#[tokio::test]
async fn a_backup_and_what_is_restored_of_it_are_for_their_owner_only() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let [data, kept, restored] = ["data", "kept", "restored"].map(|name| folder.path().join(name));
    let server = Served::at(&data, limits()).await;
    let mut client = server.client().await;
    client.create(named("one", SMALL)).await.expect("it is accepted");
    assert_eq!(client.ended("one").await.state(), RunState::Succeeded);
    // It leaves a checkpoint.
    client.create(named("long", &endless())).await.expect("it is accepted");
    client.until("long", RunState::Running).await;
    server.stop().await;
    // A folder that was there stays as it is, but nothing in it is open.
    fs::create_dir(&restored).expect("there is room");
    fs::set_permissions(&restored, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let copies = [back_up(&data, &kept), restore(&kept, &restored)];
    for copied in copies.map(|copied| copied.expect("it can be copied")) {
        assert_eq!((copied.runs, copied.checkpoints, copied.problems), (2, 1, Vec::new()));
    }
    let below = |path: &PathBuf| *path != restored;
    let mut count = 0;
    for path in all_of(&kept).into_iter().chain(all_of(&restored)).filter(below) {
        let about = fs::metadata(&path).expect("it is there");
        let expected = if about.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(about.permissions().mode() & 0o777, expected, "{}", path.display());
        count += 1;
    }
    assert!(count > 15, "there are only {count} files and folders");
}

/// Runs that clients were told of, with what those have left that have succeeded.
type Acknowledged = Arc<Mutex<Vec<(Run, Vec<u8>)>>>;

/// Creates one run after the other, waits for every second one, and deletes every tenth, until it is told to stop.
async fn keep_writing(mut client: Client, acknowledged: Acknowledged, stop: Arc<AtomicBool>) {
    let put = |run, report| acknowledged.lock().expect("nobody panics").push((run, report));
    for index in 0.. {
        let id = format!("run-{index}");
        let run = client.create(named(&id, SMALL)).await.expect("it is accepted");
        if index % 10 == 9 {
            client.ended(&id).await;
            client.runs.delete_run(DeleteRunRequest { run_id: id }).await.expect("it can be deleted");
        } else if index % 2 == 0 {
            let ended = client.ended(&id).await;
            let report = content(&mut client, &id, "report.json").await.expect("it is there");
            put(ended, report);
        } else {
            put(run, Vec::new());
        }
        if stop.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// What was acknowledged is in a server's data, and as it was.
async fn holds(server: &Served, acknowledged: &[(Run, Vec<u8>)]) {
    let mut client = server.client().await;
    for (told, report) in acknowledged {
        let run = client.ended(&told.id).await;
        assert_eq!(run.state(), RunState::Succeeded, "{run:?}");
        if !report.is_empty() {
            assert_eq!(&run, told);
            assert_eq!(&content(&mut client, &told.id, "report.json").await.expect("it is there"), report);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_made_while_much_is_written_is_of_one_moment() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = |name: &str| folder.path().join(name);
    let server = Served::at(&path("data"), limits()).await;
    let (acknowledged, stop) = (Acknowledged::default(), Arc::new(AtomicBool::new(false)));
    let writing = tokio::spawn(keep_writing(server.client().await, acknowledged.clone(), stop.clone()));
    let (mut copies, mut meanwhile) = (Vec::new(), 0);
    for count in 0..3 {
        // So that each has more than the one before.
        let already = copies.last().map_or(0, |(_, told): &(PathBuf, Vec<_>)| told.len());
        let enough = || acknowledged.lock().expect("nobody panics").len() > already + 10;
        let waiting = async {
            while !enough() {
                tokio::task::yield_now().await;
            }
        };
        in_time("runs are created", waiting).await;
        let before = acknowledged.lock().expect("nobody panics").clone();
        let (from, to) = (path("data"), path(&format!("kept-{count}")));
        let kept = to.clone();
        let found = tokio::task::spawn_blocking(move || back_up(&from, &kept)).await.expect("it ends");
        assert_eq!(found.expect("it can be copied").problems, []);
        meanwhile += acknowledged.lock().expect("nobody panics").len() - before.len();
        copies.push((to, before));
    }
    stop.store(true, Ordering::SeqCst);
    writing.await.expect("it ends well");
    assert!(meanwhile > 0, "nothing was written while copies were made");
    server.stop().await;
    for (index, (kept, told)) in copies.iter().enumerate() {
        let restored = path(&format!("restored-{index}"));
        assert_eq!(restore(kept, &restored).expect("it can be copied").problems, []);
        let server = Served::at(&restored, limits()).await;
        holds(&server, told).await;
        server.stop().await;
        assert!(!restored.join("quarantine").exists(), "nothing is there that no run has");
    }
}
