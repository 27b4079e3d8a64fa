//! The commands, one module each.

pub mod check;
pub mod explain;
pub mod models;
pub mod plot;
pub mod reproduce;
pub mod run;
pub mod sweep;
