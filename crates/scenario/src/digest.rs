//! The fingerprint of what can change results.

use std::fmt::{self, Write};

use sha2::{Digest as _, Sha256};

use crate::print::print_into;
use crate::tree::Table;

/// SHA-256 of a resolved text, in hexadecimal.
pub(crate) fn digest(resolved: &Table) -> String {
    let mut hash = Hash(Sha256::new());
    print_into(resolved, &mut hash);
    hash.0.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Takes a text as it is printed: all of it may be long.
struct Hash(Sha256);

impl Write for Hash {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.0.update(piece.as_bytes());
        Ok(())
    }
}
