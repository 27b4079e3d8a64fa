//! What a packet may do at a router, by what it has done before.

use tailback_topology::{Dragonfly, Port};

use super::super::local_routes::LocalRoutes;
use crate::{Causes, Header, Hop, PortSet, PortVc, Step, Validity};

/// What a packet has done, in [`Header::leg`].
pub(super) mod done {
    /// A local hop that was not minimal, in the group it is in.
    pub const LOCAL: u8 = 1;
    /// Such a hop in its source group: it must leave the group by the router it came to.
    pub const MUST_LEAVE: u8 = 2;
    /// A global hop.
    pub const GLOBAL: u8 = 4;
}

/// A packet at a router: what it may do there.
pub(super) struct PacketState<'a> {
    routes: &'a LocalRoutes,
    /// How it came in: the kind of the link, none from a node, and the channel.
    pub(super) entry: Option<(Hop, u8)>,
    pub(super) header: Header,
    pub(super) group: u32,
    pub(super) in_group: u32,
    pub(super) port: Port,
}

impl<'a> PacketState<'a> {
    #[inline]
    pub(super) fn new(routes: &'a LocalRoutes, entry: PortVc, header: Header) -> Self {
        let (group, in_group, port) = Dragonfly::locate(header.destination());
        let entry = routes.kind(entry.port).map(|hop| (hop, entry.vc));
        Self { routes, entry, header, group, in_group, port }
    }

    pub(super) fn has(&self, what: u8) -> bool {
        self.header.leg & what != 0
    }

    /// Whether it is still in the group it comes from and goes to another one.
    pub(super) fn is_leaving(&self) -> bool {
        !self.has(done::GLOBAL) && self.group != self.routes.group
    }

    /// The group that it is for, if it is another one and the packet has not left its source router.
    #[inline]
    pub(super) fn leaves_from_here(&self) -> Option<u32> {
        (self.is_leaving() && self.entry.is_none()).then_some(self.group)
    }

    /// The step by a link of a kind, as the order of channels wants it.
    #[inline]
    pub(super) fn step(&self, hop: Hop, port: Port, cause: Causes) -> Step {
        let vc = match (hop, self.entry) {
            (Hop::Local, None) => 0,
            (Hop::Local, Some((_, vc))) => vc + 1,
            (Hop::Global, _) => u8::from(self.has(done::GLOBAL)),
        };
        let header = match hop {
            Hop::Local => self.header,
            Hop::Global => self.through(port, cause),
        };
        Step { port, vc, vcs: 1, validity: Validity::Once, header }
    }

    /// The header after a global link, taken for a cause where it leads to another group than the destination's.
    fn through(&self, port: Port, cause: Causes) -> Header {
        let cause = if self.routes.group_behind(port) == self.group { Causes::NONE } else { cause };
        Header { leg: done::GLOBAL, nonminimal: self.header.nonminimal.with(cause), ..self.header }
    }

    /// The step of a local hop that is not minimal.
    fn opportunity(&self, alternatives: Alternatives, port: Port, cause: Causes) -> Step {
        let leaving = if self.is_leaving() { done::MUST_LEAVE } else { 0 };
        let nonminimal = self.header.nonminimal.with(cause.inside());
        let header = Header { leg: self.header.leg | done::LOCAL | leaving, nonminimal, ..self.header };
        Step { port, vc: alternatives.vc, vcs: 1, validity: Validity::Once, header }
    }

    /// All steps that are minimal, or, where the packet must leave, none.
    pub(super) fn minimal_steps(&self, steps: &mut Vec<Step>) {
        if (self.group, self.in_group) == (self.routes.group, self.routes.in_group) {
            steps.push(self.routes.eject(self.port, self.header));
        } else if !self.has(done::MUST_LEAVE) {
            let hops = self.routes.all_towards(self.group, self.in_group);
            steps.extend(hops.into_iter().map(|(hop, port)| self.step(hop, port, Causes::NONE)));
        }
    }

    /// The links by which it may leave the minimal path here, if it may: `minimal` is the kind of those that are minimal, none
    /// at its destination.
    #[inline]
    pub(super) fn alternatives(&self, minimal: Option<Hop>) -> Option<Alternatives> {
        let from_node = self.entry.is_none();
        if self.has(done::MUST_LEAVE) || (self.is_leaving() && from_node) {
            return Some(Alternatives { hop: Hop::Global, vc: u8::from(self.has(done::GLOBAL)) });
        }
        let after_local_hop = matches!(self.entry, Some((Hop::Local, _)));
        let may_hop = if self.is_leaving() { after_local_hop } else { minimal == Some(Hop::Local) };
        // Injection and the source group use the first channel; elsewhere it is the one before the next in order.
        let vc = self.entry.map_or(0, |(_, vc)| vc);
        (may_hop && !self.has(done::LOCAL)).then_some(Alternatives { hop: Hop::Local, vc })
    }

    /// The ports of those links.
    #[inline]
    pub(super) fn ports(&self, alternatives: Alternatives) -> PortSet {
        match alternatives.hop {
            // From where it comes to it must leave its group.
            Hop::Local if self.is_leaving() => self.routes.ports_to_gateways(),
            hop => self.routes.ports(hop),
        }
    }

    /// The step by a port of those links.
    #[inline]
    pub(super) fn other_step(&self, alternatives: Alternatives, port: Port, cause: Causes) -> Step {
        match alternatives.hop {
            Hop::Global => self.step(Hop::Global, port, cause),
            Hop::Local => self.opportunity(alternatives, port, cause),
        }
    }
}

/// The links of a router by which a packet may leave its minimal path: all of a kind, by one channel.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Alternatives {
    pub(super) hop: Hop,
    pub(super) vc: u8,
}
