//! `tailback check`: the resolved scenario, its digest, and what it would take.

mod points;

use serde::Serialize;
use tailback_scenario::Clock;
use tailback_sim::RankPlan;

use crate::arguments::{CheckArguments, Format};
use crate::complaint::Complaint;
use crate::input;
use crate::output::{count, mebibytes, say_line};
use crate::rendering::Notes;
use points::Points;

/// What `check --format json` prints.
#[derive(Serialize)]
struct Checked<'a> {
    scenario_digest: &'a str,
    nodes: u32,
    routers: u32,
    links: u64,
    regions: u32,
    lookahead_cycles: Option<f64>,
    microarchitecture: &'static str,
    memory_bytes: u64,
    /// What each process would have, if several are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranks: Vec<Rank>,
    /// Messages that wait at their sources, if the network takes none of them, and whether a limit of queues bounds that.
    backlog_bytes_max: u64,
    backlog_limited: bool,
    sweep_points: usize,
    /// How many points of its sweep were checked, and how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_points: Option<Points>,
    /// How long a link cycle is and what a link carries, as far as that is known.
    clock: Option<String>,
    deadlock_freedom: String,
    /// What is written down of links over time, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    links_over_time: Option<LinkRows>,
    /// What its author may not have meant.
    cautions: Vec<String>,
    resolved: &'a str,
}

/// The series of links.
#[derive(Serialize)]
struct LinkRows {
    /// What has a row.
    row_of: &'static str,
    rows_at_once: u64,
    instants: u64,
}

/// What a process of several would have to simulate.
#[derive(Serialize)]
struct Rank {
    /// The first region, and how many.
    first_region: usize,
    regions: usize,
    /// Of all ports that packets go through.
    work: f64,
    /// It holds its share of the network.
    memory_bytes: u64,
    /// What it sends the others in a window, about, and if all links to them are busy.
    mail_bytes: u64,
    mail_bytes_max: u64,
}

/// Runs the command.
pub fn run(arguments: &CheckArguments) -> Result<(), Complaint> {
    let document = input::document(&arguments.scenario)?;
    let mut notes = Notes::default();
    let scenario = document.resolve()?;
    notes.tell(&scenario.notes);
    let sweep = document.sweep()?;
    let checked_points = points::check(&document, &sweep, &mut notes)?;
    // A process of several has one thread, unless more are asked for.
    let (ranks, threads) = match arguments.ranks {
        Some(ranks) => (ranks as usize, scenario.execution.threads.unwrap_or(1) as usize),
        None => (1, input::threads(&scenario)),
    };
    let plan = input::plan(&scenario, ranks * threads.max(1))?;
    let rank = |rank: RankPlan| Rank {
        first_region: rank.regions.start,
        regions: rank.regions.len(),
        work: rank.ports.0 as f64 / rank.ports.1.max(1) as f64,
        memory_bytes: rank.memory_bytes,
        mail_bytes: rank.mail_bytes,
        mail_bytes_max: rank.mail_bytes_max,
    };
    let ranks = arguments.ranks.map_or_else(Vec::new, |_| RankPlan::all(&scenario, ranks, threads));
    let per_cycle = f64::from(scenario.clock.ticks_per_cycle);
    let graph = scenario.topology.built.graph();
    let checked = Checked {
        scenario_digest: &scenario.digest,
        nodes: plan.nodes,
        routers: plan.routers,
        links: plan.links,
        regions: plan.regions,
        lookahead_cycles: plan.lookahead_ticks.map(|ticks| ticks as f64 / per_cycle),
        microarchitecture: plan.microarchitecture,
        memory_bytes: plan.memory_bytes,
        ranks: ranks.into_iter().map(rank).collect(),
        backlog_bytes_max: plan.backlog.bytes_max,
        backlog_limited: plan.backlog.is_limited,
        sweep_points: sweep.run_count().unwrap_or(usize::MAX),
        checked_points,
        clock: clock(scenario.clock),
        deadlock_freedom: scenario.proof.describe(graph.as_ref()),
        links_over_time: scenario.measure.links.map(|sampling| LinkRows {
            row_of: sampling.rows.words(),
            rows_at_once: sampling.rows_at_once(graph.as_ref()),
            instants: (scenario.measure.warmup + scenario.measure.cycles) / sampling.every,
        }),
        cautions: tailback_sim::cautions(&scenario),
        resolved: &scenario.text,
    };
    match arguments.format {
        Format::Json => say_line!("{}", serde_json::to_string_pretty(&checked).expect("plain data")),
        Format::Text => print_text(&checked),
    }
    Ok(())
}

/// What a link cycle and a flit are in seconds and bytes.
fn clock(clock: Clock) -> Option<String> {
    let ns = |fs: u64| fs as f64 / 1e6;
    match (clock.cycle_fs, clock.flit_bytes) {
        (Some(fs), Some(bytes)) => {
            let rate = ((bytes * 8) as f64 / ns(fs) * 1e3).round() / 1e3;
            Some(format!("a cycle is {} ns, a flit {bytes} bytes: links carry {rate} Gb/s", ns(fs)))
        }
        (Some(fs), None) => Some(format!("a cycle is {} ns", ns(fs))),
        (None, Some(bytes)) => Some(format!("a flit is {bytes} bytes")),
        (None, None) => None,
    }
}

fn print_text(checked: &Checked<'_>) {
    say_line!("{}", checked.resolved);
    say_line!("# digest      {}", checked.scenario_digest);
    if let Some(clock) = &checked.clock {
        say_line!("# clock       {clock}");
    }
    let (nodes, routers) = (count(checked.nodes, "node"), count(checked.routers, "router"));
    say_line!("# network     {nodes}, {routers}, {} links", checked.links);
    match checked.lookahead_cycles {
        Some(cycles) => say_line!("# regions     {}, each on its own for {cycles} cycles at a time", checked.regions),
        None => say_line!("# regions     {}", checked.regions),
    }
    say_line!("# routers     {} microarchitecture", checked.microarchitecture);
    say_line!("# memory      about {} MiB", mebibytes(checked.memory_bytes));
    for (number, rank) in checked.ranks.iter().enumerate() {
        let Rank { first_region, regions, work, memory_bytes, mail_bytes, mail_bytes_max } = rank;
        let which = match regions {
            0 => "no region".to_owned(),
            1 => format!("region {first_region}"),
            _ => format!("regions {first_region} to {}", first_region + regions - 1),
        };
        let (share, memory) = (100.0 * work, mebibytes(*memory_bytes));
        let [mail, mail_max] = [mail_bytes, mail_bytes_max].map(|bytes| bytes.div_ceil(1024));
        say_line!(
            "# rank {number:<6} {which}: {share:.1} % of the work, about {memory} MiB, \
             {mail} KiB of mail in a window, at most {mail_max}"
        );
    }
    let backlog = mebibytes(checked.backlog_bytes_max);
    if checked.backlog_limited {
        say_line!("# backlog     at most {backlog} MiB more for messages that wait at their sources (nic.queue_limit)");
    } else {
        say_line!("# backlog     no bound but the run's length: {backlog} MiB more if the network took no message");
    }
    say_line!("# deadlock    free: {}", checked.deadlock_freedom);
    if let Some(LinkRows { row_of, rows_at_once, instants }) = checked.links_over_time {
        say_line!("# links       {rows_at_once} {row_of} at {instants} times: {} rows", rows_at_once * instants);
    }
    checked.cautions.iter().for_each(|caution| say_line!("# caution     {caution}"));
    if checked.sweep_points > 1 {
        let points = checked.checked_points.filter(|points| points.checked < points.of);
        let stopped = points.map(|Points { checked, of }| format!("; of {of} points the first {checked} were checked"));
        say_line!("# sweep       {} runs{}", checked.sweep_points, stopped.unwrap_or_default());
    }
}
