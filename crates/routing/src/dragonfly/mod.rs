//! Routing in dragonflies.

mod compass;
mod in_transit;
mod minimal;
mod piggyback;
mod progressive;
mod ugal;
mod valiant;

pub(crate) use in_transit::{BASE, ECTN, HYBRID, OLM, STATISTICAL};
pub(crate) use minimal::MINIMAL;
pub use minimal::Minimal;
pub(crate) use piggyback::PIGGYBACK;
pub(crate) use progressive::PROGRESSIVE;
pub(crate) use ugal::UGAL_LOCAL;
pub use ugal::UgalLocal;
pub(crate) use valiant::VALIANT;
pub use valiant::{Intermediates, Valiant, ValiantTarget};
