//! `run`, when all is well.

use std::process::Command;

use serde_json::Value;

use crate::program::{Program, SMALL, compare};

/// What every reader of a report may rely on.
const NUMBERS: &[&str] = &[
    "/seed",
    "/nodes",
    "/offered_load",
    "/accepted_load",
    "/latency/message/mean",
    "/latency/message/p50",
    "/latency/message/p99",
    "/latency/message/max",
    "/latency/network/mean",
    "/latency/network/p50",
    "/latency/network/p99",
    "/latency/network/max",
    "/hops/mean",
    "/flows/traffic/sources",
    "/flows/traffic/offered_load",
    "/flows/traffic/accepted_load",
    "/flows/traffic/latency/message/mean",
    "/flows/traffic/hops/mean",
    "/flows/traffic/messages/lost",
    "/cycles/warmup",
    "/cycles/measured",
    "/performance/wall_s",
    "/performance/cpu_s",
    "/performance/packet_hops",
    "/performance/packet_hops_per_cpu_s",
    "/performance/threads",
];

fn report(text: &str) -> Value {
    serde_json::from_str(text).expect("a report is JSON")
}

fn digests(report: &Value) -> [&str; 2] {
    ["scenario_digest", "result_digest"].map(|name| report[name].as_str().expect("a digest is a text"))
}

#[test]
fn the_summary_is_as_it_was() {
    let arguments = ["run", "small.toml", "--threads", "2"];
    let said = Program::new().run(&arguments);
    assert_eq!(said.code, Some(0));
    compare("run", &arguments, &format!("{}--- standard error\n{}", said.stdout, said.stderr));
}

/// What is recommended can be done, and is about what the scenario has.
#[test]
fn what_to_try_next_works() {
    let program = Program::new();
    let hot = "name = \"hot\"\nsaturates = true\ndestination_load = 1.5\npattern.uniform.among = [0, 1]\n\
               [[traffic]]\nname = \"cold\"\ndestination_load = 0.3\n";
    for (name, text, command) in [
        ("swept", format!("{SMALL}[sweep.over]\ntraffic.load = [0.1, 0.2]\n"), ""),
        ("cold", SMALL.replace("load = 0.3\n", hot), " --over traffic.cold.destination_load=0.1..0.9/0.1"),
        ("timed", SMALL.replace("load = 0.3", "at = [0, 50]"), " --over traffic.size=8,64,512"),
        ("many", SMALL.replace("load = 0.3", "destination_load = 0.01\nfrom = [4]"), " --seeds 5"),
    ] {
        program.write(&format!("{name}.toml"), text);
        let said = program.run(&["run", &format!("{name}.toml")]);
        let sweep = said.stderr.lines().find_map(|line| line.strip_prefix("  tailback ")).expect("one is recommended");
        assert!(sweep.starts_with(&format!("sweep {name}.toml{command}   ")), "{}", said.stderr);
        let (arguments, _) = sweep.split_once("   ").expect("what it is for is said");
        program.good(&arguments.split(' ').collect::<Vec<_>>());
        program.good(&["plot", &format!("results/{name}")]);
    }
}

#[test]
fn several_traffics_have_a_line_each() {
    let program = Program::new();
    let text = "\n[[traffic]]\nname = \"storm\"\nload = 0.9\nfrom = \"8..24\"\npattern.hot-spot.to = [0, 1]\n";
    let more = "[clock]\ncycle = \"1 ns\"\n[nic]\nqueue_limit = 4\n[protocol.baseline]\nacknowledge = true\n";
    program.write("storm.toml", format!("{SMALL}{text}{more}"));
    let arguments = ["run", "storm.toml", "--quiet"];
    compare("run-storm", &arguments, &program.good(&arguments));
}

/// A schedule lies beside its scenario, wherever that is, and programs have lines of their own.
#[test]
fn programs_have_lines_with_their_phases() {
    let program = Program::new();
    let schedule = "num_ranks 2\nrank 0 {\na: calc 50\nb: send 640b to 1 tag 3\nb requires a\n}\nrank 1 {\nc: recv 640b from 0 tag 3\n}\n";
    std::fs::create_dir(program.path("jobs")).expect("the folder can be written to");
    program.write("jobs/pair.goal", schedule);
    let text = "[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n[[program]]\nname = \"pair\"\ngoal = \"pair.goal\"\nnodes = [3, 40]\n\
                [[program]]\nname = \"ring\"\ncollective.allreduce-ring = { nodes = \"0..8\", bytes = \"8 KiB\" }\n";
    program.write("jobs/both.toml", format!("{SMALL}{text}"));
    let arguments = ["run", "jobs/both.toml", "--quiet"];
    compare("run-programs", &arguments, &program.good(&arguments));
}

/// What begins, ends or changes while it is measured is no steady state that could be judged.
#[test]
fn transients_are_neither_saturated_nor_warmed_up() {
    let program = Program::new();
    let hot = "pattern.hot-spot.to = [0]\nfrom = \"8..72\"\nload = 0.9";
    let run = |flow: &str| {
        program.write("flow.toml", SMALL.replace("load = 0.3", flow));
        program.good(&["run", "flow.toml", "--quiet"])
    };
    let judged = |said: &str| said.contains("SATURATED") || said.contains("saturated") || said.contains("looks short");
    assert!(judged(&run(hot)), "steady, it is judged");
    for transient in ["start = 300", "phases = [{ from = 200, load = 0 }]", "phases = [{ from = 100, load = 0.8 }]"] {
        let said = run(&format!("{hot}\n{transient}"));
        assert!(!judged(&said), "{transient}:\n{said}");
    }
    assert!(!judged(&run(&format!("{hot}\nphases = [{{ from = 60, load = 0 }}]"))), "what is over is not judged");
    assert!(!judged(&run(&format!("{hot}\nsaturates = true"))), "nor is what is to be too much");
}

/// Of the 72 nodes 8 send, each 0.1 flits per cycle.
#[test]
fn loads_are_per_node_that_sends() {
    let program = Program::new();
    program.write("few.toml", SMALL.replace("load = 0.3", "load = 0.3\nfrom = \"0..8\""));
    let report = report(&program.good(&["run", "few.toml", "--quiet", "--format", "json"]));
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64).expect("it is a number");
    assert_eq!((number("/sources"), number("/offered_load")), (8.0, number("/flows/traffic/offered_load")));
    let said = program.good(&["run", "few.toml", "--quiet"]);
    assert!(said.contains("flits/cycle per node that sends (8 of 72)"), "{said}");
}

/// A flow that is silent as long as the run lasts has no nodes that send.
#[test]
fn nodes_of_a_silent_flow_do_not_count() {
    let program = Program::new();
    let flows = "name = \"some\"\nload = 0.3\nfrom = \"0..8\"\n[[traffic]]\nname = \"silent\"\nload = 0\n\
                 phases = [{ from = 500, load = 0.5 }]";
    program.write("silent.toml", SMALL.replace("load = 0.3", flows));
    let report = report(&program.good(&["run", "silent.toml", "--quiet", "--format", "json"]));
    assert_eq!(report["sources"], 8);
    assert_eq!(report["offered_load"], report["flows"]["some"]["offered_load"]);
}

/// With SRP and small messages reservations alone can fill the links to a hot spot.
#[test]
fn what_control_packets_leave_of_a_hot_spot_is_noted() {
    let program = Program::new();
    let hot = "from = \"8..72\"\nload = 0.9\nsize = 1\npattern.hot-spot.to = [0, 1]\nname = \"hot\"";
    let srp = "[protocol.srp]\n[router]\nvirtual_output_queues = true\n";
    program.write("srp.toml", format!("{}{srp}", SMALL.replace("load = 0.3", hot).replace("400", "4000")));
    let said = program.good(&["run", "srp.toml", "--quiet"]);
    let start = said.find("note: reservations fill ").unwrap_or_else(|| panic!("there is no note:\n{said}"));
    let note = said[start..].lines().next().expect("it is a line");
    assert!(note.contains(" % of the ejection links of the destinations of `hot`, data "), "{note}");
    // Of others, which send there as well, it is not known exactly how much has arrived there.
    let background = "[[traffic]]\nname = \"background\"\nload = 0.01\n";
    program.write("both.toml", format!("{}\n{background}", program.read("srp.toml")));
    let said = program.good(&["run", "both.toml", "--quiet"]);
    let kinds = "note: control packets (acknowledgements, nacks, reservations, grants) fill at least ";
    assert!(said.contains(kinds), "{said}");
    assert!(said.contains("destinations of `hot`, data at most "), "{said}");
}

#[test]
fn the_report_has_what_readers_rely_on() {
    let program = Program::new();
    let report = report(&program.good(&["run", "small.toml", "--format", "json", "--threads", "2"]));
    for &path in NUMBERS {
        assert!(report.pointer(path).is_some_and(Value::is_number), "{path} is {:?}", report.pointer(path));
    }
    assert!(digests(&report).iter().all(|digest| digest.len() == 64));
    let memory = &report["performance"]["peak_rss_bytes"];
    assert!(memory.is_number() || (memory.is_null() && !cfg!(target_os = "linux")), "{memory}");
    assert_eq!((&report["seed"], &report["cycles"]["measured"]), (&1.into(), &400.into()));
    assert_eq!(report["performance"]["threads"], 2);
}

#[test]
fn nothing_is_said_on_the_way_if_so_wished() {
    let said = Program::new().run(&["run", "small.toml", "--quiet"]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
}

#[test]
fn threads_change_nothing_and_the_seed_does() {
    let program = Program::new();
    let run = |more: &[&str]| {
        let arguments = [&["run", "small.toml", "--quiet", "--format", "json"], more].concat();
        let report = report(&program.good(&arguments));
        digests(&report).map(str::to_owned)
    };
    let plain = run(&[]);
    assert_eq!(run(&["--threads", "0"]), plain);
    assert_eq!(run(&["--threads", "3"]), plain);
    let [scenario, result] = run(&["--seed", "2"]);
    assert!(scenario != plain[0] && result != plain[1]);
}

#[test]
fn results_are_written_and_can_be_made_again() {
    let program = Program::new();
    let printed = program.good(&["run", "small.toml", "--quiet", "--format", "json", "--out", "some/where"]);
    assert_eq!(program.read("some/where/report.json"), printed);
    assert!(!program.path("some/where/series.csv").exists());
    let again = program.good(&["run", "some/where/scenario.toml", "--quiet", "--format", "json"]);
    assert_eq!(digests(&report(&printed)), digests(&report(&again)));
    // The same scenario may write there again.
    program.good(&["run", "small.toml", "--quiet", "--threads", "1", "--out", "some/where"]);
    let names = ["histograms.csv", "histograms.parquet", "report.json", "scenario.toml"];
    let names = names.map(|name| program.path("some/where").join(name));
    let files = program.files();
    let written: Vec<_> = files.keys().filter(|path| path.starts_with(program.path("some/where/"))).collect();
    let folder = [program.path("some/where")];
    assert_eq!(written, folder.iter().chain(&names).collect::<Vec<_>>(), "nothing unfinished is left");
    // All delivered messages are in the histogram of their latencies.
    let csv = program.read("some/where/histograms.csv");
    let buckets = csv.lines().filter(|line| line.starts_with("traffic,message_latency,"));
    let counts = buckets.filter_map(|line| line.rsplit(',').next()?.parse::<u64>().ok());
    let report: Value = serde_json::from_str(&printed).expect("it is JSON");
    assert_eq!(Some(counts.sum()), report["messages"]["delivered"].as_u64());
}

/// The system ends a process whose file becomes too large, unless that is taken for an error like a full disk.
#[test]
fn what_there_is_no_room_for_is_told() {
    let program = Program::new();
    let over = ["sweep", "small.toml", "--over", "traffic.load=0.1,0.2", "--quiet", "--out", "curve"];
    for (arguments, file) in [
        (&["run", "small.toml", "--quiet", "--out", "out"][..], "out/report.json"),
        (&["run", "small.toml", "--quiet", "--out", "out", "--checkpoint-every", "1 ms"], "out/report.json"),
        (&over, "curve/scenario.toml"),
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 1 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_tailback")]).args(arguments);
        let said = command.current_dir(program.path("")).output().expect("it can be started");
        let told = String::from_utf8(said.stderr).expect("it prints UTF-8");
        assert_eq!(said.status.code(), Some(1), "{arguments:?} says {told}");
        let errors: Vec<&str> = told.lines().filter(|line| line.starts_with("error")).collect();
        let [error] = errors[..] else { panic!("{arguments:?} says {told}") };
        assert_eq!(*error, format!("error: cannot write {file}: File too large (os error 27)"));
        let left: Vec<_> =
            program.files().into_keys().filter(|path| path.to_string_lossy().contains("unfinished")).collect();
        assert!(left.is_empty(), "{arguments:?} leaves {left:?}");
    }
}

#[test]
fn a_time_series_is_written() {
    let program = Program::new();
    program.good(&["run", "small.toml", "--quiet", "--set", "measure.series=50", "--out", "out"]);
    let csv = program.read("out/series.csv");
    let header = csv.lines().next().expect("there is a header");
    assert!(header.contains("cycle") && header.contains("accepted_load"), "{header}");
    assert_eq!(csv.lines().count(), 1 + 10, "ten intervals of 50 cycles:\n{csv}");
    let parquet = std::fs::read(program.path("out/series.parquet")).expect("it is written");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}
