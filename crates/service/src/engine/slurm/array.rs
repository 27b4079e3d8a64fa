//! Job arrays: runs of one sweep that are handed to Slurm at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::engine::process::WorkerCommand;
use crate::store::StoreError;
use crate::worker::mailbox::{Mailbox, OUTPUT};
use crate::worker::protocol::Assignment;
use crate::worker::with_base;

/// What Slurm adds to the time that a run may take: to start, and to write down what was found.
pub(super) const GRACE_MINUTES: u64 = 10;
/// How long before the end of its time a job is told to write a checkpoint.
const SIGNAL_BEFORE_S: u64 = 120;
/// Slurm takes arrays of no more tasks, unless it is told to (`MaxArraySize`).
pub(super) const TASKS_MAX: usize = 1_000;

/// Runs that take the same cores, and as much memory and time as the largest of them.
pub(super) struct Array {
    folder: PathBuf,
    tasks: Vec<Assignment>,
}

impl Array {
    /// Puts runs together that belong to one sweep and take as many cores, in their order. Arrays are named at random: a name is never used again.
    pub(super) fn of(folder: &Path, runs: Vec<Assignment>) -> Result<Vec<Self>, StoreError> {
        let mut arrays: Vec<Self> = Vec::new();
        for run in runs {
            match arrays.iter_mut().find(|array| array.takes(&run)) {
                Some(array) => array.tasks.push(run),
                None => arrays.push(Self { folder: folder.join(random_name()?), tasks: vec![run] }),
            }
        }
        Ok(arrays)
    }

    fn takes(&self, run: &Assignment) -> bool {
        let first = &self.tasks[0];
        self.tasks.len() < TASKS_MAX
            && !run.sweep.is_empty()
            && (&first.sweep, first.threads) == (&run.sweep, run.threads)
    }

    pub(super) fn tasks(&self) -> &[Assignment] {
        &self.tasks
    }

    pub(super) fn mailbox(&self, task: usize) -> Mailbox {
        Mailbox::at(self.folder.join(task.to_string()))
    }

    /// Makes the folders of all tasks.
    pub(super) fn make(&self) -> Result<(), StoreError> {
        self.tasks.iter().enumerate().try_for_each(|(task, assignment)| self.mailbox(task).make(assignment))
    }

    /// Takes their runs from all tasks that may have been submitted.
    pub(super) fn revoke(&self) {
        (0..self.tasks.len()).for_each(|task| self.mailbox(task).revoke());
    }

    /// The name by which people see the array.
    fn name(&self) -> &str {
        let Assignment { run, sweep, .. } = &self.tasks[0];
        if sweep.is_empty() { run } else { sweep }
    }

    /// What submits it. What its tasks take is what their plans say.
    pub(super) fn command(&self, program: &Path, options: &[OsString]) -> Command {
        let bytes = self.tasks.iter().map(|task| with_base(task.memory_bytes_max, task.threads)).max().unwrap_or(0);
        let seconds = self.tasks.iter().map(|task| task.wall_s_max).max().unwrap_or(0);
        let minutes = seconds.div_ceil(60).saturating_add(GRACE_MINUTES);
        // Slurm replaces what stands behind this sign.
        let folder = self.folder.display().to_string().replace('%', "%%");
        let mut command = Command::new(program);
        command
            .args(["--parsable", "--ntasks=1", "--nodes=1", "--requeue", "--open-mode=append"])
            .arg(format!("--array=0-{}", self.tasks.len() - 1))
            .arg(format!("--job-name=tailback-{}", self.name()))
            .arg(format!("--cpus-per-task={}", self.tasks[0].threads.max(1)))
            .arg(format!("--mem={}M", bytes.div_ceil(1 << 20)))
            .arg(format!("--time={minutes}"))
            .arg(format!("--signal=B:TERM@{SIGNAL_BEFORE_S}"))
            .arg(format!("--output={folder}/%a/{OUTPUT}"))
            .args(options);
        command
    }

    /// What each task does: become the worker, so that signals of Slurm reach it. A task whose folder is gone has nothing to do.
    pub(super) fn script(&self, worker: &WorkerCommand) -> Vec<u8> {
        use std::os::unix::ffi::OsStrExt as _;
        // Without backtraces: they take more memory than a worker may allocate.
        let mut script = b"#!/bin/sh\nexport RUST_BACKTRACE=0 RUST_LIB_BACKTRACE=0\nexec".to_vec();
        let words = [worker.program.as_os_str()].into_iter().chain(worker.arguments.iter().map(OsString::as_os_str));
        for word in words.chain([self.folder.as_os_str()]) {
            script.push(b' ');
            script.extend(quoted(word.as_bytes()));
        }
        script.extend(b"/\"$SLURM_ARRAY_TASK_ID\"\n");
        script
    }
}

/// A word as a shell takes it for what it is.
fn quoted(word: &[u8]) -> Vec<u8> {
    let inner = word.iter().flat_map(|&byte| if byte == b'\'' { b"'\\''".to_vec() } else { vec![byte] });
    [b'\''].into_iter().chain(inner).chain([b'\'']).collect()
}

fn random_name() -> Result<String, StoreError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Broken(format!("there are no random bytes: {error}")))?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(sweep: &str, threads: u32, mebibytes: u64) -> Assignment {
        let sweep = sweep.to_owned();
        Assignment { sweep, memory_bytes_max: mebibytes << 20, ..Assignment::of_a_test(threads) }
    }

    fn arrays(runs: Vec<Assignment>) -> Vec<Array> {
        Array::of(Path::new("/shared/100%/jobs"), runs).expect("there are random bytes")
    }

    #[test]
    fn runs_of_a_sweep_that_take_as_many_cores_are_one_array() {
        let runs = [("a", 1), ("", 1), ("b", 1), ("a", 2), ("", 1), ("a", 1)];
        let arrays = arrays(runs.map(|(sweep, threads)| run(sweep, threads, 1)).to_vec());
        let sizes: Vec<_> = arrays.iter().map(|array| (array.tasks[0].sweep.as_str(), array.tasks.len())).collect();
        assert_eq!(sizes, [("a", 2), ("", 1), ("b", 1), ("a", 1), ("", 1)]);
        assert_ne!(arrays[0].folder, arrays[1].folder);
        assert_eq!(self::arrays(vec![run("a", 1, 1); TASKS_MAX + 1]).len(), 2, "Slurm takes no larger ones");
    }

    #[test]
    fn a_task_takes_what_the_largest_run_may() {
        let [array] = <[Array; 1]>::try_from(arrays(vec![run("a", 3, 50), run("a", 3, 100)])).ok().expect("it is one");
        let command = array.command(Path::new("sbatch"), &["--partition=batch".into()]);
        let said: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let has = |argument: &str| said.iter().any(|said| said == argument);
        assert!(has("--job-name=tailback-a") && has("--array=0-1") && has("--cpus-per-task=3"), "{said:?}");
        assert!(has("--mem=188M"), "with 64 MiB for the process and 8 for each thread: {said:?}");
        assert!(has("--time=71"), "61 minutes and ten: {said:?}");
        assert!(has("--requeue") && has("--signal=B:TERM@120"), "{said:?}");
        assert!(
            said.iter().any(|said| said.starts_with("--output=/shared/100%%/jobs/") && said.ends_with("/%a/output"))
        );
        assert_eq!(said.last().map(String::as_str), Some("--partition=batch"));
    }

    #[test]
    fn a_task_becomes_the_worker() {
        let [array] = <[Array; 1]>::try_from(arrays(vec![run("", 1, 1)])).ok().expect("it is one");
        let worker = WorkerCommand { program: "/it's here/tailback".into(), arguments: vec!["worker".into()] };
        let script = String::from_utf8(array.script(&worker)).expect("it is text");
        let folder = array.folder.display();
        let wanted = format!(
            "#!/bin/sh\nexport RUST_BACKTRACE=0 RUST_LIB_BACKTRACE=0\n\
             exec '/it'\\''s here/tailback' 'worker' '{folder}'/\"$SLURM_ARRAY_TASK_ID\"\n"
        );
        assert_eq!(script, wanted);
    }
}
