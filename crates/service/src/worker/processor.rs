//! The processor: what the threads of a run spend of it, and that they leave it to whoever serves calls.
//!
//! A simulation takes whatever it gets, for hours; a call wants little, and at once. So the threads of runs are of lower
//! priority than all those of the server. As long as there is nothing else to do this costs them nothing.

use std::time::Duration;

use cpu_time::ThreadTime;
use tailback_sim::Run;

/// How little the system can be asked to care for a thread.
const NICE_MAX: i32 = 19;

/// Lowers the priority of this thread, and of those that it starts from now on, by so many steps.
#[cfg(target_os = "linux")]
pub(crate) fn give_way(steps: u32) {
    use rustix::process::{getpriority_process, setpriority_process};
    // To this system "no process" is the thread that asks; others would take it for the whole process.
    let lowered = getpriority_process(None).and_then(|nice| {
        let steps = i32::try_from(steps).unwrap_or(NICE_MAX);
        setpriority_process(None, nice.saturating_add(steps).min(NICE_MAX))
    });
    if let Err(error) = lowered {
        tracing::warn!(%error, "the priority of workers cannot be lowered: calls may have to wait for them");
    }
}

/// Other systems have no such thing, or another one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn give_way(_steps: u32) {}

/// What the threads that simulate a run have spent since each of them began.
pub(super) fn spent(run: &Run<'_>) -> Duration {
    run.ask_each_thread(|| ThreadTime::now().as_duration()).into_iter().sum()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    fn nice() -> i32 {
        getpriority_process(None).expect("it can be asked")
    }

    #[test]
    fn a_thread_and_those_that_it_starts_give_way_and_no_others() {
        let before = nice();
        let lowered = std::thread::spawn(|| {
            give_way(3);
            (nice(), std::thread::spawn(nice).join().expect("it does not panic"))
        });
        let expected = (before + 3).min(NICE_MAX);
        assert_eq!(lowered.join().expect("it does not panic"), (expected, expected));
        assert_eq!(nice(), before);
        let lowest = std::thread::spawn(|| {
            give_way(u32::MAX);
            nice()
        });
        assert_eq!(lowest.join().expect("it does not panic"), NICE_MAX);
    }
}
