//! Resolved scenario in, report out.
//!
//! A [`Plan`] says what running a scenario will take, before anything is built. A [`Run`] is a scenario being simulated:
//! it can be watched, stopped, written down and read back. Its [`Findings`] become a report. A sweep is many runs, whose
//! reports make up [`Curves`].
//!
//! **What this crate must never know:** terminals, files, sockets, clocks; how long a run took is told by who timed it.
//!
//! **The invariant it keeps:** a run ends with findings only if all flits and credits add up and no packets wait for each
//! other in a circle. Anything else is an error with a diagnosis, never a wrong number.

mod cautions;
mod chrome_trace;
#[cfg(test)]
mod controllers_anywhere;
mod curves;
mod endpoints;
mod explain;
mod failure;
mod findings;
mod interface_memory;
mod link_use;
mod links;
mod message_choice;
mod message_trace;
mod packet_path;
mod packet_trace;
mod part;
mod plan;
mod rank_mail;
mod rank_plan;
mod recorder;
mod run;
mod run_state;
mod run_traces;
mod running_network;
mod sampler;
mod state_format;
mod sweep;
mod together;
mod trace;
mod trace_words;
mod trees;
mod unloaded;
mod waiting;

pub use cautions::cautions;
pub use chrome_trace::ChromeTrace;
pub use curves::Curves;
pub use explain::{Channels, Explanation, Links, PathLatency, RouterTimes, Wire, explain};
pub use failure::Failure;
pub use findings::{Findings, Timing, sending_nodes};
pub use message_choice::{MessageChoice, NoSuchMessage};
pub use message_trace::{MessageTrace, TraceLine};
pub use packet_trace::{NoSuchPackets, PacketChoice, PacketTrace};
pub use plan::{Backlog, Plan};
pub use rank_plan::RankPlan;
pub use run::{Ending, Progress, Run};
pub use state_format::STATE_FORMAT;
pub use sweep::{SweepManifest, VariantSettings, vary};
pub use tailback_engine::{Exchange, ExchangeError, InProcess, Notice, SnapshotError, StateSource};
pub use tailback_network::{TracedMessage, TracedPackets, Tracing, Which};
pub use trace::{PathType, path_types};
