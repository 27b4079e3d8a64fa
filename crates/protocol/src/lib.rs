//! The seam for congestion control: what the network and a protocol say to each other.
//!
//! A protocol is a [`Source`] and a [`Sink`] at each node, a [`Switch`] in each router, and [`Controller`]s beside the network. They are told facts (a packet may
//! be sent, a packet has arrived, a packet has waited too long) with the time and what can be seen on the spot, and answer
//! with actions (send this, send it again at that time, drop it and tell its source so). What they remember is theirs; what
//! waits anywhere is not: queues, clocks, copies of packets and random numbers belong to the network.
//!
//! | who | owns | tells | is told |
//! |---|---|---|---|
//! | network interface | send queues by destination, copies of messages until all their packets are forgotten, packets to be sent again by time, control packets by class, timers | [`Source`]: a packet may be sent, a control packet arrived, a timer is due, a message is done | a [`Verdict`], [`SourceAction`]s |
//! | the same, receiving | what has arrived of each message, packets that wait for those before them | [`Sink`]: data arrived, a request arrived, a timer is due | [`SinkAction`]s |
//! | router | buffers, how many flits wait for each of its nodes, how long a packet has waited, timers | [`Switch`]: a packet arrives, requests the crossbar, crosses, or expires | its [`Fate`], marks, [`SwitchAction`]s |
//! | control network | messages on their way, timers | [`Source`], [`Sink`], [`Controller`]: a message arrived | [`ControllerAction`]s |
//!
//! Packets are of [kinds](KindDeclaration) that the protocol declares. Lossy data may be dropped by a router, and then a NACK
//! tells its source, or trimmed, and then what is left of it tells its destination; whatever else is sent arrives. What switches are asked about is declared as a
//! list of [`Watch`]es, and what they look at as [`SwitchNeeds`].
//!
//! `docs/seam.md` has the same for protocols that are not here yet, and why it was cut so; `docs/add-a-protocol.md` adds one, step
//! by step.
//!
//! **What this crate must never know:** the engine, the network, any concrete protocol but the one that does
//! nothing about congestion.
//!
//! **The invariant it keeps:** a protocol that declares nothing costs nothing: the network looks at the
//! declarations once, when it is built. What any protocol must keep is tested by [`conformance`].

mod baseline;
mod clock;
pub mod conformance;
mod control;
mod controller;
mod declaration;
mod formula;
mod kind;
mod path;
mod rotation;
mod sink;
mod snapshot;
mod source;
mod switch;
mod timing;
mod words;

pub use baseline::{BASELINE, Baseline};
pub use clock::Clock;
pub use control::{Control, PacketRef};
pub use controller::{ControlNetwork, Controller, ControllerAction, Party};
pub use declaration::{
    ClassRouting, Hooks, MarkDeclaration, Protocol, ProtocolModel, QueueingTimeout, Station, TrafficClass,
    control_routing, control_routing_parameter,
};
pub use formula::{FormulaModel, FormulaResult};
pub use kind::{Direction, KindDeclaration, PacketKind};
pub use path::{PathUse, RecordedPath};
pub use rotation::Routes;
pub use sink::{Arrival, Sink, SinkAction};
pub use snapshot::{remember, write_down};
pub use source::{Offered, Outgoing, Source, SourceAction, Verdict};
pub use switch::{
    Fate, Fill, Here, Moment, Passing, PortVc, Ports, Switch, SwitchAction, SwitchNeeds, View, WaitsUntil, Watch,
};
pub use timing::{InjectionTime, first_open, period};
pub use words::{TooManyWords, Words};

/// The protocol that the documents add, compiled and put through [`conformance`].
#[cfg(doctest)]
#[doc = include_str!("../../../docs/add-a-protocol.md")]
struct AddAProtocol;
