//! What control packets leave of the links to the destinations of a flow.

use tailback_report::SATURATION_THRESHOLD;
use tailback_scenario::Scenario;
use tailback_workload::Traffic;

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
    let data = data_to(&destinations, findings, scenario)?;
    let at_them = findings.links.iter().filter(|link| link.node.is_some_and(|node| contains(&destinations, node)));
    let flits: u64 = at_them.map(|link| u64::from(link.flits)).sum();
    let room = destinations.len() as f64 * findings.ejection_room(scenario);
    let share = flits.saturating_sub(data) as f64 / room;
    let kinds = control_kinds(&destinations, scenario).join(" and ");
    (share >= SHARE_WORTH_A_NOTE && !kinds.is_empty()).then(|| {
        format!(
            "{kinds} fill {:.0} % of the ejection links of the destinations of `{}`, data {:.0} %",
            100.0 * share,
            flow.name,
            100.0 * data as f64 / room
        )
    })
}

/// Flits of data that have arrived at some nodes; none if another flow sends to some of them and to others as well, as
/// it is not written down where its packets arrived.
fn data_to(nodes: &[u32], findings: &Findings, scenario: &Scenario) -> Option<u64> {
    let mut data = 0;
    for (flow, found) in scenario.workload.flows.iter().zip(findings.record.flows()) {
        if found.delivered.flits == 0 {
            continue;
        }
        let destinations = flow.destinations()?;
        let among = destinations.iter().filter(|&&node| contains(nodes, node)).count();
        if among == destinations.len() {
            data += found.delivered.flits;
        } else if among > 0 {
            return None;
        }
    }
    Some(data)
}

/// The kinds of control packets that arrive at some nodes: those for sinks, and those for sources if they send as well.
fn control_kinds(nodes: &[u32], scenario: &Scenario) -> Vec<&'static str> {
    let send = scenario.workload.flows.iter().any(|flow| nodes.iter().any(|&node| flow.sources.contains(node)));
    let kinds = scenario.protocol.built.kinds();
    let arrive = kinds.iter().filter(|kind| !kind.direction.carries_data() && (send || kind.direction.asks_sink()));
    arrive.map(|kind| kind.name).collect()
}

fn contains(ascending: &[u32], node: u32) -> bool {
    ascending.binary_search(&node).is_ok()
}
