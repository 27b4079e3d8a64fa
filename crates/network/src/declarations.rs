//! What the network has to know of a protocol: its declarations, looked at once.

use tailback_protocol::{
    Direction, Hooks, KindDeclaration, Moment, PathUse, Ports, Protocol, QueueingTimeout, SwitchNeeds, Watch,
};

use crate::time::Time;

/// What the network has to know of a protocol.
pub(crate) struct Declarations {
    pub hooks: Hooks,
    pub kinds: Vec<KindDeclaration>,
    pub watches: Vec<Watch>,
    pub needs: SwitchNeeds,
    /// By class.
    pub queueing_timeouts: Vec<Option<Timeout>>,
}

/// How long packets of a class may wait before they expire, and whether waiting in output queues counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeout {
    pub time: Time,
    pub in_output_queues: bool,
}

impl Declarations {
    pub(crate) fn of(protocol: &dyn Protocol) -> Self {
        let timeout = |QueueingTimeout { ticks, in_output_queues }| Timeout {
            time: Time::try_from(ticks).unwrap_or(Time::MAX),
            in_output_queues,
        };
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

    /// Whether routers have an internal port, by which packets come in that they send or trim.
    pub fn has_internal_port(&self) -> bool {
        self.needs.sends || self.needs.trims
    }

    /// Whether any packets record their path, or take a recorded one.
    pub fn records_paths(&self) -> bool {
        self.kinds.iter().any(|kind| kind.path != PathUse::None)
    }

    /// Whether the heads of queues are asked about at each allocation.
    pub fn watches_heads(&self) -> bool {
        self.watches(Moment::Requests) || self.watches(Moment::Expires)
    }

    /// By moment, then by kind: where switches are asked, in a network whose links are of these classes.
    pub fn table(&self, link_classes: &[&str]) -> Vec<Watched> {
        let mut table = vec![Watched::default(); MOMENTS * self.kinds.len()];
        for watch in &self.watches {
            table[watch.moment as usize * self.kinds.len() + watch.kind.index()].add(watch.ports, link_classes);
        }
        table
    }
}

/// Where switches are asked about packets of a kind at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watched {
    /// At all ports, and at the last hop.
    pub everywhere: bool,
    pub last_hop: bool,
    /// Set of link classes.
    links: u32,
}

impl Watched {
    fn add(&mut self, ports: Ports, link_classes: &[&str]) {
        match ports {
            Ports::All => self.everywhere = true,
            Ports::LastHop => self.last_hop = true,
            Ports::Links(name) => {
                let class = link_classes.iter().position(|class| *class == name);
                self.links |= 1 << class.expect("protocols watch links that there are");
            }
        }
    }

    /// Whether a packet is asked about that uses a link of this class, if any, and is at its last hop or not.
    #[inline]
    pub fn asks(self, last_hop: bool, link_class: Option<u8>) -> bool {
        let by_link = link_class.is_some_and(|class| self.links & 1 << class != 0);
        self.everywhere || (self.last_hop && last_hop) || by_link
    }
}

/// How many moments there are.
const MOMENTS: usize = Moment::Expires as usize + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_watches_of_a_kind_add_up() {
        let mut watched = Watched::default();
        let asked = |watched: Watched| {
            [(false, None), (false, Some(2)), (true, Some(1))].map(|(last_hop, class)| watched.asks(last_hop, class))
        };
        assert_eq!(asked(watched), [false, false, false]);
        watched.add(Ports::Links("global"), &["terminal", "local", "global"]);
        assert_eq!(asked(watched), [false, true, false]);
        watched.add(Ports::LastHop, &[]);
        assert_eq!(asked(watched), [false, true, true]);
        watched.add(Ports::All, &[]);
        assert_eq!(asked(watched), [true, true, true]);
    }
}
