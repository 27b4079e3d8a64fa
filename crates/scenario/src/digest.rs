//! The fingerprint of what can change results.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 of a resolved text, in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
