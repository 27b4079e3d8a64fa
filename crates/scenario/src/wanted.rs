//! Whether anybody still waits for what is made of a document: reading a large one takes a while.

use std::fmt;
use std::sync::Arc;

/// Whether anybody still waits.
#[derive(Clone)]
pub(crate) struct Wanted(Arc<dyn Fn() -> bool + Send + Sync>);

impl Default for Wanted {
    /// Somebody does, until all is read.
    fn default() -> Self {
        Self::as_long_as(|| true)
    }
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wanted")
    }
}

impl Wanted {
    pub fn as_long_as(wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(wanted))
    }

    /// Asks now. It costs as little as whoever waits makes it.
    pub fn is_wanted(&self) -> bool {
        (self.0)()
    }
}
