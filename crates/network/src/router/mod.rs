//! Routers: what happens at their inputs, in their crossbars and at their outputs.

mod allocate;
mod channels;
mod input;
mod lanes;
mod output;
mod plain;
mod sleep;
mod state;

pub(crate) use allocate::Scratch;
pub(crate) use state::RouterState;
