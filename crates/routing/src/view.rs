//! What a routing agent sees of its router.

use tailback_topology::Port;

/// The state of a router, as far as its routing agent may see it, for packets of one traffic class.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Free flits of the buffer behind each channel: by port, then by virtual channel of the router.
    pub free: &'a [u16],
    /// Virtual channels per port in `free`.
    pub stride: usize,
    /// The link class of each port.
    pub link_class: &'a [u8],
    /// The channels of the traffic class.
    pub channels: &'a ClassChannels,
}

/// The virtual channels of a traffic class, by link class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassChannels {
    /// The first of them, counted through all traffic classes.
    pub first: Vec<u8>,
    /// How many there are.
    pub count: Vec<u8>,
    /// Flits of the buffer behind each.
    pub capacity: Vec<u16>,
}

impl View<'_> {
    /// Flits on their way to, or in, the buffer behind virtual channel `vc` of `port`, as far as this router
    /// knows: those that wait in its output queue, are on the link, or have not been acknowledged by a credit.
    #[inline]
    #[must_use]
    pub fn occupancy(&self, port: Port, vc: u8) -> u32 {
        let class = usize::from(self.link_class[usize::from(port)]);
        let vc = usize::from(self.channels.first[class] + vc);
        u32::from(self.channels.capacity[class] - self.free[usize::from(port) * self.stride + vc])
    }

    /// The same, summed over all virtual channels of the traffic class.
    #[must_use]
    pub fn port_occupancy(&self, port: Port) -> u32 {
        let class = usize::from(self.link_class[usize::from(port)]);
        (0..self.channels.count[class]).map(|vc| self.occupancy(port, vc)).sum()
    }
}
