//! Routing in dragonflies.

mod in_transit;
mod intermediates;
mod local_routes;
mod minimal;
mod nonminimal;
mod occupancy;
mod par62;
mod piggyback;
mod progressive;
#[cfg(test)]
mod sketch;
mod ugal;
mod ugal_global;
mod valiant;

pub(crate) use in_transit::{BASE, ECTN, HYBRID, OLM, STATISTICAL};
pub(crate) use minimal::MINIMAL;
pub use minimal::Minimal;
pub(crate) use par62::PAR62;
pub(crate) use piggyback::PIGGYBACK;
pub(crate) use progressive::PROGRESSIVE;
pub(crate) use ugal::UGAL_LOCAL;
pub(crate) use ugal_global::UGAL_GLOBAL;
pub(crate) use valiant::VALIANT;
