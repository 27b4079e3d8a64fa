//! Protocols that reserve: CRP on long channels and at a busy source, and how much waits at sources.

use tailback_report::Report;

use crate::scenarios::{report_of, resolve_text};

fn report_on(text: &str) -> Report {
    report_of(&resolve_text(text), 1)
}

/// Two nodes of other groups send a segment each to node 0. A grant comes back to a long global link when the earliest slots that the node has
/// are over there: requests that come again leave these out.
#[test]
fn crp_grants_segments_however_long_channels_are() {
    for latency in [100, 400, 1000, 2000] {
        let report = report_on(&format!(
            "routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n\
             [links.global]\nlatency = {latency}\nbuffer = 4608\n[protocol.crp]\nlinks = \"global\"\n\
             [router]\nvirtual_output_queues = true\n[nic]\npacket_flits = 32\n\
             [[traffic]]\nfrom = [20, 60]\nat = [0]\nsize = 512\npattern.hot-spot.to = [0]\n\
             [measure]\nwarmup = 0\ncycles = 100000\nuntil = \"drained\"\n"
        ));
        assert_eq!(report.total.messages.delivered, 2, "with links of {latency} cycles");
    }
}

/// A segment of 2,000 flits is granted in cycle 810, and messages to three others come in cycle 1,200: what is left of it follows without a gap,
/// though these would speculate until they have grants of their own, from cycle 2,010 on.
#[test]
fn what_crp_has_granted_has_its_source_for_itself() {
    let latency = |others: &str| {
        let report = report_on(&format!(
            "routing = \"direct\"\ntopology.single-switch.nodes = 12\n\
             [links]\ninjection = {{ latency = 200, buffer = 1024 }}\nejection.latency = 200\n\
             [protocol.crp]\nlinks = \"none\"\ncell = 1100\nlargest = 2048\n\
             [router]\nvirtual_output_queues = true\n[nic]\npacket_flits = 32\n\
             [[traffic]]\nname = \"granted\"\nfrom = [0]\nat = [0]\nsize = 2000\npattern.hot-spot.to = [1]\n{others}\
             [measure]\nwarmup = 0\ncycles = 100000\n"
        ));
        report.flows.get("granted").and_then(|flow| flow.figures.latency.message.max).expect("it arrives")
    };
    let other = |node: u32| {
        format!(
            "[[traffic]]\nname = \"to-{node}\"\nfrom = [0]\nat = [1200]\nsize = 20000\npattern.hot-spot.to = [{node}]\n"
        )
    };
    let (alone, beside) = (latency(""), latency(&[2, 3, 4].map(other).concat()));
    // One packet of theirs may be on the link when its time comes.
    assert!(beside <= alone + 32.0, "{beside} cycles, and {alone} alone");
}

/// Seven nodes send at half of their link to one, and four messages may wait at each. SRP withholds the rest of messages, which waits all the same.
#[test]
fn what_srp_withholds_counts_among_what_may_wait() {
    let report = report_on(
        "routing = \"direct\"\nprotocol = \"srp\"\ntopology.single-switch.nodes = 8\n\
         [router]\nvirtual_output_queues = true\n[nic]\npacket_flits = 8\nqueue_limit = 4\n\
         [[traffic]]\nload = 0.5\nfrom = { outside = [0] }\nsize = 64\npattern.hot-spot.to = [0]\nsaturates = true\n\
         [measure]\nwarmup = 0\ncycles = 50000\n",
    );
    let backlog = report.total.backlog_flits.expect("it is told");
    assert!(backlog <= 7 * 4 * 64, "{backlog} flits wait");
    assert!(report.total.messages.lost > 1500, "{:?}", report.total.messages);
}
