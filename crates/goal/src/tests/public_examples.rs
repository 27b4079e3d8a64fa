//! Small schedules of the kinds that generators write.

use std::fmt::Write;

use super::{operations, schedule, walk};
use crate::{Kind, RankCounts};

#[test]
fn incast() {
    let mut text = String::from("num_ranks 9\n\nrank 0 {\n");
    for rank in 1..9 {
        writeln!(text, "l{rank}: recv 2097152b from {rank} tag {rank} cpu 0 nic 0").expect("memory");
    }
    text.push_str("}\n");
    for rank in 1..9 {
        write!(text, "\nrank {rank} {{\nl1: send 2097152b to 0 tag {rank} cpu 0 nic 0\n}}\n").expect("memory");
    }
    let schedule = schedule(&text);
    assert_eq!((schedule.operations(), schedule.sends(), schedule.bytes_max()), (16, 8, 2 << 20));
    assert_eq!(schedule.counts(0), RankCounts { operations: 8, roots: 8, sends: 0, receives: 8, requirements: 0 });
    assert_eq!(schedule.roots(0).expect("readable"), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn ring() {
    const RANKS: u32 = 4;
    let mut text = format!("num_ranks {RANKS}\n");
    for rank in 0..RANKS {
        let (next, before) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
        writeln!(text, "rank {rank} {{").expect("memory");
        for round in 0..RANKS - 1 {
            writeln!(text, "s{round}: send 1024b to {next} tag {round}").expect("memory");
            writeln!(text, "r{round}: recv 1024b from {before} tag {round}\nr{round} irequires s{round}")
                .expect("memory");
            if round > 0 {
                writeln!(text, "s{round} requires r{}", round - 1).expect("memory");
            }
        }
        text.push_str("}\n");
    }
    let schedule = schedule(&text);
    for rank in 0..RANKS {
        assert_eq!(
            schedule.counts(rank),
            RankCounts { operations: 6, roots: 1, sends: 3, receives: 3, requirements: 5 }
        );
        assert_eq!(walk(&schedule, rank, |_| 0), [0, 1, 2, 3, 4, 5]);
    }
}

/// A broadcast: in each round all that have the message send it to one that has not.
#[test]
fn binary_tree() {
    const RANKS: u32 = 32;
    let mut text = format!("num_ranks {RANKS}\n");
    for rank in 0..RANKS {
        write!(text, "\nrank {rank} {{\n").expect("memory");
        let has_it = (rank + 1).next_power_of_two();
        if rank > 0 {
            writeln!(text, "l1: recv 1b from {} tag 0", rank - has_it / 2).expect("memory");
        }
        let to = (0..).map(|round| rank + (has_it << round)).take_while(|&to| to < RANKS);
        for (label, to) in (2..).zip(to) {
            writeln!(text, "l{label}: send 1b to {to} tag 0").expect("memory");
            if rank > 0 {
                writeln!(text, "l{label} requires l1").expect("memory");
            }
        }
        text.push_str("}\n");
    }
    let schedule = schedule(&text);
    assert_eq!((schedule.operations(), schedule.sends(), schedule.requirements()), (62, 31, 26));
    assert_eq!(schedule.counts(0), RankCounts { operations: 5, roots: 5, sends: 5, receives: 0, requirements: 0 });
    assert_eq!(schedule.counts(1), RankCounts { operations: 5, roots: 1, sends: 4, receives: 1, requirements: 4 });
    assert_eq!(schedule.counts(31), RankCounts { operations: 1, roots: 1, sends: 0, receives: 1, requirements: 0 });
}

#[test]
fn wildcard_receive() {
    let schedule = schedule(
        "num_ranks 3\nrank 0 {\na: recv 64b from -1 tag -1\nb: recv 64b from -1 tag 2\nb requires a\n}\n\
         rank 1 {\nsend 64b to 0 tag 1\n}\nrank 2 {\nsend 64b to 0 tag 2\n}\n",
    );
    let kinds: Vec<Kind> = operations(&schedule, 0).iter().map(|operation| operation.kind).collect();
    let receive = |tag| Kind::Receive { from: None, size: 64, tag };
    assert_eq!(kinds, [receive(None), receive(Some(2))]);
}
