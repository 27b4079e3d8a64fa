//! Any protocol with any routing: each pair that `models` lists, in each topology that the routing is for.
//!
//! Every pair runs a hot spot beside uniform traffic in a small network and in several regions. All flits and credits have
//! to add up, as in every run, something has to arrive, and the result has to be that of one region.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use tailback_scenario::{Document, models};
use tailback_sim::Run;

/// Networks, as small as all routings allow, and whether their links lead both ways.
const NETWORKS: [(&str, bool); 6] = [
    ("[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n", true),
    ("[topology.k-ary-n-tree]\nk = 2\nn = 3\n", true),
    ("[topology.single-switch]\nnodes = 6\n", true),
    ("[topology.multi-cluster]\nclusters = 3\nnodes_per_leaf = 2\nleaves = 2\nspines = 2\nchannels = 1\n", true),
    ("[topology.two-level-tree]\nnodes_per_leaf = 2\nleaves = 2\nspines = 2\n", true),
    ("[topology.k-ary-n-fly]\nk = 3\nn = 2\n", false),
];

/// The protocols that reserve buffers on the routes of a Clos network, and are refused elsewhere.
const CLOS_ONLY: [&str; 2] = ["central-scheduler", "distributed-scheduler"];

/// The protocols in which routers send nothing.
const ENDPOINTS_ONLY: [&str; 7] =
    ["baseline", "ecn", "renato", "pfister", "mvcm", "in-band-reservation", "end-to-end-acknowledgement"];

fn names(kind: &str) -> Vec<&'static str> {
    models().filter(|model| model.kind == kind).map(|model| model.name).collect()
}

fn document(network: &str, routing: &str, protocol: &str) -> Document {
    let vc_choice = if routing == "clos" { "rotation" } else { "round-robin" };
    let text = format!(
        "title = \"{routing} with {protocol}\"\nrouting = \"{routing}\"\nprotocol = \"{protocol}\"\n{network}\
         [nic]\nqueues = \"per-destination\"\nvc_choice = \"{vc_choice}\"\n\
         [[traffic]]\nname = \"hot\"\nfrom = {{ outside = [1] }}\nload = 0.3\nsize = 4\npattern.hot-spot.to = [1]\n\
         [[traffic]]\nname = \"around\"\nload = 0.3\nsize = 8\n\
         [measure]\nwarmup = 100\ncycles = 400\n"
    );
    // Low thresholds, so that protocols have something to do at once.
    let document = Document::read("combination", &text);
    match protocol {
        "lhrp" | "comprehensive" => document.with(&format!("protocol.{protocol}.threshold=16")),
        "renato" => document.with("links.injection.buffer=16"),
        "pfister" => document.with("protocol.pfister={ weight = 15, step = 8, timer = 100 }"),
        "mvcm" => document.with("protocol.mvcm={ slot = 20, input_threshold = 0.05, output_threshold = 0.1 }"),
        "in-band-reservation" => document.with("protocol.in-band-reservation={ requests = 3, output_buffer = 4 }"),
        "srp" | "smsrp" => document.with(&format!("protocol.{protocol}.timeout=20")),
        "crp" => {
            let channels = [("dragonfly", "global"), ("multi-cluster", "inter-cluster")];
            let links =
                channels.iter().find(|(topology, _)| network.contains(topology)).map_or("none", |(_, links)| links);
            document.with(&format!(
                "protocol.crp={{ timeout = 20, smallest = 0, cell = 9, largest = 16, links = \"{links}\" }}"
            ))
        }
        _ => document,
    }
}

/// The digest of a run with an override, and the messages that were delivered.
fn run(document: &Document, set: &str) -> (String, u64) {
    let scenario = document.clone().with(set).resolve().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let mut run = Run::new(&scenario, 1).expect("there is nothing to start");
    run.finish(|_| ControlFlow::Continue(())).unwrap_or_else(|failure| panic!("{}: {failure}", scenario.title));
    let findings = run.findings().unwrap_or_else(|failure| panic!("{}: {failure}", scenario.title));
    (findings.digest(), findings.record.total().delivered.flits)
}

#[test]
fn any_protocol_runs_with_any_routing() {
    let (mut with_routing, mut pairs) = (BTreeSet::new(), 0);
    for (network, leads_both_ways) in NETWORKS {
        for routing in names("routing") {
            if document(network, routing, "baseline").resolve().is_err() {
                continue; // it is for another topology
            }
            with_routing.insert(routing);
            for protocol in names("protocol") {
                let document = document(network, routing, protocol);
                if routing != "clos" && CLOS_ONLY.contains(&protocol) {
                    let refusal = document.resolve().expect_err("there is nothing to reserve").to_string();
                    assert!(refusal.contains("the square of its routes"), "{routing} with {protocol}: {refusal}");
                    continue;
                }
                if !leads_both_ways && !ENDPOINTS_ONLY.contains(&protocol) {
                    let refusal = document.resolve().expect_err("routers cannot reach sources").to_string();
                    assert!(refusal.contains("unidirectional links"), "{routing} with {protocol}: {refusal}");
                    continue;
                }
                let (digest, delivered) = run(&document, "execution.regions=1");
                assert!(delivered > 0, "{routing} with {protocol} delivers nothing");
                assert_eq!(run(&document, "execution.partition=router").0, digest, "{routing} with {protocol}");
                pairs += 1;
            }
        }
    }
    assert_eq!(with_routing, names("routing").into_iter().collect(), "each routing has a network here");
    assert!(pairs > names("routing").len() * names("protocol").len() / 2);
}
