//! What a routing agent sees of its router.

use tailback_topology::Port;

/// The state of a router, as far as its routing agent may see it, for packets of one traffic class.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Free flits of the buffer behind each channel: by port, then by virtual channel of the router.
    pub free: &'a [u16],
    /// The size of these buffers: by link class, then by virtual channel of the router.
    pub capacity: &'a [u16],
    /// The link class of each port.
    pub link_class: &'a [u8],
    /// The first virtual channel of the traffic class on each link class.
    pub first_vc: &'a [u8],
    /// The number of channels of the traffic class on each link class.
    pub vcs: &'a [u8],
    /// Virtual channels per port in `free` and per class in `capacity`.
    pub stride: usize,
}

impl View<'_> {
    /// Flits on their way to, or in, the buffer behind virtual channel `vc` of `port`, as far as this router
    /// knows: those that wait in its output queue, are on the link, or have not been acknowledged by a credit.
    #[inline]
    #[must_use]
    pub fn occupancy(&self, port: Port, vc: u8) -> u32 {
        let class = usize::from(self.link_class[usize::from(port)]);
        let vc = usize::from(self.first_vc[class] + vc);
        u32::from(self.capacity[class * self.stride + vc] - self.free[usize::from(port) * self.stride + vc])
    }

    /// The same, summed over all virtual channels of the traffic class.
    #[must_use]
    pub fn port_occupancy(&self, port: Port) -> u32 {
        let class = usize::from(self.link_class[usize::from(port)]);
        (0..self.vcs[class]).map(|vc| self.occupancy(port, vc)).sum()
    }
}
