//! Requests: packets that could cross at once, and what an allocation keeps of them for the moment.

use tailback_routing::Header;

use super::state::QueueId;
use crate::fabric::Shape;
use crate::packet::NONE;

/// A packet that could cross at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub id: QueueId,
    /// Where the record of its queue is.
    pub queue: u32,
    pub packet: u32,
    /// The port that it would leave by, by its number in the region and in the router.
    pub output: u32,
    pub port: u8,
    /// The virtual channel that it would leave by.
    pub vc: u8,
    /// Where in [`Scratch::headers`] its new header is, if that is neither settled nor kept.
    pub header: u16,
}

/// The header of the packet is settled.
pub(super) const SETTLED: u16 = u16::MAX;
/// Its new header is with the decision that is kept.
pub(super) const KEPT: u16 = u16::MAX - 1;

impl Request {
    pub const NONE: Self = Self {
        id: QueueId { index: 0, port: 0, voq: 0, vc: 0 },
        queue: 0,
        packet: NONE,
        output: 0,
        port: 0,
        vc: 0,
        header: SETTLED,
    };
}

/// What an output grants an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    /// How the input orders it: the smallest first.
    pub key: u64,
    pub output: u16,
}

/// Nothing is granted.
pub(super) const NO_GRANT: Grant = Grant { key: u64::MAX, output: u16::MAX };

/// A key that is not known.
pub(super) const NO_KEY: u64 = u64::MAX;

/// What an allocation needs for the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// By crossbar output of a router: the best request so far, or [`Request::NONE`].
    pub best: Vec<Request>,
    /// By crossbar output: how it orders the best, or [`NO_KEY`]. Basic routers do without.
    pub best_keys: Vec<u64>,
    /// By crossbar input, while inputs choose among what outputs grant: the best. Empty else.
    pub grants: Vec<Grant>,
    /// The crossbar outputs that were asked for, by first request.
    pub asked: Vec<u16>,
    /// The requests that were not the best.
    pub losers: Vec<Request>,
    /// What headers of packets become whose routing decides anew.
    pub headers: Vec<Header>,
    /// Queues whose heads need a virtual channel.
    pub channel_seekers: Vec<QueueId>,
    /// Whether this is not the first round of an allocation.
    pub later_round: bool,
    /// Links that credits of this tick let start at once.
    pub starts_now: Vec<(u32, u32)>,
}

impl Scratch {
    pub fn new(shape: &Shape) -> Self {
        let outputs = shape.ports * shape.outputs;
        Self { best: vec![Request::NONE; outputs], best_keys: vec![NO_KEY; outputs], ..Self::default() }
    }

    /// Keeps a new header until it is known whether its packet crosses; says where.
    #[inline]
    pub fn keep_header(&mut self, header: Header) -> u16 {
        self.headers.push(header);
        self.headers.len() as u16 - 1
    }
}
