//! `tailback explain`: wiring, virtual channels, and where each cycle of latency comes from.

use tailback_sim::{Channels, Explanation, Links, PathLatency, RouterTimes, explain};

use crate::arguments::{ExplainArguments, Format};
use crate::complaint::Complaint;
use crate::input;
use crate::output::{count, say_line};

/// Runs the command.
pub fn run(arguments: &ExplainArguments) -> Result<(), Complaint> {
    let scenario = input::resolve(&input::document(&arguments.scenario)?)?;
    let explained = explain(&scenario);
    match arguments.format {
        Format::Json => say_line!("{}", serde_json::to_string_pretty(&explained).expect("plain data")),
        Format::Text => print_text(&explained),
    }
    Ok(())
}

fn print_text(explained: &Explanation) {
    say_line!("topology   {}", explained.topology);
    let (nodes, routers) = (count(explained.nodes, "node"), count(explained.routers, "router"));
    say_line!("           {nodes}, {routers} of at most {} ports", explained.radix);
    say_line!("routing    {}", explained.routing);
    say_line!("protocol   {}", explained.protocol);
    explained.protocol_lines.iter().for_each(|line| say_line!("           {line}"));
    say_line!("deadlock   free: {}\n", explained.deadlock_freedom);
    print_wiring(explained);
    print_links(explained);
    print_ways(explained);
    print_definitions();
}

fn print_wiring(explained: &Explanation) {
    say_line!("WIRING of the first router");
    let width = widest(explained.wiring.iter().map(|wire| wire.link)).max(10);
    for wire in &explained.wiring {
        let fed_by = wire.fed_by.as_ref().map_or_else(String::new, |feeder| format!(", fed by {feeder}"));
        say_line!("  port {:<4} {:<width$} {}{fed_by}", wire.port, wire.link, wire.leads_to);
    }
}

/// The length of the longest of some names.
fn widest<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    names.map(str::len).max().unwrap_or(0)
}

fn print_links(explained: &Explanation) {
    let width = widest(explained.links.iter().map(|links| links.class.as_str())).max(9);
    say_line!("\nLINKS  {:<1$}latency  cycles/flit  buffer/VC  virtual channels", "", width - 5);
    for links in &explained.links {
        let buffer = links.buffer_flits.map_or_else(|| "-".to_owned(), |flits| flits.to_string());
        let channels: Vec<_> = links.channels.iter().map(describe_channels).collect();
        let Links { class, latency, cycles_per_flit, .. } = links;
        let line = format!("  {class:<width$}{latency:>7}{cycles_per_flit:>13}{buffer:>11}  {}", channels.join(", "));
        say_line!("{}", line.trim_end());
    }
}

fn describe_channels(channels: &Channels) -> String {
    let Channels { class, priority, first, count } = channels;
    match count {
        0 => format!("{class} none"),
        1 => format!("{class} {first} (priority {priority})"),
        _ => format!("{class} {first}-{} (priority {priority})", first + count - 1),
    }
}

fn print_ways(explained: &Explanation) {
    let flits = explained.packet_flits;
    let cycles = explained.ns_per_cycle.map_or_else(|| "cycles".to_owned(), |ns| format!("cycles of {ns} ns"));
    say_line!("\nZERO LOAD  latency in {cycles} of a packet of {flits} flits that is alone in the network");
    say_line!("  injection + routers + links + ejection + serialization = total   path, VCs, example");
    for latency in &explained.zero_load {
        let PathLatency { injection, routers, links, ejection, serialization, total, path, channels, example } =
            latency;
        let (source, destination) = example;
        say_line!(
            "  {injection:>9} + {routers:>7} + {links:>5} + {ejection:>8} + {serialization:>13} = {total:>5}   {path}, \
             VCs {channels:?}, {source} -> {destination}"
        );
    }
    let RouterTimes { head, crossbar, vc_allocation } = explained.router;
    let channel = if vc_allocation { " + one allocation for the virtual channel" } else { "" };
    say_line!(
        "  each router: {head} at the head + {crossbar} through the crossbar{channel}, rounded up to a link cycle"
    );
}

fn print_definitions() {
    say_line!(
        "\nLATENCIES\n  message   from its creation at the source to the arrival of its last flit at the destination\n  \
         network   of a packet: from its first flit leaving the source to the arrival of its last flit\n  \
         hops      links between routers that a packet takes\n\
         LOADS\n  offered   flits of created messages per node that sends and cycle, lost ones included\n  \
         accepted  flits of delivered packets, per the same"
    );
}
