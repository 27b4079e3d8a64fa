//! Controllers: machines that belong to no node and no router, and the control network by which they are reached.

use serde::{Deserialize, Serialize};

use crate::Words;

/// Whoever sends or receives messages on the control network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Party {
    /// The source of a node.
    Source(u32),
    /// The sink of a node.
    Sink(u32),
    /// A controller, by its number.
    Controller(u32),
}

/// A network for control messages beside the data network: it takes the same time from anybody to anybody, and loses nothing. Whoever
/// sends a message can have it take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlNetwork {
    /// Ticks that a message takes at least, themselves at least 1. Less than the latency of a link makes simulations slower.
    pub latency: u64,
    /// How many controllers there are.
    pub controllers: u32,
}

/// What a controller wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControllerAction {
    /// A message is to be sent on the control network.
    Tell {
        /// To whom.
        to: Party,
        /// What it says.
        words: Words,
        /// Ticks that it takes beyond the latency of the control network.
        after: u64,
    },
    /// [`Controller::on_timer`] is to be called at a tick, which lies ahead.
    Timer {
        /// When.
        at: u64,
        /// What the controller knows it by.
        token: u32,
    },
}

/// A machine that is reached by the control network only. What reaches it in one tick reaches it in the order of those who sent
/// it, and what one of them sent in the order in which it was sent; its timers come last.
pub trait Controller: Send {
    /// A message has arrived.
    fn on_message(&mut self, from: Party, words: &[u64], now: u64, actions: &mut Vec<ControllerAction>);

    /// A timer is due.
    fn on_timer(&mut self, _token: u32, _now: u64, _actions: &mut Vec<ControllerAction>) {}

    /// Appends what it remembers to `bytes`, if it remembers anything.
    fn save(&self, _bytes: &mut Vec<u8>) {}

    /// Takes from the front of `bytes` what [`Controller::save`] has written. `None` if it is not there.
    fn load(&mut self, _bytes: &mut &[u8]) -> Option<()> {
        Some(())
    }
}
