//! The network model: routers, virtual channels, links and network interfaces as regions of the engine.
//!
//! Switching is virtual cut-through: a packet moves on when the next buffer has room for all of it. It is one
//! record, with the exact times of its first and last flit; bandwidth is accounted in flits. So the cost of a
//! simulation is per packet and hop, never per flit and never per idle router.
//!
//! A tick of the engine is one step of a crossbar. With a speedup of 2 there are two ticks per link cycle, and a
//! packet of one flit occupies the crossbar for half a link cycle. Inside a tick a region first takes what
//! arrives (packets, credits), then allocates the crossbars of all routers that have something to do, then
//! starts links and nodes; see `event.rs` for the exact order and why it does not depend on the partition.
//!
//! **What this crate must never know:** concrete protocols and topologies, scenario files, output formats.
//!
//! **The invariant it keeps:** packets are never lost and buffers never overflow. Each buffer is claimed by
//! credits before a packet is sent, and a claim that would overdraw it stops the simulation.

mod audit;
mod build;
mod congestion;
mod control_network;
mod deadlock;
mod declarations;
mod event;
mod fabric;
mod letter;
mod link;
mod measured_span;
mod message_trace;
mod nic;
mod observer;
mod packet;
mod partition;
mod payload;
mod protocol_state;
mod region;
mod router;
mod rules;
mod state_broadcast;
mod time;

pub use audit::{Abroad, Balance, Discrepancy, Holdings, Ledger, audit, last_hop};
pub use build::NetworkPlan;
pub use congestion::{Cause, CongestionTree, LinkStates, Paths, SelectedLinks, congestion_trees, link_states};
pub use deadlock::{Deadlock, WaitGraph, find_deadlock, wait_graph};
pub use letter::{CREDIT_LETTER_BYTES, MAIL_LETTER_BYTES, PACKET_LETTER_BYTES};
pub use message_trace::{
    Blocked, Crossing, Hop, Occurrence, Place, STORY_CHANGES_MAX, Story, Subject, TRACE_EVENTS_MAX, TraceEvent,
    TracedMessage, TracedPackets, Tracing, Waits, Which,
};
pub use nic::TABLE_FLOWS_MAX;
pub use observer::{MessageDelivery, Observer, Offer, PhaseReached, Unobserved};
pub use packet::Packet;
pub use partition::Partition;
pub use region::{Contender, NetworkMail, NetworkRegion};
pub use router::{Basic, Crosspoints, General, Microarchitecture, Plain, Sorting, Traced};
pub use tailback_hardware::*;
