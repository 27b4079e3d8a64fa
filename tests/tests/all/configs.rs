//! Each file that people start from is a good one.

use std::path::PathBuf;

use crate::papers::is_figure;
use crate::scenarios::{here, read, toml_files};

/// All scenarios that people start from; figures of papers and studies are files of another kind.
fn scenario_files() -> Vec<PathBuf> {
    let files = toml_files(&here("../configs"));
    files.into_iter().filter(|file| !is_figure(file)).collect()
}

#[test]
fn each_file_under_configs_resolves() {
    let files = scenario_files();
    assert!(!files.is_empty(), "there are no scenarios");
    let mut mistakes = Vec::new();
    for file in files {
        let document = read(&file);
        mistakes.extend(document.resolve().err().map(|mistakes| mistakes.to_string()));
        mistakes.extend(document.sweep().err().map(|mistakes| mistakes.to_string()));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
}

/// The points of a sweep are scenarios of their own: what is laid over the file must fit it.
#[test]
fn each_point_of_their_sweeps_resolves() {
    for file in scenario_files() {
        let document = read(&file);
        let Ok(sweep) = document.sweep() else { continue };
        // The first and the last point see each variant's ends; those between differ in numbers alone.
        let points = sweep.points();
        for point in points.first().into_iter().chain(points.last()) {
            let settings = point.settings.iter().map(|(path, value)| format!("{path}={value}"));
            let all = point.assignments.iter().cloned().chain(settings);
            let varied = all.fold(document.clone(), |document, assignment| document.with(&assignment));
            if let Err(mistakes) = varied.resolve() {
                panic!("a point of the sweep in {} is wrong:\n{mistakes}", file.display());
            }
        }
    }
}

/// Figures of the CRP paper stand on one file, and the search for parameters of ECN is a scenario by itself: both are about one network.
#[test]
fn ecn_is_tuned_in_the_network_of_the_crp_paper() {
    let [paper, tuned] = ["network", "ecn-tuning"].map(|name| {
        let document = read(&here(&format!("../configs/papers/crp/{name}.toml"))).with("protocol={ baseline = {} }");
        let scenario = document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let described = (scenario.topology.built.graph().describe(), scenario.routing.built.describe());
        (scenario.network, scenario.clock, described)
    });
    assert_eq!(tuned, paper);
}
