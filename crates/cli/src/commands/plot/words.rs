//! What axes say.

/// Whether a column holds times, which are in cycles.
pub fn is_time(column: &str) -> bool {
    let metric = metric(column).trim_end_matches("_ci95");
    ["latency_", "resequencing_", "completion_", "held_cycles_"].iter().any(|start| metric.starts_with(start))
        || metric == "program_cycles"
}

/// The metric of a column that may be that of a flow.
fn metric(column: &str) -> &str {
    column.rsplit('.').next().unwrap_or(column)
}

/// The name of a column of measured values in words, with its unit.
pub fn measured(column: &str, unit: &str) -> String {
    let metric = metric(column);
    let per = if column.contains('.') { "source" } else { "node" };
    match metric {
        "offered_load" | "accepted_load" => return format!("{} (flits/{per}/cycle)", metric.replace('_', " ")),
        "accepted_load_least" => return format!("accepted load of the source with the least (flits/{per}/cycle)"),
        "nonminimal_share" => return "share of packets on non-minimal paths".to_owned(),
        "control_messages" => return "messages of protocols".to_owned(),
        "control_messages_per_packet" => return "messages of protocols for each data packet".to_owned(),
        "marked_packets" => return "packets with a mark of congestion".to_owned(),
        "held_packets" => return "packets that were held".to_owned(),
        "held_cycles_mean" => return format!("mean time for which packets were held ({unit})"),
        "nonminimal_drawn" => return "packets on non-minimal paths that are drawn".to_owned(),
        "nonminimal_queues" => return "packets on non-minimal paths for queues".to_owned(),
        "nonminimal_contention" => return "packets on non-minimal paths for contention".to_owned(),
        "nonminimal_told" => return "packets on non-minimal paths for what others have told".to_owned(),
        "nonminimal_local" => return "packets on non-minimal paths inside groups".to_owned(),
        "complete" => return "share of flits that have arrived".to_owned(),
        "saturated" => return "share of seeds that are saturated".to_owned(),
        "jain" => return "Jain's fairness index".to_owned(),
        "completion_cycles" => return format!("time until all messages were complete ({unit})"),
        "program_cycles" => return format!("time until the program was complete ({unit})"),
        _ => {}
    }
    let unit = if is_time(column) { format!(" ({unit})") } else { String::new() };
    let Some((of, figure)) = metric.rsplit_once('_') else { return metric.to_owned() };
    let (one, many) = match of {
        "latency_message" => ("message latency", "message latencies"),
        "latency_network" => ("network latency", "network latencies"),
        "resequencing" => ("resequencing time", "resequencing times"),
        "completion" => ("completion time", "completion times"),
        "slowdown" => ("slowdown", "slowdowns"),
        "hops" => ("hops", "hops"),
        _ => return metric.replace('_', " "),
    };
    let words = match figure {
        "mean" => format!("mean {one}"),
        "p50" => format!("median of {many}"),
        "p99" => format!("99th percentile of {many}"),
        "max" => format!("largest {one}"),
        _ => metric.replace('_', " "),
    };
    words + &unit
}

/// A name that a file may have.
pub fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_words_and_units() {
        assert_eq!(measured("latency_message_mean", "ns"), "mean message latency (ns)");
        assert_eq!(measured("hot.latency_network_p99", "cycles"), "99th percentile of network latencies (cycles)");
        assert_eq!(measured("hot.accepted_load", "ns"), "accepted load (flits/source/cycle)");
        assert_eq!(measured("slowdown_p99", "ns"), "99th percentile of slowdowns");
        assert!(is_time("a.completion_mean_ci95") && !is_time("slowdown_mean"));
    }
}
