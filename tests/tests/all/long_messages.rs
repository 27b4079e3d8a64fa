//! Messages of more packets than 16 bits can count are put together again.

use std::ops::ControlFlow;

use tailback_scenario::Document;
use tailback_sim::Run;

const PACKETS: u64 = 70_000;

#[test]
fn a_message_of_very_many_packets_completes() {
    let text = format!(
        "routing = \"direct\"\n[topology.single-switch]\nnodes = 2\n[nic]\npacket_flits = 1\nqueues = \"per-destination\"\n\
         [[traffic]]\nfrom = [0]\nload = 0.5\nsize = {PACKETS}\n[measure]\ncycles = 200000\n"
    );
    // With copies, which count the packets that are acknowledged, and without.
    for protocol in ["baseline", "smsrp"] {
        let document = Document::read("long", &text).with(&format!("protocol={protocol}"));
        let scenario = document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let mut run = Run::new(&scenario, 1).expect("there is nothing to start");
        run.finish(|_| ControlFlow::Continue(())).expect("nothing goes wrong");
        let delivered = run.findings().expect("all flits add up").record.total().delivered.messages;
        assert!(delivered > 0, "{protocol} completes no message");
    }
}
