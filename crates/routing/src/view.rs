//! What a routing agent sees of its router.

use tailback_topology::Port;

/// The state of a router, as far as its routing agent may see it, for packets of one traffic class. Virtual channels
/// are counted inside the class.
pub trait View {
    /// How many virtual channels the class has on the link behind `port`.
    fn channels(&self, port: Port) -> u8;

    /// Flits on their way to, or in, the buffer behind virtual channel `vc` of `port`, as far as this router
    /// knows: those that wait in its output queue, are on the link, or have not been acknowledged by a credit.
    fn occupancy(&self, port: Port, vc: u8) -> u32;

    /// The same, summed over all virtual channels of the class.
    fn port_occupancy(&self, port: Port) -> u32 {
        (0..self.channels(port)).map(|vc| self.occupancy(port, vc)).sum()
    }
}
