//! Damaged and hostile files.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::generated::texts;
use super::{binary, open, text, walk};
use crate::{ReadAt, Schedule};

/// Rank 0 lies from byte 30 to 171: one root, three operations from 42 on, three edges from 159 on.
const TEXT: &str = "num_ranks 1\nrank 0 {\na: calc 1\nb: send 9b to 0 cpu 1 nic 1\nc: recv 9b from 0\n\
                    b requires a\nc requires a\nc irequires b\n}";

const ROOTS: usize = 30 + 8;
const NODES: usize = ROOTS + 4;
const EDGES: usize = NODES + 3 * 39;

/// What is wrong after some bytes were replaced.
fn error(at: usize, with: &[u8]) -> String {
    let mut bytes = binary(TEXT);
    assert_eq!(bytes.len(), EDGES + 3 * 4);
    bytes[at..at + with.len()].copy_from_slice(with);
    open(&bytes).expect_err("damaged").to_string()
}

/// What is wrong after a field of an operation was replaced by a number.
fn node_error(node: usize, field: usize, number: u32) -> String {
    error(NODES + node * 39 + field, &number.to_le_bytes())
}

#[test]
fn heads_are_checked() {
    assert_eq!(error(0, &[0]), "this is no binary schedule: it begins with 4096 and not with 4223");
    let used_up = "the schedule was used up by a simulator that counts down in its file: convert the text again";
    assert_eq!(error(0, &2342_u64.to_le_bytes()), used_up);
    assert_eq!(error(8, &[0; 4]), "the schedule names 0 ranks: there are 1 to 16777216");
    assert_eq!(error(8, &[0xff; 4]), "the schedule names 4294967295 ranks: there are 1 to 16777216");
    assert!(
        error(8, &[0, 0, 0, 1]).starts_with("the schedule has 171 bytes, its offsets of ranks end at byte 268435470")
    );
    assert!(error(8, &[2]).starts_with("rank 0 lies from byte 22 to"), "{}", error(8, &[2]));
    assert_eq!(error(12, &[0]), "an operation of the schedule has cpu 1, its head names 0 as the largest");
    assert_eq!(error(13, &[0]), "an operation of the schedule has nic 1, its head names 0 as the largest");
    let mut larger = binary(TEXT);
    larger[12] = 7;
    assert_eq!(open(&larger).expect("a head may name more").largest_cpu(), 7);
}

#[test]
fn places_of_ranks_are_checked() {
    assert!(
        error(14, &[23])
            .starts_with("rank 0 lies from byte 23 to 163 of the schedule: the one before it ends at byte 22")
    );
    assert!(error(22, &[21]).starts_with("rank 0 lies from byte 22 to 21"));
    assert!(error(22, &[29]).starts_with("rank 0 lies from byte 22 to 29"));
    assert!(error(22, &[0xff; 8]).contains("it was cut off"));
    assert!(error(22, &[164]).contains("it was cut off"));
    assert_eq!(error(22, &[162]), "rank 0 has 140 bytes, which do not hold 3 operations, 1 roots and some edges");
    assert!(error(22, &[159]).starts_with("operation 1 of rank 0 has edges that do not follow"));
}

#[test]
fn counts_are_checked_before_anything_is_done_for_them() {
    assert!(error(30, &[0xff; 4]).contains("do not hold 4294967295 operations"));
    assert!(error(34, &[0xff; 4]).contains("4294967295 roots"));
    assert!(error(34, &[4]).contains("do not hold 3 operations, 4 roots"));
}

#[test]
fn operations_are_checked() {
    assert_eq!(node_error(0, 0, 1), "the roots of rank 0 are not the operations that wait for nothing, in their order");
    assert_eq!(node_error(1, 0, 0), "the roots of rank 0 are not the operations that wait for nothing, in their order");
    assert_eq!(node_error(1, 0, 2), "operation 1 of rank 0 waits for another number of operations than it counts");
    assert_eq!(
        error(NODES + 4, &[0]),
        "operation 0 of rank 0 is of the unknown kind 0: 1 sends, 2 receives, 3 computes"
    );
    assert_eq!(node_error(1, 5, 1), "operation 1 of rank 0 names rank 1, which does not exist");
    assert_eq!(node_error(1, 5, u32::MAX), "operation 1 of rank 0 names rank 4294967295, which does not exist");
    assert_eq!(node_error(2, 5, 1), "operation 2 of rank 0 names rank 1, which does not exist");
    let edges = "operation 0 of rank 0 has edges that do not follow those of the one before it";
    assert_eq!(node_error(0, 23, u32::MAX), edges);
    assert_eq!(node_error(0, 23, 4), edges);
    assert_eq!(node_error(0, 27, 1), edges);
    assert_eq!(node_error(1, 35, 1), edges.replace("operation 0", "operation 1"));
    assert_eq!(error(ROOTS, &[1]), "the roots of rank 0 are not the operations that wait for nothing, in their order");
}

#[test]
fn edges_are_checked() {
    assert_eq!(error(EDGES, &[3]), "operation 0 of rank 0 is waited for by operation 3, which does not exist");
    assert_eq!(
        error(EDGES, &[0xff; 4]),
        "operation 0 of rank 0 is waited for by operation 4294967295, which does not exist"
    );
    assert_eq!(error(EDGES, &[2]), "operation 1 of rank 0 waits for another number of operations than it counts");
    // Operation 1 has no edge, and nothing misses it.
    let mut bytes = binary(TEXT);
    bytes[NODES + 39 + 31] = 0;
    bytes[NODES + 78] = 1;
    assert_eq!(open(&bytes).expect_err("left over").to_string(), "rank 0 has 3 edges, its operations have 2");
    // The edge of operation 1 leads to itself instead of to 2, and both count accordingly.
    let mut bytes = binary(TEXT);
    bytes[EDGES + 8] = 1;
    bytes[NODES + 39] = 2;
    bytes[NODES + 78] = 1;
    let circle = "operation 1 of rank 0 waits, by way of others or at once, for itself";
    assert_eq!(open(&bytes).expect_err("a circle").to_string(), circle);
}

#[test]
fn spans_without_edges_may_begin_anywhere() {
    let mut bytes = binary(TEXT);
    bytes[NODES + 2 * 39 + 27..NODES + 2 * 39 + 31].copy_from_slice(&999_u32.to_le_bytes());
    bytes[NODES + 2 * 39 + 35..NODES + 2 * 39 + 39].copy_from_slice(&[0xff; 4]);
    let schedule = open(&bytes).expect("other programs write this");
    assert_eq!(walk(&schedule, 0, |_| 0), [0, 1, 2]);
    assert_eq!(binary(&text(&schedule)), binary(TEXT));
}

#[test]
fn nothing_may_be_cut_off_or_added() {
    let bytes = binary(TEXT);
    for length in 0..bytes.len() {
        assert!(open(&bytes[..length]).is_err(), "{length} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    let long = "the schedule has 172 bytes, its last rank ends at byte 171: cut off the rest";
    assert_eq!(open(&longer).expect_err("too long").to_string(), long);
}

/// Counts what is read of it.
#[derive(Debug)]
struct Counted(Vec<u8>, AtomicU64);

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        ReadAt::len(&self.0)
    }

    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.1.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.0.read_exact_at(bytes, offset)
    }
}

proptest! {
    /// Whatever a file says, it is refused or can be walked to its end, and checking it reads each byte three times at most.
    #[test]
    fn damaged_files_are_refused_or_good(
        original in texts(),
        flips in vec((any::<Index>(), any::<u8>()), 1..4),
        cut in proptest::option::of(any::<Index>()),
    ) {
        let mut bytes = binary(&original);
        for (at, with) in flips {
            let at = at.index(bytes.len());
            bytes[at] = with;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len() + 1)));
        let most = 3 * bytes.len() as u64;
        let file = Arc::new(Counted(bytes, AtomicU64::new(0)));
        let opened = Schedule::open(Arc::clone(&file) as Arc<dyn ReadAt>);
        prop_assert!(file.1.load(Ordering::Relaxed) <= most);
        if let Ok(schedule) = opened {
            for rank in 0..schedule.ranks() {
                walk(&schedule, rank, |ready| ready - 1);
            }
            binary(&text(&schedule));
        }
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(mut bytes in vec(any::<u8>(), 0..200), marked in any::<bool>()) {
        if marked && bytes.len() >= 12 {
            bytes[..8].copy_from_slice(&4223_u64.to_le_bytes());
            bytes[9..12].fill(0);
        }
        prop_assert!(open(&bytes).is_err());
    }
}
