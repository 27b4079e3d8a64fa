//! What congestion control costs: the time of a packet-hop with each protocol, over that without any but with
//! acknowledgements, at 1,056 nodes and messages of 4 flits at load 0.4. Control packets count as packets.
//! `cargo bench -p tailback-benches --bench protocol-cost` takes about a minute.

use tailback_benches::side_by_side::compare;

fn main() {
    let protocols = [
        ("baseline", "protocol={ baseline = { acknowledge = true, control_routing = \"minimal\" } }"),
        ("ecn", "protocol=ecn"),
        ("srp", "protocol=srp"),
        ("smsrp", "protocol=smsrp"),
        ("lhrp", "protocol=lhrp"),
        ("lhrp-fabric", "protocol={ lhrp = { fabric_drop = true } }"),
        ("comprehensive", "protocol=comprehensive"),
    ];
    compare("protocol", "dragonfly-1k-protocols", &protocols);
}
