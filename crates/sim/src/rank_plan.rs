//! What the ranks of a run would have to do, found out without building anything.

use std::ops::Range;

use tailback_engine::deal_out;
use tailback_scenario::Scenario;

use crate::plan::{Regions, memory, network_plan, record_bytes};
use crate::rank_mail::{Mail, mail};
use crate::together::work;

/// What a rank of a run would have to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPlan {
    /// Its regions.
    pub regions: Range<usize>,
    /// The ports of their routers, which packets go through, and those of the whole network.
    pub ports: (u64, u64),
    /// Bytes that it will take, about, if the network takes what it is offered: its share of the network, what is written down about
    /// that, and where the routers and nodes of all ranks are. Congestion trees take the whole network on the first one.
    pub memory_bytes: u64,
    /// Bytes that it sends other ranks in a window, about, if the network takes what it is offered, and is otherwise empty: data of all flows but programs,
    /// on the paths that routing takes then, and credits for it.
    pub mail_bytes: u64,
    /// Those if all links to them are busy.
    pub mail_bytes_max: u64,
}

/// What each rank knows of each router and node of the network.
const ROUTER_BYTES: u64 = 20;
const NODE_BYTES: u64 = 12;

impl RankPlan {
    /// Those of a scenario on so many ranks with so many threads each.
    #[must_use]
    pub fn all(scenario: &Scenario, ranks: usize, threads: usize) -> Vec<Self> {
        let plan = network_plan(scenario, Regions::of(scenario, ranks * threads.max(1)));
        let topology = plan.topology.as_ref();
        let work = work(&plan);
        let shares = deal_out(&work, ranks);
        let all: u64 = work.iter().sum();
        let network = memory(scenario, &plan);
        let known = u64::from(topology.routers()) * ROUTER_BYTES + u64::from(topology.nodes()) * NODE_BYTES;
        let mail = mail(scenario, &plan, &shares);
        let rank = |(regions, mail): (Range<usize>, Mail)| {
            let ports: u64 = work[regions.clone()].iter().sum();
            let whole = scenario.measure.trees_every.is_some() && regions.start == 0 && !regions.is_empty();
            let share = if whole { all + ports } else { ports };
            let network = (u128::from(network) * u128::from(share) / u128::from(all.max(1))) as u64;
            let record = record_bytes(scenario, regions.len() as u32);
            let memory_bytes = network.saturating_add(known).saturating_add(record);
            Self { ports: (ports, all), regions, memory_bytes, mail_bytes: mail.bytes, mail_bytes_max: mail.bytes_max }
        };
        shares.into_iter().zip(mail).map(rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use tailback_scenario::Document;

    use super::*;

    const GROUPS: &str = "
        routing.minimal = {}
        [topology.dragonfly]
        p = 2
        a = 4
        h = 2
        g = 9
        [execution]
        partition = \"domain\"
        [[traffic]]
        pattern = \"uniform\"
        load = 0.3
        [measure]
        warmup = 100
        cycles = 400
        ";

    #[test]
    fn ranks_share_memory_and_one_alone_sends_nothing() {
        let scenario = |text: &str| Document::read("groups.toml", text).resolve().unwrap_or_else(|why| panic!("{why}"));
        let plain = scenario(GROUPS);
        let alone = &RankPlan::all(&plain, 1, 1)[0];
        assert_eq!((alone.mail_bytes, alone.mail_bytes_max, alone.ports.0), (0, 0, alone.ports.1));
        let three = RankPlan::all(&plain, 3, 1);
        assert!(three.iter().all(|rank| rank.memory_bytes < alone.memory_bytes / 2 && rank.mail_bytes_max > 0));
        // More than there are regions: those that have none send nothing.
        let many = RankPlan::all(&plain, 20, 1);
        assert!(many.iter().all(|rank| rank.regions.is_empty() == (rank.mail_bytes_max == 0)));
        let trees = scenario(&format!("{GROUPS}\ntrees = {{ every = 100 }}"));
        let looked = RankPlan::all(&trees, 3, 1);
        assert!(looked[0].memory_bytes > 2 * looked[1].memory_bytes, "the first one gathers the whole network");
    }
}
