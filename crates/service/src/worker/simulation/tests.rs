use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use sha2::{Digest as _, Sha256};

use super::*;
use crate::access::hexadecimal;
use crate::descriptors;
use crate::domain::ScenarioSource;
use crate::store::uploads;

const WITH_FILES: &str = r#"topology = { dragonfly = { p = 2, a = 4, h = 2, g = 9 } }
routing = "minimal"
program = [{ messages = "list.csv", nodes = [7, 50] }, { goal = "pair.goal", nodes = [3, 40] }]
clock = { flit = "64 B", cycle = "1 ns" }
measure = { warmup = 0, cycles = 500 }
"#;
const FILES: [(&str, &str); 2] = [
    ("list.csv", "time,source,destination,flits\n0,0,1,8\n"),
    // A text, of which a binary form is made.
    ("pair.goal", "num_ranks 2\nrank 0 {\nl1: send 64b to 1 tag 1\n}\nrank 1 {\nl1: recv 64b from 0 tag 1\n}\n"),
];

#[test]
fn a_want_is_waited_for_unless_the_run_is_suspended() {
    let suspended = AtomicBool::new(false);
    let short = || Err(StoreError::Broken("cannot read: too many open files".to_owned()));
    let mut tries = 0..;
    let passes = || if tries.next() < Some(3) { short() } else { Ok("a checkpoint") };
    assert_eq!(patiently("it cannot be read", &suspended, Duration::ZERO, passes), Some("a checkpoint"));
    assert_eq!(tries.next(), Some(4));
    suspended.store(true, Ordering::Relaxed);
    assert_eq!(patiently("it cannot be read", &suspended, Duration::ZERO, short), None::<&str>);
    assert_eq!(
        patiently("it cannot be read", &suspended, Duration::ZERO, || Ok("there")),
        Some("there"),
        "it is suspended later"
    );
}

/// Runs a test of this program as a process of its own, which may do without descriptors what it likes.
fn run_alone(test: &str) {
    let name = format!("{}::{test}", module_path!().split_once("::").expect("it is in a crate").1);
    let program = std::env::current_exe().expect("this is a program");
    let done = Command::new(program).args(["--ignored", "--exact", &name]).output().expect("it can be started");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

/// Opens files until no more can be opened.
fn take_all_descriptors() -> Vec<std::fs::File> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum }).expect("it may be lowered");
    let open = || std::fs::File::open("/dev/null");
    let taken = std::iter::repeat_with(open).map_while(Result::ok).collect();
    assert!(descriptors::are_short());
    taken
}

/// A run of a scenario that names files, with these.
fn assignment(folder: &Path) -> Assignment {
    let put = |(name, text): (&str, &str)| {
        let sha256 = hexadecimal(&Sha256::digest(text));
        let path = uploads::path(folder, &sha256);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
        std::fs::write(path, text).expect("there is room");
        (name.to_owned(), sha256)
    };
    let files = Arc::new(FILES.into_iter().map(put).collect());
    let scenario = ScenarioSource { document: WITH_FILES.into(), files, ..ScenarioSource::default() };
    let attempt = folder.join("attempt");
    std::fs::create_dir(&attempt).expect("there is room");
    let every = 3_600_000;
    Assignment {
        scenario,
        data: folder.to_owned(),
        attempt,
        artifact_bytes_max: 1 << 20,
        sample_interval_ms: every,
        checkpoint_interval_ms: every,
        ..Assignment::of_a_test(0)
    }
}

#[test]
#[ignore = "takes all descriptors of its process: others run it alone"]
fn files_of_a_scenario_without_descriptors() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let assignment = assignment(folder.path());
    let (ours, _theirs) = UnixStream::pair().expect("there are sockets");
    let mut channel = Channel::new(ours);
    let suspended = AtomicBool::new(true);
    let mut taken = take_all_descriptors();
    // Who is suspended does not wait, and a run that cannot begin yet has not failed: for want of the first file, of the second, or of what is made of it.
    for free in 0..6 {
        let ending = carry_out(&assignment, &mut channel, &suspended).expect("the server is there");
        assert_eq!(ending, Ending::Suspended, "with {free} descriptors");
        taken.pop();
    }
    drop(taken);
    suspended.store(false, Ordering::Relaxed);
    let ending = carry_out(&assignment, &mut channel, &suspended).expect("the server is there");
    assert!(matches!(ending, Ending::Succeeded(_)), "{ending:?}");
}

#[test]
fn a_run_whose_files_cannot_be_opened_for_want_of_descriptors_does_not_fail() {
    run_alone("files_of_a_scenario_without_descriptors");
}

#[test]
#[ignore = "takes all descriptors of its process: others run it alone"]
fn results_without_descriptors() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let files = [File::new("report.txt", "all is well")];
    let suspended = AtomicBool::new(true);
    let taken = take_all_descriptors();
    assert!(write(folder.path(), &files, 100, &suspended).is_none(), "it is not a failure");
    drop(taken);
    let written = write(folder.path(), &files, 100, &suspended).expect("there are descriptors");
    assert_eq!(written.expect("there is room").len(), 1);
}

#[test]
fn a_run_whose_results_cannot_be_written_for_want_of_descriptors_does_not_fail() {
    run_alone("results_without_descriptors");
}
