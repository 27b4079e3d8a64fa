//! What the network has to know of a protocol: its declarations, looked at once.

use tailback_protocol::{Direction, Hooks, KindDeclaration, Moment, Ports, Protocol, SwitchNeeds, Watch};

use crate::time::Time;

/// What the network has to know of a protocol.
pub(crate) struct Traits {
    pub hooks: Hooks,
    pub kinds: Vec<KindDeclaration>,
    pub watches: Vec<Watch>,
    pub needs: SwitchNeeds,
    pub queueing_timeouts: Vec<Option<Time>>,
}

impl Traits {
    pub(crate) fn of(protocol: &dyn Protocol) -> Self {
        let timeout = |ticks: u64| Time::try_from(ticks).unwrap_or(Time::MAX);
        let (hooks, kinds, watches) = (protocol.hooks(), protocol.kinds(), protocol.watches());
        let queueing_timeouts = protocol.classes().iter().map(|class| class.queueing_timeout.map(timeout)).collect();
        Self { hooks, kinds, watches, needs: protocol.switch_needs(), queueing_timeouts }
    }

    pub fn watches(&self, moment: Moment) -> bool {
        self.watches.iter().any(|watch| watch.moment == moment)
    }

    /// Whether routers may drop packets.
    pub fn is_lossy(&self) -> bool {
        self.kinds.iter().any(|kind| kind.direction == Direction::LossyData)
    }

    /// Whether the heads of queues are asked about at each allocation.
    pub fn watches_heads(&self) -> bool {
        self.watches(Moment::Requests) || self.watches(Moment::Expires)
    }

    /// By moment, then by kind: where switches are asked.
    pub fn table(&self) -> Vec<Option<Ports>> {
        let mut table = vec![None; MOMENTS * self.kinds.len()];
        for watch in &self.watches {
            let entry = &mut table[watch.moment as usize * self.kinds.len() + watch.kind.index()];
            *entry = (*entry).max(Some(watch.ports));
        }
        table
    }
}

/// How many moments there are.
const MOMENTS: usize = Moment::Expires as usize + 1;
