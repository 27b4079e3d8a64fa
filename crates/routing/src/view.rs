//! What a routing agent sees of its router.

use tailback_topology::Port;

use crate::{Board, PortSet};

/// The state of a router, as far as its routing agent may see it, for packets of one traffic class. Virtual channels
/// are counted inside the class.
pub trait View {
    /// How many virtual channels the class has on the link behind `port`.
    fn channels(&self, port: Port) -> u8;

    /// Flits on their way to, or in, the buffer behind virtual channel `vc` of `port`, as far as this router
    /// knows: those that wait in its output queue, are on the link, or have not been acknowledged by a credit.
    fn occupancy(&self, port: Port, vc: u8) -> u32;

    /// The size of that buffer in flits.
    fn capacity(&self, port: Port, vc: u8) -> u32;

    /// The flits that wait for the link behind `port`, of all traffic classes: in its output queue, and in the buffer at the other
    /// end what is more than the link itself holds when it is never idle, credits on their way back included. Only for those
    /// who say so by [`Interests::queues`](crate::Interests::queues).
    fn waiting(&self, port: Port) -> u32;

    /// Whether the packet that is being routed could start to cross to `port` now, by virtual channel `vc`: nothing else
    /// crosses to it, and its output queue and the buffer behind it have room.
    fn admits(&self, port: Port, vc: u8) -> bool;

    /// Those of some ports with links to routers, of one class, that admit the packet that is being routed, by virtual channel `vc`, and
    /// the buffer behind which holds at most `occupancy_max` flits.
    fn open(&self, ports: PortSet, vc: u8, occupancy_max: u32) -> PortSet {
        ports.filter(|port| self.occupancy(port, vc) <= occupancy_max && self.admits(port, vc))
    }

    /// [`View::occupancy`] of a channel, summed over some ports with links to routers, of one class.
    fn occupancy_of_all(&self, ports: PortSet, vc: u8) -> u32 {
        ports.iter().map(|port| self.occupancy(port, vc)).sum()
    }

    /// [`View::occupancy`] of a channel at each of as many ports from `first` on as there are places in `found`.
    fn occupancies(&self, first: Port, vc: u8, found: &mut [u32]) {
        for (port, found) in (first..).zip(found) {
            *found = self.occupancy(port, vc);
        }
    }

    /// What the routers of the domain have told each other.
    fn board(&self) -> &Board;

    /// The same as [`View::occupancy`], summed over all virtual channels of the class.
    fn port_occupancy(&self, port: Port) -> u32 {
        (0..self.channels(port)).map(|vc| self.occupancy(port, vc)).sum()
    }
}
