//! `tailback reproduce`: the figures of papers, studies beyond them, and whether what is said about them holds.

mod catalogue;
mod finished;
mod project;
mod scores;

use std::path::Path;

use tailback_reproduce::{RecordedFigure, Row, Scale, Table};

use crate::arguments::{Format, ReproduceArguments};
use crate::complaint::Complaint;
use crate::interrupt;
use crate::output::{say, say_line, tell_line};
use crate::rendering::Notes;
use crate::shard::{Made, Shard};
use catalogue::{Catalogue, Entry};
use project::{FigureRun, Project, run_all};

/// Runs the command.
pub fn run(arguments: &ReproduceArguments) -> Result<(), Complaint> {
    let catalogue = Catalogue::at(&arguments.configs)?;
    let scale = if arguments.full { Scale::Full } else { Scale::Quick };
    let Some(what) = &arguments.what else {
        refuse_options_of_figures(arguments)?;
        return scores::tell(&catalogue, arguments, scale);
    };
    let mut entries = catalogue.find(what)?;
    if arguments.ci {
        entries.retain(|entry| entry.figure.ci);
    }
    let (mut projects, mut notes) = (Vec::new(), Notes::default());
    for entry in entries {
        projects.push(Project::new(entry, scale, &arguments.out, &mut notes)?);
    }
    // Before the first word: whoever has read it may interrupt.
    interrupt::listen();
    let mut interrupted = false;
    if arguments.shard.is_none() {
        for project in &mut projects {
            interrupted |= project.compute(arguments.jobs, arguments.quiet);
        }
    }
    let wanted = project::wanted(&mut projects)?;
    interrupted |= match arguments.shard {
        Some(shard) => run_share(shard, &mut projects, wanted, arguments)?,
        None if arguments.no_run => false,
        None => {
            let of = project::runs(&projects);
            run_all(&mut projects, &wanted, of, arguments.jobs, arguments.quiet)?
        }
    };
    if arguments.shard.is_none() {
        let mut rows = Vec::new();
        for project in &projects {
            project.write()?;
            rows.extend(project.rows());
        }
        tell(&projects, &rows, arguments);
    }
    if interrupted {
        let computes = arguments.shard.is_none() && projects.iter().any(Project::is_computed);
        let runs = projects.iter().any(|project| !project.tasks().is_empty());
        return Err(Complaint::Interrupted(interruption(runs, computes).to_owned()));
    }
    let mut changes = Vec::new();
    for project in &projects {
        changes.extend(compare(project, arguments)?);
    }
    if changes.is_empty() { Ok(()) } else { Err(Complaint::Failed("verdicts have changed".to_owned(), changes)) }
}

/// Refuses what says how figures are made or judged where none is named: the scoreboard does neither.
fn refuse_options_of_figures(arguments: &ReproduceArguments) -> Result<(), Complaint> {
    let options = [
        ("--check", arguments.check),
        ("--record", arguments.record),
        ("--ci", arguments.ci),
        ("--no-run", arguments.no_run),
        ("--shard", arguments.shard.is_some()),
    ];
    match options.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Complaint::BadInput(
            format!("{option} is about figures, and none is named"),
            Some("name a paper or a figure, as in `tailback reproduce contention/fig05b`, or `studies`".to_owned()),
        )),
        None => Ok(()),
    }
}

/// What is kept of what was interrupted: runs, which take long, and nothing that is computed.
fn interruption(runs: bool, computes: bool) -> &'static str {
    match (runs, computes) {
        (_, false) => "interrupted; what is finished is kept, and the same command goes on from there",
        (false, true) => "interrupted; nothing is kept of computations, and the same command begins them anew",
        (true, true) => {
            "interrupted; runs that are finished are kept, and the same command goes on from there; computations begin anew"
        }
    }
}

/// Makes the runs of one share, and draws and judges nothing. Tells whether somebody asked to stop.
fn run_share(
    shard: Shard,
    projects: &mut [Project],
    mut wanted: Vec<Vec<FigureRun>>,
    arguments: &ReproduceArguments,
) -> Result<bool, Complaint> {
    let mine = shard.pick(projects.iter().flat_map(Project::tasks));
    wanted.retain(|users| mine.contains(project::digest(projects, users)));
    let interrupted = run_all(projects, &wanted, mine.len(), arguments.jobs, arguments.quiet)?;
    let missing =
        project::wanted(projects)?.iter().filter(|users| mine.contains(project::digest(projects, users))).count();
    let made = Made { runs: mine.len(), done: mine.len() - missing, beyond: 0 };
    shard.tell(made, arguments.format, arguments.quiet);
    Ok(interrupted)
}

fn tell(projects: &[Project], rows: &[Row], arguments: &ReproduceArguments) {
    match arguments.format {
        Format::Json => say_line!("{}", serde_json::to_string_pretty(rows).expect("plain data")),
        Format::Text => {
            for project in projects {
                let findings = project.findings();
                let figure = &project.entry.figure;
                let (title, source) = (figure.title.as_str(), figure.source.as_str());
                say_line!("{}", Table { title, source, scale: project.scale, findings: &findings }.to_text());
                for filled in project.tables() {
                    say_line!("{}", filled.to_text());
                }
            }
            say!("{}", scores::summary(rows));
        }
    }
    if !arguments.quiet {
        for project in projects {
            tell_line!("figures and claims are in {}", project.folder().display());
        }
        tell_line!("{}", project::took(projects));
    }
}

/// What has changed since verdicts were recorded; or records them.
fn compare(project: &Project, arguments: &ReproduceArguments) -> Result<Vec<String>, Complaint> {
    let Entry { group, name: figure, folder, .. } = &project.entry;
    if !arguments.check && !arguments.record {
        return Ok(Vec::new());
    }
    let mut record = catalogue::read_record(folder)?;
    let findings = project.findings();
    if arguments.record {
        let times = project.times();
        record.put(
            figure,
            project.scale,
            RecordedFigure::new(&findings, project.recorded_runs(), times.wall_s, project.cpu_s()),
        );
        catalogue::write_record(folder, &record)?;
        return Ok(Vec::new());
    }
    let none = RecordedFigure::default();
    let changes = record.figure(figure, project.scale).unwrap_or(&none).changes(&findings);
    Ok(changes.into_iter().map(|change| format!("{group}/{figure}: {change}")).collect())
}

/// The folder of a figure at a scale below the one for all results.
fn folder(out: &Path, group: &str, figure: &str, scale: Scale) -> std::path::PathBuf {
    out.join(group).join(format!("{figure}-{}", scale.name()))
}
