//! `plot`: figures from what runs and sweeps have left.

use std::fs;

use crate::program::Program;

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
