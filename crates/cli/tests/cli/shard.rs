//! Shares of sweeps and of reproductions.

use std::thread;

use crate::program::Program;

const SWEEP: [&str; 7] = ["sweep", "small.toml", "--over", "traffic.load=0.05..0.3/0.05", "--seeds", "2", "--no-stop"];

/// The table of a sweep, without what its runs took.
fn table(program: &Program, out: &str) -> String {
    program.read(&format!("{out}/sweep.csv"))
}

#[test]
fn shares_that_are_made_at_the_same_time_make_the_whole() {
    let program = Program::new();
    program.good(&[&SWEEP[..], &["--quiet", "--out", "whole"]].concat());
    thread::scope(|scope| {
        for share in ["1/3", "2/3", "3/3"] {
            let program = &program;
            scope.spawn(move || {
                let said = program.run(&[&SWEEP[..], &["--shard", share, "--jobs", "1", "--out", "shared"]].concat());
                assert_eq!(said.code, Some(0), "{}", said.stderr);
                let told = format!("share {} of 3: 4 of 4 runs\n", &share[..1]);
                assert_eq!(said.stdout, told, "each makes a third of twelve");
            });
        }
    });
    assert!(!program.path("shared/sweep.csv").exists(), "no share is the whole");
    let left = program.files().into_keys().filter(|path| path.to_string_lossy().contains("unfinished")).count();
    assert_eq!(left, 0);
    let said = program.run(&[&SWEEP[..], &["--out", "shared"]].concat());
    assert!(said.code == Some(0) && said.stderr.contains("12 of them are there already"), "{}", said.stderr);
    assert_eq!(table(&program, "shared"), table(&program, "whole"));
}

#[test]
fn what_is_beyond_saturation_is_in_no_share() {
    let program = Program::new();
    let sweep = ["sweep", "small.toml", "--over", "traffic.load=0.2..1/0.1", "--jobs", "1"];
    let whole = program.good(&[&sweep[..], &["--quiet", "--out", "whole"]].concat());
    let points = whole.lines().count() - 1;
    let share = program.good(&[&sweep[..], &["--quiet", "--out", "shared", "--shard", "1/1"]].concat());
    assert_eq!(share, format!("share 1 of 1: {points} of 9 runs, {} beyond saturation\n", 9 - points));
}

#[test]
fn a_share_is_made_once() {
    let program = Program::new();
    let share = [&SWEEP[..], &["--shard", "2/2", "--format", "json", "--out", "out"]].concat();
    let first = program.run(&share);
    assert_eq!(
        first.stdout, "{\"shard\": 2, \"of\": 2, \"runs\": 6, \"done\": 6, \"beyond_saturation\": 0}\n",
        "{}",
        first.stderr
    );
    let again = program.run(&share);
    assert!(again.stdout == first.stdout && again.stderr.contains("6 of them are there already"), "{}", again.stderr);
}

#[test]
fn a_task_of_a_job_array_finds_its_share() {
    let program = Program::new();
    let array = [
        ("SLURM_ARRAY_TASK_ID", "7"),
        ("SLURM_ARRAY_TASK_MIN", "5"),
        ("SLURM_ARRAY_TASK_MAX", "9"),
        ("SLURM_ARRAY_TASK_COUNT", "3"),
    ];
    let arguments = [&SWEEP[..], &["--shard", "slurm", "--quiet", "--out", "out"]].concat();
    let said = program.run_with(&arguments, &array);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "share 2 of 3: 4 of 4 runs\n"), "{}", said.stderr);
    let said = program.run(&arguments);
    assert!(said.code == Some(2) && said.stderr.contains("no task of a job array"), "{}", said.stderr);
}

#[test]
fn figures_are_made_in_shares() {
    let program = Program::new();
    std::fs::create_dir_all(program.path("configs/papers/toy")).expect("folders can be made");
    program.write("configs/papers/toy/network.toml", crate::program::SMALL);
    for (figure, loads) in [("fig1", "0.1, 0.2, 0.3"), ("fig2", "0.2, 0.3, 0.4")] {
        let text = format!(
            "title = \"t\"\nsource = \"s\"\nscenario = \"network.toml\"\nsweep.over.\"traffic.load\" = [{loads}]\n\
             claim = [{{ name = \"c\", says = \"c\", paper = \"c\", expect = {{ above = 0 }}, why = \"c\", \
             measure = {{ largest = {{ metric = \"accepted_load\" }} }} }}]"
        );
        program.write(&format!("configs/papers/toy/{figure}.toml"), text);
    }
    for share in ["1/2", "2/2"] {
        let said = program.run(&["reproduce", "toy", "--shard", share]);
        let told = format!("share {} of 2: 2 of 2 runs\n", &share[..1]);
        assert_eq!((said.code, said.stdout), (Some(0), told), "four runs of both figures: {}", said.stderr);
    }
    let said = program.run(&["reproduce", "toy"]);
    assert!(said.code == Some(0) && said.stderr.contains("4 of them are there already"), "{}", said.stderr);
    assert!(said.stdout.contains("claims: 2 pass"), "{}", said.stdout);
}

#[test]
fn there_is_no_such_share() {
    let program = Program::new();
    for (shard, reason) in [("0/2", "counted from 1"), ("3/2", "no number 3"), ("half", "2/8")] {
        let said = program.run(&[&SWEEP[..], &["--shard", shard, "--out", "out"]].concat());
        assert!(said.code == Some(2) && said.stderr.contains(reason), "{shard}: {}", said.stderr);
    }
    for other in [["--check"], ["--record"], ["--no-run"]] {
        let said = program.run(&[&["reproduce", "toy", "--shard", "1/2"][..], &other].concat());
        assert!(said.code == Some(2) && said.stderr.contains("cannot be used with"), "{}", said.stderr);
    }
    assert!(!program.path("out").exists(), "nothing is written");
}
