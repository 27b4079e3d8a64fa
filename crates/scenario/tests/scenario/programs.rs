//! Programs: what files they name, and what is said where that is wrong.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use tailback_scenario::{Bounds, Document, Files, ReadAt, Scenario};

/// Files that a test has in memory.
#[derive(Debug, Default)]
struct InMemory(BTreeMap<&'static str, &'static str>);

impl Files for InMemory {
    fn open(&self, name: &str) -> io::Result<Arc<dyn ReadAt>> {
        let text = self.0.get(name).ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        Ok(Arc::new(text.as_bytes().to_vec()))
    }
}

const NETWORK: &str = "routing = \"direct\"\n[topology.single-switch]\nnodes = 8\n[clock]\nflit = \"64 B\"\ncycle = \"1 ns\"\n[[program]]\n";

const PAIR: &str = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 5\n}\nrank 1 {\na: recv 8b from 0 tag 5\n}\n";

fn document(program: &str) -> Document {
    let files = BTreeMap::from([
        ("pair.goal", PAIR),
        ("same.goal", PAIR),
        ("bad.goal", "num_ranks 1\nrank 0 {\na: calc 5\nb requires c\n}\n"),
        ("list.csv", "time,source,destination,bytes\n0,0,1,64\n"),
        ("map.txt", "# by rank\n7\n\n2   # the second\n"),
        ("twice.txt", "3\n3\n"),
        ("words.txt", "3\nfour\n"),
    ]);
    Document::read("test.toml", &format!("{NETWORK}{program}\n")).with_files(Arc::new(InMemory(files)))
}

fn resolve(program: &str) -> Scenario {
    document(program).resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// What is said, without the place.
fn mistake(program: &str) -> String {
    let said = document(program).resolve().map(|scenario| scenario.text).expect_err("it is a mistake").to_string();
    let at = said.find(": ").expect("it has a place");
    said[at + 2..].to_owned()
}

/// An override of a figure takes the flows of its network away like this, to have a program alone.
#[test]
fn a_program_can_be_alone_where_flows_are_an_empty_list() {
    let (alone, network) = (resolve("collective = \"barrier\""), NETWORK.replace("[[program]]\n", ""));
    let nobody = |programs: &str| Document::read("test.toml", &format!("traffic = []\n{network}{programs}")).resolve();
    let emptied = nobody("[[program]]\ncollective = \"barrier\"\n").expect("it has no mistakes");
    assert_eq!((emptied.digest, emptied.workload.flows.len()), (alone.digest, 1));
    assert!(nobody("").expect_err("it is a mistake").to_string().contains("nobody sends anything"));
}

#[test]
fn what_is_in_a_file_counts_and_not_what_it_is_called() {
    let [pair, same] = ["goal = \"pair.goal\"", "goal = \"same.goal\""].map(resolve);
    assert_eq!(pair.digest, same.digest);
    assert_ne!(pair.text, same.text, "the text says which file it was");
    let inline = resolve(&format!("goal.text = \"\"\"\n{PAIR}\"\"\""));
    assert_ne!(inline.digest, pair.digest, "a text stands there as it is");
    // The resolved text is a scenario, whose files are still there, or are not.
    let again = Document::read("again.toml", &pair.text).with_files(Arc::new(InMemory([("pair.goal", PAIR)].into())));
    assert_eq!(again.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}")).text, pair.text);
    let other = "num_ranks 1\nrank 0 {\n}\n";
    let changed =
        Document::read("again.toml", &pair.text).with_files(Arc::new(InMemory([("pair.goal", other)].into())));
    let said = changed.resolve().expect_err("it has changed").to_string();
    assert!(said.contains("it is not what it was: its SHA-256 is "), "{said}");
}

#[test]
fn without_files_none_is_read() {
    let said =
        Document::read("test.toml", &format!("{NETWORK}goal = \"/etc/passwd\"\n")).resolve().expect_err("no files");
    let said = said.to_string();
    assert!(said.contains("cannot read /etc/passwd: a scenario that is sent here cannot name files"), "{said}");
}

#[test]
fn ranks_run_where_the_map_says() {
    let nodes = |program: &str| resolve(program).workload.flows[0].job.as_ref().expect("a program").nodes().to_vec();
    let barrier = "collective.barrier.nodes = [1, 3, 6]\n";
    assert_eq!(nodes(barrier), [1, 3, 6]);
    assert_eq!(nodes(&format!("{barrier}map = [6, 1, 3]")), [6, 1, 3]);
    assert_eq!(nodes("goal = \"pair.goal\"\nnodes = \"4..8\""), [4, 5], "the first of the nodes");
    assert_eq!(nodes("messages = \"list.csv\"\nmap = [7, 2]"), [7, 2]);
    assert_eq!(nodes("goal = \"pair.goal\"\nmap.file = \"map.txt\""), [7, 2]);
    assert_eq!(nodes("goal = \"pair.goal\"\nmap.text = \"7\\n2\""), [7, 2]);
    // The last node has fewer where it does not come out even.
    let five = "goal.text = \"\"\"\nnum_ranks 5\nrank 0 {\n}\nrank 1 {\n}\nrank 2 {\n}\nrank 3 {\n}\nrank 4 {\n}\n\"\"\"\nranks_per_node = 2\n";
    assert_eq!(nodes(five), [0, 0, 1, 1, 2]);
    assert_eq!(nodes(&format!("{five}nodes = [1, 4, 6]\nmap = \"round-robin\"")), [1, 4, 6, 1, 4]);
    assert_eq!(nodes(&format!("{five}map = [3, 1, 1, 3, 0]")), [3, 1, 1, 3, 0]);
    assert_eq!(nodes(&format!("{barrier}ranks_per_node = 3")), [1, 1, 1, 3, 3, 3, 6, 6, 6]);
    let several = nodes("collective.barrier = {}\nmap = \"random\"\nranks_per_node = 2");
    let drawn = nodes("collective.barrier = {}\nmap = \"random\"");
    assert_ne!(drawn, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(nodes("collective.barrier = {}\nmap = \"random\""), drawn);
    assert_eq!(several, drawn.iter().flat_map(|&node| [node, node]).collect::<Vec<_>>());
}

#[test]
fn bad_programs_are_told_with_what_would_do() {
    let cases = [
        ("", "this program does nothing: it has neither `collective` nor `goal` nor `messages`"),
        ("goal = \"pair.goal\"\ncollective = \"barrier\"", "`goal` says again what this program does"),
        ("goal = \"none.goal\"", "cannot read none.goal: entity not found"),
        ("goal = \"bad.goal\"", "bad.goal: line 4 (rank 0): no operation of this rank has the label `b`"),
        ("goal = \"pair.goal\"\nmap.file = \"none.txt\"", "cannot read none.txt: entity not found"),
        ("goal = \"pair.goal\"\nmap.file = \"words.txt\"", "words.txt: line 2: \"four\" is no node"),
        ("goal = \"pair.goal\"\nmap.file = \"twice.txt\"", "node 3 would run 2 ranks, `ranks_per_node` is 1"),
        ("goal = \"pair.goal\"\nmap.text = \"3\"", "there are 1 nodes in the list for 2 ranks"),
        ("goal = 3", "`program.goal` is the name of a file, or a table with either `file` or `text`, not "),
        ("goal = {}", "`program.goal` is the name of a file, or a table with either `file` or `text`, not "),
        ("goal = \"pair.goal\"\nnodes = [2]", "the schedule has 2 ranks, for which there are 1 nodes"),
        ("goal = \"pair.goal\"\nmap = [3]", "there are 1 nodes in the list for 2 ranks"),
        ("goal = \"pair.goal\"\nmap = [3, 3]", "node 3 would run 2 ranks, `ranks_per_node` is 1"),
        ("goal = \"pair.goal\"\nmap = [3, 9]", "node 9 does not take part"),
        ("goal = \"pair.goal\"\nranks_per_node = 0", "`program.ranks_per_node` = 0 is outside 1 to 256"),
        ("goal = \"pair.goal\"\nranks_per_node = 257", "`program.ranks_per_node` = 257 is outside 1 to 256"),
        (
            "messages.text = \"time,source,destination,flits\\n0,1,16,1\\n\"\nranks_per_node = 2",
            "the text: line 2: \"16\" is no rank: the nodes run 16",
        ),
        (
            "goal.text = \"num_ranks 3\\nrank 0 {\\n}\\nrank 1 {\\n}\\nrank 2 {\\n}\\n\"\nnodes = [4]\nranks_per_node = 2",
            "the schedule has 3 ranks, for which there are 1 nodes of 2 each",
        ),
        (
            "goal = \"pair.goal\"\nranks_per_node = 2\nlocal_rate = -1",
            "`program.local_rate` = -1 is outside 0 to 1000000000",
        ),
        ("goal = \"pair.goal\"\nrepeat = 2", "unknown key `repeat` in [program]"),
        ("collective = \"barier\"", "unknown collective \"barier\""),
        ("collective.allreduce-ring = { nodes = [1, 2] }", "`program.collective.allreduce-ring.bytes` is missing"),
        (
            "collective.broadcast = { nodes = [1, 2], bytes = 1, root = 2 }",
            "rank 2 does not exist: there are ranks 0..=1",
        ),
        (
            "messages.text = \"time,source\\n\"",
            "the text: line 1: there must be either a column \"bytes\" or a column \"flits\"",
        ),
        (
            "messages.text = \"time,source,destination,size\\n\"",
            "the text: line 1: a list of messages has no column \"size\"",
        ),
        ("messages.text = \"time,source,destination,flits\\n\"", "there is no message in the list"),
        (
            "messages.text = \"time,source,destination,flits\\n0,1,1,1\\n\"",
            "the text: line 2: rank 1 would send to itself",
        ),
        (
            "messages.text = \"time,source,destination,flits\\n0,1,8,1\\n\"",
            "the text: line 2: \"8\" is no rank: the nodes run 8",
        ),
        (
            "messages.text = \"time,source,destination,flits\\n0,1,2\\n\"",
            "the text: line 2: it has 3 fields, the header has 4",
        ),
        // Comments and empty lines are lines as well, and lines may end as on Windows.
        (
            "messages.text = \"time,source,destination,flits\\n0,1,2,1\\n# later\\n\\n0,1,8,1\\n\"",
            "the text: line 5: \"8\" is no rank: the nodes run 8",
        ),
        (
            "messages.text = \"time,source,destination,flits\\r\\n# all\\r\\n\\r\\n0,1,2\\r\\n\"",
            "the text: line 4: it has 3 fields, the header has 4",
        ),
        (
            "messages.text = \"# all\\n\\ntime,source,destination,size\\n\"",
            "the text: line 3: a list of messages has no column \"size\"",
        ),
        (
            "messages.text = \"time,source,destination,flits,time\\n0,1,2,1,5\\n\"",
            "the text: line 1: two columns are named \"time\"",
        ),
        ("messages.text = \"time,source,destination,flits\\nsoon,1,2,1\\n\"", "the text: line 2: "),
        (
            "messages.text = \"time,source,destination,flits\\n0,1,2,0\\n\"",
            "the text: line 2: a message has 1 to 268435456 flits, not 0",
        ),
    ];
    let others: Vec<String> = cases
        .into_iter()
        .filter_map(|(program, expected)| {
            let said = mistake(program);
            (!said.starts_with(expected)).then(|| format!("{program}\nsays {said}\nnot  {expected}"))
        })
        .collect();
    assert!(others.is_empty(), "{}", others.join("\n\n"));
}

#[test]
fn bytes_and_nanoseconds_need_a_clock() {
    let text = NETWORK.replace("flit = \"64 B\"\ncycle = \"1 ns\"\n", "") + "goal = \"pair.goal\"\n";
    let files = Arc::new(InMemory([("pair.goal", PAIR)].into()));
    let said = Document::read("test.toml", &text).with_files(files).resolve().expect_err("no clock").to_string();
    assert!(said.contains("a schedule counts bytes and nanoseconds, and it is not known what they are here"), "{said}");
}

#[test]
fn messages_are_written_down_of_what_ends() {
    let text = NETWORK.replace("[[program]]\n", "[[traffic]]\nload = 0.1\n[measure]\nmessages = true\n");
    let said = Document::read("test.toml", &text).resolve().expect_err("it never ends").to_string();
    assert!(said.contains("no flow ever ends, so no message is written down"), "{said}");
    let many = text.replace("load = 0.1", "load = 0.1\ncount = 4000000");
    let said = Document::read("test.toml", &many).resolve().expect_err("they are too many").to_string();
    assert!(said.contains("32000000 messages would be written down, the limit is 16777216"), "{said}");
}

#[test]
fn what_ends_when_all_is_done_may_be_a_program_alone() {
    let scenario = resolve("collective = \"barrier\"\n[measure]\nuntil = \"drained\"");
    assert!(scenario.measure.until_drained && scenario.workload.flows[0].messages() == Some(24));
}

/// A file that is no text.
#[derive(Debug)]
struct Single(Vec<u8>);

impl Files for Single {
    fn open(&self, _: &str) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(self.0.clone()))
    }
}

fn of_file(content: &[u8]) -> Document {
    let files = Arc::new(Single(content.to_vec()));
    Document::read("test.toml", &format!("{NETWORK}messages = \"list\"\n")).with_files(files)
}

/// A list of messages in Parquet; each column has values of one of the types.
fn parquet(schema: &str, columns: &[Column]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("it is a schema"));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).expect("it can be written");
    let mut group = writer.next_row_group().expect("it can be written");
    for column in columns {
        let mut writer = group.next_column().expect("it can be written").expect("the schema has it");
        match column {
            Column::Whole(values) => writer.typed::<Int32Type>().write_batch(values, None, None),
            Column::Numbers(values) => writer.typed::<DoubleType>().write_batch(values, None, None),
            Column::Texts(values) => {
                let values: Vec<ByteArray> = values.iter().map(|&text| text.into()).collect();
                writer.typed::<ByteArrayType>().write_batch(&values, None, None)
            }
        }
        .expect("it can be written");
        writer.close().expect("it can be written");
    }
    group.close().expect("it can be written");
    writer.into_inner().expect("it can be written")
}

enum Column {
    Whole(&'static [i32]),
    Numbers(&'static [f64]),
    Texts(&'static [&'static str]),
}

const SCHEMA: &str = "message m { REQUIRED DOUBLE time; REQUIRED INT32 source; REQUIRED INT32 destination;
    REQUIRED BYTE_ARRAY bytes (UTF8); }";

fn good() -> Vec<u8> {
    let columns = [
        Column::Numbers(&[0.0, 50.0, 7.5]),
        Column::Whole(&[0, 1, 2]),
        Column::Whole(&[1, 0, 7]),
        Column::Texts(&["64", "1 KiB", "640"]),
    ];
    parquet(SCHEMA, &columns)
}

#[test]
fn lists_in_parquet_are_those_of_text() {
    let text = "time,source,destination,bytes\n0,0,1,64\n50,1,0,1 KiB\n7.5,2,7,640\n";
    let [text, parquet] = [text.as_bytes(), &good()].map(|content| {
        let scenario = of_file(content).resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        format!("{:?}", scenario.workload.flows)
    });
    assert_eq!(text, parquet);
    // How much there is in it is known before any of it is read.
    let bounds = Bounds { text_bytes: 47, ..Bounds::default() };
    let said = of_file(&good()).within(bounds).resolve().expect_err("it is too large").to_string();
    assert!(said.contains("list: it has 3 rows, the limit is 2"), "{said}");
}

#[test]
fn mistakes_in_parquet_name_the_row() {
    let schema =
        "message m { REQUIRED INT32 time; REQUIRED INT32 source; REQUIRED INT32 destination; REQUIRED INT32 flits; }";
    let column = || Column::Whole(&[0, 3]);
    let far = parquet(schema, &[column(), column(), Column::Whole(&[1, 8]), Column::Whole(&[1, 1])]);
    let other = parquet(&schema.replace("flits", "size"), &[column(), column(), column(), column()]);
    let flags = parquet(&schema.replace("INT32 time", "INT32 time (DATE)"), &[column(), column(), column(), column()]);
    for (content, expected) in [
        (far, "list: row 2: \"8\" is no rank: the nodes run 8"),
        (other, "list: a list of messages has no column \"size\""),
        (flags, "list: row 1: in the column \"time\" are neither numbers nor texts"),
        (b"PAR1".to_vec(), "list: "),
    ] {
        let said = of_file(&content).resolve().expect_err("it is a mistake").to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_changed_byte_in_parquet_is_read_or_refused() {
    let good = good();
    let bounds = Bounds { text_bytes: 1 << 20, ..Bounds::default() };
    for place in 4..good.len() {
        for change in [0x01, 0x10, 0x80, 0xff] {
            let mut changed = good.clone();
            changed[place] ^= change;
            // A value may be another one now: what counts is that there is an answer.
            drop(of_file(&changed).within(bounds).resolve());
        }
    }
}

#[test]
fn a_page_that_would_take_too_much_is_refused() {
    let mut content = good();
    // The first page follows the mark of the file: its kind, and the bytes that it has unpacked.
    assert_eq!((content[4], content[6], content[7] & 0x80), (0x15, 0x15, 0), "the page is as small as the test needs");
    let most = [0xfe, 0xff, 0xff, 0xff, 0x0f];
    content.splice(7..8, most);
    let said = of_file(&content).resolve().expect_err("it would take 2 GiB").to_string();
    assert!(said.contains("a page would take 2147483647 bytes, and all of them together have "), "{said}");
}

proptest! {
    /// Whatever a file holds that begins like one in Parquet, it is read or refused.
    #[test]
    fn damaged_parquet_is_read_or_refused(changes in prop::collection::vec((4usize..1200, any::<u8>()), 1..6), cut in 0usize..1500) {
        let mut content = good();
        let length = content.len();
        for (place, byte) in changes {
            content[4 + (place - 4) % (length - 4)] = byte;
        }
        if cut < length {
            content.truncate(cut.max(4));
        }
        let bounds = Bounds { text_bytes: 1 << 20, ..Bounds::default() };
        drop(of_file(&content).within(bounds).resolve());
    }
}
