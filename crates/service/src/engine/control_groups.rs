//! Control groups (version 2): where the system lets the server make some, each worker is in one of its own.
//!
//! Then the system itself holds a worker to its memory, at each moment and with all that counts for it; where there are
//! none, the server looks now and again. A group can have groups in it, or processes, and not both: so the server moves into
//! one beside those of its workers. It does so only in a group that is its own: no other process is in there, and groups can
//! be made in it, as in a unit of systemd with `Delegate=memory`.
//!
//! **The invariant it keeps:** either everything is as it was found, or the server and each worker are in groups of their own.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The group of the server among those of its workers, and how the names of those begin.
const SERVER: &str = "server";
const WORKER: &str = "worker-";

/// How the folder of a group that nothing is in is removed. It has files, which go with it.
type Remove = fn(&Path) -> io::Result<()>;

/// The group that the server was started in, in which it makes those of workers.
#[derive(Debug)]
pub(crate) struct Groups {
    folder: PathBuf,
    count: AtomicU64,
    remove: Remove,
}

/// The group of one worker, removed when this is dropped. The worker must have ended by then.
#[derive(Debug)]
pub(super) struct Group {
    folder: PathBuf,
    remove: Remove,
}

/// Why there are no groups.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoGroups {
    #[error("{0}")]
    NotOurs(&'static str),
    #[error("{path}: {error}", path = .path.display())]
    Refused { path: PathBuf, error: io::Error },
}

impl Groups {
    /// Those of this process, in the file system of control groups that is mounted at `mount`. Without any, it is said why.
    pub(crate) fn of_this_process(mount: &Path) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        match Self::prepare(mount, &own, std::process::id(), |folder| fs::remove_dir(folder)) {
            Ok(groups) => Some(groups),
            Err(why) => {
                tracing::info!(%why, "workers have no control groups: the server alone watches their memory");
                None
            }
        }
    }

    /// Of the process `id`, whose groups are told by `own` as in `/proc/self/cgroup`.
    fn prepare(mount: &Path, own: &str, id: u32, remove: Remove) -> Result<Self, NoGroups> {
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let folder = mount.join(own.ok_or(NoGroups::NotOurs("the system has none of version 2"))?);
        let controllers = read(folder.join("cgroup.controllers"))?;
        if !controllers.split_whitespace().any(|controller| controller == "memory") {
            return Err(NoGroups::NotOurs("they do not limit memory"));
        }
        // The root of all groups has no limit, and belongs to the system.
        if !folder.join("memory.max").exists() {
            return Err(NoGroups::NotOurs("the server is in the root of all groups"));
        }
        if read(folder.join("cgroup.procs"))?.trim() != id.to_string() {
            return Err(NoGroups::NotOurs("other processes are in the group of the server"));
        }
        let groups = Self { folder, count: AtomicU64::new(0), remove };
        groups.move_server(id)?;
        groups.tidy_up();
        Ok(groups)
    }

    fn move_server(&self, id: u32) -> Result<(), NoGroups> {
        let server = self.folder.join(SERVER);
        make(&server)?;
        let moved = write(server.join("cgroup.procs"), &id);
        let moved = moved.and_then(|()| write(self.folder.join("cgroup.subtree_control"), "+memory"));
        if moved.is_err() {
            // As it was: if that fails too, nothing has changed but the group that the server is in.
            let _ = write(self.folder.join("cgroup.procs"), &id);
            let _ = (self.remove)(&server);
        }
        moved
    }

    /// Removes groups of workers of a server that was killed.
    fn tidy_up(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for left in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(WORKER)) {
            if let Err(error) = (self.remove)(&left.path()) {
                tracing::warn!(%error, group = %left.path().display(), "a control group cannot be removed");
            }
        }
    }

    /// A group in which processes may have so much memory. If it cannot be made, that is said, and there is none.
    pub(super) fn make(&self, bytes: u64) -> Option<Group> {
        let name = format!("{WORKER}{}", self.count.fetch_add(1, Ordering::Relaxed));
        let group = Group { folder: self.folder.join(name), remove: self.remove };
        let made = make(&group.folder).and_then(|()| group.limit(bytes));
        made.inspect_err(|why| tracing::warn!(%why, "a worker gets no control group")).ok().map(|()| group)
    }
}

impl Group {
    fn limit(&self, bytes: u64) -> Result<(), NoGroups> {
        write(self.folder.join("memory.max"), &bytes)?;
        // All of it goes at once, or what is left of it would go on without the rest.
        write(self.folder.join("memory.oom.group"), &1)?;
        match write(self.folder.join("memory.swap.max"), &0) {
            // The system does not swap, or does not count it.
            Err(NoGroups::Refused { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Lets its processes have so much memory from now on; tells whether they may.
    pub(super) fn allow(&self, bytes: u64) -> bool {
        let allowed = write(self.folder.join("memory.max"), &bytes);
        allowed.inspect_err(|why| tracing::warn!(%why, "the limit of a worker cannot be changed")).is_ok()
    }

    /// Puts a process into it; tells whether it is in there.
    pub(super) fn put(&self, id: u32) -> bool {
        let put = write(self.folder.join("cgroup.procs"), &id);
        put.inspect_err(|why| tracing::warn!(%why, "a worker is in no control group")).is_ok()
    }

    /// Whether the system has ended a process of it because it took too much memory.
    pub(super) fn has_taken_too_much(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        let kills = events.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse::<u64>().ok());
        kills.is_some_and(|kills| kills > 0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = (self.remove)(&self.folder) {
            tracing::warn!(%error, group = %self.folder.display(), "a control group cannot be removed");
        }
    }
}

/// Makes a group. One that a server has left that was killed will do.
fn make(folder: &Path) -> Result<(), NoGroups> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(NoGroups::Refused { path: folder.to_owned(), error })
        }
        _ => Ok(()),
    }
}

fn write(path: PathBuf, value: &(impl ToString + ?Sized)) -> Result<(), NoGroups> {
    fs::write(&path, value.to_string()).map_err(|error| NoGroups::Refused { path, error })
}

fn read(path: PathBuf) -> Result<String, NoGroups> {
    fs::read_to_string(&path).map_err(|error| NoGroups::Refused { path, error })
}

#[cfg(test)]
pub(super) mod tests {
    use tempfile::TempDir;

    use super::*;

    const OWN: &str = "1:name=systemd:/elsewhere\n0::/system.slice/tailback.service\n";

    /// A folder like the file system of control groups, in which process 7 has one of its own.
    fn mount() -> (TempDir, PathBuf) {
        let mount = tempfile::tempdir().expect("a temporary folder can be made");
        let own = mount.path().join("system.slice/tailback.service");
        fs::create_dir_all(&own).expect("it can be made");
        for (name, text) in [
            ("cgroup.controllers", "cpu memory pids\n"),
            ("cgroup.procs", "7\n"),
            ("cgroup.subtree_control", ""),
            ("memory.max", "max\n"),
        ] {
            fs::write(own.join(name), text).expect("it can be written");
        }
        (mount, own)
    }

    fn prepare(mount: &TempDir) -> Result<Groups, NoGroups> {
        Groups::prepare(mount.path(), OWN, 7, |folder| fs::remove_dir_all(folder))
    }

    /// Groups in a folder that only looks like the file system of control groups.
    pub(in crate::engine) fn pretended() -> (TempDir, Groups) {
        let (mount, _) = mount();
        let groups = prepare(&mount).expect("it is its own");
        (mount, groups)
    }

    fn text(path: impl AsRef<Path>) -> String {
        fs::read_to_string(path).expect("it can be read").trim().to_owned()
    }

    #[test]
    fn the_server_and_each_worker_get_groups_of_their_own() {
        let (mount, own) = mount();
        // Of a server that was killed.
        fs::create_dir(own.join("worker-9")).expect("it can be made");
        let groups = prepare(&mount).expect("it is its own");
        assert_eq!(text(own.join("server/cgroup.procs")), "7");
        assert_eq!(text(own.join("cgroup.subtree_control")), "+memory");
        assert!(!own.join("worker-9").exists());
        let (one, other) = (groups.make(1000).expect("it can be made"), groups.make(2000).expect("so can it"));
        assert!(one.put(11) && other.put(12));
        for (group, id, bytes) in [(&one, "11", "1000"), (&other, "12", "2000")] {
            let value = |name| text(group.folder.join(name));
            assert_eq!(["cgroup.procs", "memory.max"].map(value), [id, bytes]);
            assert_eq!(["memory.oom.group", "memory.swap.max"].map(value), ["1", "0"]);
            assert!(!group.has_taken_too_much());
        }
        for (events, is_too_much) in [("low 0\noom 3\noom_kill 0\n", false), ("oom 1\noom_kill 1\n", true), ("", false)]
        {
            fs::write(one.folder.join("memory.events"), events).expect("it can be written");
            assert_eq!(one.has_taken_too_much(), is_too_much, "{events}");
        }
        let folders = [one.folder.clone(), other.folder.clone()];
        drop((one, other));
        assert!(folders.iter().all(|folder| !folder.exists()));
    }

    #[test]
    fn a_group_that_is_not_the_servers_own_stays_as_it_is() {
        let change = |change: &dyn Fn(&Path)| {
            let (mount, own) = mount();
            change(&own);
            let why = prepare(&mount).expect_err("it is not").to_string();
            assert!(!own.join("server").exists(), "{why}");
            assert_eq!(text(own.join("cgroup.subtree_control")), "", "{why}");
            why
        };
        let put = |name: &'static str, text: &'static str| {
            change(&move |own: &Path| fs::write(own.join(name), text).expect("it can be written"))
        };
        assert_eq!(put("cgroup.procs", "7\n8\n"), "other processes are in the group of the server");
        assert_eq!(put("cgroup.controllers", "cpu pids\n"), "they do not limit memory");
        let root = change(&|own| fs::remove_file(own.join("memory.max")).expect("it is there"));
        assert_eq!(root, "the server is in the root of all groups");
        let (mount, _) = mount();
        let old = Groups::prepare(mount.path(), "4:memory:/a\n", 7, |_| Ok(())).expect_err("there are none");
        assert_eq!(old.to_string(), "the system has none of version 2");
    }

    #[test]
    fn what_was_begun_is_undone_when_the_system_refuses() {
        // The server cannot be moved, or the group cannot be shared out: a folder in the place of a file refuses.
        for refusing in ["server/cgroup.procs", "cgroup.subtree_control"] {
            let (mount, own) = mount();
            let _ = fs::remove_file(own.join(refusing));
            fs::create_dir_all(own.join(refusing)).expect("it can be made");
            let why = prepare(&mount).expect_err("it is refused").to_string();
            assert!(why.contains(refusing), "{why}");
            assert!(!own.join("server").exists(), "{refusing}");
            assert_eq!(text(own.join("cgroup.procs")), "7", "it is where it was");
        }
    }

    #[test]
    fn a_worker_goes_without_a_group_if_there_is_none_to_be_had() {
        let (mount, groups) = pretended();
        drop(mount);
        assert!(groups.make(1000).is_none());
        let (_mount, groups) = pretended();
        let group = groups.make(1000).expect("it can be made");
        fs::remove_dir_all(&group.folder).expect("it is there");
        assert!(!group.put(7));
    }
}
