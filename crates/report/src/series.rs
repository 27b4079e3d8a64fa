//! Time series as a table.

use crate::table::{Column, Kind};
use crate::{FlowInput, Point, Record, Table, Timeline};

/// What a row of a time series tells beside counts; the last stands behind these.
pub(crate) const SERIES_FIGURES: [&str; 8] = [
    "offered_load",
    "accepted_load",
    "latency_message_mean",
    "latency_message_max",
    "latency_network_mean",
    "latency_network_max",
    "nonminimal_share",
    "complete",
];

/// The time series of a record, with a row for each flow and interval that started before `until_tick`, the end of
/// the run; none if no series was recorded.
///
/// Loads are per source of the flow and cycle, latencies in link cycles; latencies are empty where nothing was
/// delivered. Rows are sorted by flow, then by time. In a series by creation each row says how complete it is: the share of the
/// flits created in its interval that had arrived when the run ended. A mean over less than all leaves out the slowest.
///
/// # Panics
/// When the flows are not those of the record.
#[must_use]
pub fn series_table(record: &Record, flows: &[FlowInput], ticks_per_cycle: u64, until_tick: u64) -> Option<Table> {
    assert_eq!(flows.len(), record.flows().len(), "each flow of the record is described");
    record.plan().series?;
    let integers = ["offered_flits", "delivered_flits", "delivered_packets", "delivered_messages"];
    let mut columns = vec![Column::new("cycle", Kind::Integer), Column::text("flow")];
    let [figures @ .., complete] = SERIES_FIGURES;
    columns.extend(figures.map(|name| Column::new(name, Kind::Number)));
    columns.extend(integers.map(|name| Column::new(name, Kind::Integer)));
    columns.push(Column::new(complete, Kind::Number));
    let mut table = Table::new(columns);
    for (input, flow) in flows.iter().zip(record.flows()) {
        if let Some(series) = &flow.series {
            let rows = Rows { series, ticks_per_cycle, until_tick, by_creation: record.plan().series_by_creation };
            rows.add(&mut table, input);
        }
    }
    Some(table)
}

/// The rows of a flow.
struct Rows<'a> {
    series: &'a Timeline,
    ticks_per_cycle: u64,
    until_tick: u64,
    by_creation: bool,
}

impl Rows<'_> {
    fn add(&self, table: &mut Table, input: &FlowInput) {
        let &Self { series, ticks_per_cycle, until_tick, by_creation } = self;
        let intervals = series.intervals();
        for index in 0..intervals.count_max() as usize {
            let start = intervals.start(index);
            if start >= until_tick {
                break;
            }
            let point = series.points().get(index).copied().unwrap_or_default();
            // The last interval is shorter when the run ends inside it.
            let ticks = intervals.width().min(until_tick - start);
            let source_cycles = input.sources.max(1) as f64 * (ticks as f64 / ticks_per_cycle as f64);
            let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
            let latency = |(sum, count): (u64, u64)| share(sum, count).map(|mean| mean / ticks_per_cycle as f64);
            let largest = |ticks: u64, count: u64| (count > 0).then(|| ticks as f64 / ticks_per_cycle as f64);
            let Point { offered_flits, delivered_flits, delivered_packets, delivered_messages, .. } = point;
            table.push(vec![
                (start / ticks_per_cycle).into(),
                input.name.as_str().into(),
                (offered_flits as f64 / source_cycles).into(),
                (delivered_flits as f64 / source_cycles).into(),
                latency(point.message_latency()).into(),
                largest(point.message_latency_max, delivered_messages).into(),
                latency(point.network_latency()).into(),
                largest(point.network_latency_max, delivered_packets).into(),
                share(point.nonminimal_packets, delivered_packets).into(),
                offered_flits.into(),
                delivered_flits.into(),
                delivered_packets.into(),
                delivered_messages.into(),
                share(delivered_flits, offered_flits).filter(|_| by_creation).into(),
            ]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArrivedPacket, Intervals, LoadCourse, RecordPlan, Window};

    #[test]
    fn silent_intervals_have_rows_and_the_last_one_may_be_shorter() {
        let mut plan = RecordPlan::new(1, Window { from: 20, until: 50 });
        plan.series = Some(Intervals::new(0, 20, 100));
        let mut record = Record::new(plan);
        record.offered(0, 3, 8, false);
        record.packet_delivered(
            0,
            45,
            ArrivedPacket { source: 0, created: 0, network_latency: 6, hops: 2, flits: 8, nonminimal: true },
        );
        record.message_delivered(0, 45, 42, 8);
        record.packet_delivered(
            0,
            46,
            ArrivedPacket { source: 0, created: 20, network_latency: 4, hops: 2, flits: 4, nonminimal: true },
        );
        record.message_delivered(0, 46, 20, 4);
        let flow = FlowInput {
            name: "all".to_owned(),
            sources: 2,
            source_nodes: Vec::new(),
            offered_load_nominal: None,
            course: LoadCourse::Steady,
            phases: Vec::new(),
        };
        let table = series_table(&record, &[flow], 2, 50).unwrap();
        let mut csv = Vec::new();
        table.write_csv(&mut csv).unwrap();
        let expected = "\
cycle,flow,offered_load,accepted_load,latency_message_mean,latency_message_max,latency_network_mean,latency_network_max,nonminimal_share,offered_flits,delivered_flits,delivered_packets,delivered_messages,complete
0,all,0.4,0.0,,,,,,8,0,0,0,
10,all,0.0,0.0,,,,,,0,0,0,0,
20,all,0.0,1.2,15.5,21.0,2.5,3.0,1.0,0,12,2,2,
";
        assert_eq!(String::from_utf8(csv).unwrap(), expected);
    }

    #[test]
    fn intervals_by_creation_say_how_much_has_arrived() {
        let mut plan = RecordPlan::new(1, Window { from: 0, until: 60 });
        plan.series = Some(Intervals::new(0, 20, 100));
        plan.series_by_creation = true;
        let mut record = Record::new(plan);
        for created in [3, 5, 9, 12, 25] {
            record.offered(0, created, 8, false);
        }
        for created in [3, 9, 12] {
            let packet = ArrivedPacket { source: 0, created, network_latency: 6, hops: 2, flits: 8, nonminimal: false };
            record.packet_delivered(0, 50, packet);
        }
        let flow = FlowInput {
            name: "all".to_owned(),
            sources: 2,
            source_nodes: Vec::new(),
            offered_load_nominal: None,
            course: LoadCourse::Steady,
            phases: Vec::new(),
        };
        let table = series_table(&record, &[flow], 1, 60).unwrap();
        let complete = table.column("complete").unwrap();
        let shares: Vec<_> = table.rows.iter().map(|row| row[complete].number()).collect();
        assert_eq!(shares, [Some(0.75), Some(0.0), None], "none was created in the last");
    }

    #[test]
    fn without_a_series_there_is_no_table() {
        let record = Record::new(RecordPlan::new(0, Window { from: 0, until: 1 }));
        assert_eq!(series_table(&record, &[], 1, 1), None);
    }
}
