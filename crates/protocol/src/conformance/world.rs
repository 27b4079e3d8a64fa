//! A line of routers with anything in flight at once.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::control_network::ControlNetwork;
use super::declarations::check_declarations;
use super::interface::{Interface, Launch};
use super::order::Order;
use super::router::{Decided, Router, Visit};
use super::trace::{Event, Trace};
use super::{Obstacle, Script, Step};
use crate::{
    Control, Direction, Hooks, InjectionTime, KindDeclaration, Outgoing, PacketKind, PacketRef, Party, PathUse,
    Protocol, Routes, Station,
};

/// The ports of routers: to the routers beside it, to nodes, and the last for what it sends itself.
const LEFT: u8 = 0;
const RIGHT: u8 = 1;

/// The port of a node; of the first node that there is not, that for what a router sends itself.
fn node_port(node: u32) -> u8 {
    RIGHT + 1 + node as u8
}

/// Something in flight.
#[derive(Clone, Debug)]
pub(super) struct Flying {
    pub sent_at: u64,
    /// The router that it comes to next.
    router: u32,
    /// The port by which it comes in there.
    input: u8,
    pub what: What,
    /// Of data; that of control packets is theirs.
    pub payload: Vec<u64>,
    pub entropy: u16,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Control(Control),
    Data { kind: PacketKind, message: usize, packet: PacketRef, flits: u16, marks: u8 },
}

impl What {
    /// Data gets marks.
    fn mark(&mut self, more: u8) {
        if let Self::Data { marks, .. } = self {
            *marks |= more;
        }
    }
}

pub(super) struct World {
    pub hooks: Hooks,
    kinds: Vec<KindDeclaration>,
    pub now: u64,
    pub nodes: Vec<Interface>,
    routers: Vec<Router>,
    flying: Vec<Flying>,
    control_network: ControlNetwork,
    /// Data that waits for what comes before it.
    pub order: Order<Flying>,
    /// By message: packets that have arrived, and those that have been dropped and not been sent again.
    pub arrived: Vec<BTreeSet<u32>>,
    dropped: BTreeSet<(usize, u32)>,
    pub trace: Trace,
}

/// More than any run needs to come to rest.
const REST_STEPS_MAX: usize = 400_000;

/// Drives a protocol through a script, and until it is at rest.
///
/// # Errors
/// What it did that no protocol may do.
pub fn run(protocol: &dyn Protocol, script: &Script) -> Result<Trace, String> {
    check_declarations(protocol)?;
    let mut world = World::new(protocol, script)?;
    for &step in &script.steps {
        world.step(step)?;
        world.send_told()?;
    }
    world.come_to_rest()?;
    Ok(world.trace)
}

impl World {
    fn new(protocol: &dyn Protocol, script: &Script) -> Result<Self, String> {
        let &Script { nodes, routers, packet_flits_max, routes, .. } = script;
        let station = Station {
            flit_ticks: 1,
            injection: InjectionTime::of_link(1),
            packet_flits_max,
            ports: u32::from(node_port(nodes)) + 1,
            // Protocols are told of a Clos network with so many routes, as packets may pass each other as in one.
            routers: 2 * routes,
            nodes_per_router: routes,
            nodes,
            routes: Routes::drawn(routes),
        };
        protocol.fits(&station).map_err(|error| error.to_string())?;
        let (hooks, kinds) = (protocol.hooks(), protocol.kinds());
        let interface = |node| {
            let (source, sink) = (protocol.source(&station), protocol.sink(&station));
            Interface::new(node, source, sink, packet_flits_max, hooks, kinds.clone())
        };
        Ok(Self {
            hooks,
            now: 0,
            nodes: (0..nodes).map(interface).collect(),
            routers: (0..routers).map(|router| Router::new(protocol, &station, router)).collect(),
            kinds,
            flying: Vec::new(),
            control_network: ControlNetwork::new(protocol, &station)?,
            order: Order::new(),
            arrived: Vec::new(),
            dropped: BTreeSet::new(),
            trace: Trace::default(),
        })
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        let count = self.nodes.len() as u32;
        match step {
            Step::Offer { node, destination, flits } => {
                let (node, destination, flits) = (node % count, destination % count, flits.max(1));
                let message = self.arrived.len();
                self.arrived.push(BTreeSet::new());
                self.trace.messages.push((node, destination, flits));
                self.nodes[node as usize].offer(message, destination, flits, self.now)
            }
            Step::Transmit { node } => self.transmit(node % count).map(|_| ()),
            Step::Hop { which, obstacle } if !self.flying.is_empty() => {
                let flying = self.flying.remove(which % self.flying.len());
                self.hop(flying, obstacle)
            }
            Step::Hop { .. } => Ok(()),
            Step::Wait { ticks } => {
                self.now += ticks;
                self.fire_timers().map(|_| ())
            }
        }
    }

    /// The router that a node is attached to.
    fn router_of(&self, node: u32) -> u32 {
        node % self.routers.len() as u32
    }

    pub fn direction(&self, kind: PacketKind) -> Result<Direction, String> {
        self.kinds.get(kind.index()).map(|kind| kind.direction).ok_or_else(|| format!("{kind:?} is not declared"))
    }

    fn transmit(&mut self, node: u32) -> Result<bool, String> {
        let interface = &mut self.nodes[node as usize];
        // What a message is called by those who count may be forgotten as it is sent.
        let ids: BTreeMap<u32, usize> = interface.messages.iter().map(|(&name, message)| (name, message.id)).collect();
        let Some(launch) = interface.transmit(self.now)? else { return Ok(false) };
        let what = match launch {
            Launch::Control(control) => {
                if control.from != node {
                    return Err(format!("node {node} sends {control:?} in the name of another"));
                }
                What::Control(self.checked(control)?)
            }
            Launch::Data { kind, packet, marks, again } => {
                let message = *ids.get(&packet.message).ok_or("a packet of a message that is done was sent")?;
                let (_, _, total) = self.trace.messages[message];
                let most = u32::from(self.nodes[node as usize].most_flits());
                let flits = (total - packet.index * most).min(most) as u16;
                if !self.direction(kind)?.carries_data() {
                    return Err(format!("{kind:?} carries no data, and data is sent as it"));
                }
                if again && !self.dropped.remove(&(message, packet.index)) {
                    return Err(format!(
                        "packet {} of message {message} is sent again and was not dropped",
                        packet.index
                    ));
                }
                self.trace.events.push(Event::Sent { at: self.now, message, index: packet.index, kind });
                What::Data { kind, message, packet, flits, marks }
            }
        };
        let (payload, entropy) = self.payload_and_entropy(node, &what);
        let (router, input) = (self.router_of(node), node_port(node));
        self.flying.push(Flying { sent_at: self.now, router, input, what, payload, entropy });
        Ok(true)
    }

    /// The payload and the entropy value with which data leaves a node.
    fn payload_and_entropy(&mut self, node: u32, what: &What) -> (Vec<u64>, u16) {
        let &What::Data { kind, message, packet, flits, .. } = what else { return (Vec::new(), 0) };
        let mut payload = vec![0; self.kinds[kind.index()].payload_words.into()];
        let Some(source) = self.nodes[node as usize].source.as_mut() else { return (payload, 0) };
        let (_, destination, message_flits) = self.trace.messages[message];
        let outgoing = Outgoing { packet, source: node, destination, flits, message_flits };
        if !payload.is_empty() {
            source.write_payload(&outgoing, self.now, &mut payload);
        }
        (payload, if self.hooks.entropy { source.entropy(&outgoing, self.now) } else { 0 })
    }

    /// A control packet that is to be sent.
    fn checked(&self, control: Control) -> Result<Control, String> {
        let direction = self.direction(control.kind)?;
        if control.payload.len() > usize::from(self.kinds[control.kind.index()].payload_words) {
            return Err(format!("{control:?} has more payload than its kind declares"));
        }
        if direction.carries_data() || direction == Direction::Trimmed {
            return Err(format!("{control:?} is of a kind that carries data, or did before it was trimmed"));
        }
        if self.kinds[control.kind.index()].path == PathUse::Follows {
            let first =
                (0..control.path.routers()).try_fold(control.path, |mut path, _| path.step_back().map(|_| path));
            let start = first.filter(|path| control.path.routers() > 0 && path.port() == node_port(control.to));
            start
                .ok_or_else(|| format!("{control:?} is to take a recorded path, and has none from its destination"))?;
        }
        Ok(self.fitted(control))
    }

    /// A control packet with as much payload as its kind declares.
    fn fitted(&self, mut control: Control) -> Control {
        control.payload.resize(self.kinds[control.kind.index()].payload_words.into(), 0);
        control
    }

    /// Something comes to a router, and leaves it if nothing stops it.
    fn hop(&mut self, mut flying: Flying, obstacle: Obstacle) -> Result<(), String> {
        let (source, destination) = match &flying.what {
            What::Control(control) => (control.from, control.to),
            What::Data { message, .. } => (self.trace.messages[*message].0, self.trace.messages[*message].1),
        };
        let (here, last) = (flying.router, self.router_of(destination));
        let next = match here.cmp(&last) {
            Ordering::Less => RIGHT,
            Ordering::Equal => node_port(destination),
            Ordering::Greater => LEFT,
        };
        if self.take_path_port(&mut flying)?.is_some_and(|port| port != next) {
            return Err(format!("{:?} leaves the path that it is to take", flying.what));
        }
        let ports = (flying.input, next);
        let visit = Visit { source, destination, last_hop: here == last, ports, obstacle, now: self.now };
        let router = &mut self.routers[here as usize];
        let decided = router.pass(&mut flying.what, &mut flying.payload, visit)?;
        flying.what.mark(router.queue_marks()); // it waits there like those that are yet to come
        self.obey(here)?;
        match decided {
            Decided::Absorbed => Ok(()),
            Decided::Dropped => self.drop_data(&flying.what),
            Decided::Trimmed(kind) => {
                self.drop_data(&flying.what)?;
                self.trim(&mut flying, kind, source, destination);
                self.flying.push(flying); // it comes to the same router again, as what it is now
                Ok(())
            }
            Decided::Goes if here == last => self.deliver(flying, source, destination),
            Decided::Goes => {
                flying.router = if next == RIGHT { here + 1 } else { here - 1 };
                flying.input = if next == RIGHT { LEFT } else { RIGHT };
                self.flying.push(flying);
                Ok(())
            }
        }
    }

    /// A control packet that has come to a router has its input port recorded, or steps back on its path: then the port by which it
    /// leaves is returned.
    fn take_path_port(&self, flying: &mut Flying) -> Result<Option<u8>, String> {
        let What::Control(control) = &mut flying.what else { return Ok(None) };
        match self.kinds[control.kind.index()].path {
            PathUse::None => Ok(None),
            PathUse::Records => {
                control.path.record(flying.input);
                Ok(None)
            }
            PathUse::Follows => {
                let port = control.path.step_back();
                port.map(Some).ok_or_else(|| format!("{control:?} is in flight, and its path is at its end"))
            }
        }
    }

    /// What is left of a packet whose data has been dropped.
    fn trim(&self, flying: &mut Flying, kind: PacketKind, source: u32, destination: u32) {
        let What::Data { packet, flits, marks, .. } = flying.what else { return };
        let (payload, entropy) = (std::mem::take(&mut flying.payload), flying.entropy);
        let rest = Control { marks, payload, entropy, ..Control::new(kind, source, destination, packet) };
        flying.what = What::Control(self.fitted(rest.flits(flits.into())));
        flying.input = node_port(self.nodes.len() as u32);
    }

    /// A router drops a packet with data, or its data.
    fn drop_data(&mut self, what: &What) -> Result<(), String> {
        let &What::Data { message, packet, .. } = what else { return Err(format!("a router drops {what:?}")) };
        self.trace.events.push(Event::Dropped { at: self.now, message, index: packet.index });
        self.dropped.insert((message, packet.index));
        Ok(())
    }

    /// Does what a router wants done.
    fn obey(&mut self, router: u32) -> Result<(), String> {
        let marks = self.routers[router as usize].take_queue_marks();
        let queued = self.flying.iter_mut().filter(|flying| flying.router == router);
        queued.for_each(|flying| flying.what.mark(marks));
        for control in self.routers[router as usize].take_sent() {
            self.fly_from(router, control)?;
        }
        Ok(())
    }

    fn fly_from(&mut self, router: u32, control: Control) -> Result<(), String> {
        if self.kinds.get(control.kind.index()).is_some_and(|kind| kind.path == PathUse::Records) {
            return Err(format!("router {router} sends {control:?}, and paths begin at nodes"));
        }
        let what = What::Control(self.checked(control)?);
        let input = node_port(self.nodes.len() as u32);
        self.flying.push(Flying { sent_at: self.now, router, input, what, payload: Vec::new(), entropy: 0 });
        Ok(())
    }

    /// Lets timers fire and messages of the control network arrive. Returns whether a message did.
    fn fire_timers(&mut self) -> Result<bool, String> {
        for router in 0..self.routers.len() {
            self.routers[router].fire_timers(self.now);
            self.obey(router as u32)?;
        }
        let mut told_any = false;
        while let Some(told) = self.control_network.take(self.now)? {
            told_any = true;
            let (Party::Source(node) | Party::Sink(node) | Party::Controller(node)) = told.1;
            let interface = self.nodes.get_mut(node as usize).ok_or_else(|| format!("{told:?} is for nobody"))?;
            interface.on_message(&told, self.now)?;
            self.send_told()?;
        }
        Ok(told_any)
    }

    /// Puts on the control network what nodes want told.
    fn send_told(&mut self) -> Result<(), String> {
        for node in &mut self.nodes {
            node.told.drain(..).try_for_each(|(told, after)| self.control_network.send(told, after, self.now))?;
        }
        Ok(())
    }

    /// Lets everything arrive, until nothing more happens.
    fn come_to_rest(&mut self) -> Result<(), String> {
        for _ in 0..REST_STEPS_MAX {
            let mut busy = false;
            for node in 0..self.nodes.len() as u32 {
                busy |= self.transmit(node)?;
            }
            if !self.flying.is_empty() {
                let flying = self.flying.remove(0);
                self.hop(flying, Obstacle::Queued(0))?;
                busy = true;
            }
            self.send_told()?;
            self.now += 1;
            busy |= self.fire_timers()?;
            if !busy && self.flying.is_empty() {
                let timers = self.routers.iter().filter_map(Router::next_timer);
                let due = self.nodes.iter().filter_map(|node| node.next_due(self.now - 1));
                let Some(next) = timers.chain(due).chain(self.control_network.next()).min() else {
                    return self.check_rest();
                };
                self.now = self.now.max(next);
                self.fire_timers()?;
            }
        }
        Err("it does not come to rest".to_owned())
    }

    fn check_rest(&self) -> Result<(), String> {
        if let Some(node) = self.nodes.iter().position(|node| !node.is_idle()) {
            let left: Vec<_> = self.nodes[node].messages.values().collect();
            return Err(format!("node {node} is not idle in the end, with {left:?}"));
        }
        for (message, arrived) in self.arrived.iter().enumerate() {
            let (_, _, flits) = self.trace.messages[message];
            let packets = flits.div_ceil(self.nodes[0].most_flits().into()) as usize;
            if arrived.len() != packets {
                return Err(format!("{} of {packets} packets of message {message} arrived", arrived.len()));
            }
        }
        Ok(())
    }
}
