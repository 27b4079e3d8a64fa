//! Workers in control groups of the system, where it lets us have some: in others' tests a folder stands for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Program, SMALL};
use crate::served::Server;
use crate::workers::{endless, events};

/// Where systems have them.
const MOUNT: &str = "/sys/fs/cgroup";

/// A group for a server, removed in the end.
struct OwnGroup {
    folder: PathBuf,
}

impl OwnGroup {
    /// Makes one in which workers can be held to their memory, or says why there is none.
    fn make() -> Result<Self, String> {
        let mount = Path::new(MOUNT);
        let failed = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
        let controllers = fs::read_to_string(mount.join("cgroup.controllers"));
        let controllers = controllers.map_err(failed("there are no control groups of version 2"))?;
        if !controllers.split_whitespace().any(|controller| controller == "memory") {
            return Err("control groups of version 2 do not limit memory".to_owned());
        }
        fs::write(mount.join("cgroup.subtree_control"), "+memory").map_err(failed("they cannot be shared out"))?;
        let folder = mount.join(format!("tailback-test-{}", std::process::id()));
        fs::create_dir(&folder).map_err(failed("none can be made"))?;
        Ok(Self { folder })
    }

    /// Starts a server in it.
    fn serve(&self, program: &Program) -> Server {
        let script = "echo $$ >\"$1/cgroup.procs\" && exec \"$0\" serve --listen 127.0.0.1:0 --data data";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_tailback")]).arg(&self.folder);
        Server::of(command, program)
    }

    /// The groups of workers.
    fn workers(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(&self.folder).expect("it is there").flatten().map(|entry| entry.path());
        all.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("worker-"))).collect()
    }

    /// The group of a worker that is in it, and is not one of these.
    fn another_worker(&self, known: &[PathBuf]) -> PathBuf {
        let began = Instant::now();
        loop {
            let is_new = |group: &PathBuf| !known.contains(group) && !value(group, "cgroup.procs").is_empty();
            if let Some(group) = self.workers().into_iter().find(is_new) {
                return group;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "there is none");
            std::thread::yield_now();
        }
    }
}

impl Drop for OwnGroup {
    fn drop(&mut self) {
        // After the server: then nobody is in them.
        for group in self.workers().into_iter().chain([self.folder.join("server"), self.folder.clone()]) {
            let _ = fs::remove_dir(group);
        }
    }
}

/// What a file of a group says; nothing if it is gone.
fn value(group: &Path, name: &str) -> String {
    fs::read_to_string(group.join(name)).unwrap_or_default().trim().to_owned()
}

#[test]
fn the_system_holds_workers_to_their_memory() {
    let own = match OwnGroup::make() {
        Ok(own) => own,
        Err(why) => return tailback_tests::skip("control-groups", &format!("workers held to their memory: {why}")),
    };
    let program = Program::new();
    program.write("endless.toml", endless());
    program.write("small.toml", SMALL);
    let server = own.serve(&program);
    server.good(&program, &["submit", "endless.toml", "--id", "doomed"]);
    let mut known = Vec::new();
    while known.len() < 3 {
        let group = own.another_worker(&known);
        let workers: Vec<String> = server.workers().iter().map(ToString::to_string).collect();
        assert!(workers.contains(&value(&group, "cgroup.procs")), "a worker is in it, and nobody else");
        assert!(value(&group, "memory.max").parse::<u64>().is_ok(), "it has a limit");
        assert_eq!(value(&group, "memory.oom.group"), "1");
        // No process fits in there: the system ends it.
        fs::write(group.join("memory.max"), "65536").expect("it can be changed");
        known.push(group);
    }
    let told = events(&program, &server, "doomed");
    let end = told.last().expect("there are some");
    let why = end["error"].as_str().expect("it says why");
    assert_eq!(end["state"], Value::from("failed"));
    assert!(why.starts_with("the run took more than the") && why.ends_with("; it was tried 3 times"), "{why}");
    assert_eq!(own.workers(), Vec::<PathBuf>::new(), "groups go with their workers");
    server.good(&program, &["submit", "small.toml", "--wait", "--quiet"]);
    server.stop();
}
