//! Egress lines: what leaves the network in order goes on to its host, one packet after the other.
//!
//! Each node has a line as fast as the link from its router, or slower. A packet that arrives in order, and finds the line idle, is on it
//! while it arrives; several that are in order all at once, as the one before them arrives, leave back to back.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::resequence::Held;
use crate::packet::Packet;
use crate::time::Time;

/// The line of a node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Line {
    /// When the last flit of the packet before has left.
    free_at: Time,
    leaving: VecDeque<Held>,
}

/// The lines of the nodes of a region. None where data is handed over as it arrives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EgressLines(Vec<Line>);

impl EgressLines {
    /// Those of so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self(vec![Line::default(); nodes])
    }

    /// When the last flit of a packet that is in order would leave, of which a flit takes so long on the line: now, if it does so as it arrives.
    #[inline]
    pub fn leaves_at(&self, node: u32, packet: &Packet, flit_ticks: Time, now: Time) -> Time {
        let Some(line) = self.0.get(node as usize) else { return now };
        let (flits, tail_lag) = (Time::from(packet.flits), packet.tail_lag);
        // Of the packet that arrives just now the first flit has been here for a while. Those in order after it follow it.
        let behind_first_flit = (now - tail_lag) + (flits - 1) * flit_ticks;
        let behind_others = line.free_at.saturating_add(flits * flit_ticks);
        now.max(behind_first_flit).max(behind_others)
    }

    /// The line is busy until `at` with a packet that leaves as it arrives.
    #[inline]
    pub fn pass(&mut self, node: u32, at: Time) {
        if let Some(line) = self.0.get_mut(node as usize) {
            line.free_at = at;
        }
    }

    /// A packet waits for the line, which is busy with it until `at`.
    #[inline]
    pub fn wait(&mut self, node: u32, held: Held, at: Time) {
        let line = &mut self.0[node as usize];
        line.free_at = at;
        line.leaving.push_back(held);
    }

    /// Until when more than so many flits wait for the line of a node, of which a flit takes so long, if more do.
    pub fn is_behind_until(&self, node: u32, flits: u32, flit_ticks: Time, now: Time) -> Option<Time> {
        let time_of_flits = u64::from(flits) * u64::from(flit_ticks);
        let until = u64::from(self.0[node as usize].free_at).saturating_sub(time_of_flits) as Time;
        (until > now).then_some(until)
    }

    /// How many packets wait for the lines.
    pub fn leaving(&self) -> u64 {
        self.0.iter().map(|line| line.leaving.len() as u64).sum()
    }

    /// The packet whose last flit leaves now.
    #[inline]
    pub fn take(&mut self, node: u32) -> Held {
        self.0[node as usize].leaving.pop_front().expect("a packet waits for each time that was given")
    }
}
