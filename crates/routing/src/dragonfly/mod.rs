//! Routing in dragonflies.

mod compass;
mod minimal;
mod ugal;
mod valiant;

pub(crate) use minimal::MINIMAL;
pub use minimal::Minimal;
pub(crate) use ugal::UGAL_LOCAL;
pub use ugal::UgalLocal;
pub(crate) use valiant::VALIANT;
pub use valiant::{Intermediates, Valiant, ValiantTarget};
