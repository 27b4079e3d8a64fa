//! Copies of data directories, as others on the same machine see them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tailback_api::v1::RunState;
use tailback_service::{back_up, restore};

use crate::harness::{SMALL, Served, endless, limits, named};

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
