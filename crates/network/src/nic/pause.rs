//! Pauses: a node for whose line too much waits has its router send it nothing more.
//!
//! What is in order waits for the line and nothing else, so the node knows until when too much does. It says so with each packet by which
//! that comes to be later, and the router hears of both ends of the pause a link's latency after they are. What waits for packets before it is
//! not counted: those may be behind the pause.

use super::state::NodeState;
use crate::Observer;
use crate::event::{Event, EventKind};
use crate::link::FarEnd;
use crate::region::{NetworkMail, NetworkRegion};
use crate::router::Microarchitecture;
use crate::time::Time;
use tailback_engine::{Outbox, Tick};
use tailback_hardware::TICKS_MAX;

/// Until when a node of the region pauses the link that leads to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    node: u32,
    until: Time,
}

impl NodeState {
    /// A node pauses its link if more than so many flits wait for its line.
    pub(super) fn pause_if_behind(&mut self, node: u32, flits: u32, flit_ticks: Time, now: Time) {
        if let Some(until) = self.egress.is_behind_until(node, flits, flit_ticks, now) {
            self.pauses.push(Pause { node, until });
        }
    }
}

impl<O: Observer, M: Microarchitecture> NetworkRegion<O, M> {
    /// Tells routers of the pauses of this tick.
    #[cold]
    pub(crate) fn send_pauses(&mut self, now: Time, outbox: &mut Outbox<NetworkMail>) {
        let latency = Tick::from(self.fabric.spec.links[0].latency);
        for Pause { node, until } in self.nodes.pauses.drain(..) {
            let FarEnd { receiver, target, .. } = self.ejections[node as usize];
            let heard_until = (Tick::from(until) + latency).min(TICKS_MAX) as Time;
            let (tick, event) = (Tick::from(now) + latency, Event::at(EventKind::Credit, target, heard_until));
            if receiver == FarEnd::INSIDE {
                self.wheel.schedule(tick, event);
            } else {
                outbox.mail(receiver, tick).credits.push((tick, event));
            }
        }
    }
}
