//! `tailback plot`: figures from the results of runs and sweeps.

mod chosen;
mod completions;
mod distribution;
mod dress;
mod heat;
mod series;
mod source;
mod standard;
mod trees;
mod words;

use std::path::PathBuf;

use tailback_report::{Cell, Curve, Figure, Kind, Table};

use self::source::Source;
use crate::arguments::{Picture, PlotArguments, PlotKind};
use crate::complaint::Complaint;
use crate::output::{say_line, tell_line};
use crate::results::{CHECKPOINT, Directory, INTERRUPTED};

/// So many curves can be told apart in one figure.
const CURVES: usize = 12;

/// Pixels to 1/96 inch in figures for screens, and in those with a size on paper, where they make 300 to an inch.
const PIXELS: [f32; 2] = [2.0, 3.125];

/// Runs the command.
pub fn run(arguments: &PlotArguments) -> Result<(), Complaint> {
    let sources = Source::read_all(&arguments.directories)?;
    for source in &sources {
        let has_others = || heat::has_any(source) || trees::has_any(source) || source.has("histograms");
        if source.sweep.is_none() && !series::has_any(source) && !has_others() {
            return Err(nothing(source));
        }
    }
    let mut figures = figures(&sources, arguments)?;
    dress::dress(&mut figures, arguments)?;
    let out = Directory::at(arguments.out.as_deref().unwrap_or(&arguments.directories[0]))?;
    for (name, figure) in figures {
        if figure.curves.len() > CURVES {
            let count = figure.curves.len();
            tell_line!(
                "{name} has {count} curves, and {CURVES} can be told apart well: --only NAME=VALUE draws some of them"
            );
        }
        let path = draw(&out, &name, &figure, arguments)?;
        say_line!("{}", path.display());
    }
    Ok(())
}

/// What is drawn, with the names of the files.
fn figures(sources: &[Source], arguments: &PlotArguments) -> Result<Vec<(String, Figure)>, Complaint> {
    let is_chosen = arguments.x.is_some() || arguments.y.is_some() || !arguments.by.is_empty();
    let are_runs = sources.iter().all(|source| source.sweep.is_none());
    let figures = match arguments.kind {
        Some(kind @ (PlotKind::Cdf | PlotKind::Histogram)) => vec![distribution::figure(sources, kind, arguments)?],
        Some(PlotKind::HeatMap) => vec![heat::figure(sources, arguments)?],
        Some(PlotKind::Trees) => trees::figures(sources, arguments)?,
        Some(PlotKind::Series) => series_figures(sources, arguments)?,
        // Of runs there is nothing else.
        None if is_chosen && are_runs => series_figures(sources, arguments)?,
        None | Some(PlotKind::Curves) if is_chosen => vec![chosen::figure(sources, arguments)?],
        kind => {
            let (sweeps, runs): (Vec<&Source>, Vec<&Source>) =
                sources.iter().partition(|source| source.sweep.is_some());
            let mut figures = standard::figures(&sweeps, sources, arguments)?;
            let runs: Vec<&Source> = runs.into_iter().filter(|source| series::has_any(source)).collect();
            if kind.is_none() && !runs.is_empty() {
                figures.extend(series::figures(&runs, arguments)?);
            }
            figures
        }
    };
    match sources.first() {
        Some(source) if figures.is_empty() => Err(nothing(source)),
        _ => Ok(figures),
    }
}

fn series_figures(sources: &[Source], arguments: &PlotArguments) -> Result<Vec<(String, Figure)>, Complaint> {
    match sources.iter().find(|source| !series::has_any(source)) {
        Some(source) => {
            let help =
                "make one with `--set measure.series=100`; a sweep needs to be made again with it, too".to_owned();
            Err(Complaint::BadInput(format!("{} holds no time series", source.path.display()), Some(help)))
        }
        None => series::figures(&sources.iter().collect::<Vec<_>>(), arguments),
    }
}

/// What is said of a directory in which nothing was found that is drawn by default: what is there, and how that is drawn.
fn nothing(source: &Source) -> Complaint {
    let path = source.path.display();
    let kinds = [("series", "series"), ("histograms", "cdf"), ("trees", "trees"), ("links", "heat-map")];
    let there = kinds.into_iter().filter(|(table, _)| source.has(table));
    let there: Vec<String> = there.map(|(table, kind)| format!("--kind {kind} draws its {table}")).collect();
    if source.manifest.is_some() && source.sweep.is_none() {
        let help = "the `tailback sweep` that has begun it goes on with it, and writes sweep.csv at its end";
        return Complaint::BadInput(format!("{path} holds a sweep that is not finished"), Some(help.to_owned()));
    }
    if !there.is_empty() {
        let what = if source.has("series") { "no sweep" } else { "neither a sweep nor a time series" };
        return Complaint::BadInput(format!("{path} holds {what}"), Some(there.join(", ")));
    }
    if source.path.join(INTERRUPTED).exists() {
        let help = if source.path.join(CHECKPOINT).exists() {
            format!("go on with `tailback run --resume {path}`")
        } else {
            "make the run again: what it has measured until then is no result".to_owned()
        };
        return Complaint::BadInput(format!("{path} holds a run that was interrupted"), Some(help));
    }
    Complaint::BadInput(
        format!("{} holds neither a sweep nor a time series", source.path.display()),
        Some("make one with `tailback sweep`, or with `tailback run --set measure.series=100 --out …`".into()),
    )
}

/// Curves with names that tell them from those of other directories; a single one needs none.
fn named(mut curves: Vec<Curve>, title: &str, prefix: Option<&str>) -> Vec<Curve> {
    let single = curves.len() == 1;
    for curve in &mut curves {
        curve.name = match prefix {
            Some(prefix) if single => prefix.to_owned(),
            Some(prefix) => format!("{prefix}: {}", curve.name),
            None if single && (curve.name.is_empty() || !curve.name.contains('=')) => title.to_owned(),
            None => std::mem::take(&mut curve.name),
        };
    }
    curves
}

/// Turns all times of the table of a sweep from cycles into nanoseconds.
fn in_ns(table: &mut Table) {
    let Ok(cycle) = table.column("cycle_ns") else { return };
    let times =
        |column: &usize| words::is_time(&table.columns[*column].name) && table.columns[*column].kind != Kind::Text;
    let times: Vec<usize> = (0..table.columns.len()).filter(times).collect();
    for row in &mut table.rows {
        let Some(ns) = row[cycle].number() else { continue };
        for &time in &times {
            if let Some(cycles) = row[time].number() {
                row[time] = Cell::Number(ns * cycles);
            }
        }
    }
}

fn draw(out: &Directory, name: &str, figure: &Figure, arguments: &PlotArguments) -> Result<PathBuf, Complaint> {
    let pixels = PIXELS[usize::from(arguments.size.is_some_and(|size| size.grows))];
    let (name, bytes) = match if arguments.pdf { Picture::Pdf } else { arguments.picture } {
        Picture::Svg => (format!("{name}.svg"), figure.to_svg().into_bytes()),
        Picture::Png => (format!("{name}.png"), figure.to_png(pixels)),
        Picture::Pdf => (format!("{name}.pdf"), figure.to_pdf()),
    };
    out.write(&name, &bytes)?;
    Ok(out.path(&name))
}
