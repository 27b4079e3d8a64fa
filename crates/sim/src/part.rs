//! What was found in the regions that a rank holds, and what all have found together.
//!
//! **The invariant it keeps:** parts that are merged in the order of their regions are what one process finds.

use serde::{Deserialize, Serialize};
use tailback_network::{Balance, Discrepancy};
use tailback_report::Record;
use tailback_topology::Topology;

use crate::link_use::LinkUse;
use crate::running_network::RunningNetwork;
use crate::waiting::Waiting;

/// What was found in some regions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    /// What was written down, if there are any regions.
    pub record: Option<Record>,
    /// Whether their buffers add up.
    pub balance: Result<Balance, Discrepancy>,
    pub links: LinkUse,
    pub packet_hops: u64,
    /// What ranks of programs wait for, in order.
    pub wants: Vec<Waiting>,
}

impl Part {
    /// What was found in the regions that are held here, whose buffers add up as `balance` says.
    pub fn of(network: &dyn RunningNetwork, balance: Result<Balance, Discrepancy>, topology: &dyn Topology) -> Self {
        Self {
            record: network.record(),
            balance,
            links: network.link_use(topology),
            packet_hops: network.packet_hops(),
            wants: network.wants(),
        }
    }

    /// Adds what was found in the regions that come next.
    pub fn merge(&mut self, next: Self) {
        match (&mut self.record, next.record) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
        match (&mut self.balance, next.balance) {
            (Ok(mine), Ok(theirs)) => mine.merge(&theirs),
            (mine @ Ok(_), theirs @ Err(_)) => *mine = theirs,
            (Err(_), _) => {}
        }
        self.links.merge(next.links);
        self.packet_hops += next.packet_hops;
        self.wants.extend(next.wants);
        self.wants.sort_by_key(|waiting| (waiting.program, waiting.rank));
    }
}
