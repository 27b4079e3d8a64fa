//! Where controllers of a protocol are simulated changes no result: a central scheduler may be in any region.

use std::ops::ControlFlow;

use tailback_network::NetworkPlan;
use tailback_scenario::{Document, Scenario};

use crate::Run;
use crate::plan::{Regions, network_plan};
use crate::recorder::record_plan;
use crate::running_network::build;

/// The digest of a scenario of which each domain is a region; the first controller is in region `from`.
fn digest(scenario: &Scenario, from: u32) -> String {
    let mut run = Run::new(scenario, 1).expect("it can be started");
    let plan = network_plan(scenario, Regions::Domains(u32::MAX));
    let partition = plan.partition.clone().with_controllers_from(from);
    let regions = 0..partition.regions() as usize;
    run.network = build(NetworkPlan { partition, ..plan }, regions, &record_plan(scenario), None, None);
    run.finish(|_| ControlFlow::Continue(())).expect("it goes well");
    run.findings().expect("it is whole").digest()
}

#[test]
fn controllers_may_be_in_any_region() {
    for text in [
        include_str!("../../../tests/scenarios/clos-central.toml"),
        include_str!("../../../tests/scenarios/clos-distributed.toml"),
    ] {
        let scenario = Document::read("scenario.toml", text).resolve().expect("it has no mistakes");
        let topology = scenario.topology.built.graph();
        assert!(topology.domains() > 1, "there is a choice");
        let expected = digest(&scenario, 0);
        for from in 1..topology.domains() {
            assert_eq!(digest(&scenario, from), expected, "from region {from} on");
        }
    }
}
