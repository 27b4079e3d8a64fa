//! The seam for congestion control: what the network and a protocol say to each other.
//!
//! A protocol is three machines: a [`Source`] and a [`Sink`] at each node, a [`Switch`] in each router. They are told
//! facts (a packet has its turn, a packet has arrived, a packet has waited too long) with the time and what can be seen
//! on the spot, and answer with actions (send this, send it again at that time, drop it and tell its source so). What
//! they remember is theirs; what waits anywhere is not: queues, clocks, copies of packets and random numbers belong to
//! the network.
//!
//! | who | owns | tells the machine | is told |
//! |---|---|---|---|
//! | network interface | send queues by destination, copies of messages until all their packets are forgotten, packets to be sent again by time, control packets by class | [`Source`]: it is a packet's turn, a control packet arrived, a message is done | a [`Verdict`], [`SourceAction`]s |
//! | the same, receiving | what has arrived of each message | [`Sink`]: data arrived, a control packet arrived | control packets to send back |
//! | router | buffers, how many flits wait for each of its nodes, how long a packet has waited | [`Switch`]: a packet's patience is at its end, it reached its last router, it leaves its buffer | whether it goes on, marks, control packets |
//!
//! A packet of a *lossy* class may be dropped by a router, and then a control packet tells its source; whatever is of
//! another class arrives. How long packets of a class may wait in input buffers before they are dropped is its
//! *patience*. Only waiting counts, not flying: otherwise no packet with little patience would survive a long link.
//!
//! The seam was tried on paper against protocols that are not here. CRP: its requests are control packets whose bit
//! vector fits [`Control::time`]'s place, read and rewritten at outputs by one more hook of [`Switch`]; retries are a
//! kind of control packet, its sources are those of SRP. MVCM: two marks ([`Control::marks`]) set where a packet leaves
//! its buffer, returned by acknowledgements; its windows are a [`Verdict`] and one more action that reopens a queue.
//! Reservations of buffers in a Clos: requests are control packets that a router takes ([`Switch::takes`]) and grants
//! come from there, as with LHRP beside SRP.
//!
//! **What this crate must never know:** the engine, the network, any concrete protocol but the one that does
//! nothing about congestion.
//!
//! **The invariant it keeps:** a protocol that declares nothing costs nothing: the network looks at the
//! declarations once, when it is built. What any protocol must keep is tested by [`conformance`].

mod baseline;
pub mod conformance;
mod control;
mod declaration;
mod sink;
mod snapshot;
mod source;
mod switch;

pub use baseline::{BASELINE, Baseline, acknowledgement};
pub use control::{Control, PacketKind, PacketRef};
pub use declaration::{
    Hooks, Lossy, Protocol, ProtocolModel, Station, TrafficClass, Way, routers_send, way, way_parameter,
};
pub use sink::{Arrival, Sink};
pub use snapshot::{remember, write_down};
pub use source::{Outgoing, Source, SourceAction, Verdict};
pub use switch::{Buffers, Passing, Switch};
