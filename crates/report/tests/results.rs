//! From what is written down during a run to what is told about it.

use proptest::prelude::*;
use serde_json::Value;
use tailback_report::{
    ArrivedPacket, Curve, Cycles, Digest, Figure, FlowInput, HotNode, Interruption, Intervals, LinkUtilisation,
    LoadCourse, Measured, Named, Performance, Point, Record, RecordPlan, Report, SweepPoint, Table, Window,
    batch_means, sweep_histogram_table, sweep_series_table, sweep_table,
};

/// Two ticks per cycle, 1000 cycles of warm-up, 2000 measured.
fn packet(network_latency: u64, hops: u32, flits: u32) -> ArrivedPacket {
    ArrivedPacket { source: 0, created: 0, network_latency, hops, flits, nonminimal: network_latency.is_multiple_of(2) }
}

fn plan() -> RecordPlan {
    let mut plan = RecordPlan::new(2, Window { from: 2000, until: 6000 });
    plan.series = Some(Intervals::new(0, 200, 30));
    plan.counters = vec!["acks".to_owned(), "drops".to_owned()];
    plan
}

/// Something that happens, to `flow` at `tick`.
#[derive(Clone, Copy, Debug)]
struct Event {
    flow: usize,
    tick: u64,
    kind: u8,
    amount: u32,
}

fn note(record: &mut Record, event: Event) {
    let Event { flow, tick, kind, amount } = event;
    match kind {
        0 => record.offered(flow, tick, amount % 64, amount.is_multiple_of(5)),
        1 => record.packet_delivered(flow, tick, packet(amount.into(), amount % 7, amount % 16)),
        2 => record.message_delivered(flow, tick, amount.into(), amount % 64),
        _ => record.count(flow, tick, amount.into()),
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = (0usize..2, 0u64..7000, 0u8..4, 0u32..100_000);
    let event = event.prop_map(|(flow, tick, kind, amount)| Event { flow, tick, kind, amount });
    proptest::collection::vec(event, 0..400)
}

proptest! {
    #[test]
    fn it_does_not_matter_who_writes_what_down(events in events(), parts in 1usize..6, backwards in any::<bool>()) {
        let mut whole = Record::new(plan());
        events.iter().for_each(|&event| note(&mut whole, event));
        let mut records = vec![Record::new(plan()); parts];
        for (index, &event) in events.iter().enumerate() {
            note(&mut records[index * 7 % parts], event);
        }
        if backwards {
            records.reverse();
        }
        // As through a checkpoint.
        let bytes = postcard::to_allocvec(&records).unwrap();
        let records: Vec<Record> = postcard::from_bytes(&bytes).unwrap();
        let merged = records.into_iter().reduce(|mut merged, record| { merged.merge(&record); merged }).unwrap();
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(Digest::new().record(&merged).hex(), Digest::new().record(&whole).hex());
    }

    #[test]
    fn reports_are_read_back_as_they_were(events in events()) {
        let mut record = Record::new(plan());
        events.iter().for_each(|&event| note(&mut record, event));
        let report = report(&record, 1);
        let json = report.to_json();
        prop_assert_eq!(Report::read_json(json.as_bytes()).unwrap(), report);
    }
}

/// A steady run: `victim` gets through, of `hotspot` only half does.
fn steady() -> Record {
    let mut record = Record::new(plan());
    for tick in 0..6000 {
        record.offered(0, tick, 4, false);
        record.packet_delivered(0, tick, packet(200 + tick % 10, 3, 4));
        record.message_delivered(0, tick, 240 + tick % 20, 4);
        record.offered(1, tick, 8, false);
        record.packet_delivered(1, tick, packet(2000, 5, 4));
        if tick % 2 == 0 {
            record.message_delivered(1, tick, 3000, 8);
        }
    }
    record.count(0, 3000, 17);
    record
}

fn report(record: &Record, seed: u64) -> Report {
    report_of(record, seed, [LoadCourse::Steady; 2], None)
}

fn report_of(record: &Record, seed: u64, courses: [LoadCourse; 2], interrupted: Option<Interruption>) -> Report {
    let flows = vec![flow("victim", 64, courses[0]), flow("hotspot", 8, courses[1])];
    Report::new(measured(flows, record, seed, interrupted))
}

fn flow(name: &str, sources: u64, course: LoadCourse) -> FlowInput {
    let (name, source_nodes, phases) = (name.to_owned(), Vec::new(), Vec::new());
    FlowInput { name, sources, source_nodes, offered_load_nominal: None, course, phases }
}

fn measured(flows: Vec<FlowInput>, record: &Record, seed: u64, interrupted: Option<Interruption>) -> Measured<'_> {
    Measured {
        title: "Two flows on a dragonfly".to_owned(),
        version: "0.1.0".to_owned(),
        scenario_digest: "5ce2".to_owned(),
        result_digest: "d16e".to_owned(),
        seed,
        nodes: 80,
        sources: 72,
        ticks_per_cycle: 2,
        cycle_ns: Some(0.5),
        cycles: Cycles { warmup: 1000, measured: 2000 },
        interrupted,
        flows,
        record,
        links: vec![LinkUtilisation { class: "global".to_owned(), mean: 0.25, max: 0.5 }],
        ejection: Named::default(),
        notes: vec!["a note from outside".to_owned()],
        performance: Performance::new(2.0, 4.0, 10_000_000, Some(64 << 20), 2),
    }
}

#[test]
fn the_paths_of_the_json_are_those_that_others_rely_on() {
    let json: Value = serde_json::from_str(&report(&steady(), 7).to_json()).unwrap();
    let at = |path: &str| json.pointer(path).unwrap_or_else(|| panic!("there is no {path}")).clone();
    let number = |path: &str| at(path).as_f64().unwrap_or_else(|| panic!("{path} is no number"));
    for path in ["/title", "/version", "/scenario_digest", "/result_digest"] {
        assert!(at(path).is_string());
    }
    assert_eq!((number("/seed"), number("/nodes"), number("/cycle_ns")), (7.0, 80.0, 0.5));
    // 12 flits per tick, 24 per cycle, among the 72 nodes that send.
    assert!((number("/offered_load") - 24.0 / 72.0).abs() < 1e-12);
    assert!((number("/accepted_load") - 16.0 / 72.0).abs() < 1e-12);
    assert!((number("/flows/hotspot/offered_load") - 16.0 / 8.0).abs() < 1e-12);
    assert!((number("/flows/victim/accepted_load") - 8.0 / 64.0).abs() < 1e-12);
    assert_eq!(at("/saturated"), Value::Bool(true));
    assert_eq!(at("/flows/victim/saturated"), Value::Bool(false));
    for figure in ["mean", "ci95", "min", "p50", "p95", "p99", "p999", "max", "samples"] {
        for of in ["latency/message", "latency/network", "latency_ns/message", "latency_ns/network"] {
            number(&format!("/{of}/{figure}"));
            number(&format!("/flows/victim/{of}/{figure}"));
        }
    }
    assert_eq!(number("/flows/victim/latency/message/mean"), 249.5 / 2.0);
    assert_eq!(number("/flows/victim/latency_ns/message/max"), 259.0 / 4.0);
    assert_eq!((number("/hops/mean"), number("/hops/max")), (4.0, 5.0));
    assert_eq!(
        (number("/messages/offered"), number("/messages/delivered"), number("/messages/lost")),
        (8000.0, 6000.0, 0.0)
    );
    assert_eq!((number("/cycles/warmup"), number("/cycles/measured")), (1000.0, 2000.0));
    assert_eq!((at("/links/0/class"), number("/links/0/mean"), number("/links/0/max")), ("global".into(), 0.25, 0.5));
    assert_eq!((number("/counters/acks"), number("/counters/drops")), (17.0, 0.0));
    for figure in ["wall_s", "cpu_s", "packet_hops", "packet_hops_per_cpu_s", "peak_rss_bytes", "threads"] {
        number(&format!("/performance/{figure}"));
    }
    assert_eq!(number("/sources"), 72.0);
    assert_eq!(json["notes"].as_array().unwrap().len(), 2);
    assert!(json.get("interrupted").is_none());
}

/// Latencies are of what has arrived: what has not stands beside them, and in the tables of sweeps for all flows together.
#[test]
fn what_has_not_arrived_is_told_of_the_network_as_a_whole() {
    let record = steady();
    let mut left = report(&record, 1);
    assert!(!left.summary_text().contains("  left "), "reports of earlier builds do not tell");
    (left.total.backlog_flits, left.total.in_flight_packets) = (Some(1200), Some(34));
    left.hot_nodes = vec![HotNode { node: 17, share: 0.998 }];
    let json: Value = serde_json::from_str(&left.to_json()).unwrap();
    assert_eq!((&json["backlog_flits"], &json["in_flight_packets"]), (&1200.into(), &34.into()));
    assert_eq!(json["hot_nodes"][0]["node"], 17);
    assert!(json["flows"]["victim"].get("backlog_flits").is_none());
    let text = left.summary_text();
    let line = "  left      at the end 1200 flits wait at their sources, 34 data packets are in the network\n";
    assert!(text.contains(line) && text.contains("\n  hot links node 17 99.80 %\n"), "{text}");
    let point = |reports| SweepPoint { settings: Vec::new(), variant: String::new(), reports };
    let older = report(&record, 2);
    let table = sweep_table(&[point(vec![left.clone()]), point(vec![older.clone()]), point(vec![left, older.clone()])]);
    let column = table.column("backlog_flits").unwrap();
    let cells: Vec<_> = table.rows.iter().map(|row| row[column].number()).collect();
    assert_eq!(cells, [Some(1200.0), None, None], "the mean of those that tell is not the mean of all");
    assert!(table.column("victim.backlog_flits").is_err() && table.column("victim.saturated").is_ok());
    assert!(sweep_table(&[point(vec![older])]).column("in_flight_packets").is_err());
}

#[test]
fn traffics_keep_their_order() {
    let json = report(&steady(), 1).to_json();
    assert!(json.find("\"victim\"").unwrap() < json.find("\"hotspot\"").unwrap());
}

#[test]
fn reports_of_the_version_before_are_read() {
    let report = report(&steady(), 1);
    let json = report.to_json();
    let before = json.replace("\"flows\"", "\"traffics\"").replace("\"nonminimal_share\"", "\"detoured_share\"");
    assert_ne!(before, json);
    assert_eq!(Report::read_json(before.as_bytes()).unwrap(), report);
}

/// In 2000 cycles 3000, 1000 and 2000 flits arrive from three nodes, and the fourth sends to none: 1.5, 0.5, 1 and 0 per cycle, whose mean is
/// 0.75 and whose squares differ from it by 0.3125 in the mean.
#[test]
fn load_by_source_has_its_least_and_its_standard_deviation() {
    let mut plan = RecordPlan::new(1, Window { from: 2000, until: 6000 });
    plan.nodes = Some(6);
    let mut record = Record::new(plan);
    for (source, flits) in [(0, 3000), (2, 1000), (3, 2000), (5, 9000)] {
        for tick in [2000, 5999] {
            record.packet_delivered(0, tick, ArrivedPacket { source, flits: flits / 2, ..packet(1, 1, 0) });
        }
        record.packet_delivered(0, 1999, ArrivedPacket { source, flits: 700, ..packet(1, 1, 0) });
    }
    let flow = FlowInput { source_nodes: vec![0, 2, 3, 4], ..flow("by source", 4, LoadCourse::Steady) };
    let counted = Report::new(measured(vec![flow], &record, 1, None));
    let flow = counted.flows.get("by source").expect("it was measured");
    assert_eq!(flow.figures.accepted_load_least, Some(0.0));
    assert_eq!(flow.figures.accepted_load_deviation, Some(0.3125f64.sqrt()));
    // Without a count there is nothing to say.
    let report = report(&steady(), 1);
    assert_eq!((report.total.accepted_load_least, report.total.accepted_load_deviation), (None, None));
}

#[test]
fn where_nothing_arrived_there_are_no_figures() {
    let report = report(&Record::new(plan()), 1);
    assert_eq!((report.total.latency.message.mean, report.total.hops.mean), (None, None));
    assert!(!report.total.saturated && report.notes.len() == 1);
    assert!(report.to_json().contains("\"mean\": null"));
    assert!(report.summary_text().lines().count() > 10);
}

#[test]
fn the_summary_is_aligned() {
    let expected = "\
Two flows on a dragonfly
  80 nodes, seed 7, 2000 cycles measured after 1000 of warm-up

  load      offered 0.3333, accepted 0.2222 flits/cycle per node that sends (72 of 80)  SATURATED
  messages  8000 offered, 6000 delivered, 0 lost
  hops      4.000 on average, 5 at most, 75.00 % of packets non-minimal

  latency  in        mean   ±95 %     min     p50     p95     p99   p99.9     max
  message  cycles  583.17  0.0000  120.00  127.00  1499.5  1499.5  1499.5  1500.0
  network  cycles  551.12  0.0000  100.00  104.50  1000.0  1000.0  1000.0  1000.0
  message  ns      291.58  0.0000   60.00   63.50   749.8   749.8   749.8   750.0
  network  ns      275.56  0.0000   50.00   52.25   500.0   500.0   500.0   500.0

  flow     sources  offered  accepted    hops  network  message   ±95 %     p99  lost
  victim        64   0.1250    0.1250  3.0000    102.2    124.8  0.0000   129.0     0
  hotspot        8   2.0000    1.0000  5.0000   1000.0   1500.0  0.0000  1500.0     0

  links   mean utilisation %  max utilisation %
  global              25.000             50.000

  counter  count
  acks        17
  drops        0

  took 2.00 s (4.00 s of CPU, 2 threads), 2.50 million packet-hops per CPU second, 64.0 MiB at most
  result d16e
  note: a note from outside
  note: flow `hotspot` looks saturated: it accepted 1.0000 of 2.0000 flits per source and cycle
";
    assert_eq!(report(&steady(), 7).summary_text(), expected);
}

/// A flow that is to exceed what its destinations take, or that changes, says nothing about the network.
#[test]
fn saturation_is_judged_by_flow() {
    use LoadCourse::{Changes, Saturates, Steady};
    for (courses, saturated, judged) in
        [([Steady, Steady], true, true), ([Steady, Saturates], false, false), ([Steady, Changes], false, false)]
    {
        let report = report_of(&steady(), 1, courses, None);
        assert_eq!((report.total.saturated, report.flow("victim").unwrap().saturated), (saturated, false));
        let hotspot = report.flows.get("hotspot").unwrap();
        assert_eq!((hotspot.figures.saturated, hotspot.judged), (saturated, judged));
        assert_eq!(report.summary_text().contains("SATURATED"), saturated);
        assert_eq!(report.notes.iter().any(|note| note.contains("looks saturated")), saturated);
    }
}

/// Of ten messages two may be on their way when the window ends; of a thousand not two hundred.
#[test]
fn a_few_messages_that_are_under_way_are_no_saturation() {
    let saturated = |messages: u64| {
        let mut record = Record::new(plan());
        for (place, tick) in (2000..2000 + messages).enumerate() {
            record.offered(0, tick, 4, false);
            if place % 5 > 0 {
                record.packet_delivered(0, tick, packet(200, 3, 4));
                record.message_delivered(0, tick, 240, 4);
            }
        }
        report(&record, 1).total.saturated
    };
    assert_eq!([10, 1000].map(saturated), [false, true]);
}

/// A run in which `victim` is steady from tick 4000 on and `hotspot` from the start.
fn settling() -> Record {
    let mut record = Record::new(plan());
    for tick in 0..6000 {
        record.offered(0, tick, 4, false);
        record.packet_delivered(0, tick, packet(200, 3, 4));
        record.message_delivered(0, tick, if tick < 4000 { 4000 - tick / 2 } else { 240 }, 4);
    }
    record
}

#[test]
fn the_warm_up_is_judged_by_steady_flows_alone() {
    use LoadCourse::{Changes, Saturates, Silent, Steady};
    let looks_short = |courses| {
        let report = report_of(&settling(), 1, courses, None);
        report.notes.iter().any(|note| note.contains("looks short"))
    };
    for (courses, short) in [
        ([Steady, Steady], true),
        ([Steady, Silent], true),
        ([Changes, Steady], false),
        ([Steady, Changes], false),
        ([Saturates, Steady], false),
        ([Silent, Steady], false),
    ] {
        assert_eq!(looks_short(courses), short, "{courses:?}");
    }
}

#[test]
fn interrupted_runs_say_so() {
    let at = Interruption { cycle: 1700, of: 3000 };
    let report = report_of(&steady(), 1, [LoadCourse::Steady; 2], Some(at));
    assert!(report.summary_text().contains("INTERRUPTED in cycle 1700 of 3000"), "{}", report.summary_text());
    let json: Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!((json["interrupted"]["cycle"].as_u64(), json["interrupted"]["of"].as_u64()), (Some(1700), Some(3000)));
    assert_eq!(Report::read_json(report.to_json().as_bytes()).unwrap(), report);
}

#[test]
fn sweeps_have_means_over_seeds() {
    let mut other = steady();
    for tick in 2000..6000 {
        other.packet_delivered(0, tick, packet(300, 3, 1));
    }
    let point = |load: &str, reports| SweepPoint {
        settings: vec![("load".to_owned(), load.to_owned())],
        variant: "minimal".to_owned(),
        reports,
    };
    let points =
        [point("0.1", vec![report(&steady(), 1)]), point("0.2", vec![report(&steady(), 1), report(&other, 2)])];
    let table = sweep_table(&points);
    let at = |row: usize, name: &str| table.rows[row][table.column(name).unwrap()].number();
    assert_eq!((at(0, "load"), at(0, "seeds"), at(1, "seeds")), (Some(0.1), Some(1.0), Some(2.0)));
    assert_eq!(at(0, "victim.accepted_load"), Some(0.125));
    // With one seed the interval of that run, with two that of Student.
    assert_eq!(at(0, "latency_message_mean_ci95"), points[0].reports[0].total.latency.message.ci95);
    assert_eq!(at(0, "accepted_load_ci95"), None);
    let over = |row: usize| table.rows[row][table.column("ci95_over").unwrap()].clone();
    assert_eq!((over(0), over(1)), ("batches".into(), "seeds".into()));
    let difference = 2.0 / 72.0;
    assert!((at(1, "accepted_load").unwrap() - (16.0 / 72.0 + difference / 2.0)).abs() < 1e-12);
    assert!((at(1, "accepted_load_ci95").unwrap() - 12.706_204_736 * difference / 2.0).abs() < 1e-9);
    assert_eq!(
        (at(1, "saturated"), at(1, "hotspot.saturated"), at(1, "victim.saturated")),
        (Some(1.0), Some(1.0), Some(0.0))
    );
    let curves = Curve::from_table(&table, "load", "latency_message_mean", &["variant"]).unwrap();
    assert_eq!((curves.len(), curves[0].name.as_str(), curves[0].points.len()), (1, "minimal", 2));
}

/// Of a run that was ended early the intervals that were measured make the batches, and not those that were to be.
#[test]
fn batches_are_those_of_the_time_that_was_measured() {
    let mut record = Record::new(plan());
    for tick in 0..3000 {
        record.message_delivered(0, tick, 200 + tick / 100 % 7, 4);
    }
    let flows = || vec![flow("victim", 64, LoadCourse::Steady), flow("hotspot", 8, LoadCourse::Steady)];
    let ended = Measured { cycles: Cycles { warmup: 1000, measured: 500 }, ..measured(flows(), &record, 1, None) };
    let window = Window { from: 2000, until: 3000 };
    let expected = batch_means(&record.flows()[0].batches, window, Point::message_latency).expect("messages arrive");
    assert_eq!(expected.n, 13, "25 intervals of 40 ticks, two by two");
    let latency = |report: &Report| report.flow("victim").expect("there is one").latency.message.clone();
    let found = latency(&Report::new(ended));
    // Two ticks are a cycle.
    assert_eq!(found.ci95, expected.half_width_95.map(|ticks| ticks / 2.0));
    assert_ne!(found.ci95, latency(&Report::new(measured(flows(), &record, 1, None))).ci95);
}

#[test]
fn series_and_histograms_of_sweeps_are_of_all_seeds() {
    let point = |reports| SweepPoint {
        settings: vec![("load".to_owned(), "0.1".to_owned())],
        variant: "minimal".to_owned(),
        reports,
    };
    let points = [point(vec![report(&steady(), 1), report(&steady(), 2)])];
    let csv = |table: Option<Table>| {
        let mut csv = Vec::new();
        table.expect("there is something").write_csv(&mut csv).unwrap();
        String::from_utf8(csv).unwrap()
    };
    let mut seed = 0.0;
    let series = sweep_series_table(&points, |_| {
        seed += 1.0;
        let text = format!("cycle,flow,accepted_load,latency_message_mean\n0,a,{},\n100,a,{seed},50.0\n", 10.0 * seed);
        Table::read_csv(text.as_bytes()).ok()
    });
    let expected = "load,variant,seeds,cycle,flow,offered_load,offered_load_ci95,accepted_load,accepted_load_ci95,\
        latency_message_mean,latency_message_mean_ci95,latency_message_max,latency_message_max_ci95,latency_network_mean,\
        latency_network_mean_ci95,latency_network_max,latency_network_max_ci95,nonminimal_share,\
        nonminimal_share_ci95,complete,complete_ci95\n0.1,minimal,2,0,a,,,15.0,";
    let series = csv(series);
    assert!(series.starts_with(expected), "{series}");
    assert!(series.contains("\n0.1,minimal,2,100,a,,,1.5,6.35") && series.contains(",50.0,0.0,"), "{series}");
    // Nothing of the second has arrived in the first interval, and it ends before the first does.
    let mut runs = ["0,a,0.5,50.0\n100,a,0.5,60.0\n200,a,0.5,70.0\n", "0,a,0.1,\n100,a,0.1,80.0\n"].into_iter();
    let series = sweep_series_table(&points, |_| {
        let text = format!("cycle,flow,accepted_load,latency_message_mean\n{}", runs.next()?);
        Table::read_csv(text.as_bytes()).ok()
    });
    let series = series.expect("there are two runs");
    let of = |name: &str| {
        let place = series.column(name).expect("there is such a column");
        series.rows.iter().map(|row| row[place].number()).collect::<Vec<_>>()
    };
    assert_eq!(of("accepted_load"), [Some(0.3), Some(0.3), None]);
    assert_eq!(of("latency_message_mean"), [None, Some(70.0), None]);
    assert_eq!(of("latency_message_mean_ci95").iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
    let mut high = 3;
    let histograms = sweep_histogram_table(&points, |_| {
        high += 1;
        let text = format!("flow,figure,from,to,count\na,hops,2.0,2.0,5\na,hops,{high}.0,{high}.0,7\n");
        Table::read_csv(text.as_bytes()).ok()
    });
    let expected = "load,variant,seeds,flow,figure,from,to,count\n0.1,minimal,2,a,hops,2.0,2.0,10\n\
                    0.1,minimal,2,a,hops,4.0,4.0,7\n0.1,minimal,2,a,hops,5.0,5.0,7\n";
    assert_eq!(csv(histograms), expected);
    assert_eq!(sweep_series_table(&points, |_| None), None);
}

/// All ticks of an axis are written alike: 0.008 beside 0.010, and nothing as 8e-3.
#[test]
fn small_numbers_at_an_axis_have_the_same_form() {
    let curve = Curve { name: "a".to_owned(), points: vec![(0.1, 0.004), (0.2, 0.0139)], ..Curve::default() };
    let svg = Figure { y_max: Some(0.02), ..Figure::latency("", "", vec![curve]) }.to_svg();
    for text in [">0.008<", ">0.010<", ">0.020<", ">0.2"] {
        assert!(svg.contains(text), "{text} is missing in {svg}");
    }
    assert!(!svg.contains("e-3<"), "{svg}");
}

#[test]
fn figures_show_their_labels_and_do_not_take_dollars_for_formulas() {
    let curve = |name: &str, points: &[(f64, f64)]| Curve {
        name: name.to_owned(),
        points: points.to_vec(),
        ..Curve::default()
    };
    let curves = vec![curve("a $b$ <c>", &[(0.1, 100.0), (0.2, 5000.0)]), curve("alone", &[(0.1, 120.0)])];
    let figure = Figure::latency("Title", "ns", curves);
    let svg = figure.to_svg();
    for text in ["Title", "mean message latency (ns)", "offered load (flits/node/cycle)", "a $b$ &lt;c&gt;", "alone"] {
        assert!(svg.contains(text), "{text} is missing");
    }
    assert!(svg == figure.to_svg(), "the same figure is the same image");
    assert!(figure.to_png(1.0).starts_with(b"\x89PNG"));
    assert!(Figure::throughput("", Vec::new()).to_svg().contains("accepted load"));
}
