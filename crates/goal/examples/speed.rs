//! Writes a large schedule, reads it in both forms, walks it to its end, and prints operations per second of processor time.
//!
//! `cargo run --release -p tailback-goal --example speed [millions of operations]`

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "it measures, and keeps large files on disk")]

use std::collections::VecDeque;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use cpu_time::ProcessTime;
use tailback_goal::{Front, ReadAt, Schedule, text_to_binary};

const RANKS: u32 = 64;

/// A file that is read at any place.
#[derive(Debug)]
struct OnDisk(File, u64);

impl ReadAt for OnDisk {
    fn len(&self) -> u64 {
        self.1
    }

    #[cfg(unix)]
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, bytes, offset)
    }

    #[cfg(not(unix))]
    fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let millions: u32 = std::env::args().nth(1).map_or(Ok(10), |millions| millions.parse())?;
    let folder = std::env::temp_dir().join(format!("tailback-goal-speed-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(&folder, millions * 1_000_000 / RANKS);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(folder: &Path, operations_each: u32) -> Result<(), Box<dyn Error>> {
    let (text, binary) = (folder.join("schedule.goal"), folder.join("schedule.bin"));
    write(&mut BufWriter::new(File::create(&text)?), operations_each)?;
    let start = ProcessTime::now();
    let summary = text_to_binary(BufReader::new(File::open(&text)?), &mut File::create(&binary)?)?;
    let text_bytes = fs::metadata(&text)?.len();
    println!("{} operations, {} requirements", summary.operations, summary.requirements);
    let mut all = 0.0;
    let mut say = |what: &str, seconds: f64| {
        all += seconds;
        println!("{what:<28} {seconds:5.2} s, {:6.2} million operations/s", summary.operations as f64 / seconds / 1e6);
    };
    say(&format!("text ({} MB) to binary", text_bytes / 1_000_000), start.elapsed().as_secs_f64());
    let start = ProcessTime::now();
    let file = File::open(&binary)?;
    let schedule = Schedule::open(Arc::new(OnDisk(file, summary.bytes)))?;
    say(&format!("check of binary ({} MB)", summary.bytes / 1_000_000), start.elapsed().as_secs_f64());
    let start = ProcessTime::now();
    walk(&schedule)?;
    say("walk through the fronts", start.elapsed().as_secs_f64());
    println!("{:<28} {all:5.2} s, {:6.2} million operations/s", "all of it", summary.operations as f64 / all / 1e6);
    Ok(())
}

/// Four chains in each rank, line by line in turn: each computes, sends and receives round a ring of ranks.
fn write(text: &mut impl Write, operations_each: u32) -> io::Result<()> {
    const CHAINS: u32 = 4;
    writeln!(text, "num_ranks {RANKS}")?;
    for rank in 0..RANKS {
        let (next, before) = ((rank + 1) % RANKS, (rank + RANKS - 1) % RANKS);
        writeln!(text, "rank {rank} {{")?;
        for operation in 0..operations_each {
            let (chain, step) = (operation % CHAINS, operation / CHAINS);
            match step % 3 {
                0 => writeln!(text, "l{operation}: calc {} cpu {chain}", 100 + step)?,
                1 => writeln!(text, "l{operation}: send 65536b to {next} tag {chain} cpu {chain}")?,
                _ => writeln!(text, "l{operation}: recv 65536b from {before} tag {chain} cpu {chain}")?,
            }
            if step > 0 {
                // A receive is posted as soon as its send has started.
                let word = if step % 3 == 2 { "irequires" } else { "requires" };
                writeln!(text, "l{operation} {word} l{}", operation - CHAINS)?;
            }
            // Now and then chains wait for each other.
            if step > 0 && operation % 64 == 0 {
                writeln!(text, "l{operation} requires l{}", operation - 1)?;
            }
        }
        writeln!(text, "}}")?;
    }
    text.flush()
}

/// Takes one operation of each rank in turn; all ends as soon as it has started.
fn walk(schedule: &Schedule) -> Result<(), Box<dyn Error>> {
    let mut ready = Vec::new();
    let mut fronts = Vec::new();
    for rank in 0..schedule.ranks() {
        let mut front = Front::new(schedule, rank);
        front.begin(schedule, &mut ready)?;
        fronts.push((front, ready.drain(..).collect::<VecDeque<_>>()));
    }
    let mut finished = 0;
    while finished < schedule.operations() {
        for (front, queue) in &mut fronts {
            let Some((operation, _)) = queue.pop_front() else { continue };
            front.started(operation, schedule, &mut ready)?;
            front.finished(operation, schedule, &mut ready)?;
            finished += 1;
            queue.extend(ready.drain(..));
        }
    }
    assert!(fronts.iter().all(|(front, _)| front.is_done()), "all ranks are done");
    Ok(())
}
