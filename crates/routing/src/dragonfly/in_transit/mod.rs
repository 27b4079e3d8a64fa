//! Routing that may leave the minimal path while a packet is in transit: OLM and the contention-based mechanisms.
//!
//! They share where a packet may misroute and by which virtual channels, and differ in what makes it ([`Trigger`]):
//!
//! * at its source router a packet may leave its group by any global link of that router;
//! * after a local hop in its source group it may take one more local hop, and must then leave by a global link of the
//!   router it comes to;
//! * in every other group, and inside its group if that is where it goes, it may take one local hop that is not minimal.
//!
//! Channels are used in the order l0 g0 l1 g1 l2. A local hop that is not minimal takes the channel before the one that
//! the order wants next, but only if there is room for the whole packet at once: it never waits there, and from where it
//! comes to the order goes on. So the order proves that packets do not wait for each other in a circle.

mod contention;
mod credits;
mod in_order;
mod packet_state;
mod policies;
#[cfg(test)]
mod tests;
mod trigger;

use std::fmt::Debug;
use std::sync::Arc;

use tailback_random::Stream;
use tailback_topology::{Dragonfly, LinkClass, Port, RouterId, Topology};

use self::contention::Contention;
use self::packet_state::{PacketState, done};
pub(crate) use self::policies::{BASE, ECTN, HYBRID, OLM, STATISTICAL};
use self::trigger::{DecisionContext, Stay, Trigger};
use super::local_routes::{LocalRoutes, RouteTables};
use crate::{
    Agent, Better, Board, Causes, ChannelKind, FirstLook, Header, Hop, Interests, Notice, OpenPorts, PortSet, PortVc,
    Rivals, Routing, Step, Validity, VcSequence, View,
};

/// The channels that packets wait for, in the order in which they use them.
const ORDER: &str = "l0 g0 l1 g1 l2";
/// Links between the routers of a group.
const LOCAL: LinkClass = LinkClass(1);

/// How candidates are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    /// One of all that will do.
    All,
    /// A random one, which will do or not.
    One,
}

/// A mechanism with its trigger.
#[derive(Debug)]
struct InTransit<T> {
    tables: Arc<RouteTables>,
    trigger: T,
    probe: Probe,
}

impl<T: Trigger> InTransit<T> {
    fn new(topology: Arc<Dragonfly>, trigger: T, probe: Probe) -> Self {
        let sequence = VcSequence::parse(ORDER, &["l?gl?gl?"]).expect("the order is long enough");
        Self { tables: Arc::new(RouteTables::new(topology, sequence)), trigger, probe }
    }
}

fn kind(hop: Hop, vc: u8) -> ChannelKind {
    ChannelKind { class: hop as u8 + 1, vc }
}

impl<T: Trigger> Routing for InTransit<T> {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.tables.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        let routes = self.tables.routes(router);
        let topology = &self.tables.topology;
        let in_order = self.trigger.interests().crossings;
        let contention = Contention::new(topology.ports(router), topology.groups(), in_order);
        Box::new(InTransitAgent {
            routes,
            contention,
            trigger: self.trigger.clone(),
            probe: self.probe,
            rivals: Rivals::NONE,
        })
    }

    fn revises(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        self.trigger.interests()
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        use Hop::{Global, Local};
        let pairs = [
            ((Local, 0), (Global, 0)),
            ((Local, 0), (Local, 1)),
            ((Local, 0), (Global, 1)),
            ((Global, 0), (Local, 1)),
            ((Global, 0), (Global, 1)),
            ((Local, 1), (Global, 1)),
            ((Local, 1), (Local, 2)),
            ((Global, 1), (Local, 2)),
        ];
        pairs.into_iter().map(|((a, i), (b, j))| (kind(a, i), kind(b, j))).collect()
    }

    fn opportunities(&self) -> Vec<(ChannelKind, ChannelKind)> {
        let local = |vc| kind(Hop::Local, vc);
        vec![(local(0), local(0)), (kind(Hop::Global, 0), local(0)), (kind(Hop::Global, 1), local(1))]
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let routes = self.tables.routes(router);
        let towards = |destination, steps: &mut Vec<Step>| {
            let packet = PacketState::new(&routes, entry, header.towards(destination));
            packet.minimal_steps(steps);
            let minimal = steps.first().and_then(|step| routes.kind(step.port));
            let Some(alternatives) = packet.alternatives(minimal) else { return };
            let mut ports = packet.ports(alternatives);
            steps.iter().for_each(|step| ports.remove(step.port));
            steps.extend(ports.iter().map(|port| packet.other_step(alternatives, port, Causes::NONE)));
        };
        if header.is_anywhere() {
            for destination in self.tables.destinations() {
                let mut found = Vec::new();
                towards(destination, &mut found);
                steps.extend(found);
            }
        } else {
            towards(header.destination(), steps);
        }
    }

    fn describe(&self) -> String {
        format!("{}, virtual channels {ORDER} and opportunities", self.trigger.describe())
    }
}

struct InTransitAgent<T> {
    routes: LocalRoutes,
    contention: Contention,
    trigger: T,
    probe: Probe,
    /// What the decision that was made last depends on.
    rivals: Rivals,
}

impl<T: Trigger> InTransitAgent<T> {
    /// The step of a packet whose minimal hop is `minimal`, none at its destination, if it is known without looking around: where nothing but
    /// counts can make it look for another one, and these do not, or it `fires`, but has no other.
    #[inline]
    fn known_step(&self, packet: &PacketState<'_>, minimal: Option<(Hop, Port)>, fires: bool) -> Option<Step> {
        let Some((hop, port)) = minimal else {
            return Some(self.routes.eject(packet.port, packet.header).settled(true));
        };
        if packet.has(done::MUST_LEAVE) || self.routes.draws_towards(packet.group) {
            return None;
        }
        let step = packet.step(hop, port, Causes::NONE);
        if packet.alternatives(Some(hop)).is_none() {
            return Some(step.settled(true));
        }
        (!fires).then(|| step.valid(Validity::UntilNamed))
    }

    /// What triggers see of this router and of a packet whose minimal step is by a link of a kind.
    #[inline(always)]
    fn context<'a>(&'a self, (hop, minimal): (Hop, PortVc), view: &'a dyn View) -> DecisionContext<'a> {
        DecisionContext { view, routes: &self.routes, contention: &self.contention, minimal, hop }
    }

    /// How long the decision of a packet that stays on its minimal path is the same.
    #[inline]
    fn validity(&mut self, stay: Stay) -> Validity {
        match stay {
            Stay::Once => Validity::Once,
            Stay::UntilNamed => Validity::UntilNamed,
            Stay::UntilRivaled(rivals) => {
                self.rivals = rivals;
                Validity::UntilRivaled
            }
        }
    }

    /// A step that is not minimal, if there is one that will do; else, how long the decision to stay is the same. A function of its own
    /// that finds anew what it has to know of the packet, which needs not be in memory then for those who do not get here.
    #[inline(never)]
    fn misroute(
        &mut self,
        entry: PortVc,
        header: &Header,
        minimal: (Hop, PortVc),
        view: &dyn View,
        random: &mut Stream,
    ) -> Result<Step, Validity> {
        let packet = &PacketState::new(&self.routes, entry, *header);
        let context = &self.context(minimal, view);
        let alternatives = packet.alternatives(Some(context.hop)).ok_or(Validity::Once)?;
        let forced = packet.has(done::MUST_LEAVE);
        let mut ports = packet.ports(alternatives);
        if self.probe == Probe::One {
            ports = PortSet::of(draw(ports, random).ok_or(Validity::Once)?);
        }
        if !forced {
            ports.remove(context.minimal.port);
        }
        let used_max = if forced { None } else { self.trigger.used_max(context) };
        let OpenPorts { ports: mut will_do, any_emptier } = context.view.open(ports, alternatives.vc, used_max);
        if !forced && used_max.is_none() {
            will_do = will_do.filter(|port| self.trigger.accepts(context, PortVc { port, vc: alternatives.vc }));
        }
        let chosen = match self.probe {
            Probe::All => draw(will_do, random),
            Probe::One => will_do.first(),
        };
        let Some(chosen) = chosen else {
            return Err(match used_max {
                Some(used_max) if self.probe == Probe::All => {
                    let better = Better::Open { used_max, any_emptier };
                    self.validity(Stay::until_rivaled(ports, alternatives.vc, better))
                }
                _ => Validity::Once,
            });
        };
        // A packet that must leave its group does so for what made it take the hop before.
        let cause = if forced {
            packet.header.nonminimal.between()
        } else {
            self.trigger.cause(context, || packet.leaves_from_here())
        };
        Ok(packet.other_step(alternatives, chosen, cause))
    }
}

/// The packets that leave a group for another one, as far as a router knows: by its own counters, and by what the others of its group
/// have told.
#[inline]
fn of_group(contention: &Contention, routes: &LocalRoutes, told: &Board, group: u32) -> u32 {
    contention.partial(group) + told.sum_of_others(routes.in_group as usize, group as usize)
}

/// A random one of some ports.
#[inline(always)]
fn draw(ports: PortSet, random: &mut Stream) -> Option<Port> {
    // Often there is none, and no call is made.
    (!ports.is_empty()).then(|| draw_one(&ports, random))
}

#[inline(never)]
fn draw_one(ports: &PortSet, random: &mut Stream) -> Port {
    ports.nth(random.below(ports.len()))
}

impl<T: Trigger> Agent for InTransitAgent<T> {
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        let packet = PacketState::new(&self.routes, entry, *header);
        let Some((hop, port)) = self.routes.towards(packet.group, packet.in_group, random) else {
            return self.routes.eject(packet.port, *header).settled(true);
        };
        let minimal = packet.step(hop, port, Causes::NONE);
        if !T::DRAWS && packet.alternatives(Some(hop)).is_none() {
            return minimal.settled(!self.routes.draws_towards(packet.group));
        }
        let by = (hop, PortVc { port, vc: minimal.vc });
        if packet.has(done::MUST_LEAVE) {
            return self.misroute(entry, header, by, view, random).unwrap_or(Step::none_yet(*header));
        }
        let of_group = |group| of_group(&self.contention, &self.routes, view.board(), group);
        // Triggers that need no count do not look it up.
        let count = || self.contention.count(port);
        let by_counts = self.trigger.fires_at(count, || packet.leaves_from_here().map(of_group));
        let stays = match by_counts {
            Some(fires) => (!fires).then_some(Stay::UntilNamed),
            None => self.trigger.stays(&self.context(by, view), random),
        };
        let group = packet.group;
        let validity = match stays {
            Some(Stay::Once) => return minimal,
            Some(stays) => self.validity(stays),
            None => match self.misroute(entry, header, by, view, random) {
                Ok(step) => return step,
                Err(validity) => validity,
            },
        };
        if self.routes.draws_towards(group) { minimal } else { minimal.valid(validity) }
    }

    fn rivals(&self) -> Rivals {
        self.rivals
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        self.routes.is_last(header)
    }

    fn head_arrived(&mut self, entry: PortVc, header: &Header, told: &Board) -> FirstLook {
        let packet = PacketState::new(&self.routes, entry, *header);
        let hop = self.routes.first_towards(packet.group, packet.in_group);
        let minimal = hop.map_or(packet.port, |(_, port)| port);
        let from_outside = !matches!(packet.entry, Some((Hop::Local, _)));
        let leaves_for = (packet.group != self.routes.group && from_outside).then_some(packet.group);
        self.contention.head_arrived(entry, minimal, leaves_for);
        let count = self.contention.count(minimal);
        let of_group = |group| of_group(&self.contention, &self.routes, told, group);
        let named = self.trigger.is_reached(count, || leaves_for.map(of_group)).then_some(minimal);
        let by_counts = self.trigger.fires_at(|| count, || packet.leaves_from_here().map(of_group));
        let step = by_counts.and_then(|fires| self.known_step(&packet, hop, fires));
        FirstLook { named, step }
    }

    fn head_crosses(&mut self, entry: PortVc) {
        self.contention.head_crosses(entry);
    }

    fn tail_left(&mut self, entry: PortVc) {
        self.contention.tail_left(entry);
    }

    fn broadcast(&mut self) -> Option<Notice> {
        self.contention.broadcast()
    }

    fn wanting(&self, port: Port) -> Option<u32> {
        self.trigger.interests().heads.then(|| self.contention.count(port))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.contention.save(bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.contention.load(bytes)
    }
}
