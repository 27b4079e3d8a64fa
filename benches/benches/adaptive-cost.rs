//! What adaptive routing costs: the time of a packet-hop with each mechanism, over that with MIN, at 16,512 nodes and
//! load 0.4. `cargo bench -p tailback-benches --bench adaptive-cost` takes about a minute.

use tailback_benches::side_by_side::compare;

fn main() {
    let mechanisms = [
        ("minimal", "routing=minimal"),
        ("piggyback", "routing=piggyback"),
        ("olm", "routing=olm"),
        ("base", "routing=base"),
        ("hybrid", "routing=hybrid"),
        ("ectn", "routing=ectn"),
    ];
    compare("routing", "dragonfly-16k-adaptive", &mechanisms);
}
