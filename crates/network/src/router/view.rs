//! What a routing agent sees of its router.

use tailback_routing::{Board, OpenPorts, PortSet, View, flits_of_use};

use super::state::{Backlog, OutputPort};
use super::{Microarchitecture, Routers};
use crate::fabric::Fabric;
use crate::state_broadcast::StateBroadcast;
use crate::time::Time;

/// What a routing agent sees of the outputs of its router, for a packet of one traffic class: see [`View`].
pub(crate) trait Outputs {
    /// As [`View::channels`].
    fn channels(&self, port: u8) -> u8;
    /// As [`View::occupancy`].
    fn occupancy(&self, port: u8, vc: u8) -> u32;
    /// As [`View::capacity`].
    fn capacity(&self, port: u8, vc: u8) -> u32;
    /// As [`View::waiting`].
    fn waiting(&self, port: u8) -> u32;
    /// As [`View::admits`].
    fn admits(&self, port: u8, vc: u8) -> bool;
    /// As [`View::open`].
    fn open(&self, ports: PortSet, vc: u8, used_max: Option<u32>) -> OpenPorts;
    /// As [`View::occupancy_of_all`].
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32;
    /// As [`View::occupancies`].
    fn occupancies(&self, first: u8, vc: u8, found: &mut [u32]);
}

/// What a routing agent sees.
pub(super) struct RouterView<'a, T> {
    pub outputs: T,
    pub broadcasts: &'a StateBroadcast,
    /// The traffic class, and the router as the region numbers it.
    pub class: u8,
    pub router: u32,
    /// Whether the packet is asked about for the first time.
    pub first_time: bool,
}

impl<T: Outputs> View for RouterView<'_, T> {
    #[inline]
    fn channels(&self, port: u8) -> u8 {
        self.outputs.channels(port)
    }

    #[inline]
    fn occupancy(&self, port: u8, vc: u8) -> u32 {
        self.outputs.occupancy(port, vc)
    }

    #[inline]
    fn capacity(&self, port: u8, vc: u8) -> u32 {
        self.outputs.capacity(port, vc)
    }

    #[inline]
    fn waiting(&self, port: u8) -> u32 {
        self.outputs.waiting(port)
    }

    #[inline]
    fn admits(&self, port: u8, vc: u8) -> bool {
        self.outputs.admits(port, vc)
    }

    #[inline]
    fn open(&self, ports: PortSet, vc: u8, used_max: Option<u32>) -> OpenPorts {
        self.outputs.open(ports, vc, used_max)
    }

    #[inline]
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32 {
        self.outputs.occupancy_of_all(ports, vc)
    }

    #[inline]
    fn occupancies(&self, first: u8, vc: u8, found: &mut [u32]) {
        self.outputs.occupancies(first, vc, found);
    }

    #[inline]
    fn board(&self) -> &Board {
        self.broadcasts.board(self.class, self.router)
    }

    #[inline]
    fn is_first_time(&self) -> bool {
        self.first_time
    }
}

/// The outputs of a router, as its agent sees them.
pub(super) struct RouterOutputs<'a, M> {
    routers: &'a Routers<M>,
    /// The number of the router's first port in the region.
    first: u32,
    class: u8,
    fabric: &'a Fabric,
    /// The size of the packet.
    flits: u16,
    now: Time,
}

impl<M: Microarchitecture> Routers<M> {
    /// What the routing agent of the router whose first port has a number sees of its outputs, for a packet of a traffic class and size.
    #[inline]
    pub(super) fn outputs<'a>(
        &'a self,
        first: u32,
        class: u8,
        flits: u16,
        now: Time,
        fabric: &'a Fabric,
    ) -> RouterOutputs<'a, M> {
        RouterOutputs { routers: self, first, class, fabric, flits, now }
    }

    /// Flits on their way to, or in, the buffer of the next router, as [`View::occupancy`] says.
    #[inline]
    fn on_their_way(&self, output: &OutputPort, index: u32, vc: u8, capacity: u32) -> u32 {
        (capacity as i32 - self.free_behind(output, index, vc)) as u32
    }

    /// What is free of the buffer behind a channel of a port, but for what will go there: negative, if more will.
    #[inline]
    pub(super) fn free_behind(&self, output: &OutputPort, index: u32, vc: u8) -> i32 {
        let channel = self.channel(index, vc);
        let uncredited = if Self::unless_plain(!self.rules.claims_first) { self.extras.uncredited[channel] } else { 0 };
        i32::from(output.credit::<M>(&self.credits, channel, vc)) - uncredited as i32
    }

    /// Whether a packet of so many flits could start to cross to a port with a link to a router now, by a channel.
    #[inline(always)]
    pub(super) fn is_open(
        &self,
        port: &OutputPort,
        index: u32,
        vc: u8,
        flits: u16,
        now: Time,
        fabric: &Fabric,
    ) -> bool {
        if !M::PLAIN {
            return self.room(index, vc, flits, now, fabric).is_some();
        }
        port.connection.busy_until <= now
            && port.credit::<M>(&self.credits, self.channel(index, vc), vc) >= flits
            && self.departures.space(index, port, flits.into(), now)
    }

    /// The flits that wait for the link of a port, as [`View::waiting`] says.
    fn waiting(&self, index: u32, now: Time) -> u32 {
        let Backlog { queued, credited } = self.extras.backlogs[index as usize];
        let queued = queued + self.extras.senders[index as usize].lone_flits(now);
        let beyond = if self.rules.claims_first { credited.saturating_sub(queued) } else { credited };
        let routed = self.extras.routed.get(index as usize).copied().unwrap_or_default();
        routed + queued + beyond.saturating_sub(self.outputs[index as usize].round_trip())
    }
}

impl<M: Microarchitecture> RouterOutputs<'_, M> {
    /// A port by its number in the router.
    #[inline]
    fn port(&self, port: u8) -> &OutputPort {
        &self.routers.outputs[self.first as usize + usize::from(port)]
    }

    /// A virtual channel of a port, counted through all traffic classes: the same for all ports with links of a class.
    #[inline]
    fn vc(&self, port: u8, vc: u8) -> u8 {
        // The channels of the first class come first.
        if self.class == 0 { vc } else { self.fabric.first_vc(self.class, self.port(port).link_class) + vc }
    }

    /// The size of the buffer of a channel behind a port: the same for all ports with links of a class.
    #[inline]
    fn buffer(&self, port: u8) -> u32 {
        self.fabric.spec.input_buffers[usize::from(self.port(port).link_class)].into()
    }

    /// The flits on their way to, or in, a buffer of that size behind a port with a link to a router.
    #[inline]
    fn occupancy_of(&self, port: u8, vc: u8, buffer: u32) -> u32 {
        self.occupancy_behind(self.port(port), port, vc, buffer)
    }

    /// The same, of a port that is at hand.
    #[inline]
    fn occupancy_behind(&self, output: &OutputPort, port: u8, vc: u8, buffer: u32) -> u32 {
        debug_assert!(!output.is_terminal(), "terminals have no buffer behind them, and are not asked about in sets");
        debug_assert_eq!(self.buffer(port), buffer, "all links are of a class");
        self.routers.on_their_way(output, self.first + u32::from(port), vc, buffer)
    }

    /// [`View::admits`], by a virtual channel counted through all traffic classes.
    #[inline]
    fn admits_by(&self, port: u8, vc: u8) -> bool {
        self.routers.room(self.first + u32::from(port), vc, self.flits, self.now, self.fabric).is_some()
    }
}

/// What is at least free of a buffer of which no more than `used` ten thousandths are in use.
#[inline]
pub(super) fn free_of_use(used: u32, buffer: u32) -> i32 {
    let most = i32::try_from(flits_of_use(used, buffer)).unwrap_or(i32::MAX);
    (buffer as i32).saturating_sub(most)
}

impl<M: Microarchitecture> Outputs for RouterOutputs<'_, M> {
    #[inline]
    fn channels(&self, port: u8) -> u8 {
        self.fabric.spec.classes[usize::from(self.class)].vcs[usize::from(self.port(port).link_class)]
    }

    #[inline]
    fn occupancy(&self, port: u8, vc: u8) -> u32 {
        let output = self.port(port);
        if output.is_terminal() {
            return 0;
        }
        self.occupancy_behind(output, port, self.vc(port, vc), self.buffer(port))
    }

    #[inline]
    fn capacity(&self, port: u8, _vc: u8) -> u32 {
        self.buffer(port)
    }

    fn waiting(&self, port: u8) -> u32 {
        let (routers, index) = (self.routers, self.first + u32::from(port));
        debug_assert_eq!(
            routers.extras.backlogs[index as usize].credited,
            (0..routers.shape.vcs as u8)
                .map(|vc| self.fabric.capacity(self.port(port).link_class, vc.into()) - routers.credit(index, vc))
                .map(u32::from)
                .sum(),
            "what has taken credits is what is not free"
        );
        routers.waiting(index, self.now)
    }

    #[inline]
    fn admits(&self, port: u8, vc: u8) -> bool {
        self.admits_by(port, self.vc(port, vc))
    }

    #[inline]
    fn open(&self, ports: PortSet, vc: u8, used_max: Option<u32>) -> OpenPorts {
        let Some(first) = ports.first() else { return OpenPorts::default() };
        let (buffer, vc) = (self.buffer(first), self.vc(first, vc));
        let free_min = used_max.map_or(i32::MIN, |used| free_of_use(used, buffer));
        let mut any_emptier = false;
        let ports = ports.filter(|number| {
            let (index, port) = (self.first + u32::from(number), self.port(number));
            if self.routers.free_behind(port, index, vc) < free_min {
                return false;
            }
            any_emptier = true;
            self.routers.is_open(port, index, vc, self.flits, self.now, self.fabric)
        });
        OpenPorts { ports, any_emptier }
    }

    #[inline]
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32 {
        let Some(first) = ports.first() else { return 0 };
        let (buffer, vc) = (self.buffer(first), self.vc(first, vc));
        ports.sum(|port| self.occupancy_of(port, vc, buffer))
    }

    // By the default of the view each port would be a call: 1 % of all instructions under PB.
    #[inline]
    fn occupancies(&self, first: u8, vc: u8, found: &mut [u32]) {
        if found.is_empty() {
            return;
        }
        let (buffer, vc) = (self.buffer(first), self.vc(first, vc));
        (first..).zip(found).for_each(|(port, found)| *found = self.occupancy_of(port, vc, buffer));
    }
}
