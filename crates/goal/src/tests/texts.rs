//! What a text may say, and what it is told when it says something else.

use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};

use super::{binary, convert, operations, schedule};
use crate::gather::Limits;
use crate::text::convert as convert_within;
use crate::{Kind, LINE_BYTES_MAX, Operation, text_to_binary};

/// What is wrong with a text.
fn error(text: &str) -> String {
    convert(text).expect_err("a bad text").to_string()
}

/// What is wrong with the third line, the first in rank 0 of 4.
fn statement_error(statement: &str) -> String {
    let error = error(&format!("num_ranks 4\nrank 0 {{\n{statement}\n}}\nrank 1 {{}} rank 2 {{}} rank 3 {{}}\n"));
    error.strip_prefix("line 3 (rank 0): ").unwrap_or_else(|| panic!("another line: {error}")).to_owned()
}

/// The only operation of rank 0 of 4.
fn operation(statement: &str) -> Operation {
    let text = format!("num_ranks 4\nrank 0 {{\n{statement}\n}}\nrank 1 {{}} rank 2 {{}} rank 3 {{}}\n");
    let operations = operations(&schedule(&text), 0);
    assert_eq!(operations.len(), 1);
    operations[0]
}

#[test]
fn each_operation_has_its_options() {
    let send = |size, tag| Kind::Send { to: 3, size, tag };
    let of = |kind, cpu, nic| Operation { kind, cpu, nic };
    assert_eq!(operation("send 8b to 3"), of(send(8, Some(0)), 0, 0));
    assert_eq!(operation("a: send 8b to 3 tag 7 cpu 1 nic 2"), of(send(8, Some(7)), 1, 2));
    assert_eq!(operation("send 8b to 3 cpu 255 nic 255"), of(send(8, Some(0)), 255, 255));
    assert_eq!(operation("send 8b to 3 nic 2"), of(send(8, Some(0)), 0, 2));
    assert_eq!(operation("send 8b to 3 tag -1"), of(send(8, None), 0, 0));
    assert_eq!(
        operation("send 18446744073709551615b to 3 tag 4294967294"),
        of(send(u64::MAX, Some(u32::MAX - 1)), 0, 0)
    );
    let receive = |from, tag| Kind::Receive { from, size: 0, tag };
    assert_eq!(operation("recv 0b from -1 tag -1 cpu 3"), of(receive(None, None), 3, 0));
    assert_eq!(operation("recv 0b from 0 tag 4294967295"), of(receive(Some(0), None), 0, 0));
    assert_eq!(operation("calc 12 cpu 9"), of(Kind::Calc { nanoseconds: 12 }, 9, 0));
    assert_eq!(operation("calc 007"), of(Kind::Calc { nanoseconds: 7 }, 0, 0));
}

#[test]
fn blanks_are_optional_where_words_cannot_merge() {
    let long = operation("a : send 8 b to 3 tag 7 cpu 1 nic 2");
    assert_eq!(operation("a:send 8bto3tag7cpu1nic2"), long);
    assert_eq!(operation("\ta :\tsend\t8 \t bto 3  tag7 cpu1\tnic2  \t"), long);
    assert_eq!(operation("a:recv8bfrom-1tag-1").kind, Kind::Receive { from: None, size: 8, tag: None });
    assert_eq!(operation("a:calc5cpu1").cpu, 1);
    // Without a label in front the two are one word, which is a label.
    assert_eq!(
        statement_error("calc5"),
        "expected `:`, `requires` or `irequires` behind a label, found the end of the line"
    );
    assert_eq!(
        binary("num_ranks 1 rank 0{a:calc 1\nb:calc 1\nb requiresa\n}"),
        binary("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nb requires a\n}\n")
    );
}

#[test]
fn longer_words_that_begin_like_an_operation_are_labels() {
    for label in ["calc1", "sender", "recv_", "ranks", "num_ranks2", "requires", "to", "cpu", "A_9"] {
        assert_eq!(operation(&format!("{label}: calc 1")).kind, Kind::Calc { nanoseconds: 1 });
    }
    for reserved in ["send", "recv", "calc"] {
        let error = statement_error(&format!("{reserved}: calc 1"));
        assert!(error.ends_with("found `:`"), "{error}");
    }
    assert_eq!(statement_error("1a: calc 1"), "expected an operation, a label, a comment or `}`, found `1a`");
    assert_eq!(statement_error("_a: calc 1"), "expected an operation, a label, a comment or `}`, found `_a`");
    assert_eq!(
        binary("num_ranks 1\nrank 0 {\nrequires: calc 1\nb: calc 2\nb requires requires\n}"),
        binary("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nb requires a\n}")
    );
}

#[test]
fn comments_stand_where_a_statement_may_begin() {
    let plain = binary("num_ranks 2\nrank 0 {\na: calc 5\n}\nrank 1 {\n}\n");
    let texts = [
        "// first\n/* two\nlines */ num_ranks 2 // ranks\n/**/ rank 0 { // zero\n  // a\n/* b */ /* c */ a: calc 5\n/* d\n*/ } // e\nrank 1 {}",
        "num_ranks 2\r\n\r\nrank 0 {\r\n\ta: calc 5\r\n} rank 1 { /*/ } /* */ }\r",
        "num_ranks 2 rank 0 { a: calc 5 \n}\nrank 1 { // *\n// }\n}// the end",
    ];
    for text in texts {
        assert_eq!(binary(text), plain, "{text}");
    }
    for behind in
        ["a: calc 5 // x", "a: calc 5 /* x */", "send 8b to 1//x", "recv 8b from 1 tag 4 /*", "calc 5 cpu 1 //"]
    {
        assert_eq!(statement_error(behind), "a comment stands behind a statement: give it a line of its own");
    }
    let behind = error("num_ranks 1\nrank 0 {\na: calc 1\na requires a // x\n}");
    assert_eq!(behind, "line 4 (rank 0): a comment stands behind a statement: give it a line of its own");
}

#[test]
fn labels_are_of_their_rank_and_defined_before_use() {
    let rank = |body: &str| format!("num_ranks 2\nrank 0 {{\na: calc 1\n}}\nrank 1 {{\n{body}\n}}\n");
    assert_eq!(error(&rank("b: calc 1\nb requires a")), "line 7 (rank 1): no operation of this rank has the label `a`");
    let before = "line 6 (rank 1): the label `b` is used before its definition in line 9: move this line behind it";
    assert_eq!(error(&rank("b requires c\n// b: calc 1\n/* b: calc 1 */ c: calc 2\nb : calc 1")), before);
    assert_eq!(
        error(&rank("a: calc 1\na irequires b\n/*\nb: calc 1\n*/")),
        "line 7 (rank 1): no operation of this rank has the label `b`"
    );
    assert_eq!(
        error(&rank("a: calc 1\na requires b\n}\nb: calc 3")),
        "line 7 (rank 1): no operation of this rank has the label `b`"
    );
    convert(&rank("a: calc 1\nb: calc 1\nb requires a")).expect("the same label in two ranks");
}

#[test]
fn a_second_definition_of_a_label_is_ignored() {
    let twice = "num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\nb: calc 3\nb requires a\n}\n";
    let once = "num_ranks 1\nrank 0 {\na: calc 1\ncalc 2\nb: calc 3\nb requires a\n}\n";
    assert_eq!(binary(twice), binary(once));
    assert_eq!(schedule(twice).roots(0).expect("readable"), [0, 1]);
}

#[test]
fn what_follows_the_last_rank_is_ignored() {
    let text = "num_ranks 1\nrank 0 {\ncalc 1\n} this is no GOAL\nrank 7 {";
    assert_eq!(binary(text), binary("num_ranks 1 rank 0 {\ncalc 1\n}"));
}

#[test]
fn an_operation_may_wait_for_a_later_one_but_not_for_itself() {
    let good = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\n}";
    assert_eq!(schedule(good).roots(0).expect("readable"), [1]);
    let circle = |body: &str| {
        error(&format!("num_ranks 1\nrank 0 {{\na: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\n{body}\n}}\n"))
    };
    assert_eq!(
        circle("b requires b"),
        "line 8 (rank 0): the operation `b` waits, by way of others or at once, for itself"
    );
    assert!(circle("c irequires c").contains("the operation `c` waits"));
    // `a` and `d` only wait for the circle, and are not blamed.
    let long = circle("a requires b\nb requires c\nc irequires b\nd requires a");
    assert!(long.contains("`b` waits") || long.contains("`c` waits"), "{long}");
}

#[test]
fn each_mistake_in_a_statement_is_named() {
    let table = [
        ("send 8b to 4", "there is no rank 4: the last one is 3"),
        ("recv 8b from 4294967295", "there is no rank 4294967295: the last one is 3"),
        ("recv 8b from 4294967296", "the number of the other rank does not fit: the largest is 4294967295"),
        ("send 8b to -1", "expected the number of the other rank, found `-1`"),
        ("send 8b from 1", "expected `to`, found `from`"),
        ("recv 8b to 1", "expected `from`, found `to`"),
        ("send 8 to 1", "expected `b` behind the number of bytes, found `to`"),
        ("send b to 1", "expected the number of bytes, found `b`"),
        ("send 18446744073709551616b to 1", "the number of bytes does not fit: the largest is 18446744073709551615"),
        ("send 8b to 1 tag 4294967296", "the tag does not fit: the largest is 4294967295"),
        ("send 8b to 1 tag -2", "expected the tag, found `-2`"),
        ("send 8b to 1 cpu 256", "the number of the cpu does not fit: the largest is 255"),
        ("send 8b to 1 nic 256", "the number of the nic does not fit: the largest is 255"),
        ("send 8b to 1 nic 1 cpu 1", "expected the end of the line, found `cpu`"),
        ("send 8b to 1 cpu 1 tag 1", "expected `nic` or the end of the line, found `tag`"),
        ("send 8b to 1 tag 1 tag 1", "expected `cpu`, `nic` or the end of the line, found `tag`"),
        ("calc 5 nic 1", "expected `cpu` or the end of the line, found `nic`"),
        ("calc 5 }", "expected `cpu` or the end of the line, found `}`"),
        ("calc -5", "expected the number of nanoseconds, found `-5`"),
        ("calc", "expected the number of nanoseconds, found the end of the line"),
        ("calc 5\rcalc 6", "expected `cpu` or the end of the line, found a carriage return without a line feed"),
        ("a: b: calc 5", "expected `send`, `recv` or `calc`, found `b`"),
        ("a needs b", "expected `:`, `requires` or `irequires` behind a label, found `needs`"),
        ("a requires 5", "expected the label of an operation, found `5`"),
        ("a requires b c", "expected the end of the line, found `c`"),
        ("a requires", "expected the label of an operation, found the end of the line"),
        ("rank 1 {", "a rank begins inside a rank: close the one before it with `}`"),
        ("num_ranks 4", "the number of ranks is declared a second time: leave one of them"),
        ("{", "expected an operation, a label, a comment or `}`, found `{`"),
        ("\u{e4}: calc 1", "expected an operation, a label, a comment or `}`, found `\\xc3\\xa4`"),
    ];
    for (statement, expected) in table {
        assert_eq!(statement_error(statement), expected, "{statement}");
    }
}

#[test]
fn each_mistake_around_ranks_is_named() {
    let table = [
        ("", "line 1: the number of ranks is not known yet: begin with `num_ranks`"),
        ("\n\n", "line 2: the number of ranks is not known yet: begin with `num_ranks`"),
        ("rank 0 {\n}", "line 1: the number of ranks is not known yet: begin with `num_ranks`"),
        ("calc 5", "line 1: expected `num_ranks`, found `calc`"),
        ("num_ranks 1\ncalc 5", "line 2: expected `rank`, found `calc`"),
        ("num_ranks 1\n}", "line 2: expected `rank`, found `}`"),
        ("num_ranks", "line 1: expected the number of ranks, found the end of the text"),
        ("num_ranks 0", "line 1: 0 ranks are declared: a schedule has 1 to 16777216"),
        ("num_ranks 16777217", "line 1: 16777217 ranks are declared: a schedule has 1 to 16777216"),
        (
            "num_ranks 99999999999999999999",
            "line 1: the number of ranks does not fit: the largest is 18446744073709551615",
        ),
        ("num_ranks 1\nnum_ranks 1", "line 2: the number of ranks is declared a second time: leave one of them"),
        ("num_ranks 2\nrank 1 {\n}", "line 2: rank 1 is out of order: rank 0 is next"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}", "line 4: rank 0 is out of order: rank 1 is next"),
        ("num_ranks 2\nrank 0 {\n}\nrank 2 {\n}", "line 4: rank 2 is out of order: rank 1 is next"),
        ("num_ranks 1\nrank 0\n{\n}", "line 2: expected `{`, found the end of the line"),
        ("num_ranks 1\nrank 0 {\ncalc 1\n", "line 3 (rank 0): the text ends inside the rank: close it with `}`"),
        ("num_ranks 1\nrank 0 {\ncalc 1", "line 3 (rank 0): the text ends inside the rank: close it with `}`"),
        ("num_ranks 2\nrank 0 {\n}\n", "line 3: the text ends before rank 1: 2 ranks are declared"),
        (
            "num_ranks 1\nrank 0 {\n/* calc 1\n}\n",
            "line 4 (rank 0): the text ends inside a comment: close it with `*/`",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn limits_hold() {
    let within = |text: &str| {
        let limits = Limits { operations: 2, requirements: 1, ..Limits::FORMAT };
        convert_within(text.as_bytes(), &mut Cursor::new(Vec::new()), limits).map_err(|error| error.to_string())
    };
    let rank = |body: &str| format!("num_ranks 2\nrank 0 {{\n{body}\n}}\nrank 1 {{\n{body}\n}}\n");
    within(&rank("a: calc 1\nb: calc 1\nb requires a")).expect("as many as may be, in each rank");
    let many = within(&rank("calc 1\ncalc 1\ncalc 1"));
    assert_eq!(many, Err("line 5 (rank 0): the rank has more than 2 operations".to_owned()));
    let many = within(&rank("a: calc 1\nb: calc 1\nb requires a\nb irequires a"));
    assert_eq!(many, Err("line 6 (rank 0): the rank has more than 1 requirements".to_owned()));
    let line = |bytes: usize| format!("num_ranks 1 {}\nrank 0 {{}}", " ".repeat(bytes - "num_ranks 1 \n".len()));
    convert(&line(LINE_BYTES_MAX)).expect("as long as may be");
    assert_eq!(error(&line(LINE_BYTES_MAX + 1)), "line 1: the line has more than 1048576 bytes: break it");
}

/// Fails at once.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }
}

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("broken"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Broken {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn broken_readers_and_writers_are_named() {
    let unread = text_to_binary(BufReader::new(Broken), &mut Cursor::new(Vec::new()));
    assert_eq!(unread.expect_err("broken").to_string(), "line 1: the text cannot be read: broken");
    let unwritten = text_to_binary(&b"num_ranks 1\nrank 0 {}"[..], &mut Broken);
    assert_eq!(unwritten.expect_err("broken").to_string(), "line 2: the binary form cannot be written: broken");
}
