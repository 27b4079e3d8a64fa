//! The control service: experiments come in over gRPC, are kept on disk, and are carried out one after the other.
//!
//! A [`Server`] is bound to an address and a data directory by a [`Configuration`], and serves until it is asked to stop.
//! Inside, seven parts know little of each other:
//!
//! * `domain`: what all this is about: runs, events, samples, what is asked for; in types of the service's own;
//! * `store`: runs and their events in SQLite, artifacts, checkpoints and uploads as files. All that changes goes through one
//!   thread, which commits what has come together meanwhile at once;
//! * `engine`: threads of its own that take pending runs, have them carried out by workers, and finish sweeps;
//! * `worker`: the process that simulates a run, writes checkpoints and says how it goes;
//! * `watch`: tells those who watch a run that there is something new;
//! * `wire`: makes messages of the interface of `domain` types and back. Only `rpc` and `wire` know these messages;
//! * `rpc`: the services, each call of which is checked by `access` and `limits` before anything happens. What can go
//!   wrong is an `ApiError`, which becomes a gRPC status in one place, in `wire`.
//!
//! **What this crate must never know:** how anything is simulated; terminals.
//!
//! **The invariant it keeps:** a run whose creation was answered with OK is on disk, and reaches a last state however often
//! the process is killed; its result digest is that of an undisturbed run. Nobody who watches can hold up a run.

mod access;
mod admin;
mod admission;
mod allocator;
mod allowance;
mod answers;
mod api_error;
mod bodies;
mod calls;
mod checks;
mod configuration;
mod connection;
mod context;
mod deletion;
mod descriptors;
mod domain;
mod endings;
mod engine;
mod layers;
mod limits;
mod meters;
mod models;
mod names;
mod page;
mod pool;
mod probe;
mod readiness;
mod retention;
mod rpc;
mod schema;
mod server;
mod sparingly;
mod store;
mod tame;
mod trace_context;
mod uploads;
mod watch;
mod wire;
mod worker;

pub use access::{
    Changed, Grant, LastDay, Role, TokenError, Tokens, TokensInForce, add_line, certificate_line, new_token,
    remove_name,
};
pub use configuration::{CertificateError, Configuration, ConfigurationError, Encryption, Placement};
pub use connection::CertificatesInForce;
pub use engine::process::WorkerCommand;
pub use engine::slurm::SlurmSite;
pub use limits::Limits;
pub use schema::scenario_schema;
pub use server::{ServeError, Server};
pub use store::{
    Checkup, Problem, StateFile, StoreError, Unfit, back_up, check_data, keep_files_private, read_state,
    refuse_other_programs, restore, write_state, write_state_by_pieces,
};
pub use tame::{is_obeyed, tame};
pub use worker::{Connection, bytes_in_proc, work};
