//! What any protocol must keep, whatever the network does.
//!
//! [`run`] drives the sources, sinks and switches of a protocol through a script, on a line of routers: messages are offered,
//! packets leave, take one hop after the other in any order and after any delay, lossy ones are dropped. Then the script ends, nothing more is lost, and everything
//! has to come to rest. It fails as soon as one of these does not hold:
//!
//! * every packet of every message arrives exactly once, at the node it is for, with its size;
//! * kinds and classes are declared as the network needs them; only lossy data is dropped or trimmed, and only control packets end in
//!   routers; answers on recorded paths have the path of a request of their destination;
//! * a packet is sent again only if it has been dropped, and is forgotten only when it has arrived;
//! * in the end every source is idle and every message is done.
//!
//! What else a protocol promises can be seen from the [`Trace`] of a run. [`undocumented`] compares parameters with a README.
//!
//! **What this module must never know:** any concrete protocol. The interface that it has is written to be
//! obvious, and shares nothing with that of the network.

mod control_network;
mod declarations;
mod deliver;
mod interface;
mod order;
mod readme;
mod router;
mod trace;
mod world;

pub use readme::undocumented;
pub use trace::{Event, Trace};
pub use world::run;

/// What happens in a run.
#[derive(Clone, Debug)]
pub struct Script {
    /// How many nodes there are; they are dealt out to the routers in turn.
    pub nodes: u32,
    /// How many routers there are, in a line.
    pub routers: u32,
    /// Flits of the largest packet.
    pub packet_flits_max: u16,
    /// Routes that protocols are told that flows take in turn. Packets here pass each other whatever they are told.
    pub routes: u32,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Something that happens. Numbers that are too large for what they choose from wrap around.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A message is offered.
    Offer {
        /// Who sends.
        node: u32,
        /// To whom.
        destination: u32,
        /// How much.
        flits: u32,
    },
    /// A node may send something.
    Transmit {
        /// The node.
        node: u32,
    },
    /// Something that is in flight takes a hop, or is dropped if that is allowed.
    Hop {
        /// Which of the things that are in flight.
        which: usize,
        /// What is in its way.
        obstacle: Obstacle,
    },
    /// Time passes.
    Wait {
        /// Ticks.
        ticks: u64,
    },
}

/// What is in the way of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// So many flits that wait for its node in the last router.
    Queued(u32),
    /// More waiting than its class may, if there is an end to that.
    Expiry,
    /// A buffer this full, in flits of a hundred.
    Crowd(u32),
}

impl Script {
    /// A script that any numbers stand for: the same numbers, the same script.
    #[must_use]
    pub fn from_numbers(numbers: &[u64]) -> Self {
        let (&first, rest) = numbers.split_first().unwrap_or((&0, &[]));
        let nodes = 2 + (first % 4) as u32;
        let routers = 1 + (first >> 4) as u32 % 3;
        let packet_flits_max = 1 + (first >> 8) as u16 % 8;
        let step = |&number: &u64| {
            let [kind, a, b, c] = [number & 0xf, number >> 4 & 0xffff, number >> 20 & 0xffff, number >> 36 & 0xffff];
            match kind {
                0..=2 => Step::Offer { node: a as u32, destination: b as u32, flits: 1 + c as u32 % 40 },
                3..=8 => Step::Transmit { node: a as u32 },
                9..=13 => {
                    let obstacle = match b % 4 {
                        0 => Obstacle::Expiry,
                        1 => Obstacle::Crowd(c as u32 % 100),
                        _ => Obstacle::Queued(c as u32 % 2000),
                    };
                    Step::Hop { which: a as usize, obstacle }
                }
                _ => Step::Wait { ticks: a % 600 },
            }
        };
        Self { nodes, routers, packet_flits_max, routes: 1, steps: rest.iter().map(step).collect() }
    }
}

#[cfg(test)]
mod tests;
