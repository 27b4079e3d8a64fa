//! The files of papers, studies and their figures.
//!
//! A folder below `papers` is a paper. The files in it whose names begin with `fig` or `table` are figures; the others
//! are scenarios that figures stand on. Beside it the files in `studies` are figures that no paper has; their scenarios
//! are in folders of their own.

use std::fs;
use std::path::{Path, PathBuf};

use tailback_reproduce::{Basis, Figure, Record};
use tailback_scenario::reading::nearest;
use tailback_scenario::{Diagnostics, Document};

use crate::complaint::Complaint;
use crate::input;
use crate::results::Directory;

/// All figures of all papers, and all studies.
pub struct Catalogue {
    /// Papers in alphabetical order, and the studies after them.
    pub groups: Vec<Group>,
}

/// Figures that share a folder, a record and their runs: those of a paper, or all studies.
pub struct Group {
    pub name: String,
    folder: PathBuf,
    /// What one of its figures is called.
    member: String,
    files: Vec<PathBuf>,
}

/// A figure with its scenario.
#[derive(Debug)]
pub struct Entry {
    /// The name of its paper, or of all studies.
    pub group: String,
    pub name: String,
    pub figure: Figure,
    /// The scenario that it stands on; empty if it is computed.
    pub scenario: Document,
    /// Where its file is, and the recorded verdicts.
    pub folder: PathBuf,
}

/// The folder of papers.
const PAPERS: &str = "papers";
/// The folder of studies, and what they are called together.
const STUDIES: &str = "studies";
/// The file with the recorded verdicts of a paper.
const RECORD: &str = "verdicts.json";

impl Catalogue {
    /// The papers and studies in a folder.
    pub fn at(configs: &Path) -> Result<Self, Complaint> {
        let inside = sorted(configs)?;
        let (papers, studies) = (configs.join(PAPERS), configs.join(STUDIES));
        let mut groups = Vec::new();
        if inside.contains(&papers) || !inside.contains(&studies) {
            for folder in sorted(&papers)?.into_iter().filter(|path| path.is_dir()) {
                groups.push(Group::paper(folder)?);
            }
        }
        if inside.contains(&studies) {
            groups.push(Group::studies(studies)?);
        }
        Ok(Self { groups })
    }

    /// The figures of a paper, all studies, or one of them.
    pub fn find(&self, what: &str) -> Result<Vec<Entry>, Complaint> {
        let (name, figure) = match what.split_once('/') {
            Some((name, figure)) => (name, Some(figure)),
            None => (what, None),
        };
        let Some(group) = self.groups.iter().find(|group| group.name == name) else {
            let known: Vec<String> = self.groups.iter().map(|group| group.name.clone()).collect();
            return Err(unknown("paper", name, &known));
        };
        let chosen: Vec<&PathBuf> =
            group.files.iter().filter(|file| figure.is_none_or(|figure| name_of(file) == figure)).collect();
        match figure {
            Some(figure) if chosen.is_empty() => {
                let known: Vec<String> = group.files.iter().map(|file| name_of(file)).collect();
                Err(unknown(&group.member, figure, &known))
            }
            _ => group.read(&chosen),
        }
    }

    /// All figures of all papers, and all studies.
    pub fn all(&self) -> Result<Vec<Entry>, Complaint> {
        let mut entries = Vec::new();
        for group in &self.groups {
            entries.extend(group.read(&group.files.iter().collect::<Vec<_>>())?);
        }
        Ok(entries)
    }
}

impl Group {
    fn paper(folder: PathBuf) -> Result<Self, Complaint> {
        let is_figure = |name: &str| ["fig", "table"].iter().any(|start| name.starts_with(start));
        let files = toml_files(&folder)?.into_iter().filter(|file| is_figure(&name_of(file))).collect();
        let name = name_of(&folder);
        Ok(Self { member: format!("figure of {name}"), name, folder, files })
    }

    fn studies(folder: PathBuf) -> Result<Self, Complaint> {
        let files = toml_files(&folder)?;
        Ok(Self { member: "study".to_owned(), name: STUDIES.to_owned(), folder, files })
    }

    /// The recorded verdicts.
    pub fn record(&self) -> Result<Record, Complaint> {
        read_record(&self.folder)
    }

    /// Reads figures; what is wrong in any of them is told at once.
    fn read(&self, files: &[&PathBuf]) -> Result<Vec<Entry>, Complaint> {
        let (mut entries, mut mistakes) = (Vec::new(), Diagnostics::default());
        for file in files {
            match Figure::read(&file.display().to_string(), &input::read(file)?) {
                Ok(figure) => {
                    let scenario = match &figure.basis {
                        Basis::Scenario(name) => {
                            let beside = file.with_file_name(name);
                            Document::read(&beside.display().to_string(), &input::read(&beside)?)
                        }
                        Basis::Formula => Document::read(&file.display().to_string(), ""),
                    };
                    let (group, folder) = (self.name.clone(), self.folder.clone());
                    entries.push(Entry { group, name: name_of(file), figure, scenario, folder });
                }
                Err(diagnostics) => mistakes.append(diagnostics),
            }
        }
        if mistakes.list.is_empty() { Ok(entries) } else { Err(mistakes.into()) }
    }
}

/// The verdicts that are recorded in the folder of a paper; none if there is no such file.
pub fn read_record(folder: &Path) -> Result<Record, Complaint> {
    let path = folder.join(RECORD);
    if !path.exists() {
        return Ok(Record::default());
    }
    serde_json::from_str(&input::read(&path)?)
        .map_err(|error| Complaint::bad_input(format!("{} is damaged: {error}", path.display())))
}

/// Writes them.
pub fn write_record(folder: &Path, record: &Record) -> Result<(), Complaint> {
    let text = serde_json::to_string_pretty(record).expect("plain data") + "\n";
    Directory::at(folder)?.write(RECORD, text.as_bytes())
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
        let help = "name the folder that has `papers` and `studies` with --configs".to_owned();
        Complaint::BadInput(format!("cannot read {}: {error}", folder.display()), Some(help))
    };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, Complaint> {
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    Ok(sorted(folder)?.into_iter().filter(is_toml).collect())
}

fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
