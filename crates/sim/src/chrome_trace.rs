//! A trace in the format of Chrome, for Perfetto and `chrome://tracing`: what people can look at as bars over time.
//!
//! The first process has a line for each packet, from its creation to its end, without gaps. Each router and each interface is a
//! process of its own, with a line for each buffer, output and link; arrows follow a packet from one to the next.
//!
//! **The invariant it keeps:** bars on a line contain one another or do not overlap, as the format demands.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tailback_network::{Occurrence, Place, TraceEvent};
use tailback_scenario::Scenario;

use crate::packet_path::{PacketPath, Stretch, Track, packet_paths};
use crate::trace_words::Teller;

/// A trace in the format of Chrome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChromeTrace {
    trace_events: Vec<ChromeEvent>,
    display_time_unit: &'static str,
    other_data: BTreeMap<&'static str, String>,
}

/// An event of such a trace, with the names of the format.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct ChromeEvent {
    name: String,
    /// What it is: a bar, part of an arrow, or something about lines.
    ph: &'static str,
    pid: u32,
    tid: u32,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    /// Of arrows, the packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    /// Of the end of an arrow, that it points to the bar around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    /// Of an instant, that it is of its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    args: BTreeMap<&'static str, Argument>,
}

/// What is told with an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Argument {
    Number(f64),
    Text(String),
}

/// A bar that is to be put on a line of a router or an interface.
struct Bar {
    from: u64,
    to: u64,
    packet: usize,
    /// Those inside.
    inner: Vec<Stretch>,
}

/// The process of packets; those of routers and interfaces follow.
const PACKETS: u32 = 1;

impl ChromeTrace {
    /// What all regions have noted until `now`. `about` says what is traced, and `is_cut` that the end is missing.
    pub(crate) fn new(scenario: &Scenario, events: &[TraceEvent], now: u64, about: String, is_cut: bool) -> Self {
        let (paths, packets) = packet_paths(scenario, events, now);
        let mut writer = Writer { scenario, events: Vec::new() };
        writer.name_process(PACKETS, 0, "packets, from creation to end".to_owned());
        paths.iter().enumerate().for_each(|(number, path)| writer.packet(number, path, now));
        let processes = writer.places(&paths, events);
        writer.instants(events, &packets, &processes);
        let time = if scenario.clock.cycle_fs.is_some() {
            "times are microseconds"
        } else {
            "a microsecond stands for a link cycle: the scenario has no clock"
        };
        let mut other_data = BTreeMap::from([("traced", about), ("time", time.to_owned())]);
        if is_cut {
            other_data.insert("cut", "more happened than a trace has room for: the end is missing".to_owned());
        }
        Self { trace_events: writer.events, display_time_unit: "ns", other_data }
    }
}

struct Writer<'s> {
    scenario: &'s Scenario,
    events: Vec<ChromeEvent>,
}

impl Writer<'_> {
    /// A tick, or a number of them, in microseconds to the femtosecond, or in cycles if there is no clock.
    fn time(&self, ticks: u64) -> f64 {
        let clock = &self.scenario.clock;
        let cycles = ticks as f64 / f64::from(clock.ticks_per_cycle);
        clock.cycle_fs.map_or(cycles, |fs| (cycles * fs as f64).round() / 1e9)
    }

    fn cycles(&self, ticks: u64) -> Argument {
        Argument::Number(ticks as f64 / f64::from(self.scenario.clock.ticks_per_cycle))
    }

    fn push(&mut self, ph: &'static str, name: String, (pid, tid): (u32, u32), at: u64) -> &mut ChromeEvent {
        let ts = self.time(at);
        let args = BTreeMap::new();
        self.events.push(ChromeEvent {
            name,
            ph,
            pid,
            tid,
            ts,
            dur: None,
            cat: None,
            id: None,
            bp: None,
            s: None,
            args,
        });
        self.events.last_mut().expect("one was added")
    }

    fn bar(&mut self, name: String, cat: &'static str, line: (u32, u32), (from, to): (u64, u64)) -> &mut ChromeEvent {
        let dur = self.time(to - from);
        let event = self.push("X", name, line, from);
        (event.dur, event.cat) = (Some(dur), Some(cat));
        event
    }

    fn name_process(&mut self, pid: u32, place: u32, name: String) {
        let number = Argument::Number(place.into());
        self.push("M", "process_name".to_owned(), (pid, 0), 0).args.insert("name", Argument::Text(name));
        self.push("M", "process_sort_index".to_owned(), (pid, 0), 0).args.insert("sort_index", number);
    }

    fn name_line(&mut self, line: (u32, u32), name: String) {
        let number = Argument::Number(line.1.into());
        self.push("M", "thread_name".to_owned(), line, 0).args.insert("name", Argument::Text(name));
        self.push("M", "thread_sort_index".to_owned(), line, 0).args.insert("sort_index", number);
    }

    /// The line of a packet.
    fn packet(&mut self, number: usize, path: &PacketPath, now: u64) {
        let line = (PACKETS, number as u32 + 1);
        self.name_line(line, title(number, path));
        let end = path.created + path.duration(now);
        let mut told = BTreeMap::from([
            ("packet", Argument::Number(number as f64)),
            ("flits", Argument::Number(path.flits.into())),
            ("latency_cycles", self.cycles(end - path.created)),
            ("network_cycles", self.cycles(end.saturating_sub(path.sent))),
        ]);
        let state = match (path.arrived, path.ended) {
            (true, _) => "arrived",
            (false, Some(_)) => "ended on its way",
            (false, None) => "under way at the end",
        };
        told.insert("state", Argument::Text(state.to_owned()));
        if let Some(flow) = &path.flow {
            told.insert("flow", Argument::Text(flow.clone()));
        }
        self.bar(title(number, path), "packet", line, (path.created, end)).args = told;
        for stretch in &path.stretches {
            let (span, place) = ((stretch.from, stretch.to), place_name(stretch.place));
            let cycles = self.cycles(stretch.to - stretch.from);
            let event = self.bar(stretch.what.to_owned(), "stretch", line, span);
            event.args = BTreeMap::from([
                ("packet", Argument::Number(number as f64)),
                ("where", Argument::Text(format!("{place}, {}", stretch.track))),
                ("cycles", cycles),
            ]);
        }
    }

    /// The lines of routers and interfaces, and the arrows between them; the number of each as a process.
    fn places(&mut self, paths: &[PacketPath], events: &[TraceEvent]) -> BTreeMap<Place, u32> {
        let places: BTreeSet<Place> = events.iter().map(|event| event.place).collect();
        let processes: BTreeMap<Place, u32> = places.into_iter().zip(PACKETS + 1..).collect();
        for (place, &pid) in &processes {
            self.name_process(pid, pid, place_name(*place));
        }
        let mut bars = BTreeMap::<(Place, Track), Vec<Bar>>::new();
        for (number, path) in paths.iter().enumerate() {
            self.collect(number, path, &mut bars);
        }
        let (mut stops, mut used) = (vec![Vec::new(); paths.len()], BTreeMap::new());
        for ((place, track), mut bars) in bars {
            let pid = processes[&place];
            bars.sort_by_key(|bar| (bar.from, bar.packet));
            // What overlaps is on lines one below the other.
            let mut lines: Vec<(u64, u32)> = Vec::new();
            for bar in bars {
                let free = lines.iter().position(|&(end, _)| end <= bar.from).unwrap_or(lines.len());
                if free == lines.len() {
                    let tid = used.entry(pid).or_insert(0);
                    *tid += 1;
                    lines.push((0, *tid));
                    let below = if free == 0 { String::new() } else { format!(" ({})", free + 1) };
                    self.name_line((pid, *tid), format!("{track}{below}"));
                }
                lines[free].0 = bar.to;
                let line = (pid, lines[free].1);
                stops[bar.packet].push((bar.from, line));
                let event = self.bar(title(bar.packet, &paths[bar.packet]), "place", line, (bar.from, bar.to));
                event.args.insert("packet", Argument::Number(bar.packet as f64));
                for part in bar.inner {
                    self.bar(part.what.to_owned(), "wait", line, (part.from, part.to));
                }
            }
        }
        self.arrows(stops);
        processes
    }

    /// The bars of a packet: a stay in a buffer with all that it waits for, a link while its flits leave.
    fn collect(&self, packet: usize, path: &PacketPath, bars: &mut BTreeMap<(Place, Track), Vec<Bar>>) {
        let sending = u64::from(path.flits.max(1)) * u64::from(self.scenario.clock.ticks_per_cycle);
        for stay in path.stretches.chunk_by(|one, other| (one.place, one.track) == (other.place, other.track)) {
            let (from, to, Stretch { place, track, .. }) = (stay[0].from, stay[stay.len() - 1].to, stay[0].clone());
            let bar = match track {
                Track::Injection | Track::Link { .. } => Bar { from, to: from + sending, packet, inner: Vec::new() },
                _ => Bar { from, to, packet, inner: stay.to_vec() },
            };
            bars.entry((place, track)).or_default().push(bar);
        }
    }

    /// Arrows from bar to bar of each packet.
    fn arrows(&mut self, stops: Vec<Vec<(u64, (u32, u32))>>) {
        for (packet, mut stops) in stops.into_iter().enumerate() {
            stops.sort_unstable();
            let last = stops.len().saturating_sub(1);
            for (place, &(at, line)) in stops.iter().enumerate().filter(|_| last > 0) {
                let ph = if place == 0 {
                    "s"
                } else if place == last {
                    "f"
                } else {
                    "t"
                };
                let event = self.push(ph, "way".to_owned(), line, at);
                (event.cat, event.id) = (Some("way"), Some(packet));
                event.bp = (ph == "f").then_some("e");
            }
        }
    }

    /// What happens at once: what the protocol decides, marks, losses, what becomes of the message.
    fn instants(&mut self, events: &[TraceEvent], packets: &[Option<usize>], processes: &BTreeMap<Place, u32>) {
        let mut teller = Teller::new(self.scenario, None);
        for (event, packet) in events.iter().zip(packets) {
            if let Occurrence::Hop(_) | Occurrence::Sent { .. } | Occurrence::Received { .. } = event.what {
                continue;
            }
            let name = teller.line(event).event;
            let line = (processes[&event.place], 0);
            let instant = self.push("i", name, line, event.tick);
            instant.s = Some("p");
            if let Some(packet) = packet {
                instant.args.insert("packet", Argument::Number(*packet as f64));
            }
        }
    }
}

fn title(number: usize, path: &PacketPath) -> String {
    format!("packet {number}: {}", path.name)
}

fn place_name(place: Place) -> String {
    match place {
        Place::Router(router) => format!("router {router}"),
        Place::Node(node) => format!("node {node}"),
    }
}
