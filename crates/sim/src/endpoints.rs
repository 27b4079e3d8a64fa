//! What control packets leave of the links to the destinations of a flow.

use tailback_report::SATURATION_THRESHOLD;
use tailback_scenario::Scenario;
use tailback_workload::{NodeSet, Pattern, Traffic};

use crate::findings::Findings;

/// Control packets that take less of the links are not why data does not arrive.
const SHARE_WORTH_A_NOTE: f64 = 0.1;

/// A sentence for each flow that is not accepted as a whole and whose destinations' links are busy with control packets.
pub(crate) fn endpoint_notes(findings: &Findings, scenario: &Scenario) -> Vec<String> {
    let flows = scenario.workload.flows.iter().zip(findings.record.flows());
    let short =
        flows.filter(|(_, found)| (found.delivered.flits as f64) < SATURATION_THRESHOLD * found.offered.flits as f64);
    short.filter_map(|(flow, _)| note(flow, findings, scenario)).collect()
}

fn note(flow: &Traffic, findings: &Findings, scenario: &Scenario) -> Option<String> {
    let destinations = flow.destinations()?;
    let Data { flits: data, exact } = data_to(&destinations, findings, scenario)?;
    let at_them = findings.links.nodes.iter().filter(|(node, _)| destinations.contains(*node));
    let flits: u64 = at_them.map(|&(_, flits)| u64::from(flits)).sum();
    let room = f64::from(destinations.len()) * findings.ejection_room(scenario);
    let share = flits.saturating_sub(data) as f64 / room;
    let kinds = match control_kinds(&destinations, scenario).as_slice() {
        [kind] => (*kind).to_owned(),
        kinds => format!("control packets ({})", kinds.join(", ")),
    };
    (share >= SHARE_WORTH_A_NOTE).then(|| {
        let (at_least, at_most) = if exact { ("", "") } else { ("at least ", "at most ") };
        format!(
            "{kinds} fill {at_least}{:.0} % of the ejection links of the destinations of `{}`, data {at_most}{:.0} %",
            100.0 * share,
            flow.name,
            100.0 * data as f64 / room
        )
    })
}

/// Data that has arrived at some nodes.
struct Data {
    /// Its flits; or, if that is not exact, the most that it can be.
    flits: u64,
    exact: bool,
}

/// The data that has arrived at some nodes. Where the packets of a flow arrived is not written down: of one that sends to
/// these nodes and to others alike it is their share at most, as links that are full do not get more than others. None
/// if even that is not known.
fn data_to(nodes: &NodeSet, findings: &Findings, scenario: &Scenario) -> Option<Data> {
    let mut data = Data { flits: 0, exact: true };
    for (flow, found) in scenario.workload.flows.iter().zip(findings.record.flows()) {
        if found.delivered.flits == 0 {
            continue;
        }
        let destinations = flow.destinations()?;
        let among = destinations.iter().filter(|&node| nodes.contains(node)).count();
        if among == destinations.len() as usize {
            data.flits += found.delivered.flits;
        } else if among > 0 {
            let alike = flow.phases().iter().all(|phase| matches!(phase.pattern, Pattern::Uniform { .. }));
            let share = among as f64 / f64::from(destinations.len());
            data.flits += alike.then(|| (found.delivered.flits as f64 * share).ceil() as u64)?;
            data.exact = false;
        }
    }
    Some(data)
}

/// The kinds of control packets that arrive at some nodes: those for sinks, and those for sources if they send as well.
fn control_kinds(nodes: &NodeSet, scenario: &Scenario) -> Vec<&'static str> {
    let send = scenario.workload.flows.iter().any(|flow| nodes.iter().any(|node| flow.sources.contains(node)));
    let kinds = scenario.protocol.built.kinds();
    let arrive = kinds.iter().filter(|kind| !kind.direction.carries_data() && (send || kind.direction.asks_sink()));
    arrive.map(|kind| kind.name).collect()
}
