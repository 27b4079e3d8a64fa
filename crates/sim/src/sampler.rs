//! What is looked at now and again while a network runs, at cycles that the scenario names.

use serde::{Deserialize, Serialize};
use tailback_network::{LinkStates, Paths};
use tailback_scenario::{LinkSampling, Scenario};

use crate::links::{LinkLayout, LinkRecord};
use crate::running_network::RunningNetwork;
use crate::trees::TreeRecord;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Samples {
    pub trees: TreeRecord,
    pub links: LinkRecord,
}

/// Whoever looks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampler {
    pub samples: Samples,
    paths: Paths,
    /// The links that are looked at, once they have been.
    layout: Option<LinkLayout>,
}

impl Sampler {
    /// Whether a scenario wants anything looked at.
    pub fn is_wanted(scenario: &Scenario) -> bool {
        periods(scenario).next().is_some()
    }

    /// Whether anything is looked at in a cycle.
    pub fn is_due(scenario: &Scenario, cycle: u64) -> bool {
        periods(scenario).any(|every| cycle.is_multiple_of(every))
    }

    /// Until when to simulate that is in `cycle` and wants to get to `end`.
    pub fn stop_before(scenario: &Scenario, cycle: u64, end: u64) -> u64 {
        periods(scenario).map(|every| (cycle / every + 1) * every).fold(end, u64::min)
    }

    /// Looks at a network, if the time has come.
    pub fn look(&mut self, scenario: &Scenario, network: &dyn RunningNetwork) {
        let ticks_per_cycle = u64::from(scenario.clock.ticks_per_cycle);
        if !Self::is_wanted(scenario) || !network.now().is_multiple_of(ticks_per_cycle) {
            return;
        }
        let cycle = network.now() / ticks_per_cycle;
        let measured = cycle >= scenario.measure.warmup;
        if scenario.measure.trees_every.is_some_and(|every| cycle.is_multiple_of(every)) {
            self.samples.trees.note(cycle, measured, &network.congestion_trees(&mut self.paths));
        }
        if let Some(states) = self.link_states(scenario, network) {
            self.note_links(scenario, cycle, &states);
        }
    }

    /// What the links that a scenario wants looked at look like in the regions that are held here, if the time has come.
    pub fn link_states(&mut self, scenario: &Scenario, network: &dyn RunningNetwork) -> Option<LinkStates> {
        let ticks = |every: u64| every * u64::from(scenario.clock.ticks_per_cycle);
        let links = scenario.measure.links.filter(|links| network.now().is_multiple_of(ticks(links.every)))?;
        let layout = self.layout.get_or_insert_with(|| layout(scenario, links));
        Some(network.link_states(&layout.selected))
    }

    /// Notes what they look like in the whole network.
    pub fn note_links(&mut self, scenario: &Scenario, cycle: u64, states: &LinkStates) {
        let Some(links) = scenario.measure.links else { return };
        let layout = self.layout.get_or_insert_with(|| layout(scenario, links));
        self.samples.links.note(cycle, states, layout);
    }
}

fn layout(scenario: &Scenario, links: LinkSampling) -> LinkLayout {
    LinkLayout::new(scenario.topology.built.graph().as_ref(), links)
}

/// How often something is looked at, in cycles.
fn periods(scenario: &Scenario) -> impl Iterator<Item = u64> {
    let links = scenario.measure.links.map(|links| links.every);
    scenario.measure.trees_every.into_iter().chain(links)
}
