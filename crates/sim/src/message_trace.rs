//! The trace of a message, for people: a line for all that happened to its packets, and to the control packets about it.

use std::fmt;

use serde::Serialize;
use tailback_network::{Occurrence, TRACE_EVENTS_MAX, TraceEvent, TracedMessage};
use tailback_scenario::Scenario;
use tailback_workload::Part;

use crate::trace_words::Teller;

/// The trace of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTrace {
    /// What happened, in order of time.
    pub lines: Vec<TraceLine>,
    /// Whether more happened than a trace has lines.
    pub is_cut: bool,
    /// Whether the message has neither arrived nor been lost, as far as the lines tell.
    pub is_under_way: bool,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceLine {
    /// When, in link cycles.
    pub cycle: f64,
    /// The same in nanoseconds, if the scenario has a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns: Option<f64>,
    /// Where: a router or the interface of a node.
    pub place: String,
    /// To what: the message, or a packet by its kind and its number in the message.
    pub packet: String,
    /// What.
    pub event: String,
}

impl MessageTrace {
    /// The trace of a message of a scenario, from what all regions have noted.
    pub(crate) fn new<'a>(
        scenario: &Scenario,
        message: &TracedMessage,
        regions: impl Iterator<Item = &'a [TraceEvent]>,
    ) -> Self {
        let (events, is_cut) = TraceEvent::in_order(regions, TRACE_EVENTS_MAX);
        let mut teller = Teller::new(scenario, Some(message));
        let is_over = |event: &TraceEvent| {
            matches!(
                event.what,
                Occurrence::Complete { part: Part::Whole | Part::Data(_), .. } | Occurrence::Offered { lost: true, .. }
            )
        };
        let is_under_way = !events.iter().any(is_over);
        Self { lines: events.iter().map(|event| teller.line(event)).collect(), is_cut, is_under_way }
    }
}

impl fmt::Display for MessageTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_table(&self.lines, f)?;
        if self.is_cut {
            writeln!(f, "The trace goes on: it is cut off after {TRACE_EVENTS_MAX} lines.")?;
        } else if self.lines.is_empty() {
            writeln!(f, "The simulation ends before there is such a message.")?;
        } else if self.is_under_way {
            writeln!(f, "The simulation ends before the message is complete.")?;
        }
        Ok(())
    }
}

/// Lines in columns, under their titles.
pub(crate) fn write_table(lines: &[TraceLine], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let width =
        |title: &str, text: &dyn Fn(&TraceLine) -> usize| lines.iter().map(text).max().unwrap_or(0).max(title.len());
    let ns = |line: &TraceLine| line.ns.map_or_else(String::new, |ns| format!("{ns:.1}"));
    let cycle_width = width("cycle", &|line| line.cycle.to_string().len());
    let ns_width = width("ns", &|line| ns(line).len());
    let place_width = width("place", &|line| line.place.len());
    let packet_width = width("packet", &|line| line.packet.len());
    let has_clock = lines.iter().any(|line| line.ns.is_some());
    let mut row = |cycle: &str, ns: &str, place: &str, packet: &str, event: &str| {
        write!(f, "{cycle:>cycle_width$}  ")?;
        if has_clock {
            write!(f, "{ns:>ns_width$}  ")?;
        }
        writeln!(f, "{place:place_width$}  {packet:packet_width$}  {event}")
    };
    row("cycle", "ns", "place", "packet", "event")?;
    for line in lines {
        row(&line.cycle.to_string(), &ns(line), &line.place, &line.packet, &line.event)?;
    }
    Ok(())
}
