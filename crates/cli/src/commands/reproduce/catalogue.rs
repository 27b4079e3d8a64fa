//! The files of papers and figures.
//!
//! A folder below the configs is a paper. The files in it whose names begin with `fig` or `table` are figures; the others
//! are scenarios that figures stand on.

use std::fs;
use std::path::{Path, PathBuf};

use tailback_reproduce::{Figure, Record};
use tailback_scenario::reading::nearest;
use tailback_scenario::{Diagnostics, Document};

use crate::complaint::Complaint;
use crate::input;
use crate::results::Directory;

/// All figures of all papers.
pub struct Catalogue {
    /// Papers in alphabetical order, with the files of their figures.
    pub papers: Vec<(String, Vec<PathBuf>)>,
}

/// A figure with its scenario.
#[derive(Debug)]
pub struct Entry {
    pub paper: String,
    pub name: String,
    pub figure: Figure,
    pub scenario: Document,
}

/// The file with the recorded verdicts of a paper.
const RECORD: &str = "verdicts.json";

impl Catalogue {
    /// The papers in a folder.
    pub fn at(configs: &Path) -> Result<Self, Complaint> {
        let mut papers = Vec::new();
        for path in sorted(configs)? {
            if !path.is_dir() {
                continue;
            }
            let is_figure = |path: &PathBuf| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.ends_with(".toml") && ["fig", "table"].iter().any(|start| name.starts_with(start))
            };
            let figures = sorted(&path)?.into_iter().filter(is_figure).collect();
            papers.push((name_of(&path), figures));
        }
        Ok(Self { papers })
    }

    /// The figures of a paper, or one of them.
    pub fn find(&self, what: &str) -> Result<Vec<Entry>, Complaint> {
        let (paper, figure) = match what.split_once('/') {
            Some((paper, figure)) => (paper, Some(figure)),
            None => (what, None),
        };
        let Some((_, files)) = self.papers.iter().find(|(name, _)| name == paper) else {
            let known: Vec<String> = self.papers.iter().map(|(name, _)| name.clone()).collect();
            return Err(unknown("paper", paper, &known));
        };
        let chosen: Vec<&PathBuf> =
            files.iter().filter(|file| figure.is_none_or(|figure| name_of(file) == figure)).collect();
        match figure {
            Some(figure) if chosen.is_empty() => {
                let known: Vec<String> = files.iter().map(|file| name_of(file)).collect();
                Err(unknown(&format!("figure of {paper}"), figure, &known))
            }
            _ => read_all(paper, &chosen),
        }
    }

    /// All figures of all papers.
    pub fn all(&self) -> Result<Vec<Entry>, Complaint> {
        let mut entries = Vec::new();
        for (paper, files) in &self.papers {
            entries.extend(read_all(paper, &files.iter().collect::<Vec<_>>())?);
        }
        Ok(entries)
    }
}

/// Reads figures; what is wrong in any of them is told at once.
fn read_all(paper: &str, files: &[&PathBuf]) -> Result<Vec<Entry>, Complaint> {
    let (mut entries, mut mistakes) = (Vec::new(), Diagnostics::default());
    for file in files {
        match Figure::read(&file.display().to_string(), &input::read(file)?) {
            Ok(figure) => {
                let beside = file.with_file_name(&figure.scenario);
                let scenario = Document::read(&beside.display().to_string(), &input::read(&beside)?);
                entries.push(Entry { paper: paper.to_owned(), name: name_of(file), figure, scenario });
            }
            Err(diagnostics) => mistakes.append(diagnostics),
        }
    }
    if mistakes.list.is_empty() { Ok(entries) } else { Err(mistakes.into()) }
}

/// The recorded verdicts of a paper; none if there is no such file.
pub fn read_record(configs: &Path, paper: &str) -> Result<Record, Complaint> {
    let path = configs.join(paper).join(RECORD);
    if !path.exists() {
        return Ok(Record::default());
    }
    serde_json::from_str(&input::read(&path)?)
        .map_err(|error| Complaint::bad_input(format!("{} is damaged: {error}", path.display())))
}

/// Writes them.
pub fn write_record(configs: &Path, paper: &str, record: &Record) -> Result<(), Complaint> {
    let text = serde_json::to_string_pretty(record).expect("plain data") + "\n";
    Directory::at(&configs.join(paper))?.write(RECORD, text.as_bytes())
}

fn unknown(what: &str, name: &str, known: &[String]) -> Complaint {
    let help = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is {}", known.join(", ")),
    };
    Complaint::BadInput(format!("there is no {what} called `{name}`"), Some(help))
}

/// What is in a folder, by name.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Complaint> {
    let unreadable = |error: std::io::Error| {
        let help = "name the folder of papers and figures with --configs".to_owned();
        Complaint::BadInput(format!("cannot read {}: {error}", folder.display()), Some(help))
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
