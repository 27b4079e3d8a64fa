//! What schedulers need and cost in a network, in lines for people.

use tailback_protocol::Station;

use crate::cost::{Size, TRANSISTORS_OF_MEMORY, TRANSISTORS_OF_REGISTER};
use crate::parameters::{Terms, packet_ticks};

/// The way of a packet from its request to its credit.
pub(crate) fn loops(terms: &Terms, (request, grant): (u64, u64), station: &Station) -> Vec<String> {
    let packet = packet_ticks(station) as f64;
    let [request, grant, credit] = [request, grant, terms.credit_delay].map(|ticks| ticks as f64 / packet);
    let (buffer, routes) = (f64::from(terms.buffer), f64::from(station.routes));
    let rate = (f64::from(terms.requests) / (request + grant)).min(1.0);
    let behind = station.routes * terms.buffer;
    vec![
        format!(
            "a packet leaves {:.2} packet times after it was offered at the earliest: {request:.2} for its request and {grant:.2} for its grant",
            request + grant
        ),
        format!("with {} requests a flow alone reaches {rate:.3} packets per packet time", terms.requests),
        format!(
            "a crosspoint of {buffer} packets is never short of credits if data takes {:.2} packet times at most: its credit loop is {grant:.2}, \
             data, and {credit:.2}",
            (buffer - grant - credit).max(0.0)
        ),
        format!(
            "a flow alone takes all {routes} routes in turn, so it is not if data takes {:.2} at most",
            (routes * buffer - grant - credit).max(0.0)
        ),
        format!(
            "at most {behind} packets are on their way to a node at once, so {} at most wait there for their order",
            behind - 1
        ),
    ]
}

fn size(terms: &Terms, station: &Station) -> Size {
    Size { nodes: station.nodes, switches: station.routes, requests: terms.requests }
}

/// What the central scheduler costs.
pub(crate) fn central_cost(terms: &Terms, station: &Station) -> String {
    let size = size(terms, station);
    format!(
        "the scheduler has {} in counters; {}",
        transistors(size.central_bits(), TRANSISTORS_OF_REGISTER),
        messages(size)
    )
}

/// What the distributed scheduler costs.
pub(crate) fn distributed_cost(terms: &Terms, places: u32, station: &Station) -> Vec<String> {
    let size = size(terms, station);
    let (counters, queues) = (size.last_switch_bits(), size.queue_bits(places));
    vec![
        format!(
            "a switch of the last stage has {} in counters, {} in memory",
            transistors(counters, TRANSISTORS_OF_REGISTER),
            transistors(counters, TRANSISTORS_OF_MEMORY)
        ),
        format!(
            "one of the others has {} in queues of requests and grants, {} in memory; {}",
            transistors(queues, TRANSISTORS_OF_REGISTER),
            transistors(queues, TRANSISTORS_OF_MEMORY),
            messages(size)
        ),
    ]
}

fn messages(size: Size) -> String {
    format!("{:.0} bits are told for each packet", size.bits_per_packet())
}

fn transistors(bits: f64, each: f64) -> String {
    format!("{:.2} million transistors", bits * each / 1e6)
}
