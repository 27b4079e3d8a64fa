//! `plot`: figures from what runs and sweeps have left.

use std::fs;
use std::path::Path;

use crate::program::{Program, compare};

/// A program that has run a sweep and a time series.
fn with_results() -> Program {
    let program = Program::new();
    program.good(&["sweep", "small.toml", "--quiet", "--no-stop", "--over", "traffic.load=0.1,0.2", "--out", "swept"]);
    program.good(&["run", "small.toml", "--quiet", "--set", "measure.series=50", "--out", "ran"]);
    program
}

/// The files that are said to be drawn, each of which begins with `magic`.
fn drawn(program: &Program, arguments: &[&str], magic: &[u8]) -> Vec<String> {
    let files: Vec<String> = program.good(arguments).lines().map(str::to_owned).collect();
    for file in &files {
        let bytes = fs::read(program.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(bytes.starts_with(magic) && bytes.len() > 1000, "{file} is no picture");
    }
    files
}

#[test]
fn sweeps_and_series_are_drawn() {
    let program = with_results();
    let files = drawn(&program, &["plot", "swept"], b"<");
    assert_eq!(files, ["swept/latency.svg", "swept/network-latency.svg", "swept/accepted.svg"]);
    assert!(program.read("swept/latency.svg").contains("</svg>"));
    let files = drawn(&program, &["plot", "ran"], b"<");
    assert_eq!(files, ["accepted-over-time", "latency-over-time", "offered-over-time"].map(|n| format!("ran/{n}.svg")));
}

#[test]
fn several_directories_share_figures_elsewhere() {
    let program = with_results();
    let arguments = ["plot", "swept", "ran", "--out", "figures", "--latency-max", "300"];
    let files = drawn(&program, &arguments, b"<");
    assert!(files.len() == 6 && files.iter().all(|file| file.starts_with("figures/")), "{files:?}");
    assert!(!program.path("swept/latency.svg").exists());
}

/// Names that several directories have are told apart by where these are.
#[test]
fn directories_of_one_name_have_more_of_their_paths() {
    let program = with_results();
    for folder in ["first", "second"] {
        fs::create_dir(program.path(folder)).expect("a folder can be made");
        program.good(&[
            "run",
            "small.toml",
            "--quiet",
            "--set",
            "measure.series=50",
            "--out",
            &format!("{folder}/ran"),
        ]);
    }
    let y = ["--y", "delivered_packets", "--out", "figures"];
    drawn(&program, &[&["plot", "first/ran", "second/ran/", "swept/../ran"][..], &y].concat(), b"<");
    let drawing = program.read("figures/delivered_packets-over-time.svg");
    for text in ["first/ran: traffic", "second/ran: traffic", "../ran: traffic", "delivered packets"] {
        assert!(drawing.contains(text), "{text} is missing");
    }
}

#[test]
fn pictures_may_be_pixels() {
    let program = with_results();
    let files = drawn(&program, &["plot", "swept", "--picture", "png"], b"\x89PNG\r\n\x1a\n");
    assert_eq!(files, ["swept/latency.png", "swept/network-latency.png", "swept/accepted.png"]);
}

/// Means over several flows say little about any of them.
#[test]
fn several_flows_have_figures_of_their_own_over_the_load_that_is_varied() {
    let program = Program::new();
    let flows =
        "name = \"calm\"\n[[traffic]]\nname = \"hot\"\nfrom = \"8..24\"\nload = 0.1\npattern.hot-spot.to = [0]\n";
    program.write("flows.toml", crate::program::SMALL.replace("load = 0.3\n", &format!("load = 0.1\n{flows}")));
    let sweep =
        ["sweep", "flows.toml", "--quiet", "--no-stop", "--over", "traffic.hot.load=0.01,0.02", "--out", "swept"];
    program.good(&sweep);
    let files = drawn(&program, &["plot", "swept"], b"<");
    let expected = ["calm", "hot"]
        .into_iter()
        .flat_map(|flow| ["latency", "network-latency", "accepted"].map(|metric| format!("swept/{metric}-{flow}.svg")));
    assert_eq!(files, expected.collect::<Vec<_>>());
    let drawn = program.read("swept/network-latency-calm.svg");
    for text in ["offered load of hot (flits/source/cycle)", "mean network latency (cycles)", "A small dragonfly: calm"]
    {
        assert!(drawn.contains(text), "{text} is missing");
    }
}

/// Flows that end have no load to be drawn over: what is varied runs to the right.
#[test]
fn completion_times_are_drawn_over_what_is_varied() {
    let program = Program::new();
    let ending = crate::program::SMALL.replace("load = 0.3\n", "at = [0]\nsize = 8\n");
    program.write("ending.toml", ending.replace("[measure]\n", "[measure]\nuntil = \"drained\"\n"));
    program.good(&["sweep", "ending.toml", "--quiet", "--over", "traffic.size=8,80", "--out", "swept"]);
    let files = drawn(&program, &["plot", "swept"], b"<");
    assert_eq!(files, ["swept/completion.svg", "swept/slowdown.svg"]);
    let drawing = program.read("swept/slowdown.svg");
    assert!(drawing.contains("traffic.size") && drawing.contains("99th percentile of slowdowns"));
}

/// A sweep of two routings over load, with a clock and two flows, whose numbers are made up.
fn made_up(program: &Program) {
    fs::create_dir(program.path("swept")).expect("a folder can be made");
    let manifest = r#"{"title":"Made up","scenario_digest":"0","axes":["traffic.load","router.arbiter"],"load_axis":"traffic.load"}"#;
    program.write("swept/sweep.json", manifest);
    let mut table = "traffic.load,router.arbiter,variant,seeds,cycle_ns,offered_load,latency_message_mean,latency_message_mean_ci95,\
                     calm.offered_load,calm.latency_message_mean,hot.offered_load,hot.latency_message_mean\n"
        .to_owned();
    for (variant, slow) in [("MIN", 1.0), ("VAL", 2.0)] {
        for (load, latency) in [(0.1, 50.0), (0.5, 75.0), (0.9, 1000.0)] {
            let latency = slow * latency;
            let flows = format!("{load},{latency},{load},{}", 2.0 * latency);
            table += &format!("{load},age,{variant},3,2.0,{load},{latency},{},{flows}\n", latency / 10.0);
        }
    }
    program.write("swept/sweep.csv", table);
}

/// The drawing of made-up numbers is the same on every machine, and somebody has looked at it.
#[test]
fn chosen_figures_are_as_they_were() {
    let program = Program::new();
    made_up(&program);
    let cases: [(&str, &[&str]); 3] = [
        ("plot-single", &["--x", "traffic.load", "--y", "latency_message_mean", "--size", "single"]),
        ("plot-flows", &["--y", "latency_message_mean", "--by", "variant,flow", "--log", "y", "--title", ""]),
        (
            "plot-range",
            &["--y", "latency_message_mean", "--range", "0..1,0..400", "--labels", "load,", "--size", "90x60mm"],
        ),
    ];
    for (name, arguments) in cases {
        let said = program.good(&[&["plot", "swept"], arguments].concat());
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.svg"));
        tailback_tests::compare(&golden, &program.read(said.trim_end()));
    }
}

#[test]
fn times_are_in_nanoseconds_where_there_is_a_clock() {
    let program = Program::new();
    made_up(&program);
    program.good(&["plot", "swept", "--y", "latency_message_mean", "--only", "variant=MIN", "--range", "0..,0..2000"]);
    let drawn = program.read("swept/latency_message_mean-over-offered_load.svg");
    assert!(drawn.contains("mean message latency (ns)") && drawn.contains(">2000<"), "{drawn}");
    assert!(!drawn.contains("arrows"), "2000 ns are the 1000 cycles of the slowest");
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let program = Program::new();
    made_up(&program);
    let before = program.files();
    for (name, arguments) in [
        ("x", &["--x", "trafic.load"][..]),
        ("y", &["--y", "latency_mesage_mean"]),
        ("y-of-flows", &["--y", "latency", "--by", "variant,flow"]),
        ("by", &["--by", "routing"]),
        ("by-too-little", &["--by", "flow"]),
        ("by-x", &["--x", "traffic.load", "--by", "traffic.load"]),
        ("only", &["--only", "variant=MAX"]),
        ("labels", &["--labels", "a,b"]),
        ("range-backwards", &["--y", "latency_message_mean", "--range", "1..0"]),
        ("range-log", &["--y", "latency_message_mean", "--range", ",0..9", "--log", "y"]),
        ("log-names", &["--x", "variant", "--only", "traffic.load=0.1", "--log", "x"]),
        ("size", &["--size", "1x1"]),
        ("pdf-png", &["--pdf", "--picture", "png"]),
        ("no-series", &["--kind", "series"]),
        ("no-histograms", &["--kind", "cdf"]),
    ] {
        let arguments = [&["plot", "swept"], arguments].concat();
        let said = program.run(&arguments);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        compare(&format!("mistake-plot-{name}"), &arguments, &said.stderr);
        assert!(program.files() == before, "{arguments:?} has left something");
    }
}

/// Where there is nothing to draw of what is asked for, it is said what there is.
#[test]
fn what_a_directory_holds_is_said() {
    let program = Program::new();
    made_up(&program);
    program.good(&["run", "small.toml", "--quiet", "--set", "measure.series=50", "--out", "ran"]);
    program.good(&["run", "small.toml", "--quiet", "--out", "plain"]);
    for folder in ["begun", "stopped"] {
        fs::create_dir(program.path(folder)).expect("a folder can be made");
    }
    program.write("begun/sweep.json", program.read("swept/sweep.json"));
    program.write("stopped/interrupted.json", "{}");
    for (arguments, what, help) in [
        (&["ran", "--kind", "curves"][..], "ran holds no sweep", "--kind series draws its series, --kind cdf draws"),
        (&["plain"], "plain holds neither a sweep nor a time series", "--kind cdf draws its histograms"),
        (&["begun"], "begun holds a sweep that is not finished", "goes on with it"),
        (&["stopped"], "stopped holds a run that was interrupted", "make the run again"),
        (&["swept", "ran/../swept/"], "ran/../swept/ is named twice", ""),
        (&["swept", "--latency-max", "-1"], "a number above 0 is needed", ""),
    ] {
        let said = program.run(&[&["plot"], arguments].concat());
        assert_eq!(said.code, Some(2), "{arguments:?}");
        assert!(said.stderr.contains(what) && said.stderr.contains(help), "{arguments:?}: {}", said.stderr);
    }
}

/// What a sweep writes beside its table is drawn: distributions, and series with bands over seeds.
#[test]
fn sweeps_keep_series_and_histograms() {
    let program = Program::new();
    let set = ["--set", "measure.series=50", "--set", "clock.cycle=\"1 ns\""];
    let over = ["--over", "traffic.load=0.1,0.2", "--seeds", "3", "--no-stop", "--out", "swept"];
    let sweep = [&["sweep", "small.toml", "--quiet"][..], &set, &over].concat();
    program.good(&sweep);
    let lines = |name: &str| program.read(&format!("swept/{name}.csv")).lines().count();
    assert_eq!(lines("series"), 1 + 2 * 10);
    assert!(lines("histograms") > 50 && program.path("swept/histograms.parquet").exists());
    let first = program.files();
    program.good(&sweep);
    assert!(program.files() == first, "made again of what was kept");
    let files = drawn(&program, &["plot", "swept", "--kind", "series"], b"<");
    assert_eq!(
        files,
        ["accepted-over-time", "latency-over-time", "offered-over-time"].map(|n| format!("swept/{n}.svg"))
    );
    let series = program.read("swept/latency-over-time.svg");
    for part in ["class=\"band\"", "class=\"warm-up\"", "time (ns)", "load=0.1", "shaded: warm-up"] {
        assert!(series.contains(part), "{part} is missing");
    }
    for (kind, axis) in [("cdf", "p99.99"), ("histogram", ">messages<")] {
        let files = drawn(&program, &["plot", "swept", "--kind", kind, "--y", "network_latency"], b"<");
        assert_eq!(files, [format!("swept/network_latency-{kind}.svg")]);
        let drawn = program.read(&files[0]);
        let axis = axis.replace("messages", "packets");
        assert!(drawn.contains("network latency (ns)") && drawn.contains(&axis), "{drawn}");
    }
    // On an axis without nines all are a share of 1.
    drawn(&program, &["plot", "swept", "--kind", "cdf", "--log", "x"], b"<");
    let linear = program.read("swept/message_latency-cdf.svg");
    assert!(linear.contains(">1.0<") && !linear.contains(">1.1<") && !linear.contains(">1.2<"), "{linear}");
    assert!(!linear.contains("arrows"), "it ends in the frame");
    drawn(&program, &["plot", "swept", "--pdf"], b"%PDF-");
    // The same without CSV, from Parquet.
    for name in ["sweep", "series", "histograms"] {
        fs::remove_file(program.path(&format!("swept/{name}.csv"))).expect("it is there");
    }
    drawn(&program, &["plot", "swept", "--kind", "series"], b"<");
    assert_eq!(program.read("swept/latency-over-time.svg"), series);
    drawn(&program, &["plot", "swept", "--kind", "cdf"], b"<");
    drawn(&program, &["plot", "swept"], b"<");
}

/// A run with a hot spot whose links and congestion trees are there.
fn congested() -> Program {
    let program = Program::new();
    let hot = crate::program::SMALL.replace("load = 0.3", "load = 0.6\nfrom = \"8..24\"\npattern.hot-spot.to = [1]");
    program.write("hot.toml", hot);
    let looks = ["measure.links={ every = 50 }", "measure.trees={ every = 50 }"];
    program.good(&["run", "hot.toml", "--quiet", "--set", looks[0], "--set", looks[1], "--out", "ran"]);
    program
}

#[test]
fn links_are_drawn_as_heat_maps() {
    let program = congested();
    let heat = |more: &[&str]| {
        let files = drawn(&program, &[&["plot", "ran", "--kind", "heat-map"], more].concat(), b"<");
        let [file] = files.as_slice() else { panic!("there is one: {files:?}") };
        (file.clone(), program.read(file))
    };
    let (name, groups) = heat(&[]);
    assert_eq!(name, "ran/utilisation-group-heat-map.svg");
    for text in ["from group", "to group", "mean utilisation", "mean over cycles 150 to 500<", "#fde725"] {
        assert!(groups.contains(text), "{text} is missing");
    }
    assert!(
        heat(&["--by", "router", "--y", "occupied", "--only", "cycle=300"]).1.contains("in cycle 300; grey: no link")
    );
    let (name, time) = heat(&["--x", "time"]);
    assert_eq!(name, "ran/utilisation-over-time-heat-map.svg");
    for text in ["time (cycles)", "0:1 → node 1", "the 25 of "] {
        assert!(time.contains(text), "{text} is missing");
    }
    let links = ["plot", "ran", "--kind", "heat-map", "--pdf", "--size", "single"];
    assert_eq!(drawn(&program, &links, b"%PDF"), ["ran/utilisation-group-heat-map.pdf"]);
    // A single instant is of the 50 cycles before it.
    let instant = heat(&["--x", "time", "--only", "cycle=300"]).1;
    assert!(instant.contains(">250<") && instant.contains(">300<") && !instant.contains(">0<"), "{instant}");
}

/// Rows of routers have no ends, and are drawn over time.
#[test]
fn links_of_routers_are_drawn_over_time() {
    let program = congested();
    let looks = "measure.links={ every = 50, by = \"router\" }";
    program.good(&["run", "hot.toml", "--quiet", "--set", looks, "--out", "routers"]);
    let over_time = ["plot", "routers", "--kind", "heat-map", "--x", "time", "--y", "utilisation_max"];
    let files = drawn(&program, &over_time, b"<");
    let drawing = program.read(&files[0]);
    for text in
        ["links of a router", "utilisation of the busiest link", "0: ejection", "kinds of links of routers with"]
    {
        assert!(drawing.contains(text), "{text} is missing");
    }
    let arguments = ["plot", "routers", "--kind", "heat-map"];
    compare("mistake-plot-links-of-routers", &arguments, &program.run(&arguments).stderr);
}

#[test]
fn trees_are_drawn_over_time() {
    let program = congested();
    let files = drawn(&program, &["plot", "ran", "--kind", "trees"], b"<");
    assert_eq!(files, ["largest", "count", "victims"].map(|name| format!("ran/trees-{name}.svg")));
    let largest = program.read("ran/trees-largest.svg");
    for text in ["buffered flits of the largest tree", "time (cycles)", "shaded: warm-up"] {
        assert!(largest.contains(text), "{text} is missing");
    }
    let one = ["plot", "ran", "--kind", "trees", "--y", "count", "--range", ",0..5"];
    assert_eq!(drawn(&program, &one, b"<"), ["ran/trees-count.svg"]);
    drawn(&program, &["plot", "ran", "--kind", "trees", "--y", "count", "--only", "cycle=300"], b"<");
    let instant = program.read("ran/trees-count.svg");
    assert!(instant.contains(">300<") && instant.matches("<circle").count() == 1, "there is one point: {instant}");
    drawn(&program, &["plot", "ran", "--kind", "heat-map"], b"<");
    let heat = program.read("ran/utilisation-group-heat-map.svg");
    for name in ["trees", "links"] {
        fs::remove_file(program.path(&format!("ran/{name}.csv"))).expect("it is there");
    }
    drawn(&program, &["plot", "ran", "--kind", "trees"], b"<");
    drawn(&program, &["plot", "ran", "--kind", "heat-map"], b"<");
    assert_eq!(program.read("ran/trees-largest.svg"), largest);
    assert_eq!(program.read("ran/utilisation-group-heat-map.svg"), heat);
}

#[test]
fn heat_maps_and_trees_that_cannot_be_drawn_are_refused() {
    let program = congested();
    program.good(&["run", "small.toml", "--quiet", "--out", "plain"]);
    for (name, arguments) in [
        ("no-links", ["plain", "--kind", "heat-map", "--y", "utilisation"]),
        ("no-trees", ["plain", "--kind", "trees", "--y", "count"]),
        ("links-column", ["ran", "--kind", "heat-map", "--y", "usage"]),
        ("links-part", ["ran", "--kind", "heat-map", "--by", "rack"]),
        ("links-level", ["ran", "--kind", "heat-map", "--by", "level"]),
        ("trees-figure", ["ran", "--kind", "trees", "--y", "smallest"]),
    ] {
        let arguments = [&["plot"], &arguments[..]].concat();
        let said = program.run(&arguments);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{}", said.stderr);
        compare(&format!("mistake-plot-{name}"), &arguments, &said.stderr);
    }
}
