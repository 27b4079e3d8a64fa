//! The commands, one module each.

pub mod cancel;
pub mod check;
pub mod data;
pub mod explain;
pub mod fetch;
pub mod files;
pub mod list;
pub mod models;
pub mod plot;
pub mod reproduce;
pub mod retry;
pub mod run;
pub mod serve;
pub mod submit;
pub mod sweep;
pub mod token;
pub mod watch;
pub mod worker;
