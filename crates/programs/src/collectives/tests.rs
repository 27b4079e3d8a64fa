//! Whether collectives do what they are for.

mod data_flow;
mod models;
