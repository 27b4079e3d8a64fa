//! A router to try switches on: no buffers, only what the script says of them.

use std::collections::{BTreeMap, BTreeSet};

use tailback_random::Stream;

use super::Obstacle;
use super::world::What;
use crate::{
    Control, Direction, Fate, Fill, Here, KindDeclaration, Moment, PacketKind, Passing, PathUse, PortVc, Ports,
    Protocol, Station, Switch, SwitchAction, View, Watch,
};

/// What has become of something that came to a router.
pub(super) enum Decided {
    Goes,
    Dropped,
    Trimmed(PacketKind),
    Absorbed,
}

/// Under which circumstances something comes to a router.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    /// The nodes that it comes from and is for.
    pub source: u32,
    pub destination: u32,
    /// Whether the latter is attached to the router.
    pub last_hop: bool,
    /// The ports that it comes in by and leaves by.
    pub ports: (u8, u8),
    pub obstacle: Obstacle,
    pub now: u64,
}

pub(super) struct Router {
    switch: Option<Box<dyn Switch>>,
    watches: BTreeSet<Watch>,
    kinds: Vec<KindDeclaration>,
    /// By class, whether packets of it expire.
    expire: Vec<bool>,
    sends: bool,
    trims: bool,
    number: u32,
    /// By time and in the order in which they were set.
    timers: BTreeMap<(u64, usize), u32>,
    timers_set: usize,
    random: Option<Stream>,
    sent: Vec<Control>,
    /// What it has come to mark queued packets with.
    queue_marks: u8,
}

/// What there is to see of a router.
struct Seen {
    waiting: u32,
    fill: Fill,
}

impl View for Seen {
    fn input(&self, _: PortVc) -> Fill {
        self.fill
    }

    fn output(&self, _: PortVc) -> Fill {
        self.fill
    }

    fn downstream(&self, _: PortVc) -> Fill {
        Fill { flits: 0, ..self.fill }
    }

    fn waiting_for_node(&self, _: u8) -> u32 {
        self.waiting
    }

    fn sent(&self, _: u8) -> u64 {
        self.waiting.into()
    }
}

impl Router {
    pub fn new(protocol: &dyn Protocol, station: &Station, number: u32) -> Self {
        Self {
            switch: protocol.switch(station),
            watches: protocol.watches().into_iter().collect(),
            kinds: protocol.kinds(),
            expire: protocol.classes().iter().map(|class| class.queueing_timeout.is_some()).collect(),
            sends: protocol.switch_needs().sends,
            trims: protocol.switch_needs().trims,
            number,
            timers: BTreeMap::new(),
            timers_set: 0,
            random: protocol.switch_needs().random.then(|| Stream::new(0, number.into(), 0)),
            sent: Vec::new(),
            queue_marks: 0,
        }
    }

    /// Control packets that it has come to send.
    pub fn take_sent(&mut self) -> Vec<Control> {
        std::mem::take(&mut self.sent)
    }

    /// What queued packets are to be marked with. All wait for the same output here.
    pub fn queue_marks(&self) -> u8 {
        self.queue_marks
    }

    /// They are marked.
    pub fn take_queue_marks(&mut self) -> u8 {
        std::mem::take(&mut self.queue_marks)
    }

    pub fn next_timer(&self) -> Option<u64> {
        self.timers.first_key_value().map(|(&(at, _), _)| at)
    }

    pub fn fire_timers(&mut self, now: u64) {
        while let Some(entry) = self.timers.first_entry().filter(|entry| entry.key().0 <= now) {
            let token = entry.remove();
            let mut actions = Vec::new();
            self.switch.as_mut().expect("only switches set timers").on_timer(token, now, &mut actions);
            self.act(actions, now).expect("what a switch may do is checked when it first does it");
        }
    }

    /// Something comes in, and leaves if nothing stops it.
    pub fn pass(&mut self, what: &mut What, payload: &mut [u64], visit: Visit) -> Result<Decided, String> {
        let kind = match what {
            What::Control(control) => control.kind,
            What::Data { kind, .. } => *kind,
        };
        let expires = visit.obstacle == Obstacle::Expiry && self.expire[usize::from(self.kinds[kind.index()].class)];
        let second = if expires { Moment::Expires } else { Moment::Requests };
        for moment in [Moment::Arrives, second, Moment::Crosses] {
            if self.is_watched(moment, kind, visit.last_hop) {
                let fate = self.ask(moment, what, payload, visit)?;
                if !matches!(fate, Decided::Goes) {
                    return Ok(fate);
                }
            }
        }
        Ok(Decided::Goes)
    }

    fn is_watched(&self, moment: Moment, kind: PacketKind, last_hop: bool) -> bool {
        // All links here are of whatever class is asked for.
        let watched = |watch: &Watch| match watch.ports {
            Ports::LastHop => last_hop,
            Ports::Links(_) | Ports::All => true,
        };
        let about = |watch: &&Watch| (watch.moment, watch.kind) == (moment, kind);
        self.switch.is_some() && self.watches.iter().filter(about).any(watched)
    }

    fn ask(&mut self, moment: Moment, what: &mut What, payload: &mut [u64], visit: Visit) -> Result<Decided, String> {
        let Visit { source, destination, last_hop, ports: (input, output), obstacle, now } = visit;
        let switch = self.switch.as_mut().expect("somebody watches");
        let (waiting, flits) = match obstacle {
            Obstacle::Queued(flits) => (flits, 0),
            Obstacle::Crowd(flits) => (0, flits.min(100)),
            Obstacle::Expiry => (0, 0),
        };
        let seen = Seen { waiting, fill: Fill { flits, capacity: 100 } };
        let output = (last_hop || moment == Moment::Crosses).then_some(PortVc { port: output, vc: 0 });
        let mut actions = Vec::new();
        let stream = self.random.as_mut();
        let mut here =
            Here { now, input: PortVc { port: input, vc: 0 }, output, view: &seen, actions: &mut actions, stream };
        let mut packet = match what {
            What::Control(control) => {
                let (kind, packet, flits) = (control.kind, control.about, self.kinds[control.kind.index()].flits);
                // What takes the place of a packet here steps back anew.
                let follows = self.kinds[kind.index()].path == PathUse::Follows;
                let path = if follows { control.path.before_step() } else { control.path };
                let said = Some(Control { path, ..control.clone() });
                let Control { marks, payload, .. } = control;
                Passing { kind, source, destination, packet, flits, marks, control: said, payload }
            }
            What::Data { kind, packet, flits, marks, .. } => {
                let (kind, packet, flits) = (*kind, *packet, *flits);
                Passing { kind, source, destination, packet, flits, marks, control: None, payload }
            }
        };
        let fate = switch.ask(moment, &mut packet, &mut here);
        let kind = packet.kind;
        self.act(actions, now)?;
        self.settle(fate, kind, source)
    }

    /// Sees whether a packet may have that fate.
    fn settle(&mut self, fate: Fate, kind: PacketKind, source: u32) -> Result<Decided, String> {
        let direction = self.kinds[kind.index()].direction;
        let about = |control: &Control| self.kinds.get(control.kind.index()).map(|kind| kind.direction);
        match fate {
            Fate::Forward => Ok(Decided::Goes),
            Fate::Drop(control) => {
                let told = about(&control) == Some(Direction::Nack) && control.to == source;
                if direction != Direction::LossyData || !told {
                    return Err(format!("router {}: {kind:?} is dropped, and {control:?} says so", self.number));
                }
                self.send(control)?;
                Ok(Decided::Dropped)
            }
            Fate::Trim(to) => {
                let rest = self.kinds.get(to.index()).map(|kind| kind.direction);
                if direction != Direction::LossyData || rest != Some(Direction::Trimmed) || !self.trims {
                    let undeclared = if self.trims { "" } else { ", and has not declared that it trims" };
                    return Err(format!("router {}: {kind:?} is trimmed to {to:?}{undeclared}", self.number));
                }
                Ok(Decided::Trimmed(to))
            }
            Fate::Absorb(answer) => {
                if direction.carries_data() {
                    return Err(format!("router {}: {kind:?} carries data, and ends there", self.number));
                }
                answer.map_or(Ok(()), |control| self.send(control))?;
                Ok(Decided::Absorbed)
            }
        }
    }

    fn send(&mut self, control: Control) -> Result<(), String> {
        if !self.sends {
            return Err(format!("router {} sends {control:?}, and has not declared that it sends", self.number));
        }
        self.sent.push(control);
        Ok(())
    }

    fn act(&mut self, actions: Vec<SwitchAction>, now: u64) -> Result<(), String> {
        for action in actions {
            match action {
                SwitchAction::Send(control) => self.send(control)?,
                SwitchAction::MarkQueued { marks, .. } => self.queue_marks |= marks,
                SwitchAction::Timer { at, .. } if at <= now => {
                    return Err(format!("router {} sets a timer for {at}, and now is {now}", self.number));
                }
                SwitchAction::Timer { at, token } => {
                    self.timers.insert((at, self.timers_set), token);
                    self.timers_set += 1;
                }
            }
        }
        Ok(())
    }
}
