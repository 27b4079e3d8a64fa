//! The program as people meet it: what it prints, what it writes, how it ends.
//!
//! What it prints is compared with the files in `tests/golden`; `TAILBACK_UPDATE_GOLDEN=1` writes them anew, see
//! `tailback-tests`.

#[cfg(target_os = "linux")]
mod attacks;
mod checkpoint;
#[cfg(target_os = "linux")]
mod control_groups;
mod crash;
mod data;
mod depth;
mod help;
mod interrupt;
mod kept_workers;
mod lost_server;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod memory_attacks;
mod mistakes;
mod modes;
mod plot;
mod program;
mod relay;
mod reproduce;
mod run;
mod running;
mod served;
mod service;
mod shard;
mod show;
mod slurm;
mod sweep;
mod terminal;
mod tokens;
mod trace;
mod traces;
mod workers;
