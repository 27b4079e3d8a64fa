//! What each scenario is there for shows in its results: one in which nothing happens would be equal in all ways, too.

use tailback_scenario::{Document, Scenario};
use tailback_sim::{Findings, Plan, Timing};

use super::{clos, clusters, marking, programs, protocols};
use crate::scenarios::{findings_of, resolve};

/// A scenario and what came of it.
pub(super) struct Seen {
    pub scenario: Scenario,
    /// Of the network as a region for each domain.
    pub plan: Plan,
    findings: Findings,
    /// `report.json`, read as any reader would.
    report: serde_json::Value,
}

/// Runs a scenario, and asserts that it does what it is there for.
pub fn check(name: &str, digest: &str) {
    let seen = Seen::new(name, &[]);
    assert_eq!(seen.findings.digest(), digest);
    assert!(
        seen.count("/messages/delivered") > 300,
        "{name}: {} messages are too few",
        seen.count("/messages/delivered")
    );
    assert!(seen.plan.nodes >= 16 && seen.plan.nodes < 300, "{name} has {} nodes", seen.plan.nodes);
    meaning(name)(&seen);
}

fn meaning(name: &str) -> fn(&Seen) {
    match name {
        "clos-central" | "clos-distributed" => clos::scheduled,
        "clos-end-to-end" => clos::end_to_end,
        "clos-fast-fabric" => clos::fast_fabric,
        "clos-in-band" => clos::in_band,
        "clos-in-band-in-order" => clos::in_band_in_order,
        "clos-network-voqs" => clos::network_voqs,
        "clos-in-step" => clos::in_step,
        "clos-inputs" => clos::inputs,
        "clos-max-min" => clos::max_min,
        "clos-requests-for-all" => clos::requests_for_all,
        "clos-slots" => clos::slots,
        "clos-weighted" => clos::weighted,
        "clos-weighted-blocks" => clos::weighted_blocks,
        "clos-unbalanced" => clos::unbalanced,
        "cluster-long-ring" => clusters::long_ring,
        "cluster-mixed" => clusters::mixed_clusters,
        "cluster-ring" => clusters::ring_of_clusters,
        "dragonfly-base"
        | "dragonfly-ectn"
        | "dragonfly-hybrid"
        | "dragonfly-olm"
        | "dragonfly-olm-parallel"
        | "dragonfly-par"
        | "dragonfly-piggyback"
        | "dragonfly-statistical" => adapts,
        "dragonfly-absolute-valiant" => detours_to_groups,
        "dragonfly-acknowledged" => acknowledged,
        "dragonfly-incast" => incasts,
        "dragonfly-interrupted" => interrupted,
        "dragonfly-like-destination" => detours_like_destinations,
        "dragonfly-long-links" => long_links,
        "dragonfly-minimal" => minimal,
        "dragonfly-par6-2" => adapts_everywhere,
        "dragonfly-par6-2-voqs" => protocols::lhrp_by_voqs,
        "dragonfly-parallel-links" => parallel_links,
        "dragonfly-tailback" => tailback,
        "dragonfly-ugal" => chooses_by_queues,
        "dragonfly-ugal-global" => knows_the_group,
        "dragonfly-ugal-ports" => chooses_by_ports,
        "dragonfly-valiant-node" => detours_to_nodes,
        "fly-both-ways" => marking::half_of_a_fly,
        "fly-ecn" => protocols::ecn_in_a_butterfly,
        "fly-pauses" => pausing_butterfly,
        "fly-plain" => plain_butterfly,
        "program-adaptive" => programs::ring_with_detours,
        "program-collectives" => programs::all_collectives,
        "program-schedules" => programs::schedules,
        "program-shared-nodes" => programs::ranks_that_share_nodes,
        "program-training" => programs::jobs_under_a_hot_spot,
        "protocol-comprehensive" => protocols::comprehensive,
        "protocol-comprehensive-inputs" => protocols::comprehensive_inputs,
        "protocol-crp" => protocols::crp_by_source,
        "protocol-crp-ring" | "protocol-crp-long-ring" => protocols::crp_between_clusters,
        "protocol-crp-global" | "protocol-crp-parallel" => protocols::crp_at_global_links,
        "protocol-crp-tree" => protocols::crp_at_nodes,
        "protocol-ecn" => protocols::ecn,
        "protocol-ecn-notified" => protocols::ecn_notified,
        "protocol-lhrp" => protocols::lhrp,
        "protocol-lhrp-fabric" => protocols::lhrp_fabric,
        "protocol-lhrp-inputs" => protocols::lhrp_inputs,
        "protocol-mvcm" | "protocol-mvcm-source" => marking::mvcm,
        "protocol-mvcm-cold" => marking::mvcm_for_cold_traffic,
        "protocol-mvcm-waits" => marking::mvcm_waits,
        "protocol-pfister" => marking::pfister,
        "protocol-pfister-validated" => marking::pfister_validated,
        "protocol-renato" | "protocol-renato-additive" | "protocol-renato-fast" => marking::renato,
        "protocol-renato-window" => marking::renato_window,
        "protocol-smsrp" => protocols::smsrp,
        "protocol-smsrp-counted" => protocols::smsrp_until_all_is_done,
        "protocol-smsrp-queues" => protocols::smsrp_queues,
        "protocol-srp" => protocols::srp,
        "protocol-srp-limited" => protocols::srp_with_a_limit,
        "switch-bursts" => bursts,
        "switch-idle-ejection" => idle_ejection,
        "switch-overload" => overload,
        "switch-wide" => wide_switch,
        "dragonfly-counted-in-order" => counted_in_order,
        "switch-islip" => clos::islip,
        "tree-hash" => hashed_tree,
        "tree-nearest-ancestor" => nearest_ancestor,
        "tree-parallel-links" => parallel_tree_links,
        "tree-plain" => plain_tree,
        "tree-tapered" => tapered,
        "tree-wide" => wide_tree,
        "turns-by-priority" => turns_by_priority,
        _ => panic!("say in determinism/meaning.rs what {name} shows"),
    }
}

impl Seen {
    fn new(name: &str, overrides: &[&str]) -> Self {
        Self::run(resolve(name, overrides))
    }

    fn run(scenario: Scenario) -> Self {
        let findings = findings_of(&scenario, 0);
        let report = findings.report(&scenario, "0", &Timing::default()).to_json();
        let report = serde_json::from_str(&report).expect("a report is JSON");
        let by_domain = Document::read("resolved", &scenario.text).with("execution.partition=domain");
        let plan = Plan::new(&by_domain.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}")));
        Self { plan, findings, report, scenario }
    }

    /// What comes of a scenario with overrides.
    pub fn of(scenario: &Scenario, overrides: &[&str]) -> Self {
        let document = Document::read("resolved", &scenario.text);
        let document = overrides.iter().fold(document, |document, set| document.with(set));
        Self::run(document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}")))
    }

    /// The same of this one.
    pub fn with(&self, overrides: &[&str]) -> Self {
        Self::of(&self.scenario, overrides)
    }

    /// The cycle in which it was over.
    pub fn cycles(&self) -> u64 {
        self.findings.reached
    }

    pub fn value(&self, pointer: &str) -> &serde_json::Value {
        self.report.pointer(pointer).unwrap_or_else(|| panic!("there is no {pointer} in the report"))
    }

    pub fn number(&self, pointer: &str) -> f64 {
        let value = self.report.pointer(pointer).and_then(serde_json::Value::as_f64);
        value.unwrap_or_else(|| panic!("{pointer} is no number of the report"))
    }

    pub fn count(&self, pointer: &str) -> u64 {
        self.number(pointer) as u64
    }

    /// How busy the links of a class were on average.
    pub fn busy(&self, class: &str) -> f64 {
        self.links(class, "mean")
    }

    /// How busy the busiest of them was.
    pub fn busiest(&self, class: &str) -> f64 {
        self.links(class, "max")
    }

    pub fn links(&self, class: &str, figure: &str) -> f64 {
        let links = self.report["links"].as_array().expect("it is a list");
        let link = links.iter().find(|link| link["class"] == class).expect("there are such links");
        link[figure].as_f64().expect("it is a number")
    }

    pub fn assert_plain(&self, plain: bool) {
        assert_eq!(self.plan.plain_routers, plain, "whether the plain microarchitecture is used");
    }
}

/// Some packets leave the minimal path, and far from all; under traffic that is only adversarial many more do, and more
/// arrives than minimal routing could carry.
fn adapts(seen: &Seen) {
    let share = |seen: &Seen| seen.number("/nonminimal_share");
    assert!((0.005..0.9).contains(&share(seen)), "{} of all packets are nonminimal", share(seen));
    let name = &seen.scenario.title;
    let adverse = under_adversity(seen);
    assert!(share(&adverse) > 1.3 * share(seen), "{name}: {} under adversarial traffic", share(&adverse));
    // A group has eight nodes, and by minimal paths one link to the next: more only where groups are few.
    let groups = seen.scenario.topology.built.graph().domains();
    let minimal = if groups == 9 { 0.125 } else { 0.25 };
    assert!(adverse.number("/accepted_load") > minimal, "{name}: {}", adverse.number("/accepted_load"));
}

/// Under traffic that is only adversarial.
fn under_adversity(seen: &Seen) -> Seen {
    Seen::of(&seen.scenario, &["traffic.phases=[]", "traffic.load=0.3", "traffic.pattern.adversarial.offset=1"])
}

fn adapts_everywhere(seen: &Seen) {
    adapts(seen);
    seen.assert_plain(false);
    assert!(seen.scenario.network.router.virtual_output_queues, "it decides once, so that routers may sort packets");
    // Two local hops in each of three groups.
    assert_eq!(under_adversity(seen).count("/hops/max"), 8);
}

/// Packets that are gone count for longer, so more packets leave the minimal path. When outputs are free matters too.
fn counted_in_order(seen: &Seen) {
    let with = |set: &str| Seen::of(&seen.scenario, &[set]);
    let (tail, held) = (with("routing.ectn.counted_until=tail"), with("router.output_held=crossing"));
    let [share, share_by_tail] = [seen, &tail].map(|seen| seen.number("/nonminimal_share"));
    assert!(share > share_by_tail, "{share} of all packets leave the minimal path, and {share_by_tail}");
    assert_ne!(held.findings.digest(), seen.findings.digest(), "the rule of outputs changes nothing");
}

/// Who knows the queues at the other routers of its group does better than who knows its own.
fn knows_the_group(seen: &Seen) {
    adapts(seen);
    let local = Seen::of(&seen.scenario, &["routing={ ugal-l = { threshold = 16 } }"]);
    let [global, local] = [seen, &local].map(under_adversity);
    assert!(global.number("/accepted_load") > 1.1 * local.number("/accepted_load"));
    assert!(global.number("/latency/message/mean") < 0.95 * local.number("/latency/message/mean"));
}

/// A packet inside its group takes two hops by way of a node, and sometimes one by way of a router.
fn detours_to_nodes(seen: &Seen) {
    seen.assert_plain(true);
    let routers = Seen::of(&seen.scenario, &["routing.valiant.target=router"]);
    let fastest = |seen: &Seen| seen.number("/flows/inside/latency/network/min");
    // Ten cycles of a link and five of a router.
    assert_eq!(fastest(seen), fastest(&routers) + 15.0);
    assert_eq!(seen.count("/hops/max"), 6);
}

fn detours_to_groups(seen: &Seen) {
    seen.assert_plain(true);
    // Two global links each; minimally there would be one.
    assert!(seen.number("/hops/mean") > 2.8 && seen.count("/hops/max") == 5);
    let series = seen.findings.series(&seen.scenario).expect("it asks for one");
    assert_eq!(series.rows.len(), 20);
}

fn detours_like_destinations(seen: &Seen) {
    seen.assert_plain(false);
    assert_eq!(seen.count("/hops/max"), 6);
    // Sooner or later somebody has waited for credits in an output queue: it takes longer than alone.
    assert!(seen.number("/latency/network/p99") > 2.0 * seen.number("/latency/network/min"));
}

fn acknowledged(seen: &Seen) {
    seen.assert_plain(false);
    assert_eq!(seen.scenario.network.classes.len(), 2);
    assert!(seen.count("/counters/acknowledgements") > 1000);
    assert!(seen.count("/flows/near/messages/delivered") > 300);
    assert!(seen.count("/flows/far/messages/delivered") > 300);
}

fn interrupted(seen: &Seen) {
    let series = seen.findings.series(&seen.scenario).expect("it asks for one");
    let (flow, offered) = (column(&series, "flow"), column(&series, "offered_load"));
    let regular = series.rows.iter().filter(|row| row[flow] == "regular".into());
    let silent: Vec<bool> = regular.map(|row| row[offered].number() == Some(0.0)).collect();
    assert_eq!(silent.len(), 21);
    assert!(!silent[0] && !silent[20] && silent[1..20].iter().all(|&silent| silent), "{silent:?}");
    assert!(seen.count("/flows/rare/messages/delivered") > 10);
}

fn column(table: &tailback_report::Table, name: &str) -> usize {
    table.column(name).expect("the series has such a column")
}

fn long_links(seen: &Seen) {
    seen.assert_plain(true);
    let ticks_per_cycle = u64::from(seen.scenario.clock.ticks_per_cycle);
    assert_eq!(seen.plan.lookahead_ticks, Some(700 * ticks_per_cycle), "350 ns are 700 cycles of 0.5 ns");
    assert!(seen.number("/latency_ns/network/p50") > 350.0);
    assert!(seen.count("/packets_delivered") > 2 * seen.count("/messages/delivered"), "messages are of three packets");
}

fn minimal(seen: &Seen) {
    seen.assert_plain(true);
    assert_eq!((seen.plan.regions, seen.count("/hops/max")), (9, 3));
    assert!(seen.number("/accepted_load") > 0.38);
}

fn parallel_links(seen: &Seen) {
    assert_eq!(seen.scenario.clock.ticks_per_cycle, 1);
    // 4 other groups are reached by 12 links.
    assert_eq!((seen.plan.regions, seen.plan.links), (5, 20 * (3 + 3)));
    assert_eq!(seen.count("/hops/max"), 6);
    assert!(seen.busy("global") > 0.3);
}

/// The queue of the storm reaches those who send elsewhere.
fn tailback(seen: &Seen) {
    let calm = Seen::new("dragonfly-tailback", &["traffic.storm.load=0"]);
    let slower = |pointer: &str| seen.number(pointer) > 1.3 * calm.number(pointer);
    assert!(slower("/flows/bystanders/latency/message/p99"));
    assert!(slower("/flows/everybody/latency/message/p99"));
    assert!(seen.count("/flows/storm/messages/lost") > 100, "queue_limit bites");
    assert!(calm.count("/messages/lost") < seen.count("/messages/lost") / 10);
    // One node takes at most one flit per cycle, from six sources.
    assert!(seen.number("/flows/storm/accepted_load") < 1.0 / 6.0);
}

fn incasts(seen: &Seen) {
    let reached = seen.findings.reached;
    let done_in = seen.number("/flows/incast/completion_cycles");
    assert!(
        (150.0 + done_in..=250.0 + done_in).contains(&(reached as f64)),
        "{reached} is the end of what took {done_in}"
    );
    assert_eq!((seen.count("/flows/incast/count"), seen.count("/flows/incast/unfinished")), (140, 0));
    assert!(seen.number("/flows/incast/slowdown/max") > 10.0 && seen.number("/flows/incast/slowdown/min") >= 1.0);
    assert!((0.1..0.9).contains(&seen.number("/flows/incast/jain")));
    assert_eq!(seen.report.pointer("/flows/around/count"), None, "it never ends");
}

fn chooses_by_queues(seen: &Seen) {
    seen.assert_plain(false);
    // Some packets have gone straight, and some by way of a random router.
    assert_eq!(seen.count("/hops/max"), 6);
    let straight = Seen::new("dragonfly-ugal", &["routing=minimal"]);
    assert!(seen.number("/accepted_load") > 1.2 * straight.number("/accepted_load"), "detours are worth it");
}

fn chooses_by_ports(seen: &Seen) {
    seen.assert_plain(false);
    assert!(seen.count("/hops/max") > 3 && seen.number("/hops/mean") < 4.0);
    assert!(seen.count("/counters/acknowledgements") > 1000);
    assert_eq!(seen.scenario.network.router.allocation_period, 2);
}

fn bursts(seen: &Seen) {
    let nodes_busy = seen.busy("ejection");
    assert!(nodes_busy > 0.6, "slow ejection is the bottleneck, at {nodes_busy}");
    // A message is of three packets, each of which is acknowledged.
    assert!(seen.count("/counters/acknowledgements") > 2 * seen.count("/messages/delivered"));
    let smooth = Seen::new("switch-bursts", &["traffic.arrival=bernoulli"]);
    // It is 1.097 in these 1,500 cycles, and from 1.03 to 1.22 by seed in ten times as many.
    assert!(seen.number("/latency/message/mean") > 1.05 * smooth.number("/latency/message/mean"));
}

fn turns_by_priority(seen: &Seen) {
    seen.assert_plain(false);
    assert!(seen.count("/counters/acknowledgements") > 1000);
    let together = Seen::new("turns-by-priority", &["router.turns_kept=together"]);
    assert_ne!(together.findings.digest(), seen.findings.digest(), "turns of their own change nothing");
}

fn idle_ejection(seen: &Seen) {
    seen.assert_plain(false);
    let eager = Seen::new("switch-idle-ejection", &["router.ejection=room"]);
    // Nodes rest between packets, so that less gets through.
    assert!(seen.number("/latency/message/mean") > 1.1 * eager.number("/latency/message/mean"));
}

fn overload(seen: &Seen) {
    seen.assert_plain(true);
    assert!(seen.count("/flows/inward/messages/lost") > 300, "queue_limit bites");
    assert_eq!(seen.report["saturated"], false, "what is declared to be too much is no saturation");
    assert!(seen.number("/flows/outward/accepted_load") > 0.3);
}

fn nearest_ancestor(seen: &Seen) {
    seen.assert_plain(false);
    assert_eq!((seen.scenario.clock.ticks_per_cycle, seen.count("/hops/max")), (4, 4));
    assert!(seen.number("/accepted_load") > 0.5);
}

fn parallel_tree_links(seen: &Seen) {
    seen.assert_plain(false);
    assert_eq!((seen.plan.links, seen.count("/hops/max")), (2 * 8 * 2 * 2, 2));
    // The largest messages are of five packets.
    assert!(seen.count("/packets_delivered") > seen.count("/messages/delivered"));
}

/// Some links up carry several flows, where a random choice per packet spreads all over all.
fn hashed_tree(seen: &Seen) {
    assert_eq!(seen.count("/hops/max"), 2);
    let random = Seen::of(&seen.scenario, &["routing.nearest-common-ancestor.up=random"]);
    let (hashed, random) = (seen.busiest("level1"), random.busiest("level1"));
    assert!(hashed > 0.95 && random < 0.8, "the busiest link is busy for {hashed}, and {random} if packets are spread");
}

fn plain_tree(seen: &Seen) {
    seen.assert_plain(true);
    assert_eq!(seen.count("/hops/max"), 2);
    assert!(seen.count("/flows/second/messages/delivered") > 50);
}

/// Hosts of hot nodes take half of what their links carry, and no more than some packets wait for them. What would wait there is in the network, where it holds
/// up the rest.
fn pausing_butterfly(seen: &Seen) {
    let never = seen.with(&["nic.pause_at=never"]);
    let hot = |seen: &Seen| seen.number("/flows/hot/accepted_load") * 12.0 / 2.0;
    assert!(
        (0.49..=0.51).contains(&hot(seen)) && hot(&never) > 0.6,
        "{} come, and {} without pauses",
        hot(seen),
        hot(&never)
    );
    let waits = |seen: &Seen| seen.number("/flows/hot/latency/resequencing/max");
    // Three packets, and as many as come until the pause is heard, at two cycles a flit.
    assert!(
        waits(seen) < 2.0 * 80.0 && waits(&never) > 400.0,
        "{} cycles, and {} without pauses",
        waits(seen),
        waits(&never)
    );
    let [rest, passed] = [seen, &never].map(|seen| seen.number("/flows/rest/latency/network/mean"));
    assert!(rest > 1.3 * passed, "{rest} cycles, and {passed} without pauses");
}

/// All packets take as many links; only the last stage has links to nodes, and those are busy with what is accepted.
fn plain_butterfly(seen: &Seen) {
    seen.assert_plain(true);
    assert_eq!((seen.number("/hops/mean"), seen.count("/hops/max"), seen.plan.links), (2.0, 2, 2 * 64));
    for class in ["ejection", "stage1", "stage2"] {
        let difference = seen.busy(class) / seen.number("/accepted_load") - 1.0;
        assert!(difference.abs() < 0.02, "{class} links are {difference} busier");
    }
}

fn tapered(seen: &Seen) {
    seen.assert_plain(false);
    assert!(seen.busy("level2") > 0.9 && seen.busy("level1") < 0.6, "the top is full");
}

fn wide_switch(seen: &Seen) {
    seen.assert_plain(false);
    assert_eq!(seen.scenario.topology.built.graph().radix(), 200);
    assert!(seen.number("/accepted_load") > 0.6);
}

fn wide_tree(seen: &Seen) {
    seen.assert_plain(false);
    assert_eq!(seen.scenario.topology.built.graph().radix(), 80);
    assert!(seen.number("/accepted_load") > 0.4 && seen.count("/hops/max") == 2);
}
