//! Memory: what this process may take, and what processes have taken.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a process takes whatever it simulates: the program, its stacks, and what its allocator keeps for later.
const BASE_BYTES: u64 = 64 << 20;
/// The same for each thread.
const THREAD_BYTES: u64 = 8 << 20;

/// Lets this process take no more than so much data: what it asks for beyond is refused, and it aborts.
///
/// The server watches what is really in use, and more strictly, but only now and again. What is limited here is the memory
/// that can be written to: an allocator reserves much more of the address space than it ever uses. The next run may have
/// more: so what the process might raise its limit to stays as it is.
pub(super) fn limit(bytes: u64, threads: u32) {
    let maximum = getrlimit(Resource::Data).maximum;
    let bytes = with_base(bytes, threads);
    let current = Some(maximum.map_or(bytes, |maximum| bytes.min(maximum)));
    if let Err(error) = setrlimit(Resource::Data, Rlimit { current, maximum }) {
        tracing::warn!(%error, "the memory of a worker cannot be limited: only the server watches it");
    }
}

/// Forgets the most memory that this process has had in use, where the system can: the next run has a peak of its own.
pub(super) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", FORGET_PEAK);
}

/// What the system takes for it.
const FORGET_PEAK: &str = "5";

/// What the system lets a worker take that may have so many bytes.
pub(crate) fn with_base(bytes: u64, threads: u32) -> u64 {
    bytes.saturating_add(BASE_BYTES).saturating_add(THREAD_BYTES * u64::from(threads))
}

/// If the machine has no memory left, let the system end this process before its server, and before others. Where there is
/// no such thing to say, it ends whichever it likes.
pub(super) fn go_first() {
    let _ = std::fs::write("/proc/self/oom_score_adj", GO_FIRST);
}

/// From 0, as others do, to 1000, before all others.
const GO_FIRST: &str = "800";

/// More bytes than `/proc` has in a file about a process or about memory. The system does not tell the size of such a file, and without room for all of it
/// reading takes a call for each few bytes.
const PROC_BYTES: usize = 4096;

/// A number of bytes that the system tells of a process in lines such as `VmHWM: 1024 kB`, where it does.
#[must_use]
pub fn bytes_in_proc(path: impl AsRef<Path>, key: &str) -> Option<u64> {
    let mut text = String::with_capacity(PROC_BYTES);
    File::open(path).and_then(|mut file| file.read_to_string(&mut text)).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}

/// The most memory that this process has had in use.
pub(super) fn peak_bytes() -> Option<u64> {
    bytes_in_proc("/proc/self/status", "VmHWM")
}
