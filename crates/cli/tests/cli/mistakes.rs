//! Bad input: exit code 2, all mistakes on standard error, nothing on standard output, nothing written.

use crate::program::{Program, SMALL, compare};

/// The program refuses `arguments` with the words of a golden file.
fn refuses(program: &Program, name: &str, arguments: &[&str]) {
    let before = program.files();
    let said = program.run(arguments);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "tailback {arguments:?} says\n{}", said.stderr);
    assert!(program.files() == before, "tailback {arguments:?} has written something");
    compare(&format!("mistake-{name}"), arguments, &said.stderr);
}

/// It refuses to run a file.
fn refuses_file(name: &str, content: impl AsRef<[u8]>) {
    let program = Program::new();
    program.write("bad.toml", content);
    refuses(&program, name, &["run", "bad.toml", "--out", "results"]);
}

/// It refuses to run the small scenario with a part of it replaced.
fn refuses_change(name: &str, from: &str, to: &str) {
    assert!(SMALL.contains(from));
    refuses_file(name, SMALL.replace(from, to));
}

/// It refuses to run the small scenario with something added.
fn refuses_addition(name: &str, addition: &str) {
    refuses_file(name, format!("{SMALL}\n{addition}\n"));
}

/// Each line is an object.
#[test]
fn programs_are_told_where_mistakes_are() {
    let program = Program::new();
    program.write("bad.toml", SMALL.replace("g = 9", "gg = 9"));
    let told = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let said = program.run(arguments);
        said.stderr.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
    };
    let mistakes = told(&["check", "bad.toml", "--tell", "json"]);
    let unknown = mistakes.iter().find(|told| told["message"].to_string().contains("gg")).expect("it is told");
    let place = ["severity", "source", "line", "column"].map(|key| unknown[key].clone());
    assert_eq!(serde_json::json!(place), serde_json::json!(["error", "bad.toml", 8, 1]), "{mistakes:?}");
    assert!(mistakes.last().expect("there are some")["text"].as_str().expect("a text").contains("nothing was run"));
    let lines = told(&["run", "small.toml", "--tell", "json", "--set", "measure.cycles=40000"]);
    let come: Vec<u64> = lines.iter().filter_map(|line| line["position"].as_u64()).collect();
    assert!(lines[0]["text"].as_str().expect("a text").contains("72 nodes") && come.is_sorted(), "{lines:?}");
}

#[test]
fn keys_that_nobody_knows() {
    refuses_addition("unknown-key", "[router]\nspeedupp = 2");
    refuses_addition("unknown-section", "[ruoter]\nspeedup = 2");
    refuses_change("unknown-model", "\"minimal\"", "\"minimum\"");
    refuses_addition("both-names", "[protocol.srp]\ntoll = 3\ncontrol_overhead = 3");
    refuses_addition("name-and-table", "[routing.valiant]\ntarget = \"group\"");
}

#[test]
fn values_of_another_kind() {
    refuses_change("wrong-type", "load = 0.3", "load = \"high\"");
    refuses_change("wrong-unit", "cycles = 400", "cycles = \"4 parsecs\"");
    refuses_change("unit-without-clock", "cycles = 400", "cycles = \"4 us\"");
    refuses_change("load-out-of-range", "load = 0.3", "load = 1.5");
}

#[test]
fn schedules_that_cannot_be_run() {
    let with = |schedule: &str| {
        format!("{SMALL}\n[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n[[program]]\ngoal = \"{schedule}\"\n")
    };
    refuses_file("schedule-missing", with("nowhere.goal"));
    let program = Program::new();
    program.write("late.goal", "num_ranks 2\nrank 0 {\nb: send 8b to 1\nb requires a\na: calc 5\n}\nrank 1 {\n}\n");
    program.write("bad.toml", with("late.goal"));
    refuses(&program, "schedule-late-label", &["run", "bad.toml", "--out", "results"]);
    program.write("bad.toml", with("late.goal") + "[[program]]\nmessages = \"list.csv\"\n");
    program.write("list.csv", "time,source,destination,bytes\n0,0,1,8\n10,0,72,8\n");
    refuses(&program, "list-of-messages", &["run", "bad.toml", "--out", "results"]);
}

#[test]
fn networks_that_cannot_be() {
    refuses_change("too-many-groups", "g = 9", "g = 10");
    refuses_change("radix", "p = 2", "p = 256");
    refuses_addition("small-buffer", "[links.local]\nbuffer = 4");
    refuses_change("deadlock", "\"minimal\"", "{ minimal = { vcs = \"l0 g0 l0\" } }");
    let huge = "p = 16\na = 32\nh = 16\ng = 513";
    refuses_change("memory", "p = 2\na = 4\nh = 2\ng = 9", &format!("{huge}\n[execution]\nmemory_gib = 1"));
}

#[test]
fn several_at_once() {
    let text = SMALL.replace("g = 9", "g = 10").replace("load = 0.3", "load = 2\npattern = \"unifrom\"");
    refuses_file("several", text.replace("warmup = 100", "warmpu = 100"));
}

#[test]
fn files_that_cannot_be_read() {
    let program = Program::new();
    refuses(&program, "missing-file", &["run", "missing.toml"]);
    std::fs::create_dir(program.path("folder")).expect("a folder can be made");
    refuses(&program, "folder", &["check", "folder"]);
    refuses_file("not-utf8", b"title = \"\xff\xfe\"");
    refuses_file("cut-off", &SMALL[..60]);
    refuses_file("empty", "");
}

#[test]
fn overrides() {
    let program = Program::new();
    refuses(&program, "set-without-value", &["run", "small.toml", "--set", "nonsense"]);
    refuses(&program, "set-unknown", &["run", "small.toml", "--set", "traffic.laod=0.4"]);
    refuses(&program, "set-beyond", &["run", "small.toml", "--set", "traffic.3.load=0.4"]);
    refuses(&program, "set-unknown-model", &["run", "small.toml", "--set", "routing.valliant.target=group"]);
    refuses(&program, "too-many-threads", &["run", "small.toml", "--threads", "5000"]);
}

#[test]
fn messages_that_there_are_not() {
    let program = Program::new();
    let trace = |name: &str, message: &str| {
        let arguments = ["run", "small.toml", "--trace-message", message, "--out", "results"];
        refuses(&program, &format!("trace-{name}"), &arguments);
    };
    trace("not-three", "3,17");
    trace("no-number", "3,17,first");
    trace("same-node", "3,3,0");
    trace("no-node", "3,72,0");
    trace("too-few", "3,17,1000");
    let packets = |name: &str, nodes: &str| {
        refuses(&program, &format!("trace-packets-{name}"), &["run", "small.toml", "--trace-packets", nodes]);
    };
    packets("not-two", "3");
    packets("no-node", "3,72");
    // What is about packets says nothing of a message.
    let of_packets = ["run", "small.toml", "--trace-message", "5,17,0", "--trace-from", "99999"];
    refuses(&program, "trace-from-of-a-message", &of_packets);
    let below_a_file = ["run", "small.toml", "--trace-packets", "5,17", "--trace-out", "small.toml/trace.json"];
    refuses(&program, "trace-out-below-a-file", &below_a_file);
}

#[test]
fn sweeps() {
    let program = Program::new();
    refuses(&program, "sweep-of-nothing", &["sweep", "small.toml"]);
    refuses(&program, "over-without-values", &["sweep", "small.toml", "--over", "traffic.load"]);
    refuses(&program, "over-downwards", &["sweep", "small.toml", "--over", "traffic.load=0.5..0.1/0.1"]);
    refuses(&program, "over-unknown", &["sweep", "small.toml", "--over", "trafic.load=0.1,0.2"]);
    refuses(&program, "over-out-of-range", &["sweep", "small.toml", "--over", "traffic.load=0.8..1.2/0.2"]);
    refuses(&program, "over-twice", &["sweep", "small.toml", "--over", "seed=1,2", "--over", "seed=3,4"]);
    let variants = "[[sweep.variant]]\nname = \"A\"\nset = { traffic.load = 0.2, measure.cycles = 200 }\n";
    program.write("variants.toml", format!("{SMALL}{variants}"));
    refuses(&program, "over-a-variant", &["sweep", "variants.toml", "--over", "traffic.load=0.1,0.2"]);
    refuses(&program, "over-seeds", &["sweep", "variants.toml", "--over", "seed=1,2", "--seeds", "2"]);
    let both = ["--over", "routing=minimal,ugal-l", "--over", "routing.valiant.target=group,router"];
    refuses(&program, "over-each-other", &[&["sweep", "small.toml"][..], &both].concat());
    let varied = "[sweep]\nover.\"traffic.load\" = [0.2, 1.2]\n";
    program.write("varied.toml", format!("{SMALL}{varied}"));
    refuses(&program, "sweep-out-of-range", &["sweep", "varied.toml"]);
    refuses(&program, "check-out-of-range", &["check", "varied.toml"]);
    program
        .write("misspelt.toml", format!("{SMALL}{}", variants.replace("traffic.load = 0.2", "routing = \"valliant\"")));
    refuses(&program, "variant-unknown-model", &["sweep", "misspelt.toml"]);
    let all = ["--over", "traffic.load=0..1/0.0001", "--over", "measure.cycles=1..100000", "--seeds", "10000"];
    refuses(&program, "over-too-much", &[&["sweep", "small.toml"][..], &all].concat());
    refuses(&program, "too-many-seeds", &["sweep", "small.toml", "--seeds", "4294967295"]);
}

#[test]
fn directories_of_others() {
    let program = Program::new();
    program.good(&["run", "small.toml", "--quiet", "--out", "ran"]);
    program.good(&["sweep", "small.toml", "--quiet", "--over", "traffic.load=0.1", "--out", "swept"]);
    refuses(&program, "results-of-another", &["run", "small.toml", "--seed", "2", "--out", "ran"]);
    refuses(&program, "sweep-of-another", &["run", "small.toml", "--seed", "2", "--out", "swept"]);
    let sweep = ["sweep", "small.toml", "--set", "seed=2", "--over", "traffic.load=0.1"];
    refuses(&program, "sweep-into-results", &[&sweep[..], &["--out", "ran"]].concat());
    refuses(&program, "sweep-into-sweep", &[&sweep[..], &["--out", "swept"]].concat());
    refuses(&program, "run-beside-sweep", &["run", "small.toml", "--out", "swept"]);
    refuses(&program, "sweep-beside-run", &["sweep", "small.toml", "--over", "traffic.load=0.1", "--out", "ran"]);
    refuses(&program, "out-is-a-file", &["run", "small.toml", "--out", "small.toml"]);
    refuses(&program, "out-below-a-file", &["run", "small.toml", "--out", "small.toml/results"]);
}

/// What cannot be written is noticed before hours have gone by, by each command that writes.
#[test]
fn directories_that_cannot_be_made() {
    let program = Program::new();
    program.good(&["sweep", "small.toml", "--quiet", "--over", "traffic.load=0.1", "--out", "swept"]);
    std::fs::create_dir_all(program.path("configs/papers/toy")).expect("folders can be made");
    program.write("configs/papers/toy/network.toml", SMALL);
    let figure = "title = \"t\"\nsource = \"s\"\nscenario = \"network.toml\"\nsweep.over.\"traffic.load\" = [0.1]\n";
    let claim = "claim = [{ name = \"c\", says = \"c\", paper = \"c\", expect = { above = 0 }, why = \"c\", \
                 measure = { largest = { metric = \"accepted_load\" } } }]\n";
    program.write("configs/papers/toy/fig1.toml", format!("{figure}{claim}"));
    // Longer than any name may be, which not even an administrator can make.
    let out = format!("results/{}", "long".repeat(100));
    let before = program.files();
    for arguments in [
        &["run", "small.toml"][..],
        &["sweep", "small.toml", "--over", "traffic.load=0.1"],
        &["plot", "swept"],
        &["reproduce", "toy/fig1"],
        &["fetch", "run", "--server", "http://127.0.0.1:1"],
    ] {
        let said = program.run(&[arguments, &["--out", &out]].concat());
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", said.stderr);
        assert!(said.stderr.contains("cannot write into results/long"), "{arguments:?}: {}", said.stderr);
        assert!(program.files() == before, "{arguments:?} has left something");
    }
}

/// A number that begins with a sign is no option, and its range is told.
#[test]
fn numbers_of_options() {
    let program = Program::new();
    for option in ["--seed", "--threads"] {
        for (value, why) in [
            ("-1", "a whole number from 0 on is needed"),
            ("abc", "a whole number from 0 on is needed"),
            ("99999999999999999999", "the number is too large"),
        ] {
            let said = program.run(&["run", "small.toml", option, value]);
            assert_eq!(said.code, Some(2), "{option} {value}");
            assert!(said.stderr.contains(why) && !said.stderr.contains("-- "), "{option} {value}: {}", said.stderr);
        }
    }
}

#[test]
fn what_does_not_exist() {
    let program = Program::new();
    refuses(&program, "unknown-name", &["models", "valliant"]);
    std::fs::create_dir(program.path("empty")).expect("a folder can be made");
    refuses(&program, "nothing-to-plot", &["plot", "empty"]);
    refuses(&program, "nowhere-to-plot", &["plot", "nowhere"]);
    refuses(&program, "plot-of-a-file", &["plot", "small.toml"]);
}
