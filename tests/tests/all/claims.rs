//! `docs/claims.md`: every claim of a paper that does not hold at full size, from the figure files and the recorded verdicts.

use std::fmt::Write as _;
use std::path::Path;

use tailback_report::significant;
use tailback_reproduce::{Claim, Figure, Finding, Record, RecordedFigure, Scale, Verdict};
use tailback_scenario::Document;

use crate::papers::figures;
use crate::scenarios::{here, read};

const HEAD: &str = "\
# Claims that do not hold

Every claim of a paper or study whose recorded verdict at full size is not *pass*, and those not run yet by number. What verdicts
mean is in [results.md](results.md#confidence-intervals); what was tried is in the figure files. `tailback reproduce PAPER --full` makes the
runs, `--record` records the verdicts.

Written by `TAILBACK_UPDATE_GOLDEN=1 cargo test -p tailback-tests claims`.

";

/// A line for a claim with its finding.
fn line(figure: &str, claim: &Claim, found: &Finding) -> String {
    let number = |value: f64| significant(value, 4);
    let bound = found.bound.words();
    let measured = match (found.measured, found.half_width) {
        (Some(value), Some(half)) => format!("{bound}{} ± {}", number(value), significant(half, 2)),
        (Some(value), None) => format!("{bound}{}", number(value)),
        (None, _) => "–".to_owned(),
    };
    let judgement = claim.judgement(Scale::Full).expect("it is claimed at full size");
    let refuted = claim.refutation.as_ref().filter(|_| found.verdict == Verdict::Refuted);
    let refuted = refuted.map(|by| format!("the authors' program gives {} ({})", number(by.gives), by.at));
    let cause = refuted.into_iter().chain(judgement.tried.clone()).collect::<Vec<_>>().join("; ");
    let cells = [&claim.says, &claim.paper, &measured, &judgement.expect.to_string(), &cause];
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {figure} | {} | {} |\n", found.verdict, cells.join(" | "))
}

/// The claims of a figure that do not pass, and how many are not run.
fn of_figure(name: &str, figure: &Figure, recorded: &RecordedFigure) -> (String, usize) {
    let claims = figure.claims.iter().filter(|claim| claim.judgement(Scale::Full).is_some());
    let findings: Vec<(&Claim, Finding)> = claims.map(|claim| (claim, recorded.finding(claim, Scale::Full))).collect();
    let not_run = findings.iter().filter(|(_, found)| found.verdict == Verdict::NotRun).count();
    let told = findings.iter().filter(|(_, found)| !matches!(found.verdict, Verdict::Pass | Verdict::NotRun));
    (told.map(|(claim, found)| line(name, claim, found)).collect(), not_run)
}

/// Whether the runs that verdicts are recorded of are not those that the figure is made of now.
fn is_outdated(figure: &Figure, scenario: Option<&Path>, recorded: &RecordedFigure) -> bool {
    let scenario = scenario.map_or_else(|| Document::read("", ""), read);
    recorded.is_outdated(&figure.scenarios(&scenario, Scale::Full).unwrap_or_else(|mistakes| panic!("{mistakes}")))
}

fn record(folder: &Path) -> Record {
    let text = std::fs::read_to_string(folder.join("verdicts.json")).expect("verdicts are recorded");
    serde_json::from_str(&text).expect("verdicts can be read")
}

#[test]
fn claims_that_do_not_hold_are_listed() {
    let mut text = HEAD.to_owned();
    for (title, folder) in [
        ("clos", "papers/clos"),
        ("contention", "papers/contention"),
        ("crp", "papers/crp"),
        ("lhrp", "papers/lhrp"),
        ("mvcm", "papers/mvcm"),
        ("studies", "studies"),
    ] {
        let folder = here("../configs").join(folder);
        let (record, mut lines, mut gaps, mut outdated) = (record(&folder), String::new(), Vec::new(), Vec::new());
        let mut all: Vec<_> = figures().collect();
        all.retain(|(file, ..)| Path::new(file).parent() == Some(folder.as_path()));
        for (file, figure, scenario) in &all {
            let name = Path::new(file).file_stem().and_then(|stem| stem.to_str()).expect("names are text");
            let none = RecordedFigure::default();
            let (found, not_run) = of_figure(name, figure, record.figure(name, Scale::Full).unwrap_or(&none));
            lines += &found;
            if not_run > 0 {
                gaps.push(format!("{name} ({not_run})"));
            }
            if record
                .figure(name, Scale::Full)
                .is_some_and(|recorded| is_outdated(figure, scenario.as_deref(), recorded))
            {
                outdated.push(name.to_owned());
            }
        }
        let _ = writeln!(text, "## {title}\n");
        if !lines.is_empty() {
            text += "| figure | verdict | claim | paper | measured | expected | cause |\n";
            text += "|---|---|---|---|---|---|---|\n";
            text += &lines;
            text.push('\n');
        }
        if !gaps.is_empty() {
            let _ = writeln!(text, "Not run, claims by figure: {}.\n", gaps.join(", "));
        }
        if !outdated.is_empty() {
            let _ = writeln!(text, "Found in runs of scenarios that have changed since: {}.\n", outdated.join(", "));
        }
    }
    tailback_tests::compare(&here("../docs/claims.md"), &(text.trim_end().to_owned() + "\n"));
}

#[test]
fn recorded_verdicts_are_those_of_their_numbers() {
    for (file, figure, _) in figures() {
        let path = Path::new(&file);
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("names are text");
        let record = record(path.parent().expect("figures are in a folder"));
        for scale in [Scale::Quick, Scale::Full] {
            let Some(recorded) = record.figure(name, scale) else { continue };
            for claim in figure.claims.iter().filter(|claim| recorded.claims.contains_key(&claim.name)) {
                let (written, judged) = (recorded.claims[&claim.name].verdict, recorded.finding(claim, scale).verdict);
                assert_eq!(written, judged, "{} of {file} at the {} scale", claim.name, scale.name());
            }
        }
    }
}
