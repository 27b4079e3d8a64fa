//! What a server allows: what its file says, for the rest what its cluster has, and for what is left the defaults.

use std::path::Path;

use tailback_service::{Limits, SlurmSite};

use crate::arguments::{ServeArguments, WorkersArgument};
use crate::complaint::Complaint;
use crate::input;

/// What is to be said about limits once there is a log.
pub enum Note {
    /// These are from Slurm, which has so many nodes for jobs.
    Taken { nodes: u64, limits: String },
    /// Slurm does not tell what it has.
    NotTold(String),
}

impl Note {
    /// Writes it into the log.
    pub fn say(&self) {
        match self {
            Self::Taken { nodes, limits } => tracing::info!(nodes, "limits taken from Slurm: {limits}"),
            Self::NotTold(why) => {
                tracing::warn!(%why, "Slurm does not tell what it has: limits that no file says are those of this machine");
            }
        }
    }
}

/// The limits that a server is started with.
pub fn read(arguments: &ServeArguments) -> Result<(Limits, Option<Note>), Complaint> {
    let given = match &arguments.limits {
        Some(file) => given(file)?,
        None => toml::Table::new(),
    };
    if arguments.workers != WorkersArgument::Slurm {
        return Ok((with(given, &[])?.0, None));
    }
    match SlurmSite::ask(&arguments.slurm) {
        Ok(site) => {
            let (limits, taken) = with(given, &site.limits())?;
            let taken = if taken.is_empty() { "none, a file says them all".to_owned() } else { taken.join(", ") };
            Ok((limits, Some(Note::Taken { nodes: site.nodes(), limits: taken })))
        }
        Err(why) => Ok((with(given, &[])?.0, Some(Note::NotTold(why)))),
    }
}

/// What a file says. Mistakes are told with their places.
fn given(file: &Path) -> Result<toml::Table, Complaint> {
    let text = input::read(file)?;
    let mistake = |error: toml::de::Error| Complaint::bad_input(format!("{}: {error}", file.display()));
    toml::from_str::<Limits>(&text).map_err(mistake)?;
    toml::from_str(&text).map_err(mistake)
}

/// Limits with those of a site that are not given; and which these are.
fn with(mut given: toml::Table, site: &[(&str, u64)]) -> Result<(Limits, Vec<String>), Complaint> {
    let mut taken = Vec::new();
    for &(name, value) in site {
        if !given.contains_key(name) {
            given.insert(name.to_owned(), i64::try_from(value).unwrap_or(i64::MAX).into());
            taken.push(format!("{name} = {value}"));
        }
    }
    let limits = given.try_into().map_err(|error: toml::de::Error| Complaint::failed(error.to_string()))?;
    Ok((limits, taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: [(&str, u64); 3] = [("threads_max", 40), ("threads_per_run_max", 8), ("wall_time_s_max", 3000)];

    #[test]
    fn what_a_file_says_counts_before_what_a_site_has() {
        let given = "threads_max = 3\nqueue_max = 5".parse().expect("it is TOML");
        let (limits, taken) = with(given, &SITE).expect("they are limits");
        let expected = Limits {
            threads_max: 3,
            queue_max: 5,
            threads_per_run_max: Some(8),
            wall_time_s_max: 3000,
            ..Limits::default()
        };
        assert_eq!(limits, expected);
        assert_eq!(taken, ["threads_per_run_max = 8", "wall_time_s_max = 3000"]);
    }

    #[test]
    fn what_neither_says_is_as_without_a_site() {
        let (limits, taken) = with(toml::Table::new(), &[]).expect("they are limits");
        assert_eq!((limits, taken), (Limits::default(), Vec::new()));
    }
}
