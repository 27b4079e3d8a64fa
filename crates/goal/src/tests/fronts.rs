//! What a front releases, when, and what it keeps.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{binary, schedule, walk};
use crate::{BinaryError, Front, Kind, Operation, ReadAt, Schedule};

/// The numbers of what became ready, which is forgotten.
fn take(ready: &mut Vec<(u32, Operation)>) -> Vec<u32> {
    ready.drain(..).map(|(operation, _)| operation).collect()
}

/// Operations 0 and 1 are roots; 2 waits for the start of 0, 3 for the end of 0 and of 1, 4 twice for 3.
fn diamond() -> Schedule {
    schedule(
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\ne: calc 5\nc irequires a\nd requires a\n\
         d requires b\ne requires d\ne irequires d\n}\n",
    )
}

#[test]
fn starts_and_ends_release_what_waits_for_them() {
    let schedule = diamond();
    let (mut front, mut ready) = (Front::new(&schedule, 0), Vec::new());
    assert_eq!(front.rank(), 0);
    front.begin(&schedule, &mut ready).expect("readable");
    assert_eq!(take(&mut ready), [0, 1]);
    front.started(0, &schedule, &mut ready).expect("readable");
    assert_eq!(take(&mut ready), [2]);
    front.finished(0, &schedule, &mut ready).expect("readable");
    assert!(ready.is_empty());
    assert_eq!((front.waiting_count(), front.finished_count()), (1, 1));
    front.started(1, &schedule, &mut ready).expect("readable");
    assert!(ready.is_empty());
    front.finished(1, &schedule, &mut ready).expect("readable");
    assert_eq!(ready, [(3, Operation { kind: Kind::Calc { nanoseconds: 4 }, cpu: 0, nic: 0 })]);
    assert_eq!((take(&mut ready), front.waiting_count()), (vec![3], 0));
    front.started(3, &schedule, &mut ready).expect("readable");
    assert!(ready.is_empty() && !front.is_done());
    front.finished(3, &schedule, &mut ready).expect("readable");
    assert_eq!(take(&mut ready), [4]);
    for operation in [2, 4] {
        assert!(!front.is_done());
        front.started(operation, &schedule, &mut ready).expect("readable");
        front.finished(operation, &schedule, &mut ready).expect("readable");
    }
    assert!(front.is_done() && ready.is_empty());
}

#[test]
fn a_rank_without_operations_is_done_at_once() {
    let schedule = schedule("num_ranks 2\nrank 0 {}\nrank 1 {\ncalc 1\n}");
    assert!(Front::new(&schedule, 0).is_done());
    assert!(!Front::new(&schedule, 1).is_done());
    assert!(walk(&schedule, 0, |_| 0).is_empty());
}

#[test]
fn a_front_that_was_saved_goes_on() {
    let schedule = diamond();
    let (mut front, mut ready) = (Front::new(&schedule, 0), Vec::new());
    front.begin(&schedule, &mut ready).expect("readable");
    front.started(0, &schedule, &mut ready).expect("readable");
    front.finished(0, &schedule, &mut ready).expect("readable");
    let saved = serde_json::to_string(&front).expect("it can be saved");
    assert_eq!(saved, r#"{"rank":0,"operations":5,"finished":1,"waiting":{"3":1}}"#);
    let mut restored: Front = serde_json::from_str(&saved).expect("it can be restored");
    let mut restored_ready = ready.clone();
    for front in [(&mut front, &mut ready), (&mut restored, &mut restored_ready)] {
        front.0.finished(1, &schedule, front.1).expect("readable");
    }
    assert_eq!(ready, restored_ready);
    assert_eq!(serde_json::to_string(&restored).ok(), serde_json::to_string(&front).ok());
}

#[test]
fn another_schedule_is_an_error_and_no_panic() {
    let (large, small) = (diamond(), schedule("num_ranks 1\nrank 0 {\ncalc 1\n}"));
    let (mut front, mut ready) = (Front::new(&large, 0), Vec::new());
    let error = front.finished(1, &small, &mut ready).expect_err("not there");
    assert_eq!(error.to_string(), "rank 0 has no operation 1");
}

/// Can be read while the switch is off.
#[derive(Debug)]
struct Switched(Vec<u8>, AtomicBool);

impl ReadAt for Switched {
    fn len(&self) -> u64 {
        ReadAt::len(&self.0)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        if self.1.load(Ordering::Relaxed) {
            bytes.fill(0xff);
            return Err(ErrorKind::TimedOut.into());
        }
        self.0.read_exact_at(bytes, offset)
    }
}

#[test]
fn what_could_not_be_read_is_an_error_and_not_kept() {
    let file = Arc::new(Switched(binary("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}"), false.into()));
    let schedule = Schedule::open(Arc::clone(&file) as Arc<dyn ReadAt>).expect("a good file");
    let (mut front, mut ready) = (Front::new(&schedule, 0), Vec::new());
    file.1.store(true, Ordering::Relaxed);
    assert!(matches!(front.begin(&schedule, &mut ready), Err(BinaryError::Read(_))));
    assert!(matches!(front.finished(0, &schedule, &mut ready), Err(BinaryError::Read(_))));
    assert_eq!((ready.len(), front.finished_count()), (0, 0));
    file.1.store(false, Ordering::Relaxed);
    front.begin(&schedule, &mut ready).expect("readable");
    front.finished(0, &schedule, &mut ready).expect("readable");
    assert_eq!(take(&mut ready), [0, 1]);
}

/// A long chain beside operations that wait for its ends: blocks of the cache come and go, the front stays small.
#[test]
fn memory_follows_the_front() {
    const LENGTH: u32 = 3000;
    let mut text = String::from("num_ranks 1\nrank 0 {\n");
    for step in 0..LENGTH {
        text.push_str(&format!("a{step}: calc 1\n"));
    }
    for step in 1..LENGTH {
        text.push_str(&format!("a{step} requires a{}\n", step - 1));
    }
    for step in 0..LENGTH {
        text.push_str(&format!("b{step}: calc 1\nb{step} requires a{step}\n"));
        text.push_str(&format!("b{step} irequires a{}\n", (step + 1).min(LENGTH - 1)));
    }
    text.push('}');
    let schedule = schedule(&text);
    let (mut front, mut ready, mut most) = (Front::new(&schedule, 0), Vec::new(), 0);
    front.begin(&schedule, &mut ready).expect("readable");
    while let Some((operation, _)) = ready.pop() {
        front.started(operation, &schedule, &mut ready).expect("readable");
        front.finished(operation, &schedule, &mut ready).expect("readable");
        most = most.max(front.waiting_count());
    }
    assert!(front.is_done());
    assert_eq!(most, 1);
}
