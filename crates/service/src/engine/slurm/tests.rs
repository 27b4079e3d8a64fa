//! Leases of jobs, with programs that stand for Slurm's: what they are told is in a file each, and `squeue` says what stands in another. The jobs' own
//! messages are written here.

use super::*;
use crate::domain::{Artifact, FailureReason, Sample};
use crate::worker::mailbox::tests::{line, say};

/// A Slurm that does as it is told here.
struct Pretended {
    folder: tempfile::TempDir,
}

impl Pretended {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let pretended = Self { folder };
        for (name, does) in [
            ("sbatch", "echo 7"),
            ("squeue", r#"cat "$(dirname "$0")/states""#),
            ("scancel", r#"echo "$@" >>"$(dirname "$0")/cancelled""#),
        ] {
            pretended.program(name, does);
        }
        pretended.tell("7_0|PENDING");
        pretended
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, name: &str, does: &str) {
        tailback_tests::write_program(&self.path(name), does);
    }

    /// What it says of jobs from now on.
    fn tell(&self, states: &str) {
        let new = self.path("new");
        fs::write(&new, format!("{states}\n")).expect("it can be written");
        fs::rename(new, self.path("states")).expect("it is there");
    }

    fn jobs(&self) -> Jobs {
        let [submit, look, cancel] = ["sbatch", "squeue", "scancel"].map(|name| self.path(name));
        let programs = Programs { submit, look, cancel, look_every: Duration::from_millis(5) };
        let worker =
            WorkerCommand { program: "/shared/tailback".into(), arguments: vec!["worker".into(), "--job".into()] };
        let controller = Controller::of(programs, worker, &[]).expect("it is there");
        Jobs::begin(controller, self.folder.path()).expect("it can begin")
    }

    fn cancelled(&self) -> String {
        fs::read_to_string(self.path("cancelled")).unwrap_or_default()
    }

    fn assignment(&self) -> Assignment {
        let attempt = self.path("attempt");
        fs::create_dir_all(&attempt).expect("it can be made");
        Assignment { attempt, ..Assignment::of_a_test(1) }
    }

    /// The folder of the only task that there is.
    fn mailbox(&self) -> Mailbox {
        let tasks: Vec<_> = subfolders(&self.path(JOBS)).iter().flat_map(|array| subfolders(array)).collect();
        let [task] = <[PathBuf; 1]>::try_from(tasks).expect("there is one");
        Mailbox::at(task)
    }
}

/// What a lease says next, however long that takes.
fn next(lease: &mut Box<dyn Lease>) -> Result<Message, RunFailure> {
    let began = Instant::now();
    loop {
        if let Some(message) = lease.next(Duration::from_millis(1))? {
            return Ok(message);
        }
        assert!(began.elapsed() < Duration::from_secs(60), "nothing happens");
    }
}

/// Lets a lease look at its job until Slurm has been asked so many times more.
fn look(jobs: &Jobs, lease: &mut Box<dyn Lease>, times: u64) {
    let until = jobs.controller.looks() + times;
    while jobs.controller.looks() < until {
        assert_eq!(lease.next(Duration::from_millis(1)), Ok(None));
    }
}

fn began(cycle: u64) -> Message {
    Message::Began { cycle, wall: Duration::from_secs(1) }
}

fn sample(cycle: u64) -> Message {
    let (cycles, from_cycle, accepted_load, latency_mean, latency_p99) = (100, 0, None, None, None);
    let (packets_in_flight, cycles_per_second, packet_hops) = (0, 1.0, 0);
    Message::Sample(Sample {
        cycle,
        cycles,
        from_cycle,
        accepted_load,
        latency_mean,
        latency_p99,
        packets_in_flight,
        cycles_per_second,
        packet_hops,
    })
}

fn succeeded() -> Message {
    let name = "report.json".to_owned();
    let artifacts = vec![Artifact { name, size: 2, sha256: String::new(), media_type: String::new() }];
    let (summary, result_digest, packet_hops) = (Default::default(), "abc".to_owned(), 7);
    Message::Ended(Ending::Succeeded(Results {
        artifacts,
        summary,
        result_digest,
        packet_hops,
        peak_memory_bytes: None,
    }))
}

fn find(mailbox: &Mailbox, start: u32) {
    fs::create_dir_all(mailbox.found(start)).expect("it can be made");
    fs::write(mailbox.found(start).join("report.json"), "{}").expect("it can be written");
}

#[test]
fn a_job_that_succeeds_leaves_its_results_and_nothing_else() {
    let slurm = Pretended::new();
    let jobs = slurm.jobs();
    let mut lease = jobs.start(&slurm.assignment()).expect("it is submitted");
    let mailbox = slurm.mailbox();
    assert_eq!(mailbox.job().expect("it is written"), "7_0");
    look(&jobs, &mut lease, 2);
    find(&mailbox, 0);
    say(&mailbox, 0, &[&line(&began(0)), &line(&succeeded())]);
    assert_eq!(next(&mut lease), Ok(began(0)));
    assert_eq!(next(&mut lease), Ok(succeeded()));
    assert!(slurm.path("attempt/report.json").exists());
    drop(lease);
    assert!(subfolders(&slurm.path(JOBS)).is_empty(), "its folder is gone");
    drop(jobs);
    assert_eq!(slurm.cancelled(), "", "it ends by itself");
}

#[test]
fn a_lease_that_is_dropped_is_revoked() {
    let slurm = Pretended::new();
    let jobs = slurm.jobs();
    let lease = jobs.start(&slurm.assignment()).expect("it is submitted");
    let mailbox = slurm.mailbox();
    drop(lease);
    assert!(!mailbox.has_lease());
    drop(jobs);
    assert_eq!(slurm.cancelled(), "7_0\n");
}

#[test]
fn a_job_is_lost_when_slurm_says_twice_that_it_is_gone() {
    for (told, wanted) in [
        ("7_0|NODE_FAIL", "ended without a word; Slurm says NODE_FAIL"),
        ("9_0|RUNNING", "ended without a word, and Slurm does not know of it any more"),
    ] {
        let slurm = Pretended::new();
        let jobs = slurm.jobs();
        let mut lease = jobs.start(&slurm.assignment()).expect("it is submitted");
        fs::write(slurm.mailbox().output(), "one\ntwo\n").expect("it can be written");
        look(&jobs, &mut lease, 2);
        slurm.tell(told);
        let lost = next(&mut lease).expect_err("it is gone");
        assert_eq!(lost.reason, FailureReason::WorkerLost);
        assert!(lost.message.ends_with(wanted), "{}", lost.message);
        assert_eq!(lost.details, ["one", "two"]);
    }
}

#[test]
fn a_job_that_takes_too_much_memory_has_failed_for_that() {
    for (told, output) in [("7_0|OUT_OF_MEMORY", ""), ("7_0|FAILED", "memory allocation of 7 bytes failed\n")] {
        let slurm = Pretended::new();
        let jobs = slurm.jobs();
        let mut lease = jobs.start(&slurm.assignment()).expect("it is submitted");
        fs::write(slurm.mailbox().output(), output).expect("it can be written");
        slurm.tell(told);
        assert_eq!(next(&mut lease).expect_err("it is gone").reason, FailureReason::Memory, "{told}");
    }
}

#[test]
fn what_slurm_does_not_say_is_no_reason_to_lose_a_job() {
    let slurm = Pretended::new();
    slurm.program("squeue", "echo 'Unable to contact slurm controller' >&2; touch \"$(dirname \"$0\")/asked\"; exit 1");
    let jobs = slurm.jobs();
    let mut lease = jobs.start(&slurm.assignment()).expect("it is submitted");
    while !slurm.path("asked").exists() {
        assert_eq!(lease.next(Duration::from_millis(1)), Ok(None));
    }
    let mailbox = slurm.mailbox();
    find(&mailbox, 0);
    say(&mailbox, 0, &[&line(&succeeded())]);
    assert_eq!(next(&mut lease), Ok(succeeded()), "jobs go on without the controller");
}

#[test]
fn a_job_that_slurm_starts_again_goes_on() {
    let slurm = Pretended::new();
    let jobs = slurm.jobs();
    slurm.tell("7_0|RUNNING");
    let mut lease = jobs.start(&slurm.assignment()).expect("it is submitted");
    let mailbox = slurm.mailbox();
    say(&mailbox, 0, &[&line(&began(0)), &line(&Message::Ended(Ending::Suspended))]);
    assert_eq!(next(&mut lease), Ok(began(0)));
    look(&jobs, &mut lease, 2);
    slurm.tell("7_0|PENDING");
    look(&jobs, &mut lease, 3);
    slurm.tell("7_0|RUNNING");
    say(&mailbox, 1, &[&line(&began(50)), &line(&Message::Ended(Ending::Suspended))]);
    assert_eq!(next(&mut lease), Ok(began(50)));
    look(&jobs, &mut lease, 2);
    // This time it is for good.
    slurm.tell("7_0|CANCELLED");
    assert_eq!(next(&mut lease), Ok(Message::Ended(Ending::Suspended)));
}

#[test]
fn jobs_that_cannot_be_submitted_are_tried_again_later() {
    let slurm = Pretended::new();
    let jobs = slurm.jobs();
    for does in ["echo 'sbatch: error: no controller' >&2; exit 1", "echo welcome"] {
        slurm.program("sbatch", does);
        assert!(matches!(jobs.start(&slurm.assignment()), Err(StoreError::Broken(_))));
        assert!(subfolders(&slurm.path(JOBS)).is_empty(), "nothing is left");
    }
    slurm.program("sbatch", "echo '7;one'");
    assert!(jobs.start(&slurm.assignment()).is_ok());
}

#[test]
fn runs_that_begin_together_are_one_array() {
    let slurm = Pretended::new();
    slurm.program("sbatch", r#"for word in "$@"; do case "$word" in --array=*) echo "$word" >>"$(dirname "$0")/arrays";; esac; done; echo 7"#);
    let jobs = slurm.jobs();
    let began = std::sync::Barrier::new(3);
    thread::scope(|scope| {
        for number in 0..3 {
            let run = Assignment { number, sweep: "sweep".to_owned(), ..slurm.assignment() };
            let (jobs, began) = (&jobs, &began);
            scope.spawn(move || {
                began.wait();
                drop(jobs.start(&run).expect("it is submitted"));
            });
        }
    });
    let arrays = fs::read_to_string(slurm.path("arrays")).expect("there are some");
    let tasks: u32 = arrays
        .lines()
        .map(|line| line.rsplit('-').next().expect("a number").parse::<u32>().expect("a number") + 1)
        .sum();
    assert_eq!(tasks, 3, "{arrays}");
    assert!(arrays.lines().count() < 3, "at least two of them are together: {arrays}");
}

#[test]
fn the_next_server_goes_on_with_a_job() {
    let slurm = Pretended::new();
    let jobs = slurm.jobs();
    let mut lease = jobs.start(&slurm.assignment()).expect("it is submitted");
    let mailbox = slurm.mailbox();
    say(&mailbox, 0, &[&line(&began(0)), &line(&sample(10))]);
    assert_eq!(next(&mut lease), Ok(began(0)));
    assert!(lease.release(), "it goes on without the server");
    drop((lease, jobs));
    assert!(mailbox.has_lease());
    // Meanwhile nobody listens.
    find(&mailbox, 0);
    say(&mailbox, 0, &[&line(&sample(60)), &line(&succeeded())]);
    let jobs = slurm.jobs();
    jobs.keep_only(&BTreeSet::from([1]));
    let mut lease = jobs.start(&slurm.assignment()).expect("it is there");
    assert_eq!(next(&mut lease), Ok(began(60)), "it has come as far");
    assert_eq!(next(&mut lease), Ok(succeeded()));
    assert!(slurm.path("attempt/report.json").exists());
    drop((lease, jobs));
    assert_eq!(slurm.cancelled(), "");
}

#[test]
fn a_job_that_is_of_no_use_to_the_next_server_ends() {
    let (other_run, other_work) =
        (BTreeSet::from([2]), Assignment { version: "2".to_owned(), ..Assignment::of_a_test(1) });
    for (kept, starts) in [(other_run, None), (BTreeSet::from([1]), Some(other_work))] {
        let slurm = Pretended::new();
        let jobs = slurm.jobs();
        let mut lease = jobs.start(&slurm.assignment()).expect("it is submitted");
        let mailbox = slurm.mailbox();
        assert!(lease.release());
        drop((lease, jobs));
        let jobs = slurm.jobs();
        jobs.keep_only(&kept);
        slurm.program("sbatch", "echo 8");
        drop(starts.map(|starts| jobs.start(&starts).expect("it is submitted")));
        assert!(!mailbox.has_lease());
        drop(jobs);
        assert!(slurm.cancelled().split_whitespace().any(|job| job == "7_0"), "{}", slurm.cancelled());
    }
}

#[test]
fn a_job_of_which_nobody_knows_whether_it_was_submitted_has_no_lease() {
    let slurm = Pretended::new();
    let mailbox = Mailbox::at(slurm.path("jobs/abc/0"));
    mailbox.make(&Assignment::of_a_test(1)).expect("it can be made");
    drop(slurm.jobs());
    assert!(!mailbox.has_lease() && subfolders(&slurm.path(JOBS)).is_empty());
}

#[test]
fn without_a_slurm_no_server_starts() {
    let there = |submit: &str| {
        let worker = WorkerCommand { program: "tailback".into(), arguments: Vec::new() };
        Controller::of(Programs { submit: submit.into(), ..Programs::default() }, worker, &[])
    };
    let missing = there("/nowhere/sbatch").err().expect("it is not there");
    assert!(missing.to_string().contains("/nowhere/sbatch starts no jobs"), "{missing}");
    assert!(there("false").is_err());
}
