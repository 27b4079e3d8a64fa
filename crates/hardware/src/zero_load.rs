//! The latency of a packet that is alone in the network, by formula.

use tailback_topology::LinkClass;

use crate::NetworkSpec;

/// What the latency of a packet is made of when nothing is in its way. Everything in ticks.
///
/// The formula holds where all latencies are whole link cycles; the first flit then never waits for a clock edge but
/// in routers, whose time is rounded up to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZeroLoad {
    /// The link from the node to its router.
    pub injection: u64,
    /// One router: from the arrival of the first flit at an input to its departure on a link.
    pub router: u64,
    /// The links between routers, in order.
    pub links: Vec<u64>,
    /// The link from the last router to the node.
    pub ejection: u64,
    /// From the arrival of the first flit to that of the last.
    pub serialization: u64,
}

impl ZeroLoad {
    /// The latency of a packet of `flits` flits, or of a message whose packets follow each other without a gap, that crosses links of the classes of `path`.
    #[must_use]
    pub fn new(spec: &NetworkSpec, path: &[LinkClass], flits: u32) -> Self {
        let ejection = &spec.links[LinkClass::TERMINAL.index()];
        let links = path.iter().map(|class| &spec.links[class.index()]);
        let slowest = links.clone().chain([ejection, &spec.injection]).map(|link| link.flit_ticks).max().unwrap_or(0);
        let slowest = u32::from(slowest).max(spec.line_flit_ticks());
        Self {
            injection: spec.injection.latency.into(),
            router: router(spec),
            links: links.map(|link| link.latency.into()).collect(),
            ejection: ejection.latency.into(),
            serialization: u64::from(flits - 1) * u64::from(slowest),
        }
    }

    /// All routers.
    #[must_use]
    pub fn routers(&self) -> u64 {
        self.router * (self.links.len() as u64 + 1)
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.injection + self.routers() + self.links.iter().sum::<u64>() + self.ejection + self.serialization
    }
}

/// From the arrival of a first flit at an input to its departure on a link.
fn router(spec: &NetworkSpec) -> u64 {
    let router = &spec.router;
    let period = u64::from(router.allocation_period);
    let ready = u64::from(router.head_delay).next_multiple_of(period);
    // A channel that is won in one allocation counts from the next one on.
    let granted = ready + if router.vc_allocation { period } else { 0 };
    (granted + u64::from(router.crossbar_delay)).next_multiple_of(spec.ticks_per_cycle.into())
}
