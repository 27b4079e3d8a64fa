//! Each figure of a paper is a good one: it is read, its runs can be made, and its time series have what it asks for.

use std::path::Path;

use tailback_reproduce::{Figure, MEASURES, Scale};
use tailback_sim::Plan;

use crate::scenarios::{here, read, toml_files};

/// More memory than a laptop has is more than a figure may take.
const MEMORY_MAX: u64 = 16 << 30;

/// Whether a file is a figure, not a scenario, by the rule of `tailback reproduce`.
pub fn is_figure(file: &Path) -> bool {
    let in_papers = file.components().any(|part| part.as_os_str() == "papers");
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    in_papers && ["fig", "table"].iter().any(|start| name.starts_with(start))
}

fn figures() -> impl Iterator<Item = (String, Figure, std::path::PathBuf)> {
    let files = toml_files(&here("../configs/papers")).into_iter().filter(|file| is_figure(file));
    files.map(|file| {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let figure = Figure::read(&name, &text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let scenario = file.with_file_name(&figure.scenario);
        (name, figure, scenario)
    })
}

#[test]
fn each_figure_can_be_planned_at_each_scale() {
    let mut count = 0;
    for (name, figure, scenario) in figures() {
        count += 1;
        let scenario = read(&scenario);
        for scale in Scale::ALL {
            // Seeds differ in nothing that could be wrong.
            for run in figure.experiment(scale).runs(&scenario).iter().filter(|run| run.seed == 0) {
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
        assert!(!figure.panels.is_empty(), "{name} shows nothing");
        assert!(figure.claims.iter().any(|claim| claim.judgement(Scale::Full).is_some()), "{name} claims nothing");
        assert!(!figure.ci || figure.claims.iter().any(|claim| claim.judgement(Scale::Quick).is_some()));
    }
}

/// A word that no paper needs is one too many.
#[test]
fn each_measure_is_used_by_a_paper() {
    let files = toml_files(&here("../configs/papers")).into_iter().filter(|file| is_figure(file));
    let texts: String = files.map(|file| std::fs::read_to_string(file).expect("it can be read")).collect();
    for word in MEASURES {
        assert!(texts.contains(&format!("{{ {word} = ")), "`{word}` is not used by any claim");
    }
}
