//! The report as text for a terminal.

use std::fmt::{self, Write as _};

use crate::table::significant;
use crate::table::{Cell, Column, Kind, Table};
use crate::{Amounts, Completions, Distribution, Figures, HotNode, Interruption, OfSize, Report, TreeFigures};

impl Report {
    /// A summary in about twenty aligned lines, without colours.
    #[must_use]
    pub fn summary_text(&self) -> String {
        let mut text = String::new();
        self.write_summary(&mut text).expect("a text takes everything");
        text
    }

    fn write_summary(&self, text: &mut String) -> fmt::Result {
        let Figures { offered_load, accepted_load, hops, messages, .. } = &self.total;
        if !self.title.is_empty() {
            writeln!(text, "{}", self.title)?;
        }
        let cycles = self.cycles;
        if let Some(Interruption { cycle, of }) = self.interrupted {
            writeln!(text, "  INTERRUPTED in cycle {cycle} of {of}: no result, but what was measured until then")?;
        }
        writeln!(
            text,
            "  {} nodes, seed {}, {} cycles measured after {} of warm-up\n",
            self.nodes, self.seed, cycles.measured, cycles.warmup
        )?;
        let saturated = if self.total.saturated { "  SATURATED" } else { "" };
        writeln!(
            text,
            "  load      offered {offered_load:.4}, accepted {accepted_load:.4} {}{saturated}",
            self.unit_of_load()
        )?;
        let Amounts { offered, delivered, lost } = messages;
        writeln!(text, "  messages  {offered} offered, {delivered} delivered, {lost} lost")?;
        self.write_left(text)?;
        if let (Some(mean), Some(max)) = (hops.mean, hops.max) {
            let share = self.total.nonminimal_share.filter(|&share| share > 0.0);
            let share =
                share.map_or_else(String::new, |share| format!(", {:.2} % of packets non-minimal", 100.0 * share));
            writeln!(text, "  hops      {mean:.3} on average, {max} at most{share}")?;
        }
        self.write_interventions(text)?;
        indent(text, &self.latency_table().to_text())?;
        if self.flows.len() > 1 {
            indent(text, &self.flow_table().to_text())?;
        }
        if self.total.completions.is_some() {
            indent(text, &self.completion_table().to_text())?;
        }
        if !self.programs.is_empty() {
            indent(text, &self.program_table().to_text())?;
        }
        if !self.links.is_empty() {
            indent(text, &self.link_table().to_text())?;
        }
        if !self.ejection.is_empty() {
            let share = |(kind, share): (&str, &f64)| format!("{kind} {:.2} %", 100.0 * share);
            let shares: Vec<String> = self.ejection.iter().map(share).collect();
            writeln!(text, "\n  ejection  {}", shares.join(", "))?;
        }
        if !self.hot_nodes.is_empty() {
            let share = |hot: &HotNode| format!("node {} {:.2} %", hot.node, 100.0 * hot.share);
            let shares: Vec<String> = self.hot_nodes.iter().map(share).collect();
            writeln!(text, "\n  hot links {}", shares.join(", "))?;
        }
        self.write_trees(text)?;
        if !self.counters.is_empty() {
            indent(text, &self.counter_table().to_text())?;
        }
        self.write_performance(text)?;
        self.notes.iter().try_for_each(|note| writeln!(text, "  note: {note}"))
    }

    /// What has not arrived, so that nobody reads latencies, which are of what has, without it.
    fn write_left(&self, text: &mut String) -> fmt::Result {
        let (Some(backlog), Some(packets)) = (self.total.backlog_flits, self.total.in_flight_packets) else {
            return Ok(());
        };
        write!(
            text,
            "  left      at the end {backlog} flits wait at their sources, {packets} data packets are in the network"
        )?;
        if let Some(Completions { count, unfinished, .. }) = self.total.completions {
            write!(text, ", {unfinished} of {count} messages of flows that end have not arrived")?;
        }
        writeln!(text)
    }

    /// What protocols and routing did to packets, where they did anything.
    fn write_interventions(&self, text: &mut String) -> fmt::Result {
        if let (Some(messages), Some(share)) = (self.total.control_messages, self.total.control_messages_per_packet()) {
            writeln!(text, "  control   {messages} messages of protocols, {share:.3} for each data packet")?;
        }
        let Figures { marked_packets, held_packets, held_cycles_mean, nonminimal_packets, .. } = &self.total;
        if *marked_packets > 0 {
            writeln!(text, "  marks     {marked_packets} packets arrived with a mark of congestion")?;
        }
        if let Some(mean) = held_cycles_mean {
            writeln!(
                text,
                "  pauses    {held_packets} packets left late by their protocol, by {mean:.1} cycles on average"
            )?;
        }
        if !nonminimal_packets.is_none() {
            let of_cause = |(name, packets): (&str, u64)| (packets > 0).then(|| format!("{name} {packets}"));
            let causes: Vec<String> = nonminimal_packets.by_cause().into_iter().filter_map(of_cause).collect();
            writeln!(text, "  paths     packets on non-minimal ones by cause: {}", causes.join(", "))?;
        }
        Ok(())
    }

    fn write_trees(&self, text: &mut String) -> fmt::Result {
        let Some(trees) = &self.total.trees else { return Ok(()) };
        let TreeFigures { instants, count, largest, .. } = trees.as_ref();
        let Some(largest) = largest else {
            return writeln!(text, "\n  trees     none was seen at {instants} instants");
        };
        writeln!(text, "\n  trees     {count} seen at {instants} instants; the largest in cycle {}:", largest.cycle)?;
        writeln!(text, "            {}", largest.sentence())
    }

    /// The unit of the loads of all flows together, which are per node that sends.
    fn unit_of_load(&self) -> String {
        if self.sources == 0 || self.sources == self.nodes {
            return "flits/node/cycle".to_owned();
        }
        format!("flits/cycle per node that sends ({} of {})", self.sources, self.nodes)
    }

    fn latency_table(&self) -> Table {
        let figures = ["mean", "±95 %", "min", "p50", "p95", "p99", "p99.9", "max"];
        let mut columns = vec![Column::text("latency"), Column::text("in")];
        columns.extend(figures.map(|name| Column::new(name, Kind::Number)));
        let mut table = Table::new(columns);
        let units = [("cycles", Some(&self.total.latency)), ("ns", self.total.latency_ns.as_ref())];
        for (unit, latencies) in units {
            let Some(latencies) = latencies else { continue };
            let resequencing = latencies.resequencing.as_ref().map(|of| ("resequencing", of));
            let always = [("message", &latencies.message), ("network", &latencies.network)];
            for (what, of) in always.into_iter().chain(resequencing) {
                let Distribution { mean, ci95, min, p50, p95, p99, p999, max, .. } = *of;
                let mut row = vec![what.into(), unit.into()];
                row.extend([mean, ci95, min, p50, p95, p99, p999, max].map(Cell::from));
                table.push(row);
            }
        }
        table
    }

    fn flow_table(&self) -> Table {
        let figures = ["offered", "accepted", "hops", "network", "message", "±95 %", "p99"];
        let mut columns = vec![Column::text("flow"), Column::new("sources", Kind::Integer)];
        columns.extend(figures.map(|name| Column::new(name, Kind::Number)));
        columns.push(Column::new("lost", Kind::Integer));
        let mut table = Table::new(columns);
        for (name, flow) in self.flows.iter() {
            let Figures { offered_load, accepted_load, hops, latency, messages, .. } = &flow.figures;
            let (message, network) = (&latency.message, &latency.network);
            let mut row = vec![name.into(), flow.sources.into(), (*offered_load).into(), (*accepted_load).into()];
            row.extend([hops.mean, network.mean, message.mean, message.ci95, message.p99].map(Cell::from));
            row.push(messages.lost.into());
            table.push(row);
        }
        table
    }

    /// The flows that end: how long their messages took, in cycles, and how many times as long as in an empty network.
    fn completion_table(&self) -> Table {
        let counts = ["messages", "unfinished"].map(|name| Column::new(name, Kind::Integer));
        let figures = ["completion", "p50", "p99", "max", "slowdown", "p99", "max", "jain", "all done in"];
        let mut columns = vec![Column::text("flow that ends")];
        columns.extend(counts);
        columns.extend(figures.map(|name| Column::new(name, Kind::Number)));
        let mut table = Table::new(columns);
        for (name, flow) in self.flows.iter() {
            let Some(completions) = &flow.figures.completions else { continue };
            let Completions { count, unfinished, completion, slowdown, jain, completion_cycles, sizes, .. } =
                completions;
            let mut row = vec![name.into(), (*count).into(), (*unfinished).into()];
            let times = [completion.mean, completion.p50, completion.p99, completion.max];
            let factors = [slowdown.mean, slowdown.p99, slowdown.max, *jain, *completion_cycles];
            row.extend(times.into_iter().chain(factors).map(Cell::from));
            table.push(row);
            sizes.iter().for_each(|of| table.push(row_of_size(of)));
        }
        table
    }

    /// The programs and their phases: how many ranks are done, and when they were, in cycles from the start.
    fn program_table(&self) -> Table {
        let counts = ["ranks", "unfinished"].map(|name| Column::new(name, Kind::Integer));
        let figures = ["first rank done in", "p50", "p99", "all done in"];
        let mut columns = vec![Column::text("program")];
        columns.extend(counts);
        columns.extend(figures.map(|name| Column::new(name, Kind::Number)));
        let mut table = Table::new(columns);
        for program in &self.programs {
            let mut row = |name: String, of: &Distribution, all: Option<f64>| {
                let counts = [program.ranks, program.ranks - of.samples].map(Cell::from);
                let times = [of.min, of.p50, of.p99, all].map(Cell::from);
                table.push([Cell::from(name.as_str())].into_iter().chain(counts).chain(times).collect());
            };
            row(program.name.clone(), &program.rank_cycles, program.completion_cycles);
            for phase in &program.phases {
                row(format!("  {}", phase.name), &phase.rank_cycles, phase.completion_cycles);
            }
        }
        table
    }

    fn link_table(&self) -> Table {
        let figures = ["mean utilisation %", "max utilisation %"].map(|name| Column::new(name, Kind::Number));
        let columns = std::iter::once(Column::text("links")).chain(figures).collect();
        let mut table = Table::new(columns);
        for link in &self.links {
            table.push(vec![link.class.as_str().into(), (100.0 * link.mean).into(), (100.0 * link.max).into()]);
        }
        table
    }

    fn counter_table(&self) -> Table {
        let mut table = Table::new(vec![Column::text("counter"), Column::new("count", Kind::Integer)]);
        for (name, &count) in self.counters.iter() {
            table.push(vec![name.into(), count.into()]);
        }
        table
    }

    fn write_performance(&self, text: &mut String) -> fmt::Result {
        let performance = &self.performance;
        write!(
            text,
            "\n  took {} s ({} s of CPU, {} thread{})",
            significant(performance.wall_s, 3),
            significant(performance.cpu_s, 3),
            performance.threads,
            if performance.threads == 1 { "" } else { "s" }
        )?;
        if let Some(rate) = performance.packet_hops_per_cpu_s {
            write!(text, ", {} million packet-hops per CPU second", significant(rate / 1e6, 3))?;
        }
        if let Some(bytes) = performance.peak_rss_bytes {
            write!(text, ", {} MiB at most", significant(bytes as f64 / f64::from(1 << 20), 3))?;
        }
        // What was interrupted is no result, and has no digest that one could be compared with.
        if self.result_digest.is_empty() { writeln!(text) } else { writeln!(text, "\n  result {}", self.result_digest) }
    }
}

/// The row of the messages of some sizes, of which it is known only what has arrived.
fn row_of_size(of: &OfSize) -> Vec<Cell> {
    let OfSize { flits: (least, most), completion, slowdown } = of;
    let mut row =
        vec![format!("  {least} to {most} flits").as_str().into(), completion.samples.into(), None::<f64>.into()];
    let times = [completion.mean, completion.p50, completion.p99, completion.max];
    let factors = [slowdown.mean, slowdown.p99, slowdown.max, None, None];
    row.extend(times.into_iter().chain(factors).map(Cell::from));
    row
}

/// Appends a blank line and an indented table.
fn indent(text: &mut String, table: &str) -> fmt::Result {
    writeln!(text)?;
    table.lines().try_for_each(|line| writeln!(text, "  {line}"))
}
