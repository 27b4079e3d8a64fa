//! The uploaded files that a rebuilt run has named, found by what its resolved scenario says of them.
//!
//! A resolved scenario has the name of each file, and the SHA-256 of what was read: of a list of messages or nodes that of the file, as
//! uploads are called; of a schedule that of its binary form, whichever form was uploaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tailback_scenario::sha256_of_schedule;
use toml::Value;

use super::named::NamedFiles;
use super::{StoreError, files};
use crate::domain::ScenarioSource;
use crate::names;

/// What there is of uploaded files, whosever they were.
pub(super) struct LeftFiles {
    folder: PathBuf,
    /// The SHA-256 of each.
    contents: Vec<String>,
    /// By the SHA-256 of its binary form: that of a schedule. Made when it is asked for, as all contents are read for it.
    schedules: OnceLock<BTreeMap<String, String>>,
}

impl LeftFiles {
    pub fn of(folder: &Path) -> Result<Self, StoreError> {
        let entries = files::entries(&folder.join(files::UPLOADS))?;
        let names = entries.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        let contents = names.filter(|name| names::whole_digest("sha256", name).is_ok()).collect();
        Ok(Self { folder: folder.to_owned(), contents, schedules: OnceLock::new() })
    }

    /// The files that a resolved scenario names, as far as they are there: the SHA-256 of each upload, by name.
    pub fn named_in(&self, document: &str) -> BTreeMap<String, String> {
        let Ok(document) = document.parse::<toml::Table>() else { return BTreeMap::new() };
        let mut named = BTreeMap::new();
        visit(&Value::Table(document), &mut |name, sha256| {
            if let Some(content) = self.find(sha256) {
                named.insert(name.to_owned(), content.to_owned());
            }
        });
        named
    }

    /// The files of a scenario, for whoever reads it.
    pub fn opened(&self, scenario: &ScenarioSource) -> NamedFiles {
        NamedFiles::of(scenario, &self.folder, &self.folder.join(files::UPLOADS))
    }

    fn find<'a>(&'a self, sha256: &'a str) -> Option<&'a str> {
        if self.contents.iter().any(|content| content == sha256) {
            return Some(sha256);
        }
        self.schedules.get_or_init(|| self.find_schedules()).get(sha256).map(String::as_str)
    }

    /// All that can be read as schedules.
    fn find_schedules(&self) -> BTreeMap<String, String> {
        let schedule = |content: &String| {
            let files = Arc::new([(content.clone(), content.clone())].into());
            let source = ScenarioSource { files, ..ScenarioSource::default() };
            let opened = Arc::new(self.opened(&source));
            Some((sha256_of_schedule(opened, content).ok()?, content.clone()))
        };
        self.contents.iter().filter_map(schedule).collect()
    }
}

/// Shows each file of a document that has its SHA-256 beside it.
fn visit(value: &Value, show: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Table(table) => {
            let text = |key: &str| table.get(key).and_then(Value::as_str);
            if let (Some(file), Some(sha256)) = (text("file"), text("sha256")) {
                show(file, sha256);
            }
            table.iter().for_each(|(_, value)| visit(value, show));
        }
        Value::Array(values) => values.iter().for_each(|value| visit(value, show)),
        _ => {}
    }
}
