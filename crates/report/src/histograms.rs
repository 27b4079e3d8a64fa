//! Histograms as a table.

use crate::table::{Column, Kind};
use crate::{FlowInput, FlowRecord, Histogram, Record, SLOWDOWN_ONE, Table};

/// The histograms of a record, with a row for each flow, figure and bucket that holds something: its least value, its largest and
/// how many there were. Latencies are in link cycles.
///
/// # Panics
/// When the flows are not those of the record.
#[must_use]
pub fn histogram_table(record: &Record, flows: &[FlowInput], ticks_per_cycle: u64) -> Table {
    assert_eq!(flows.len(), record.flows().len(), "each flow of the record is described");
    let mut columns = vec![Column::text("flow"), Column::text("figure")];
    columns.extend(["from", "to"].map(|name| Column::new(name, Kind::Number)));
    columns.push(Column::new("count", Kind::Integer));
    let mut table = Table::new(columns);
    for (input, flow) in flows.iter().zip(record.flows()) {
        for (figure, histogram, unit) in histograms(flow, ticks_per_cycle) {
            for bucket in histogram.buckets() {
                let [low, high] = [bucket.low, bucket.high].map(|value| value as f64 / unit as f64);
                let name = input.name.as_str();
                table.push(vec![name.into(), figure.into(), low.into(), high.into(), bucket.count.into()]);
            }
        }
    }
    table
}

/// The histograms of a flow, and how many of their units make one of what is shown.
fn histograms(flow: &FlowRecord, cycle: u64) -> Vec<(&'static str, &Histogram, u64)> {
    let mut histograms = vec![
        ("message_latency", &flow.message_latency, cycle),
        ("network_latency", &flow.network_latency, cycle),
        ("hops", &flow.hops, 1),
    ];
    if flow.resequencing.count() > 0 {
        histograms.push(("resequencing", &flow.resequencing, cycle));
    }
    if let Some(completions) = &flow.completions {
        histograms.push(("completion", &completions.all.latency, cycle));
        histograms.push(("slowdown", &completions.all.slowdown, SLOWDOWN_ONE));
    }
    histograms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArrivedPacket, CompletedMessage, LoadCourse, RecordPlan, Window};

    #[test]
    fn each_bucket_that_holds_something_has_a_row() {
        let mut plan = RecordPlan::new(1, Window { from: 0, until: 1000 });
        plan.ending = vec![Some(2)];
        let mut record = Record::new(plan);
        for latency in [60, 600] {
            let network_latency = 40;
            let arrived =
                ArrivedPacket { source: 0, created: 0, network_latency, hops: 3, flits: 4, nonminimal: false };
            record.packet_delivered(0, latency, arrived);
            record.message_delivered(0, latency, latency, 4);
            record.completed(0, CompletedMessage { tick: latency, latency, unloaded: 50, flits: 4, between: (0, 1) });
        }
        let (source_nodes, offered_load_nominal, course) = (Vec::new(), None, LoadCourse::Changes);
        let (name, phases) = ("x".to_owned(), Vec::new());
        let input = FlowInput { name, sources: 1, source_nodes, offered_load_nominal, course, phases };
        let mut csv = Vec::new();
        histogram_table(&record, &[input], 2).write_csv(&mut csv).expect("a list of bytes takes everything");
        let expected = "flow,figure,from,to,count\n\
                        x,message_latency,30.0,30.0,1\nx,message_latency,300.0,301.5,1\n\
                        x,network_latency,20.0,20.0,2\nx,hops,3.0,3.0,2\n\
                        x,completion,30.0,30.0,1\nx,completion,300.0,301.5,1\n\
                        x,slowdown,1.2,1.207,1\nx,slowdown,11.968,12.031,1\n";
        assert_eq!(String::from_utf8(csv).expect("it is text"), expected);
    }
}
