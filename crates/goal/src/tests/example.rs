//! The smallest schedule with everything, byte by byte.

use std::io::{Cursor, Seek, Write};
use std::sync::Arc;

use super::{binary, convert, open, operations, schedule, text, walk};
use crate::{BinaryError, Cache, Kind, Operation, RankCounts, ReadAt, Schedule, Summary, text_to_binary};

const TEXT: &str = "\
num_ranks 2
rank 0 {
a: calc 100
b: send 8b to 1 tag 5
b requires a
}
rank 1 {
c: recv 8b from 0 tag 5
}
";

#[rustfmt::skip]
const BINARY: [u8; 191] = [
    // 0: the mark 4223, 2 ranks, largest cpu 0, largest nic 0.
    0x7f, 0x10, 0, 0, 0, 0, 0, 0,  2, 0, 0, 0,  0,  0,
    // 14: the ranks lie from 38 to 132 and from 132 to 183, counted from behind the mark.
    38, 0, 0, 0, 0, 0, 0, 0,  132, 0, 0, 0, 0, 0, 0, 0,
    132, 0, 0, 0, 0, 0, 0, 0,  183, 0, 0, 0, 0, 0, 0, 0,
    // 46: rank 0 has 2 operations, 1 root: operation 0.
    2, 0, 0, 0,  1, 0, 0, 0,  0, 0, 0, 0,
    // 58: waits for none, computes, no peer, 100 ns, no tag, cpu 0, nic 0; 1 requires it, from edge 0 on; 0 irequire it.
    0, 0, 0, 0,  3,  0, 0, 0, 0,  100, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0,  0,  0,
    1, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,  1, 0, 0, 0,
    // 97: waits for 1, sends, to 1, 8 bytes, tag 5, cpu 0, nic 0; nothing waits for it.
    1, 0, 0, 0,  1,  1, 0, 0, 0,  8, 0, 0, 0, 0, 0, 0, 0,  5, 0, 0, 0,  0,  0,
    0, 0, 0, 0,  1, 0, 0, 0,  0, 0, 0, 0,  1, 0, 0, 0,
    // 136: the edge: operation 1.
    1, 0, 0, 0,
    // 140: rank 1 has 1 operation, 1 root: operation 0.
    1, 0, 0, 0,  1, 0, 0, 0,  0, 0, 0, 0,
    // 152: waits for none, receives, from 0, 8 bytes, tag 5, cpu 0, nic 0; nothing waits for it.
    0, 0, 0, 0,  2,  0, 0, 0, 0,  8, 0, 0, 0, 0, 0, 0, 0,  5, 0, 0, 0,  0,  0,
    0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,
];

#[test]
fn the_text_becomes_these_bytes() {
    let (bytes, summary) = convert(TEXT).expect("a good text");
    assert_eq!(bytes, BINARY);
    let counts = Summary { ranks: 2, operations: 3, sends: 1, requirements: 1, bytes: 191, ..Summary::default() };
    assert_eq!(summary, counts);
}

#[test]
fn the_bytes_are_what_the_text_says() {
    let schedule = open(&BINARY).expect("a good file");
    assert_eq!((schedule.ranks(), schedule.operations(), schedule.sends(), schedule.requirements()), (2, 3, 1, 1));
    assert_eq!((schedule.bytes_max(), schedule.largest_cpu(), schedule.largest_nic()), (8, 0, 0));
    let counts = RankCounts { operations: 2, roots: 1, sends: 1, receives: 0, requirements: 1 };
    assert_eq!(schedule.counts(0), counts);
    assert_eq!(schedule.counts(1), RankCounts { operations: 1, roots: 1, sends: 0, receives: 1, requirements: 0 });
    let plain = |kind| Operation { kind, cpu: 0, nic: 0 };
    let send = Kind::Send { to: 1, size: 8, tag: Some(5) };
    assert_eq!(operations(&schedule, 0), [plain(Kind::Calc { nanoseconds: 100 }), plain(send)]);
    assert_eq!(operations(&schedule, 1), [plain(Kind::Receive { from: Some(0), size: 8, tag: Some(5) })]);
    assert_eq!(walk(&schedule, 0, |_| 0), [0, 1]);
    assert_eq!(schedule.roots(0).expect("readable"), [0]);
}

#[test]
fn the_text_comes_back_with_other_labels() {
    let schedule = open(&BINARY).expect("a good file");
    let expected = "num_ranks 2\n\nrank 0 {\nl0: calc 100\nl1: send 8b to 1 tag 5\nl1 requires l0\n}\n\n\
                    rank 1 {\nl0: recv 8b from 0 tag 5\n}\n";
    assert_eq!(text(&schedule), expected);
    assert_eq!(binary(expected), BINARY);
}

#[test]
fn what_is_not_there_is_no_panic() {
    let schedule = schedule(TEXT);
    let missing = |rank, index| schedule.operation(rank, index, &mut Cache::default()).expect_err("not there");
    assert_eq!(missing(0, 2).to_string(), "rank 0 has no operation 2");
    assert_eq!(missing(2, 0).to_string(), "rank 2 has no operation 0");
    assert!(matches!(schedule.roots(2), Err(BinaryError::NoSuchOperation { rank: 2, .. })));
    assert!(schedule.visit_operations(2, |_, _| unreachable!("no such rank")).is_err());
}

#[test]
fn bytes_in_memory_are_read_at_any_place() {
    let shared: Arc<[u8]> = BINARY.into();
    assert!(!shared.is_empty() && Vec::<u8>::new().is_empty());
    let mut four = [0; 4];
    ReadAt::read_exact_at(&shared, &mut four, 136).expect("it is there");
    assert_eq!(four, [1, 0, 0, 0]);
    assert!(ReadAt::read_exact_at(&shared, &mut four, 188).is_err());
    assert!(ReadAt::read_exact_at(&BINARY.to_vec(), &mut four, u64::MAX).is_err());
    assert_eq!(Schedule::open(Arc::new(shared)).expect("a good file").operations(), 3);
}

#[test]
fn the_binary_form_is_written_from_where_the_writer_stands() {
    let mut place = Cursor::new(Vec::new());
    place.write_all(b"before").expect("memory");
    text_to_binary(TEXT.as_bytes(), &mut place).expect("a good text");
    place.write_all(b"behind").expect("memory");
    assert_eq!(place.stream_position().expect("memory"), 6 + 191 + 6);
    let bytes = place.into_inner();
    assert_eq!((&bytes[..6], &bytes[6..197], &bytes[197..]), (&b"before"[..], &BINARY[..], &b"behind"[..]));
}
