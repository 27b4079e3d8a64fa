//! The parallel discrete-event kernel.
//!
//! A simulation is a set of [`Region`]s, each with its own event storage, joined by [`Channel`]s that
//! declare a minimum delay. From the channels that cross regions the kernel derives its lookahead `L`;
//! all regions then advance on their own through `[T, T + L)`, hand over what they sent to each other,
//! and go on. Empty time is jumped over.
//!
//! **What this crate must never know:** what is being simulated. There is no word of any domain in here.
//!
//! **The invariant it keeps:** results do not depend on which region holds what, nor on how many threads
//! advance the regions. Three things carry it:
//!
//! * events of one tick are handed out in a total order that the event itself defines ([`Wheel`] refuses ties),
//! * each entity draws from a random [`Stream`] of its own, derived from `(seed, entity, purpose)`,
//! * nothing that a region sends can arrive inside the window in which it was sent (checked, always).

mod batch;
mod channel;
mod crew;
mod deal;
mod exchange;
mod executor;
mod gate;
mod inbox;
mod outbox;
mod ranks;
mod region;
mod shard;
mod simulation;
mod slots;
mod snapshot;
mod state;
mod together;
mod wheel;

pub use channel::{Channel, ChannelError, ChannelMap};
pub use crew::Crew;
pub use deal::deal_out;
pub use exchange::{Exchange, ExchangeError, FIGURES, InProcess, Notice};
pub use executor::{Executor, Rayon, Sequential};
pub use outbox::Outbox;
pub use ranks::Ranks;
pub use region::{Mail, Region};
pub use simulation::{Outcome, Simulation};
pub use snapshot::{Snapshot, SnapshotError, StateSource, read_value, take_value, write_value};
pub use tailback_random::Stream;
pub use together::{ENVELOPE_BYTES, GatherError, Watcher};
pub use wheel::{Batch, Kinds, Scheduled, Wheel};

/// Simulated time. What one tick stands for is the model's business.
pub type Tick = u64;

/// The tick that never comes.
pub const NEVER: Tick = Tick::MAX;
