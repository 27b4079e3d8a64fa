//! A world of one router with anything in flight at once.

use std::collections::{BTreeMap, BTreeSet};

use super::interface::{Interface, Launch};
use super::{Fate, Script, Step};
use crate::{
    Arrival, Buffers, Control, Hooks, Lossy, PacketKind, PacketRef, Passing, Protocol, Station, Switch, TrafficClass,
};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet with data left its source.
    Sent {
        /// When.
        at: u64,
        /// The number of its message in the order in which they were offered.
        message: usize,
        /// Its place in the message.
        index: u16,
        /// What it was sent as.
        kind: PacketKind,
    },
    /// It was dropped.
    Dropped {
        /// When.
        at: u64,
        /// Its message.
        message: usize,
        /// Its place.
        index: u16,
    },
    /// It arrived.
    Arrived {
        /// When.
        at: u64,
        /// Its message.
        message: usize,
        /// Its place.
        index: u16,
    },
    /// A control packet arrived.
    Heard {
        /// When.
        at: u64,
        /// The message that it is about, unless that is done.
        message: Option<usize>,
        /// What it says.
        control: Control,
        /// How long it was under way.
        latency: u64,
    },
}

/// All that happened in a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The events.
    pub events: Vec<Event>,
    /// By message: its source, its destination, its flits.
    pub messages: Vec<(u32, u32, u32)>,
}

/// Something under way.
#[derive(Clone, Copy, Debug)]
struct Flying {
    sent_at: u64,
    class: u8,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Control(Control),
    Data { kind: PacketKind, message: usize, packet: PacketRef, flits: u16, marks: u8 },
}

struct World {
    hooks: Hooks,
    classes: Vec<TrafficClass>,
    now: u64,
    nodes: Vec<Interface>,
    switch: Option<Box<dyn Switch>>,
    flying: Vec<Flying>,
    /// By message: packets that have arrived, and those that have been dropped and not been sent again.
    arrived: Vec<BTreeSet<u16>>,
    dropped: BTreeMap<(usize, u16), ()>,
    trace: Trace,
}

/// More than any run needs to come to rest.
const REST_STEPS_MAX: usize = 200_000;

/// Drives a protocol through a script, and until it is at rest.
///
/// # Errors
/// What it did that no protocol may do.
pub fn run(protocol: &dyn Protocol, script: &Script) -> Result<Trace, String> {
    let mut world = World::new(protocol, script);
    for &step in &script.steps {
        world.step(step)?;
    }
    world.come_to_rest()?;
    Ok(world.trace)
}

impl World {
    fn new(protocol: &dyn Protocol, script: &Script) -> Self {
        let (nodes, packet_flits_max) = (script.nodes, script.packet_flits_max);
        let station = Station { flit_ticks: 1, packet_flits_max, endpoints: nodes };
        let hooks = protocol.hooks();
        let interface =
            |node| Interface::new(node, protocol.source(&station), protocol.sink(&station), packet_flits_max, hooks);
        Self {
            hooks,
            classes: protocol.classes(),
            now: 0,
            nodes: (0..nodes).map(interface).collect(),
            switch: protocol.switch(&station),
            flying: Vec::new(),
            arrived: Vec::new(),
            dropped: BTreeMap::new(),
            trace: Trace::default(),
        }
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        let count = self.nodes.len() as u32;
        match step {
            Step::Offer { node, destination, flits } => {
                let (node, destination) = (node % count, destination % count);
                self.nodes[node as usize].offer(self.arrived.len(), destination, flits.max(1));
                self.arrived.push(BTreeSet::new());
                self.trace.messages.push((node, destination, flits.max(1)));
                Ok(())
            }
            Step::Transmit { node } => self.transmit(node % count).map(|_| ()),
            Step::Arrive { which, fate } if !self.flying.is_empty() => {
                let flying = self.flying.remove(which % self.flying.len());
                self.arrive(flying, fate)
            }
            Step::Arrive { .. } => Ok(()),
            Step::Wait { ticks } => {
                self.now += ticks;
                Ok(())
            }
        }
    }

    fn transmit(&mut self, node: u32) -> Result<bool, String> {
        let interface = &mut self.nodes[node as usize];
        // What a message is called by those who count may be forgotten as it is sent.
        let ids: BTreeMap<u32, usize> = interface.messages.iter().map(|(&name, message)| (name, message.id)).collect();
        let Some(launch) = interface.transmit(self.now)? else { return Ok(false) };
        let flying = match launch {
            Launch::Control(control) => {
                let lossless = self.class(control.class)?.lossy == Lossy::No;
                if control.kind.carries_data() || control.class == 0 || !lossless {
                    return Err(format!("{control:?} is not in a lossless class for control packets"));
                }
                if control.from != node {
                    return Err(format!("node {node} sends {control:?} in the name of another"));
                }
                Flying { sent_at: self.now, class: control.class, what: What::Control(control) }
            }
            Launch::Data { kind, class, packet, marks, again } => {
                let message = *ids.get(&packet.message).ok_or("a packet of a message that is done was sent")?;
                let (_, _, total) = self.trace.messages[message];
                let most = u32::from(self.nodes[node as usize].most_flits());
                let flits = (total - u32::from(packet.index) * most).min(most) as u16;
                self.check_data(kind, class, (message, packet.index), again)?;
                self.trace.events.push(Event::Sent { at: self.now, message, index: packet.index, kind });
                Flying { sent_at: self.now, class, what: What::Data { kind, message, packet, flits, marks } }
            }
        };
        self.flying.push(flying);
        Ok(true)
    }

    fn class(&self, class: u8) -> Result<TrafficClass, String> {
        self.classes.get(usize::from(class)).copied().ok_or_else(|| format!("there is no class {class}"))
    }

    fn check_data(&mut self, kind: PacketKind, class: u8, packet: (usize, u16), again: bool) -> Result<(), String> {
        let lossy = self.class(class)?.lossy != Lossy::No;
        if lossy != (kind == PacketKind::SpeculativeData) || !kind.carries_data() {
            return Err(format!(
                "{kind:?} is sent in class {class}, which is {}lossy",
                if lossy { "" } else { "not " }
            ));
        }
        if again && self.dropped.remove(&packet).is_none() {
            return Err(format!("packet {} of message {} is sent again and was not dropped", packet.1, packet.0));
        }
        Ok(())
    }

    fn arrive(&mut self, flying: Flying, fate: Fate) -> Result<(), String> {
        match flying.what {
            What::Control(control) => self.arrive_control(control, flying.sent_at),
            What::Data { kind, message, packet, flits, marks } => {
                let (source, destination, _) = self.trace.messages[message];
                let passing = Passing { kind, source, destination, packet, flits, marks };
                if let Some(refusal) = self.refusal(flying.class, &passing, fate) {
                    self.trace.events.push(Event::Dropped { at: self.now, message, index: packet.index });
                    self.dropped.insert((message, packet.index), ());
                    return self.send_from_router(refusal);
                }
                let marks = marks | self.marks(fate);
                self.trace.events.push(Event::Arrived { at: self.now, message, index: packet.index });
                if !self.arrived[message].insert(packet.index) {
                    return Err(format!("packet {} of message {message} arrived twice", packet.index));
                }
                let arrival = Arrival { kind, from: source, to: destination, packet, flits, marks };
                let mut replies = Vec::new();
                let interface = &mut self.nodes[destination as usize];
                if let Some(sink) = &mut interface.sink {
                    sink.take(&arrival, self.now, &mut replies);
                }
                interface.control.extend(replies);
                Ok(())
            }
        }
    }

    /// What is told to the source of a packet if it is dropped.
    fn refusal(&mut self, class: u8, passing: &Passing, fate: Fate) -> Option<Control> {
        let lossy = self.classes[usize::from(class)].lossy;
        let switch = self.switch.as_mut().filter(|_| lossy != Lossy::No)?;
        match (fate, lossy) {
            (Fate::Impatience, Lossy::After(_)) => Some(switch.give_up(passing, self.now)),
            (Fate::Queued(flits), _) if self.hooks.last_hop => {
                switch.drops(passing, passing.destination, flits, self.now)
            }
            _ => None,
        }
    }

    fn marks(&mut self, fate: Fate) -> u8 {
        let switch = self.switch.as_mut().filter(|_| self.hooks.marks);
        let (Some(switch), Fate::Crowd(flits)) = (switch, fate) else { return 0 };
        switch.marks(&Buffers { here: flits.min(100), here_max: 100, next: 0, next_max: 100 })
    }

    fn send_from_router(&mut self, control: Control) -> Result<(), String> {
        if self.class(control.class)?.lossy != Lossy::No || control.kind.carries_data() {
            return Err(format!("a router sends {control:?} where it can be lost"));
        }
        self.flying.push(Flying { sent_at: self.now, class: control.class, what: What::Control(control) });
        Ok(())
    }

    fn arrive_control(&mut self, control: Control, sent_at: u64) -> Result<(), String> {
        if control.kind == PacketKind::Reservation
            && self.hooks.reservations
            && let Some(switch) = &mut self.switch
            && let Some(answer) = switch.takes(&control, control.to, self.now)
        {
            return self.send_from_router(answer);
        }
        let latency = self.now - sent_at;
        let interface = &mut self.nodes[control.to as usize];
        let about = interface.messages.get(&control.about.message).map(|message| message.id);
        let message = about.filter(|_| control.kind != PacketKind::Reservation && self.hooks.copies);
        self.trace.events.push(Event::Heard { at: self.now, message, control, latency });
        if control.kind == PacketKind::Reservation {
            let sink = interface.sink.as_mut().ok_or("nobody is there to hear a reservation")?;
            let mut replies = Vec::new();
            sink.hear(&control, self.now, &mut replies);
            interface.control.extend(replies);
            return Ok(());
        }
        if control.kind == PacketKind::Acknowledgement
            && let Some(id) = message
            && !self.arrived[id].contains(&control.about.index)
        {
            return Err(format!("{control:?} acknowledges what has not arrived"));
        }
        interface.hear(&control, latency, self.now)
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
                self.arrive(flying, Fate::Queued(0))?;
                busy = true;
            }
            self.now += 1;
            if !busy {
                let Some(next) = self.nodes.iter().filter_map(|node| node.next_due(self.now - 1)).min() else {
                    return self.check_rest();
                };
                self.now = self.now.max(next);
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
