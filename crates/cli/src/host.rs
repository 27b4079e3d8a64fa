//! What the machine tells about this process: time, memory, cores.

use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};
use tailback_service::bytes_in_proc;
use tailback_sim::Timing;

/// A stopwatch over wall clock and processor time.
pub struct Stopwatch {
    wall: Instant,
    processor: Processor,
}

/// Whose processor time is counted.
enum Processor {
    Process(ProcessTime),
    Thread(ThreadTime),
}

impl Stopwatch {
    /// Counts the time of all threads of this process.
    pub fn of_process() -> Self {
        Self { wall: Instant::now(), processor: Processor::Process(ProcessTime::now()) }
    }

    /// Counts the time of this thread.
    pub fn of_thread() -> Self {
        Self { wall: Instant::now(), processor: Processor::Thread(ThreadTime::now()) }
    }

    pub fn wall(&self) -> Duration {
        self.wall.elapsed()
    }

    pub fn read(&self) -> Timing {
        let cpu = match &self.processor {
            Processor::Process(start) => start.elapsed(),
            Processor::Thread(start) => start.elapsed(),
        };
        Timing { wall_s: self.wall().as_secs_f64(), cpu_s: cpu.as_secs_f64(), peak_rss_bytes: peak_rss_bytes() }
    }
}

/// How many cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// The most memory that this process has had in use, where the system tells.
fn peak_rss_bytes() -> Option<u64> {
    bytes_in_proc("/proc/self/status", "VmHWM")
}

/// The memory that could be had without pushing others out, where the system tells.
pub fn available_bytes() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    // In a container the limit of its group counts.
    let group = number("/sys/fs/cgroup/memory.max").zip(number("/sys/fs/cgroup/memory.current"));
    let group = group.map(|(limit, used)| limit.saturating_sub(used));
    let machine = bytes_in_proc("/proc/meminfo", "MemAvailable");
    [group, machine].into_iter().flatten().min()
}
