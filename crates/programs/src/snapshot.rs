//! The state of ranks as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Writes a value behind `bytes`.
pub fn write_down<T: Serialize>(value: &T, bytes: &mut Vec<u8>) {
    bytes.extend(postcard::to_allocvec(value).expect("plain data can be written"));
}

/// Takes from the front of `bytes` a value that [`write_down`] has written; none if it is not there.
pub fn remember<T: DeserializeOwned>(bytes: &mut &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    *bytes = rest;
    Some(value)
}
