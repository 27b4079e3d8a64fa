//! What schedulers need and cost in a network, in lines for people.

use tailback_protocol::Station;

use crate::cost::{Size, TRANSISTORS_OF_MEMORY, TRANSISTORS_OF_REGISTER};
use crate::parameters::{Terms, packet_ticks};

/// The way of a packet from its request to its credit.
pub(crate) fn loops(terms: &Terms, (request, grant): (u64, u64), station: &Station) -> Vec<String> {
    let packet = packet_ticks(station) as f64;
    let [request, grant, credit] = [request, grant, terms.credit_delay].map(|ticks| ticks as f64 / packet);
    let (buffer, routes) = (f64::from(terms.buffer), f64::from(station.routes.count));
    let rate = (f64::from(terms.requests) / (request + grant)).min(1.0);
    let behind = station.routes.count * terms.buffer;
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

/// The rows of the table of costs: what is counted, and its bits.
fn parts(size: Size, places: u32) -> [(&'static str, f64); 3] {
    [
        ("central scheduler: counters", size.central_bits()),
        ("distributed: counters of a switch of the last stage", size.last_switch_bits()),
        ("distributed: queues of a switch of the others", size.queue_bits(places)),
    ]
}

/// Bytes of packets that the paper tells the share of messages for.
const PACKET_BYTES: [u32; 3] = [64, 128, 256];

/// What both schedulers cost in this network, as a table; `places` is the room of a sender in queues of requests and grants.
pub(crate) fn costs(terms: &Terms, places: u32, station: &Station) -> Vec<String> {
    let (nodes, routes) = (station.nodes, station.routes.count);
    let (buffer, requests) = (terms.buffer, terms.requests);
    let size = Size { nodes, switches: routes, requests };
    let mut lines = vec![
        format!(
            "cost with N = {nodes}, M = {routes}, B = {buffer}, u = {requests}, K = {places}, in millions of transistors"
        ),
        format!("  {:<52}{:>12}{:>12}{:>12}", "", "bits", "registers", "memory"),
    ];
    for (part, bits) in parts(size, places) {
        let [registers, memory] = [TRANSISTORS_OF_REGISTER, TRANSISTORS_OF_MEMORY].map(|each| bits * each / 1e6);
        lines.push(format!("  {part:<52}{bits:>12.0}{registers:>12.3}{memory:>12.3}"));
    }
    let messages = size.bits_per_packet();
    let shares = PACKET_BYTES.map(|bytes| format!("{:.1} %", 100.0 * messages / f64::from(8 * bytes)));
    lines.push(format!(
        "  messages for each packet: {messages:.0} bits, {} of packets of 64, 128 and 256 bytes",
        shares.join(", ")
    ));
    let crosspoints = u64::from(routes) * u64::from(routes);
    lines.push(format!(
        "  buffers for data in a switch: {} packets, {buffer} at each of {crosspoints} crosspoints",
        crosspoints * u64::from(buffer)
    ));
    lines
}
