//! What a cluster has, as Slurm tells it: how much a server may hand to it, and how much one run may ask for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use super::array::GRACE_MINUTES;
use crate::worker::with_base;

/// The program that tells which nodes there are.
const TELLER: &str = "sinfo";
/// What it is to tell of each: name, processors, MiB of memory, state, the longest that a job may take, partition.
const FIELDS: &str = "%n|%c|%m|%t|%l|%P";
/// A variable that names the partition, as `sbatch` takes it.
const PARTITION: &str = "SBATCH_PARTITION";

/// Each run that is simulated at once takes a thread of the server, and one task of an array.
const RUNS_MAX: u64 = 256;

/// States of nodes that have jobs, or may have.
const IN_SERVICE: [&str; 5] = ["idle", "mix", "alloc", "comp", "plnd"];
/// Marks of a node that does not answer, or is being looked after.
const OUT_OF_SERVICE: [char; 2] = ['*', '$'];
/// Marks of nodes that save power, are about to start anew, or are planned for a job: all of them come back.
const PASSING: [char; 7] = ['~', '#', '!', '%', '@', '^', '-'];

/// The nodes of a cluster that jobs may have, put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmSite {
    nodes: u64,
    /// Processors of all nodes, and of the largest.
    threads: u64,
    threads_per_run: u64,
    /// Bytes that runs may take on all nodes, and on the largest.
    memory_bytes: u64,
    memory_bytes_per_run: u64,
    /// Seconds that a run may take, if Slurm limits them.
    wall_time_s: Option<u64>,
}

impl SlurmSite {
    /// Asks Slurm, for the partition that these options of `sbatch` name, or else its own choice.
    ///
    /// # Errors
    /// When Slurm does not tell, in words that do, or has no node for jobs.
    pub fn ask(options: &[String]) -> Result<Self, String> {
        let partition = partition(options).map(OsString::from).or_else(|| std::env::var_os(PARTITION));
        Self::told_by(Path::new(TELLER), partition.as_deref())
    }

    fn told_by(teller: &Path, partition: Option<&OsStr>) -> Result<Self, String> {
        let mut command = Command::new(teller);
        command.args(["--noheader", "--Node", "--format", FIELDS]);
        let is_chosen = partition.is_some();
        command.args(partition.iter().flat_map(|name| [OsStr::new("--partition"), name]));
        let told = command.output().map_err(|error| format!("{}: {error}", teller.display()))?;
        if !told.status.success() {
            let why = String::from_utf8_lossy(&told.stderr);
            let why = why.lines().next_back().unwrap_or("it does not say why");
            return Err(format!("{} fails: {why}", teller.display()));
        }
        let told = std::str::from_utf8(&told.stdout).map_err(|error| error.to_string())?;
        Self::read(told, is_chosen)
    }

    /// Reads what is told. Nodes that are in several partitions are there several times.
    fn read(told: &str, is_chosen: bool) -> Result<Self, String> {
        let rows = told.lines().map(|line| Row::read(line).map_err(|why| format!("`{}`: {why}", line.trim())));
        let rows: Vec<Row<'_>> = rows.collect::<Result<_, _>>()?;
        // Where no partition is the default, jobs need an option that nobody has given, and any will do.
        let all = is_chosen || !rows.iter().any(|row| row.is_default);
        let rows = rows.iter().filter(|row| row.is_in_service && row.room() > 0 && (all || row.is_default));
        // Without a limit is longer than any.
        let longest = rows.clone().map(|row| row.minutes.unwrap_or(u64::MAX)).max();
        let nodes: BTreeMap<&str, &Row<'_>> = rows.map(|row| (row.node, row)).collect();
        let nodes = nodes.values().copied();
        let longest = longest.ok_or("there is no node that jobs may have")?;
        let minutes = longest.checked_sub(GRACE_MINUTES).filter(|minutes| *minutes > 0);
        let minutes = minutes.ok_or_else(|| format!("jobs may take no more than {longest} minutes"))?;
        Ok(Self {
            nodes: nodes.len() as u64,
            threads: nodes.clone().map(|row| row.threads).sum(),
            threads_per_run: nodes.clone().map(|row| row.threads).max().unwrap_or(0),
            memory_bytes: nodes.clone().map(Row::room).fold(0, u64::saturating_add),
            memory_bytes_per_run: nodes.map(Row::room).max().unwrap_or(0),
            wall_time_s: (longest < u64::MAX).then(|| minutes * 60),
        })
    }

    /// The nodes that jobs may have.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Limits that follow, by their names in [`Limits`](crate::Limits).
    #[must_use]
    pub fn limits(&self) -> Vec<(&'static str, u64)> {
        let mut limits = vec![
            ("concurrent_runs_max", self.threads.min(RUNS_MAX)),
            ("threads_max", self.threads.min(u32::MAX.into())),
            ("threads_per_run_max", self.threads_per_run),
            ("memory_bytes_max", self.memory_bytes),
            ("memory_bytes_per_run_max", self.memory_bytes_per_run),
        ];
        limits.extend(self.wall_time_s.map(|seconds| ("wall_time_s_max", seconds)));
        limits
    }
}

/// A node in a partition.
struct Row<'t> {
    node: &'t str,
    threads: u64,
    mebibytes: u64,
    is_in_service: bool,
    /// The longest that a job may take; none if there is no limit.
    minutes: Option<u64>,
    is_default: bool,
}

impl<'t> Row<'t> {
    fn read(line: &'t str) -> Result<Self, &'static str> {
        let fields: Vec<&str> = line.trim().split('|').collect();
        let Ok([node, threads, mebibytes, state, longest, partition]) = <[&str; 6]>::try_from(fields) else {
            return Err("that is no node with six values");
        };
        if node.is_empty() {
            return Err("the node has no name");
        }
        let threads = number(threads).filter(|threads| (1..=u32::MAX.into()).contains(threads));
        Ok(Self {
            node,
            threads: threads.ok_or("that is no number of processors")?,
            mebibytes: number(mebibytes)
                .filter(|mebibytes| *mebibytes <= MEBIBYTES_MAX)
                .ok_or("that is no number of MiB")?,
            is_in_service: in_service(state).ok_or("that is no state of a node")?,
            minutes: if longest == "infinite" {
                None
            } else {
                Some(minutes(longest).ok_or("that is no length of time")?)
            },
            is_default: partition.ends_with('*'),
        })
    }

    /// Bytes that a run may take there beside those that each worker does. None where nobody has told Slurm what the node has.
    fn room(&self) -> u64 {
        (self.mebibytes << 20).saturating_sub(with_base(0, self.threads as u32))
    }
}

/// A PiB of memory in one node.
const MEBIBYTES_MAX: u64 = 1 << 30;

/// A number, which is followed by `+` where it is the least of several.
fn number(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('+').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// Whether a node in this state has jobs, or may have; none if that is no state.
fn in_service(state: &str) -> Option<bool> {
    let word = state.trim_end_matches(|mark| OUT_OF_SERVICE.contains(&mark) || PASSING.contains(&mark) || mark == '+');
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
        return None;
    }
    Some(IN_SERVICE.contains(&word) && !state.contains(OUT_OF_SERVICE))
}

/// Whole minutes of `days-hours:minutes:seconds`, of which days and hours may be missing.
fn minutes(text: &str) -> Option<u64> {
    let (days, clock) = text.split_once('-').map_or((Some(0), text), |(days, clock)| (number(days), clock));
    let parts: Option<Vec<u64>> = clock.split(':').map(number).collect();
    let (hours, minutes) = match *parts? {
        [hours, minutes, _] => (hours, minutes),
        [minutes, _] if !text.contains('-') => (0, minutes),
        _ => return None,
    };
    let hours = days?.checked_mul(24)?.checked_add(hours)?;
    // Seconds are counted in 64 bits, too.
    hours.checked_mul(60)?.checked_add(minutes).filter(|minutes| *minutes < u64::from(u32::MAX))
}

/// The partition that options of `sbatch` name; the last counts.
fn partition(options: &[String]) -> Option<&str> {
    let mut named = None;
    let mut options = options.iter().map(String::as_str);
    while let Some(option) = options.next() {
        if matches!(option, "-p" | "--partition") {
            named = options.next();
        } else if let Some(name) = option.strip_prefix("--partition=") {
            named = Some(name);
        } else if let Some(name) = option.strip_prefix("-p").filter(|name| !name.is_empty()) {
            named = Some(name);
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(told: &str, name: &str) -> Option<u64> {
        let site = SlurmSite::read(told, false).expect("it can be read");
        site.limits().into_iter().find(|(limit, _)| *limit == name).map(|(_, value)| value)
    }

    #[test]
    fn limits_are_what_all_nodes_have_and_what_the_largest_has() {
        let told = "a|4|1000|idle|infinite|all*\nb|16+|2000+|mix|infinite|all*\n";
        assert_eq!(limit(told, "concurrent_runs_max"), Some(20));
        assert_eq!((limit(told, "threads_max"), limit(told, "threads_per_run_max")), (Some(20), Some(16)));
        // 64 MiB for each worker, and 8 for each thread.
        let (small, large) = ((1000 - 64 - 4 * 8) << 20, (2000 - 64 - 16 * 8) << 20);
        assert_eq!(limit(told, "memory_bytes_max"), Some(small + large));
        assert_eq!(limit(told, "memory_bytes_per_run_max"), Some(large));
        assert_eq!(limit(told, "wall_time_s_max"), None, "Slurm has no limit");
        assert_eq!(limit("a|2000|999999|idle|1:00:00|all*", "concurrent_runs_max"), Some(256));
    }

    #[test]
    fn nodes_that_are_out_of_service_do_not_count() {
        let out =
            ["down", "down*", "idle*", "drain", "drng", "maint", "alloc$", "fail", "unk", "resv", "inval", "pow_dn"];
        for state in out {
            let told = format!("a|1|1000|idle|30:00|all*\nb|64|1000|{state}|30:00|all*");
            assert_eq!(limit(&told, "threads_max"), Some(1), "{state}");
        }
        for state in ["idle", "mix", "alloc", "comp", "plnd", "idle~", "mix-", "alloc@", "idle+"] {
            let told = format!("a|1|1000|down|30:00|all*\nb|64|1000|{state}|30:00|all*");
            assert_eq!(limit(&told, "threads_max"), Some(64), "{state}");
        }
        let refused = SlurmSite::read("a|1|1000|drain|30:00|all*\n", false).expect_err("there is none");
        assert_eq!(refused, "there is no node that jobs may have");
        assert!(SlurmSite::read("", false).is_err());
        // Nobody has told Slurm what memory it has.
        assert!(SlurmSite::read("a|2|1|idle|infinite|all*\n", false).is_err());
    }

    #[test]
    fn a_node_in_two_partitions_counts_once_and_others_than_the_default_do_not() {
        let told = "a|4|1000|idle|30:00|all*\na|4|1000|idle|2:00:00|long\nb|8|1000|idle|30:00|long\n";
        let site = |is_chosen| SlurmSite::read(told, is_chosen).expect("it can be read");
        assert_eq!((site(false).nodes(), site(false).threads, site(false).wall_time_s), (1, 4, Some(20 * 60)));
        assert_eq!((site(true).nodes(), site(true).threads, site(true).wall_time_s), (2, 12, Some(110 * 60)));
        assert_eq!(limit("a|4|1000|idle|30:00|one\nb|8|1000|idle|30:00|two\n", "threads_max"), Some(12));
    }

    #[test]
    fn times_are_those_of_slurm_less_what_jobs_take_besides() {
        for (told, minutes) in [("11:00", 11), ("1:00:30", 60), ("1-00:00:00", 1440), ("30-12:30:00", 43_950)] {
            let site = format!("a|1|1000|idle|{told}|all*");
            assert_eq!(limit(&site, "wall_time_s_max"), Some((minutes - GRACE_MINUTES) * 60), "{told}");
        }
        let short = SlurmSite::read("a|1|1000|idle|10:00|all*", false).expect_err("a run has no time at all");
        assert_eq!(short, "jobs may take no more than 10 minutes");
        // One partition without a limit is enough.
        assert_eq!(limit("a|1|1000|idle|5:00|x\nb|1|1000|idle|infinite|y", "wall_time_s_max"), None);
    }

    #[test]
    fn what_is_no_node_is_refused() {
        let bad = [
            ("a|4|1000|idle|30:00", "that is no node with six values"),
            ("a|4|1000|idle|30:00|all*|x", "that is no node with six values"),
            ("", "that is no node with six values"),
            ("sinfo: error: no answer", "that is no node with six values"),
            ("|4|1000|idle|30:00|all*", "the node has no name"),
            ("a|0|1000|idle|30:00|all*", "that is no number of processors"),
            ("a|-4|1000|idle|30:00|all*", "that is no number of processors"),
            ("a|+4|1000|idle|30:00|all*", "that is no number of processors"),
            ("a|4++|1000|idle|30:00|all*", "that is no number of processors"),
            ("a|4294967296|1000|idle|30:00|all*", "that is no number of processors"),
            ("a|99999999999999999999|1000|idle|30:00|all*", "that is no number of processors"),
            ("a|4||idle|30:00|all*", "that is no number of MiB"),
            ("a|4|+|idle|30:00|all*", "that is no number of MiB"),
            ("a|4|1G|idle|30:00|all*", "that is no number of MiB"),
            ("a|4|18446744073709551615|idle|30:00|all*", "that is no number of MiB"),
            ("a|4|1000||30:00|all*", "that is no state of a node"),
            ("a|4|1000|*|30:00|all*", "that is no state of a node"),
            ("a|4|1000|IDLE?|30:00|all*", "that is no state of a node"),
            ("a|4|1000|idle||all*", "that is no length of time"),
            ("a|4|1000|idle|n/a|all*", "that is no length of time"),
            ("a|4|1000|idle|30|all*", "that is no length of time"),
            ("a|4|1000|idle|1-30:00|all*", "that is no length of time"),
            ("a|4|1000|idle|1:2:3:4|all*", "that is no length of time"),
            ("a|4|1000|idle|999999999999999999-00:00:00|all*", "that is no length of time"),
        ];
        for (line, why) in bad {
            let told = format!("a|4|1000|idle|30:00|all*\n{line}\n");
            let refused = SlurmSite::read(&told, false).expect_err(line);
            assert_eq!(refused, format!("`{line}`: {why}"));
        }
    }

    #[test]
    fn the_partition_is_the_one_that_jobs_are_told() {
        let told = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
            partition(&options).map(str::to_owned)
        };
        assert_eq!(told(&["--account=net"]), None);
        assert_eq!(told(&["--partition=batch"]).as_deref(), Some("batch"));
        assert_eq!(told(&["-p", "batch"]).as_deref(), Some("batch"));
        assert_eq!(told(&["--partition", "batch", "-plong"]).as_deref(), Some("long"));
        assert_eq!(told(&["-p"]), None);
    }

    #[test]
    fn a_slurm_that_does_not_tell_is_no_site() {
        let missing = SlurmSite::told_by(Path::new("/nowhere/sinfo"), None).expect_err("it is not there");
        assert!(missing.starts_with("/nowhere/sinfo: "), "{missing}");
        assert_eq!(SlurmSite::told_by(Path::new("false"), None), Err("false fails: it does not say why".to_owned()));
        // It tells what it was asked, which is no node.
        let told = SlurmSite::told_by(Path::new("echo"), Some(OsStr::new("batch"))).expect_err("that is no answer");
        assert!(told.contains("--partition batch") && told.ends_with("that is no number of processors"), "{told}");
    }
}
