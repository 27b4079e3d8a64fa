//! What a server keeps, checked, copied and brought back.

use std::fs;

use crate::program::{Program, compare};
use crate::served::Server;

/// A program with the data directory of a server that has carried out a run and a sweep.
fn served() -> Program {
    let program = Program::new();
    let server = Server::start(&program, &[]);
    server.good(&program, &["submit", "small.toml", "--id", "first", "--wait", "--quiet"]);
    let sweep =
        ["submit", "small.toml", "--id", "curve", "--over", "traffic.load=0.1,0.2", "--no-stop", "--wait", "--quiet"];
    server.good(&program, &sweep);
    server.stop();
    program
}

/// Numbers of bytes and digests masked.
fn masked(said: &str) -> String {
    let word = |word: &str| match word {
        _ if word.len() > 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) => "DIGEST".to_owned(),
        _ if word.strip_prefix('(').is_some_and(|rest| rest.parse::<u64>().is_ok()) => "(BYTES".to_owned(),
        word => word.to_owned(),
    };
    let clean = said.replace(';', " ;");
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ").replace(" ;", ";") + "\n";
    clean.lines().map(line).collect()
}

fn says(program: &Program, name: &str, code: i32, arguments: &[&str]) {
    let said = program.run(arguments);
    assert_eq!(said.code, Some(code), "{arguments:?} says\n{}{}", said.stdout, said.stderr);
    compare(&format!("data-{name}"), arguments, &masked(&(said.stdout + &said.stderr)));
}

/// Changes a byte in the middle of a file.
fn damage(program: &Program, name: &str) {
    let mut bytes = fs::read(program.path(name)).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    program.write(name, bytes);
}

#[test]
fn a_backup_is_what_was_there_and_so_is_what_is_restored() {
    let program = served();
    says(&program, "fsck", 0, &["fsck", "data"]);
    let server = Server::start(&program, &[]);
    // A server may be running.
    says(&program, "backup", 0, &["backup", "data", "kept"]);
    let refused = program.run(&["fsck", "data"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("used by another process"), "{refused:?}");
    server.good(&program, &["cancel", "--delete", "first"]);
    server.stop();
    fs::rename(program.path("data"), program.path("lost")).expect("it can be moved");
    says(&program, "restore", 0, &["restore", "kept", "data"]);
    let server = Server::start(&program, &[]);
    server.good(&program, &["fetch", "first", "--quiet"]);
    server.good(&program, &["fetch", "curve", "--quiet"]);
    server.stop();
    // A folder with something in it is not written into.
    let before = program.files();
    for arguments in [["restore", "kept", "data"], ["backup", "data", "kept"]] {
        let said = program.run(&arguments);
        assert!(said.code == Some(1) && said.stderr.contains("is not empty"), "{said:?}");
    }
    assert!(program.files() == before);
}

#[test]
fn what_is_wrong_is_listed() {
    let program = served();
    damage(&program, "data/artifacts/1/report.json");
    fs::remove_file(program.path("data/artifacts/2/sweep.csv")).expect("it is there");
    program.write("data/artifacts/1/notes.txt", "mine");
    program.write("data/checkpoints/9", "whose?");
    // But for what readers of a database share, which holds nothing.
    let files = || -> Vec<_> {
        let mut files = program.files();
        files.remove(&program.path("data/tailback.sqlite-shm"));
        let log = program.path("data/tailback.sqlite-wal");
        files.into_iter().filter(|(path, bytes)| *path != log || !bytes.is_empty()).collect()
    };
    let before = files();
    says(&program, "fsck-damaged", 1, &["fsck", "data"]);
    assert!(files() == before, "something was changed");
    let said = program.run(&["fsck", "data", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&said.stdout).expect("it is JSON");
    assert_eq!(
        (said.code, found["runs"].as_u64(), found["problems"].as_array().map(Vec::len)),
        (Some(1), Some(4), Some(4))
    );
    // A backup has what can be had, and says what is wrong with it; it is not restored.
    let said = program.run(&["backup", "data", "kept"]);
    assert!(said.code == Some(1) && said.stdout.contains("artifacts/1/report.json"), "{said:?}");
    assert_eq!(program.read("kept/artifacts/1/report.json"), program.read("data/artifacts/1/report.json"));
    let said = program.run(&["restore", "kept", "new"]);
    assert!(said.code == Some(1) && !program.path("new").exists(), "{said:?}");
    // What is damaged is not fetched; what is not, is.
    let server = Server::start(&program, &[]);
    let said = server.ask(&program, &["fetch", "first"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    compare("data-fetch-damaged", &["fetch", "first"], &masked(&(said.stdout + &said.stderr)));
    assert!(!program.path("results/first/report.json").exists() && program.path("results/first/report.txt").exists());
    server.stop();
}

#[test]
fn a_damaged_database_is_told_and_runs_are_rebuilt() {
    let program = served();
    program.write("data/tailback.sqlite", "nonsense");
    says(&program, "fsck-damaged-database", 1, &["fsck", "data"]);
    says(&program, "backup-damaged-database", 1, &["backup", "data", "kept"]);
    assert!(!program.path("kept").exists());
    says(&program, "serve-damaged-database", 1, &["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    let server = Server::start(&program, &["--recover"]);
    let listed = server.good(&program, &["list"]);
    assert!(
        ["recovered-1", "recovered-2", "recovered-3", "recovered-4"].iter().all(|id| listed.contains(id)),
        "{listed}"
    );
    server.stop();
    assert_eq!(program.read("data/quarantine/tailback.sqlite"), "nonsense");
    program.good(&["fsck", "data"]);
    says(&program, "fsck-nothing", 1, &["fsck", "nowhere"]);
}
