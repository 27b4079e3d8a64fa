//! The order in which runs are simulated, and that no limit is exceeded on the way.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn limits(threads_max: u32) -> Limits {
    Limits { threads_max, memory_bytes_max: 100, queue_max: 10, concurrent_runs_max: 10, ..Limits::default() }
}

fn queue(threads_max: u32) -> Queue {
    Queue::new(&limits(threads_max))
}

fn task(number: i64, sweep: &str, threads: u32) -> Task {
    let (run, owner, sweep) = (number.to_string(), "alice".to_owned(), sweep.to_owned());
    let traceparent = String::new();
    Task { number, run, owner, sweep, priority: 0, work: Work::Simulate, threads, memory_bytes: 1, traceparent }
}

fn of(owner: &str, task: Task) -> Task {
    Task { owner: owner.to_owned(), ..task }
}

/// The next task, if there is one that may begin.
fn try_take(queue: &Queue) -> Option<(Task, Arc<Control>)> {
    queue.take_next(&mut queue.state(), Kind::Any)
}

/// Its number, and what it is done with.
fn take(queue: &Queue) -> (i64, Arc<Control>) {
    let (task, control) = try_take(queue).expect("something may begin");
    (task.number, control)
}

fn taken(queue: &Queue) -> i64 {
    take(queue).0
}

#[test]
fn the_oldest_is_first_but_sweeps_do_not_hold_up_single_runs() {
    let queue = queue(10);
    queue.put((1..5).map(|number| task(number, "sweep", 1)));
    queue.put([task(5, "", 1), task(6, "", 1)]);
    let order: Vec<i64> = (0..6).map(|_| taken(&queue)).collect();
    assert_eq!(order, [1, 5, 2, 6, 3, 4]);
}

#[test]
fn owners_have_their_turns_and_priorities_go_first() {
    let queue = queue(10);
    queue.put((1..4).map(|number| task(number, "hers", 1)));
    queue.put([of("bob", task(4, "", 2)), of("bob", task(5, "his", 1))]);
    queue.put([of("carol", Task { priority: 1, ..task(6, "", 1) }), Task { priority: -1, ..task(7, "", 1) }]);
    let order: Vec<i64> = (0..7).map(|_| taken(&queue)).collect();
    assert_eq!(order, [6, 1, 4, 2, 5, 3, 7]);
}

#[test]
fn what_is_carried_out_fits_and_nothing_is_overtaken() {
    let queue = queue(4);
    queue.put([task(1, "", 3), task(2, "", 2), task(3, "", 1)]);
    let (first, control) = take(&queue);
    assert_eq!(first, 1);
    assert!(try_take(&queue).is_none(), "the next needs more than there is");
    queue.done(&control);
    assert_eq!((taken(&queue), taken(&queue)), (2, 3));
}

#[test]
fn who_has_a_share_is_overtaken_by_others_only() {
    for few in [
        Limits { concurrent_runs_per_owner_max: Some(1), ..limits(10) },
        Limits { threads_per_owner_max: Some(2), ..limits(10) },
        Limits { memory_bytes_per_owner_max: Some(1), ..limits(10) },
    ] {
        let queue = Queue::new(&few);
        queue.put([task(1, "", 1), task(2, "", 2), task(3, "", 1), of("bob", task(4, "", 1))]);
        let (first, control) = take(&queue);
        assert_eq!((first, taken(&queue)), (1, 4));
        assert!(try_take(&queue).is_none(), "the third is smaller, and waits behind the second");
        queue.done(&control);
        assert_eq!(taken(&queue), 2);
    }
}

/// As after a start with smaller limits than those that it was accepted with.
#[test]
fn what_is_larger_than_a_share_is_simulated_alone() {
    let queue = Queue::new(&Limits { threads_per_owner_max: Some(1), ..limits(2) });
    queue.put([task(1, "", 3), task(2, "", 1)]);
    let (large, control) = take(&queue);
    assert!(large == 1 && try_take(&queue).is_none());
    queue.done(&control);
    assert_eq!(taken(&queue), 2);
}

#[test]
fn tables_of_sweeps_come_first() {
    let queue = queue(1);
    queue.put([task(1, "", 1), Task { work: Work::FinishSweep, threads: 0, memory_bytes: 0, ..task(2, "", 0) }]);
    let (table, control) = take(&queue);
    assert_eq!((table, taken(&queue)), (2, 1));
    queue.done(&control);
    assert_eq!(queue.counts(), (0, 1));
}

#[test]
fn what_is_light_waits_for_no_simulation() {
    let queue = Queue::new(&Limits { queue_per_owner_max: Some(2), ..limits(1) });
    queue.put([task(1, "", 1), Task { work: Work::Reuse, ..task(2, "", 1) }]);
    assert!(queue.reserve("alice", 1).is_err(), "both are runs that wait");
    let (light, control) = queue.take_next(&mut queue.state(), Kind::Light).expect("it takes no threads");
    assert_eq!(light.number, 2);
    assert!(queue.take_next(&mut queue.state(), Kind::Light).is_none(), "the other does");
    // It has found nothing: it waits to be simulated before it is done with the first attempt.
    assert!(queue.put_on(Task { work: Work::Simulate, ..light }, &control));
    queue.done(&control);
    assert_eq!((taken(&queue), queue.counts()), (1, (1, 1)));
    queue.put([Task { work: Work::Reuse, ..task(3, "", 1) }]);
    let waited: Vec<i64> = queue.cancel(&[1, 2, 3]).iter().map(|task| task.number).collect();
    assert_eq!((waited, queue.counts()), (vec![2, 3], (0, 1)));
}

#[test]
fn what_is_told_to_stop_does_not_wait_again() {
    let queue = queue(1);
    queue.put([Task { work: Work::Reuse, ..task(1, "", 1) }]);
    let (light, control) = try_take(&queue).expect("it takes no threads");
    assert_eq!((queue.cancel(&[1]), control.is_cancelled()), (Vec::new(), true));
    assert!(!queue.put_on(Task { work: Work::Simulate, ..light }, &control));
    assert_eq!(queue.counts(), (0, 1));
}

#[test]
fn what_is_taken_again_before_it_is_done_gives_everything_back() {
    let queue = queue(4);
    let [(_, first), (_, second)] = [(); 2].map(|()| {
        queue.put([task(1, "", 2)]);
        take(&queue)
    });
    assert_eq!((queue.counts(), queue.memory_reserved()), ((0, 2), 2));
    queue.done(&first);
    assert_eq!((queue.counts(), queue.memory_reserved()), ((0, 1), 1));
    queue.done(&second);
    assert_eq!((queue.counts(), queue.memory_reserved()), ((0, 0), 0));
    assert_eq!(queue.state().order.owners(), 0);
}

#[test]
fn what_is_behind_one_that_is_cancelled_begins() {
    let queue = queue(2);
    queue.put([task(1, "", 1), task(2, "", 2), task(3, "", 1)]);
    assert_eq!(taken(&queue), 1);
    std::thread::scope(|scope| {
        let next = scope.spawn(|| queue.take(Kind::Any));
        queue.cancel(&[2]);
        assert_eq!(next.join().expect("it does not panic").map(|(task, _)| task.number), Some(3));
    });
}

#[test]
fn places_are_promised_once() {
    let queue = queue(1);
    let full = |scope, allowed| Some(ApiError::QueueFull { scope, allowed, asked: 2 });
    let places = queue.reserve("alice", 9).expect("there are ten");
    assert_eq!(queue.reserve("bob", 2).err(), full(Scope::Server, 10));
    drop(places);
    queue.put((0..10).map(|number| task(number, "", 1)));
    assert!(queue.reserve("alice", 1).is_err());
    queue.cancel(&[3]);
    assert!(queue.reserve("alice", 1).is_ok());
    let queue = Queue::new(&Limits { queue_per_owner_max: Some(3), ..limits(1) });
    queue.put([task(1, "", 1)]);
    let places = queue.reserve("alice", 1).expect("she may have three");
    assert_eq!(queue.reserve("alice", 2).err(), full(Scope::Owner, 3));
    assert!(queue.reserve("bob", 2).is_ok(), "he has none");
    drop(places);
    assert!(queue.reserve("alice", 2).is_ok());
    assert_eq!(taken(&queue), 1);
    assert!(queue.reserve("alice", 3).is_ok(), "what is simulated does not wait");
}

#[test]
fn who_waits_when_the_server_stops_gets_nothing() {
    let queue = queue(1);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| queue.take(Kind::Any));
        queue.stop();
        assert!(waiting.join().expect("it does not panic").is_none());
    });
    assert!(matches!(queue.reserve("alice", 1).err(), Some(ApiError::ShuttingDown { .. })));
}

/// The same rules in the plainest way: all that waits is looked at each time.
struct Plain {
    together: Share,
    share: Share,
    waiting: Vec<Task>,
    simulated: Vec<Task>,
}

impl Plain {
    fn taken(&self, is_counted: impl Fn(&Task) -> bool) -> Share {
        let mut taken = Share::default();
        self.simulated.iter().filter(|task| is_counted(task)).for_each(|task| taken.add(task));
        taken
    }

    fn rank(&self, task: &Task) -> (i32, u32, u32, i64) {
        let owner = self.taken(|other| other.owner == task.owner).threads;
        let is_beside =
            |other: &Task| (&other.owner, &other.sweep, other.priority) == (&task.owner, &task.sweep, task.priority);
        (-task.priority, owner, self.taken(is_beside).runs, task.number)
    }

    /// The number of the next one that may begin.
    fn next(&self) -> Option<i64> {
        let owners: BTreeSet<&str> = self.waiting.iter().map(|task| task.owner.as_str()).collect();
        let first = |owner: &&str| {
            let own = self.waiting.iter().filter(|task| task.owner == **owner);
            own.min_by_key(|task| self.rank(task)).expect("something waits")
        };
        let may = |task: &&Task| self.share.has_room(self.taken(|other| other.owner == task.owner), task);
        let next = owners.iter().map(first).filter(may).min_by_key(|task| self.rank(task))?;
        self.together.has_room(self.taken(|_| true), next).then_some(next.number)
    }
}

/// What happens to a queue.
#[derive(Clone, Debug)]
enum Step {
    Put { owner: u8, sweep: u8, priority: i32, threads: u32, memory_bytes: u64 },
    Take,
    End(usize),
    Cancel(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let put =
        (0..3u8, 0..3u8, -1..=1i32, 1..=3u32, 1..=40u64).prop_map(|(owner, sweep, priority, threads, memory_bytes)| {
            Step::Put { owner, sweep, priority, threads, memory_bytes }
        });
    prop_oneof![4 => put, 4 => Just(Step::Take), 3 => any::<usize>().prop_map(Step::End), 1 => any::<usize>().prop_map(Step::Cancel)]
}

fn position<T>(tasks: &[T], index: usize) -> Option<usize> {
    index.checked_rem(tasks.len())
}

proptest! {
    /// Whatever happens, what begins is what the plain rules say, and no limit is exceeded; in the end all has begun.
    #[test]
    fn the_order_is_that_of_the_plain_rules(steps in prop::collection::vec(step(), 1..120), runs in 1..4u32, threads in 2..5u32) {
        let few = Limits {
            concurrent_runs_per_owner_max: Some(runs),
            threads_per_owner_max: Some(threads),
            memory_bytes_per_owner_max: Some(60),
            ..limits(5)
        };
        let queue = Queue::new(&few);
        let (together, share) = (queue.together, queue.share);
        let mut plain = Plain { together, share, waiting: Vec::new(), simulated: Vec::new() };
        // Of those that are simulated.
        let mut controls = Vec::new();
        let to_the_end = (0..1000).map(|index| if index % 2 == 0 { Step::Take } else { Step::End(0) });
        for (number, step) in (1..).zip(steps.into_iter().chain(to_the_end)) {
            match step {
                Step::Put { owner, sweep, priority, threads, memory_bytes } => {
                    let sweep = if sweep == 0 { String::new() } else { format!("sweep-{owner}-{sweep}") };
                    let task = Task { priority, memory_bytes, ..task(number, &sweep, threads) };
                    let task = of(&format!("owner-{owner}"), task);
                    plain.waiting.push(task.clone());
                    queue.put([task]);
                }
                Step::Take => {
                    let next = plain.next();
                    let found = try_take(&queue);
                    prop_assert_eq!(found.as_ref().map(|(task, _)| task.number), next);
                    plain.waiting.retain(|task| Some(task.number) != next);
                    if let Some((task, control)) = found {
                        plain.simulated.push(task);
                        controls.push(control);
                    }
                }
                Step::End(index) => {
                    if let Some(index) = position(&plain.simulated, index) {
                        plain.simulated.remove(index);
                        queue.done(&controls.remove(index));
                    }
                }
                Step::Cancel(index) => {
                    if let Some(index) = position(&plain.waiting, index) {
                        queue.cancel(&[plain.waiting.remove(index).number]);
                    }
                }
            }
            prop_assert_eq!(queue.counts(), (plain.waiting.len() as u32, plain.simulated.len() as u32));
            let all = plain.taken(|_| true);
            prop_assert!(all.runs == 1 || (all.threads <= 5 && all.memory_bytes <= 100), "{:?}", all);
            for owner in ["owner-0", "owner-1", "owner-2"] {
                let own = plain.taken(|task| task.owner == owner);
                let fits = own.runs <= runs && own.threads <= threads && own.memory_bytes <= 60;
                prop_assert!(own.runs == 1 || fits, "{owner}: {:?}", own);
            }
        }
        prop_assert_eq!(queue.counts(), (0, 0));
        prop_assert_eq!(queue.state().order.owners(), 0, "nobody is remembered who has nothing here");
    }

    /// As long as all owners have something waiting, none has more than one thread more than another; and each sweep's
    /// runs begin in their order.
    #[test]
    fn owners_share_the_threads(ends in prop::collection::vec(any::<usize>(), 1..40), owners in 2..5i64, threads in 1..9u32) {
        let queue = queue(threads);
        for number in 0..200 {
            queue.put([of(&format!("owner-{}", number % owners), task(number, &format!("sweep-{}", number % owners), 1))]);
        }
        let mut simulated: Vec<(i64, Arc<Control>)> = Vec::new();
        let mut last = vec![-1; owners as usize];
        for end in std::iter::once(None).chain(ends.into_iter().map(Some)) {
            if let Some(index) = end.and_then(|end| position(&simulated, end)) {
                queue.done(&simulated.swap_remove(index).1);
            }
            while let Some((task, control)) = try_take(&queue) {
                let owner = (task.number % owners) as usize;
                prop_assert!(task.number > last[owner], "{} began after {}", task.number, last[owner]);
                last[owner] = task.number;
                simulated.push((task.number, control));
            }
            let counts = (0..owners).map(|owner| simulated.iter().filter(|(number, _)| number % owners == owner).count());
            let (least, most) = counts.fold((usize::MAX, 0), |(least, most), count| (least.min(count), most.max(count)));
            prop_assert!(most - least <= 1, "from {least} to {most}");
        }
    }
}
