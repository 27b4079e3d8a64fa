//! The directories that figures are made of.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use tailback_report::{Cell, Kind, Report, Table};
use tailback_scenario::reading::nearest;
use tailback_sim::SweepManifest;

use crate::commands::sweep::read_manifest;
use crate::complaint::Complaint;
use crate::results::REPORT;

/// A directory with results.
pub struct Source {
    pub path: PathBuf,
    /// What its curves are told by from those of other directories.
    pub prefix: Option<String>,
    /// What is said about a sweep, if it is one.
    pub manifest: Option<SweepManifest>,
    /// The table of a sweep.
    pub sweep: Option<Table>,
    /// The report of a run.
    pub report: Option<Report>,
}

impl Source {
    /// All directories that are named.
    pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Self>, Complaint> {
        let places: Vec<_> = paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
        if let Some(twice) = (0..paths.len()).find(|&place| places[..place].contains(&places[place])) {
            let message = format!("{} is named twice: its curves would hide themselves", paths[twice].display());
            return Err(Complaint::bad_input(message));
        }
        let prefix = |path: &Path| (paths.len() > 1).then(|| name_among(path, paths));
        paths.iter().map(|path| Self::read(path, prefix(path))).collect()
    }

    fn read(path: &Path, prefix: Option<String>) -> Result<Self, Complaint> {
        must_be_directory(path)?;
        let manifest = read_manifest(path)?;
        let mut source = Self { path: path.to_owned(), prefix, manifest, sweep: None, report: None };
        if source.manifest.is_some() {
            source.sweep = source.table("sweep")?;
        }
        source.report = File::open(path.join(REPORT)).ok().and_then(|file| Report::read_json(file).ok());
        Ok(source)
    }

    /// Where a table of the directory is, if it has it: as CSV or, if that is not there, as Parquet.
    fn find(&self, name: &str) -> Option<PathBuf> {
        ["csv", "parquet"].map(|kind| self.path.join(format!("{name}.{kind}"))).into_iter().find(|path| path.exists())
    }

    /// Whether the directory has a table.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// A table of the directory, if it has it.
    pub fn table(&self, name: &str) -> Result<Option<Table>, Complaint> {
        let Some(path) = self.find(name) else { return Ok(None) };
        let damaged = |error: &dyn Display| Complaint::bad_input(format!("{}: {error}", path.display()));
        let file = File::open(&path).map_err(|error| damaged(&error))?;
        let is_csv = path.extension() == Some(OsStr::new("csv"));
        let read = if is_csv { Table::read_csv(file) } else { Table::read_parquet(file) };
        read.map(Some).map_err(|error| damaged(&error))
    }

    /// What is said of a table of the directory in which something is wrong.
    pub fn damaged(&self, name: &str, error: &dyn Display) -> Complaint {
        let path = self.find(name).unwrap_or_else(|| self.path.join(name));
        Complaint::bad_input(format!("{}: {error}", path.display()))
    }

    /// How long a cycle is, if that is the same in all of it.
    pub fn cycle_ns(&self) -> Option<f64> {
        if let Some(report) = &self.report {
            return report.cycle_ns;
        }
        let table = self.sweep.as_ref()?;
        let column = table.column("cycle_ns").ok()?;
        let mut lengths = table.rows.iter().map(|row| row[column].number());
        let first = lengths.next()??;
        lengths.all(|length| length == Some(first)).then_some(first)
    }

    /// How many cycles the network warms up.
    pub fn warm_up(&self) -> Option<u64> {
        let of_run = self.report.as_ref().map(|report| report.cycles.warmup);
        of_run.or_else(|| self.manifest.as_ref()?.warmup_cycles)
    }

    /// What a sweep varies more than one value of, of the columns of one of its tables.
    pub fn varying(&self, table: &Table) -> Vec<String> {
        let axes = self.manifest.iter().flat_map(|manifest| &manifest.axes).map(String::as_str);
        let varies = |name: &&str| {
            table.column(name).is_ok_and(|column| table.rows.iter().any(|row| row[column] != table.rows[0][column]))
        };
        std::iter::once("variant").chain(axes).filter(varies).map(str::to_owned).collect()
    }

    /// The title of the scenario.
    pub fn title(&self) -> &str {
        let of_run = || self.report.as_ref().map_or("", |report| report.title.as_str());
        self.manifest.as_ref().map_or_else(of_run, |manifest| manifest.title.as_str())
    }
}

/// As many of the last parts of a path as tell it from the others.
fn name_among(path: &Path, all: &[PathBuf]) -> String {
    let parts: Vec<Component<'_>> = path.components().collect();
    let ends = (1..=parts.len()).map(|count| parts[parts.len() - count..].iter().collect::<PathBuf>());
    let tells =
        |end: &PathBuf| end.file_name().is_some() && all.iter().filter(|other| other.ends_with(end)).count() == 1;
    ends.into_iter().find(tells).unwrap_or_else(|| path.to_owned()).display().to_string()
}

fn must_be_directory(path: &Path) -> Result<(), Complaint> {
    let problem = match fs::read_dir(path) {
        Ok(_) => return Ok(()),
        Err(_) if path.is_file() => format!("{} is a file, not a directory", path.display()),
        Err(error) => format!("cannot read {}: {error}", path.display()),
    };
    Err(Complaint::BadInput(
        problem,
        Some("name a directory that `tailback run --out` or `tailback sweep` has written".into()),
    ))
}

/// The unit of times: nanoseconds if all directories say how long a cycle is.
pub fn unit(sources: &[Source]) -> &'static str {
    if !sources.is_empty() && sources.iter().all(|source| source.cycle_ns().is_some()) { "ns" } else { "cycles" }
}

/// The rows of a table that have what was asked for.
pub fn only(table: &mut Table, wanted: &[(String, String)]) -> Result<(), Complaint> {
    for (name, value) in wanted {
        let place = column("--only", table, name)?;
        let is_wanted = |cell: &Cell| match (cell.number(), value.parse::<f64>()) {
            (Some(number), Ok(value)) => number == value,
            _ => cell.to_string() == *value,
        };
        let mut known: Vec<String> = Vec::new();
        for row in &table.rows {
            let text = row[place].to_string();
            if !known.contains(&text) {
                known.push(text);
            }
        }
        table.rows.retain(|row| is_wanted(&row[place]));
        if table.rows.is_empty() {
            let message = format!("--only: `{name}` is nowhere `{value}`; it is {}", known.join(", "));
            return Err(Complaint::bad_input(message));
        }
    }
    Ok(())
}

/// The place of a column that was asked for by an option.
pub fn column(option: &str, table: &Table, name: &str) -> Result<usize, Complaint> {
    let names = || table.columns.iter().map(|column| column.name.as_str()).filter(|name| !name.ends_with("_ci95"));
    table.column(name).map_err(|_| unknown(option, "column", name, &names().collect::<Vec<_>>()))
}

/// What is said of a name that is not there.
pub fn unknown(option: &str, what: &str, name: &str, known: &[&str]) -> Complaint {
    let help = nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    Complaint::BadInput(format!("{option}: there is no {what} `{name}`; there are {}", known.join(", ")), help)
}

/// Makes what tells curves apart readable: of what is a number, the name is told as well.
pub fn tell_apart(table: &mut Table, by: &[String]) -> Result<(), Complaint> {
    for name in by {
        let place = column("--by", table, name)?;
        if table.columns[place].kind != Kind::Text {
            let short = name.rsplit('.').next().unwrap_or(name);
            for row in &mut table.rows {
                row[place] = Cell::Text(format!("{short}={}", row[place]));
            }
            table.columns[place].kind = Kind::Text;
        }
    }
    Ok(())
}
