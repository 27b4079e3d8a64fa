//! The egress adapter: it returns a credit for each packet that is in order.

use tailback_protocol::{Arrival, Party, Routes, Sink, SinkAction, remember, write_down};

use crate::pace::Pace;
use crate::words::Word;

/// Where an egress adapter returns credits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// To the bank of all arbiters.
    ToBank,
    /// To the switch of its leaf, of so many in each of three stages.
    ToLeaf { routes: u32 },
}

/// The sink of a node.
#[derive(Clone, Debug)]
pub(crate) struct Egress {
    returns: Returns,
    /// Ticks that a credit takes beyond the latency of the control network.
    after: u64,
    routes: Routes,
    /// By source: packets that were in order, modulo the routes.
    turns: Vec<u16>,
    /// One credit in the time of a packet.
    pace: Pace,
}

impl Egress {
    pub fn new(returns: Returns, after: u64, nodes: u32, routes: Routes, packet_ticks: u64) -> Self {
        Self { returns, after, routes, turns: vec![0; nodes as usize], pace: Pace::every(packet_ticks) }
    }
}

impl Sink for Egress {
    fn on_data(&mut self, arrival: &Arrival<'_>, now: u64, actions: &mut Vec<SinkAction>) {
        // Packets of a flow take all routes in turn, so those in order tell theirs by their number.
        let turn = &mut self.turns[arrival.from as usize];
        let route = (self.routes.first(arrival.from, arrival.to) + u32::from(*turn)) % self.routes.count;
        *turn = (*turn + 1) % self.routes.count as u16;
        let to = match self.returns {
            Returns::ToBank => 0,
            Returns::ToLeaf { routes } => 2 * routes + arrival.to / routes,
        };
        let after = self.pace.reserve(now) - now + self.after;
        actions.push(SinkAction::Tell { to: Party::Controller(to), words: Word::Credit { route }.words(), after });
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.turns, &self.pace), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.turns, self.pace) = remember(bytes)?;
        Some(())
    }
}
