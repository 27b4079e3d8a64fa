//! Each figure of a paper and each study is a good one: it is read, its runs can be made, and its time series have what it asks for.

use std::path::{Path, PathBuf};

use tailback_reproduce::{Basis, Figure, MEASURES, Scale};
use tailback_sim::Plan;

use crate::scenarios::{here, read, toml_files};

/// More memory than a laptop has is more than a figure may take.
const MEMORY_MAX: u64 = 16 << 30;

/// Whether a file is a figure, not a scenario, by the rule of `tailback reproduce`.
pub fn is_figure(file: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(Path::file_name).map(ToOwned::to_owned);
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_of_paper = file.parent().and_then(folder).is_some_and(|folder| folder == "papers");
    folder(file).is_some_and(|folder| folder == "studies")
        || is_of_paper && ["fig", "table"].iter().any(|start| name.starts_with(start))
}

fn figure_files() -> impl Iterator<Item = PathBuf> {
    toml_files(&here("../configs")).into_iter().filter(|file| is_figure(file))
}

/// Names, figures, and the scenarios that they stand on; none where they are computed.
pub fn figures() -> impl Iterator<Item = (String, Figure, Option<PathBuf>)> {
    figure_files().map(|file| {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let figure = Figure::read(&name, &text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let scenario = match &figure.basis {
            Basis::Scenario(name) => Some(file.with_file_name(name)),
            Basis::Formula => None,
        };
        (name, figure, scenario)
    })
}

#[test]
fn each_figure_can_be_planned_at_each_scale() {
    let mut count = 0;
    for (name, figure, scenario) in figures() {
        count += 1;
        for scale in Scale::ALL {
            let computed = figure.computations(scale).unwrap_or_else(|mistakes| panic!("{name}:\n{mistakes}"));
            assert_eq!(computed.is_empty(), scenario.is_some(), "{name} is made of runs or computed");
        }
        let Some(scenario) = scenario.map(|file| read(&file)) else { continue };
        for scale in Scale::ALL {
            // Seeds differ in nothing that could be wrong.
            let experiment = figure.experiment(scale);
            for run in experiment.sweep.runs(&experiment.base(&scenario)).filter(|run| run.seed == 0) {
                let scenario = run.document.resolve();
                let scenario = scenario.unwrap_or_else(|mistakes| panic!("{name}, {}:\n{mistakes}", scale.name()));
                let needed = Plan::new(&scenario).memory_bytes;
                assert!(needed < MEMORY_MAX, "{name} takes {needed} bytes");
            }
        }
    }
    assert!(count > 0, "there are no figures");
}

#[test]
fn each_figure_shows_and_claims_something() {
    for (name, figure, _) in figures() {
        assert!(!(figure.panels.is_empty() && figure.sheets.is_empty()), "{name} shows nothing");
        assert!(figure.claims.iter().any(|claim| claim.judgement(Scale::Full).is_some()), "{name} claims nothing");
        assert!(!figure.ci || figure.claims.iter().any(|claim| claim.judgement(Scale::Quick).is_some()));
    }
}

#[test]
fn each_study_has_a_table() {
    let folder = here("../configs/studies");
    let of_study = |(name, ..): &(String, Figure, Option<PathBuf>)| Path::new(name).starts_with(&folder);
    let studies: Vec<_> = figures().filter(of_study).collect();
    assert!(!studies.is_empty(), "there are no studies");
    for (name, figure, _) in studies {
        assert!(!figure.sheets.is_empty(), "{name} tabulates nothing");
    }
}

/// A word that neither a paper nor a study needs is one too many.
#[test]
fn each_measure_is_used() {
    let texts: String = figure_files().map(|file| std::fs::read_to_string(file).expect("it can be read")).collect();
    for word in MEASURES {
        assert!(texts.contains(&format!("{{ {word} = ")), "`{word}` is not used by any claim");
    }
}
