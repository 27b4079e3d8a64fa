//! Whatever a server keeps is for its owner only, also in a folder that was there and that others can look into.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::program::{Program, SMALL};
use crate::served::Server;

/// A command whose files others may read, as far as it says nothing else.
fn with_open_files(command: &Command) -> Command {
    let mut open = Command::new("sh");
    open.args(["-c", "umask 022 && exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    open
}

fn start(program: &Program) -> Server {
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data", "data", "--limits", "limits.toml"];
    Server::of(with_open_files(&program.command(&arguments)), program)
}

/// What is below a folder, with its permissions. Some of it may go meanwhile.
fn modes(folder: &Path, found: &mut Vec<(PathBuf, bool, u32)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        found.push((path.clone(), about.is_dir(), about.permissions().mode() & 0o777));
        if about.is_dir() {
            modes(&path, found);
        }
    }
}

/// All that is there is for its owner only; tells what it is.
fn must_be_private(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    modes(folder, &mut found);
    for (path, is_folder, mode) in &found {
        assert_eq!(*mode, if *is_folder { 0o700 } else { 0o600 }, "{}", path.display());
    }
    found.into_iter().map(|(path, ..)| path.strip_prefix(folder).expect("it is below").to_owned()).collect()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

/// A program with a folder for data that others can look into.
fn with_open_folder() -> Program {
    let program = Program::new();
    program.write("limits.toml", "checkpoint_interval_ms = 20\nsample_interval_ms = 10\n");
    program.write("list.csv", "time,source,destination,flits\n0,0,1,8\n");
    let list =
        "\n[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n\n[[program]]\nmessages = \"list.csv\"\nnodes = [7, 50]\n";
    program.write("list.toml", format!("{SMALL}{list}"));
    program.write("endless.toml", SMALL.replace("cycles = 400", "cycles = 500000000"));
    fs::create_dir(program.path("data")).expect("there is room");
    set_mode(&program.path("data"), 0o755);
    program
}

#[test]
fn what_is_kept_is_for_its_owner_only_whatever_the_umask() {
    let program = with_open_folder();
    let data = program.path("data");
    let server = start(&program);
    server.good(&program, &["submit", "list.toml", "--id", "one", "--wait", "--quiet"]);
    let sweep = ["submit", "small.toml", "--id", "curve", "--over", "traffic.load=0.1,0.2", "--wait", "--quiet"];
    server.good(&program, &sweep);
    server.good(&program, &["submit", "endless.toml", "--id", "long"]);
    // Until a worker has written a checkpoint, which is moved from the folder of its attempt.
    let wanted =
        ["artifacts/1", "files", "checkpoints/5", "tailback.sqlite-wal", "tailback.sqlite-shm", "acknowledged"];
    let began = Instant::now();
    loop {
        let there = must_be_private(&data);
        let missing: Vec<_> = wanted.iter().filter(|path| !there.contains(&PathBuf::from(path))).collect();
        if missing.is_empty() && there.iter().any(|path| path.parent() == Some(Path::new("files"))) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{missing:?} is not there");
    }
    server.stop();
    assert!(must_be_private(&data).len() > 20);
    for (folder, arguments) in [("kept", ["backup", "data", "kept"]), ("restored", ["restore", "kept", "restored"])] {
        fs::create_dir(program.path(folder)).expect("there is room");
        set_mode(&program.path(folder), 0o755);
        let copied = with_open_files(&program.command(&arguments)).current_dir(program.path("")).output();
        assert!(copied.is_ok_and(|said| said.status.success()), "{folder}");
        assert!(must_be_private(&program.path(folder)).len() > 15);
    }
}

/// Earlier builds have left files that others can read.
#[test]
fn what_others_could_read_is_closed_to_them() {
    let program = with_open_folder();
    let data = program.path("data");
    let server = start(&program);
    server.good(&program, &["submit", "small.toml", "--id", "one", "--wait", "--quiet"]);
    server.stop();
    let mut found = Vec::new();
    modes(&data, &mut found);
    found.iter().for_each(|(path, is_folder, _)| set_mode(path, if *is_folder { 0o755 } else { 0o644 }));
    let server = start(&program);
    let mut found = Vec::new();
    modes(&data, &mut found);
    let open = found.iter().filter(|(path, _, mode)| path.parent() == Some(&data) && mode & 0o007 != 0);
    assert_eq!(open.collect::<Vec<_>>(), Vec::<&(PathBuf, bool, u32)>::new());
    assert!(found.len() > 8, "{found:?}");
    server.stop();
}
