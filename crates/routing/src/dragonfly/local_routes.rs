//! Where a router of a dragonfly is, and which of its ports lead closer to where.

use std::ops::Range;
use std::sync::Arc;

use tailback_random::{Stream, scramble};
use tailback_topology::{Dragonfly, GlobalLink, Locator, Peer, Port, RADIX_MAX, RouterId, Topology};

use crate::{Header, Hop, PortSet, PortVc, Step, VcSequence};

// Numbers of routers in their groups fit into bytes.
const _: () = assert!(RADIX_MAX <= 1 + u8::MAX as u32);

/// The links of one group to each other group.
#[derive(Debug)]
struct Gateways {
    /// Where the links to a group start in `links`; one more at the end.
    starts: Vec<u32>,
    links: Vec<GlobalLink>,
    /// By link: the router at its other end, by its number in its group.
    ends: Vec<u8>,
    /// By group: the only link there, by its router's number in its group and its port, if there is only one.
    only: Vec<Option<(u8, Port)>>,
}

impl Gateways {
    fn of(topology: &Dragonfly, group: u32) -> Self {
        let mut starts = Vec::with_capacity(topology.groups() as usize + 1);
        let mut links = Vec::<GlobalLink>::new();
        starts.push(0);
        for other in 0..topology.groups() {
            links.extend(topology.global_links(group, other));
            starts.push(links.len() as u32);
        }
        // In the largest dragonflies there are a million pairs of groups.
        links.shrink_to_fit();
        let end = |link: &GlobalLink| match topology.peer(topology.router_at(group, link.router), link.port) {
            Peer::Router { router, .. } => topology.position(router).1 as u8,
            other => unreachable!("a global link leads to {other:?}"),
        };
        let ends = links.iter().map(end).collect();
        let mut gateways = Self { starts, links, ends, only: Vec::new() };
        let only = |other| match gateways.to(other) {
            [link] => Some((link.router as u8, link.port)),
            _ => None,
        };
        gateways.only = (0..topology.groups()).map(only).collect();
        gateways
    }

    /// Where the links to a group are.
    #[inline]
    fn range(&self, group: u32) -> Range<usize> {
        let [start, end] = [group, group + 1].map(|index| self.starts[index as usize] as usize);
        start..end
    }

    #[inline]
    fn to(&self, group: u32) -> &[GlobalLink] {
        &self.links[self.range(group)]
    }
}

/// A dragonfly and the channels to use in it: what the routes of all its routers share.
#[derive(Debug)]
pub(super) struct RouteTables {
    pub(super) topology: Arc<Dragonfly>,
    pub(super) sequence: VcSequence,
    gateways: Vec<Arc<Gateways>>,
}

impl RouteTables {
    pub(super) fn new(topology: Arc<Dragonfly>, sequence: VcSequence) -> Self {
        let gateways = (0..topology.groups()).map(|group| Arc::new(Gateways::of(&topology, group))).collect();
        Self { topology, sequence, gateways }
    }

    /// The number of links of a minimal path from a router to another one, each given by its group and its number in it.
    pub(super) fn distance(&self, from: (u32, u32), to: (u32, u32)) -> u32 {
        if from.0 == to.0 {
            return u32::from(from.1 != to.1);
        }
        let gateways = &self.gateways[from.0 as usize];
        let range = gateways.range(to.0);
        let links_and_ends = gateways.links[range.clone()].iter().zip(&gateways.ends[range]);
        let links =
            links_and_ends.map(|(link, &end)| 1 + u32::from(link.router != from.1) + u32::from(u32::from(end) != to.1));
        links.min().expect("all groups are joined")
    }

    /// The virtual channels that the sequence needs, by link class; injection needs one.
    pub(super) fn virtual_channels(&self) -> Vec<u8> {
        vec![1, self.sequence.virtual_channels(Hop::Local), self.sequence.virtual_channels(Hop::Global)]
    }

    pub(super) fn routes(self: &Arc<Self>, router: RouterId) -> LocalRoutes {
        let (group, in_group) = self.topology.position(router);
        let nodes = self.topology.nodes_per_router() as Port;
        let first_global = u32::from(nodes) + self.topology.routers_per_group() - 1;
        let gateways = Arc::clone(&self.gateways[group as usize]);
        let (first_global, tables) = (first_global as u16, Arc::clone(self));
        let behind = |offset: u32| match self.topology.peer(router, (u32::from(first_global) + offset) as Port) {
            Peer::Router { router, .. } => self.topology.position(router).0,
            _ => group,
        };
        let links = self.topology.global_links_per_router();
        let behind: Box<[u32]> = (0..links).map(behind).collect();
        let [locals, globals] = [nodes.into()..first_global, first_global..first_global + links as u16];
        let [locals, globals] = [locals, globals].map(PortSet::from_range);
        // In dragonflies of few groups some ports are open: nothing is behind them.
        let globals = globals.filter(|port| behind[usize::from(u16::from(port) - first_global)] != group);
        let mut routes = LocalRoutes {
            group,
            in_group,
            nodes,
            first_global,
            ports: [locals, globals],
            ports_to_gateways: PortSet::default(),
            towards: Box::default(),
            draws: false,
            behind,
            gateways,
            tables,
        };
        let is_gateway = |port| routes.gateways.links.iter().any(|link| link.router == routes.place_behind(port));
        routes.ports_to_gateways = locals.filter(is_gateway);
        routes.towards = (0..self.topology.groups()).map(|group| routes.only_port_towards(group)).collect();
        routes.draws = (0..self.topology.groups()).any(|to| to != group && routes.only_towards_group(to).is_none());
        routes
    }

    /// One destination at each router: enough to know all paths through the network.
    pub(super) fn destinations(&self) -> impl Iterator<Item = Locator> {
        let p = self.topology.nodes_per_router();
        (0..self.topology.routers()).map(move |router| self.topology.locator(router * p))
    }

    /// What `header` stands for: itself, or one towards each destination if it leaves that open.
    pub(super) fn headers(&self, header: Header) -> Vec<Header> {
        if header.is_anywhere() {
            self.destinations().map(|destination| header.towards(destination)).collect()
        } else {
            vec![header]
        }
    }
}

/// What one router knows about directions.
#[derive(Clone, Debug)]
pub(super) struct LocalRoutes {
    pub(super) group: u32,
    pub(super) in_group: u32,
    nodes: Port,
    first_global: u16,
    /// By kind of link: the ports that have one.
    ports: [PortSet; 2],
    ports_to_gateways: PortSet,
    /// By group: the port of the next hop there, if there is only one; else the port of a terminal.
    towards: Box<[Port]>,
    /// Whether there are several to any group.
    pub(super) draws: bool,
    /// By global link: the group behind it.
    behind: Box<[u32]>,
    gateways: Arc<Gateways>,
    pub(super) tables: Arc<RouteTables>,
}

impl LocalRoutes {
    /// Whether a packet is at the router of its destination.
    #[inline]
    pub(super) fn is_last(&self, header: &Header) -> bool {
        let (group, in_group, _) = Dragonfly::locate(header.destination());
        (group, in_group) == (self.group, self.in_group)
    }

    /// The kind of link behind a port, `None` for a terminal.
    #[inline]
    pub(super) fn kind(&self, port: Port) -> Option<Hop> {
        if port < self.nodes {
            None
        } else if u16::from(port) < self.first_global {
            Some(Hop::Local)
        } else {
            Some(Hop::Global)
        }
    }

    /// The step by a link of kind `hop` behind `port`, for a packet that came in by `entry`.
    #[inline]
    pub(super) fn step(&self, entry: PortVc, hop: Hop, port: Port, header: Header) -> Step {
        let sequence = &self.tables.sequence;
        let vc = match self.kind(entry.port) {
            None => sequence.first(hop),
            Some(from) => sequence.next(from, entry.vc, hop),
        };
        Step::by(PortVc { port, vc }, header)
    }

    /// The step of a packet that is where it wanted to go.
    #[inline]
    pub(super) fn eject(&self, port: Port, header: Header) -> Step {
        Step::by(PortVc { port, vc: 0 }, header)
    }

    /// The next hop of a minimal path to the router `in_group` of `group`; `None` at that router. Among equally
    /// good links one is drawn.
    #[inline]
    pub(super) fn towards(&self, group: u32, in_group: u32, random: &mut Stream) -> Option<(Hop, Port)> {
        if group != self.group {
            return Some(self.towards_group(group, random));
        }
        (in_group != self.in_group).then(|| (Hop::Local, self.local_port(in_group)))
    }

    /// The next hop of a minimal path to another group: by a link of this router if it has one, else by a router
    /// that has. Among equally good links one is drawn.
    #[inline]
    pub(super) fn towards_group(&self, group: u32, random: &mut Stream) -> (Hop, Port) {
        match self.only_towards_group(group) {
            Some(hop) => hop,
            None => self.draw_towards_group(group, random),
        }
    }

    /// The next hop of a minimal path to another group, if there is one only.
    #[inline]
    pub(super) fn only_towards_group(&self, group: u32) -> Option<(Hop, Port)> {
        let port = self.towards[group as usize];
        self.kind(port).map(|hop| (hop, port))
    }

    /// Whether the next hop of a minimal path to a group is drawn among several.
    #[inline]
    pub(super) fn draws_towards(&self, group: u32) -> bool {
        self.draws && group != self.group && self.only_towards_group(group).is_none()
    }

    /// The next hop of a minimal path to a group, by the link that an entropy value names among equally good ones.
    #[inline(never)]
    pub(super) fn named_towards_group(&self, group: u32, entropy: u16) -> (Hop, Port) {
        let count = self.exits(self.in_group, group).count() as u64;
        let label = u64::from(self.group) << 32 | u64::from(group) << 16 | u64::from(entropy);
        let index = ((scramble(label) >> 32) * count) >> 32;
        self.by(self.exits(self.in_group, group).nth(index as usize).expect("the index is below the count"))
    }

    #[inline(never)]
    fn draw_towards_group(&self, group: u32, random: &mut Stream) -> (Hop, Port) {
        let drawn = random.below(self.exits(self.in_group, group).count() as u32) as usize;
        self.by(self.exits(self.in_group, group).nth(drawn).expect("the draw is below the count"))
    }

    /// The port of the next hop to another group if there is only one, else that of a terminal.
    fn only_port_towards(&self, group: u32) -> Port {
        match self.gateways.to(group) {
            [link] => self.by(*link).1,
            _ => 0,
        }
    }

    /// A minimal next hop, always the same one; `None` at the router itself.
    #[inline]
    pub(super) fn first_towards(&self, group: u32, in_group: u32) -> Option<(Hop, Port)> {
        if group == self.group {
            return (in_group != self.in_group).then(|| (Hop::Local, self.local_port(in_group)));
        }
        self.only_towards_group(group).or_else(|| self.first_of_several(group, in_group))
    }

    /// The same where several links lead to the group.
    #[cold]
    #[inline(never)]
    fn first_of_several(&self, group: u32, in_group: u32) -> Option<(Hop, Port)> {
        self.all_towards(group, in_group).first().copied()
    }

    /// The router by which minimal paths lead to another group, by its number in this one, and the number of its global link. The first
    /// one where there are several; none for the own group.
    #[inline]
    pub(super) fn gateway(&self, group: u32) -> Option<(u32, u32)> {
        if let Some((router, port)) = self.gateways.only[group as usize] {
            return Some((router.into(), self.number(port) as u32));
        }
        let links = self.gateways.to(group);
        let link = links.iter().find(|link| link.router == self.in_group).or(links.first())?;
        Some((link.router, self.number(link.port) as u32))
    }

    /// The links by which minimal paths lead to another group from the router `in_group` of this one: its own if it has
    /// any, else those of all others.
    pub(super) fn exits(&self, in_group: u32, group: u32) -> impl Iterator<Item = GlobalLink> {
        let links = self.gateways.to(group);
        let here = links.iter().any(|link| link.router == in_group);
        links.iter().copied().filter(move |link| (link.router == in_group) == here)
    }

    /// The ports of links of a kind; open ports are not among them.
    #[inline]
    pub(super) fn ports(&self, hop: Hop) -> PortSet {
        self.ports[hop as usize]
    }

    /// The ports of local links to routers that have a link to another group.
    #[inline]
    pub(super) fn ports_to_gateways(&self) -> PortSet {
        self.ports_to_gateways
    }

    /// The first of them.
    #[inline]
    pub(super) fn first_port(&self, hop: Hop) -> Port {
        match hop {
            Hop::Local => self.nodes,
            Hop::Global => self.first_global as Port,
        }
    }

    /// The ports of global links.
    #[inline]
    pub(super) fn global_ports(&self) -> impl Iterator<Item = Port> + use<> {
        let count = self.tables.topology.global_links_per_router() as u16;
        (self.first_global..self.first_global + count).map(|port| port as Port)
    }

    /// The group behind a global port.
    pub(super) fn group_behind(&self, port: Port) -> u32 {
        self.behind[self.number(port)]
    }

    /// The number of a global link of a router of this group by its port.
    #[inline]
    pub(super) fn number(&self, port: Port) -> usize {
        usize::from(u16::from(port) - self.first_global)
    }

    /// The number in its group of the router behind a local port.
    pub(super) fn place_behind(&self, port: Port) -> u32 {
        let index = u32::from(port - self.nodes);
        index + u32::from(index >= self.in_group)
    }

    /// All hops that [`LocalRoutes::towards`] may choose.
    pub(super) fn all_towards(&self, group: u32, in_group: u32) -> Vec<(Hop, Port)> {
        if group == self.group {
            return if in_group == self.in_group { Vec::new() } else { vec![(Hop::Local, self.local_port(in_group))] };
        }
        self.exits(self.in_group, group).map(|link| self.by(link)).collect()
    }

    /// The number in this group of a router at which minimal paths from here enter `group`.
    pub(super) fn entrance(&self, group: u32) -> u32 {
        if group == self.group {
            return self.in_group;
        }
        let links = self.gateways.to(group);
        let first = links.iter().position(|link| link.router == self.in_group).unwrap_or(0);
        self.gateways.ends[self.gateways.range(group)][first].into()
    }

    #[inline]
    fn by(&self, link: GlobalLink) -> (Hop, Port) {
        if link.router == self.in_group { (Hop::Global, link.port) } else { (Hop::Local, self.local_port(link.router)) }
    }

    #[inline]
    pub(super) fn local_port(&self, in_group: u32) -> Port {
        self.nodes + (in_group - u32::from(in_group > self.in_group)) as Port
    }
}
