//! The state of a run as a file: the SHA-256 of all that follows it, a heading in a line of its own, and the state.
//!
//! What a heading says is up to whoever writes one: a server keeps the states of its runs, and so does a run without a
//! server.
//!
//! **The invariant it keeps:** a file is there as a whole or not at all, and one that was changed is never taken for what
//! was written.

use std::convert::Infallible;
use std::fs;
use std::io::{Seek as _, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::{StoreError, files};
use crate::access::hexadecimal;

/// Why a state is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is good for another program, or another scenario.
    #[error("{0}")]
    Other(String),
    /// It is not what was written.
    #[error("{0}")]
    Damaged(String),
}

/// Writes a state below its heading, by way of another file in the same file system.
///
/// # Errors
/// When the file cannot be written; the one before is then still there.
pub fn write_state<H: Serialize>(unfinished: &Path, path: &Path, heading: &H, state: &[u8]) -> Result<(), StoreError> {
    let show = |take: &mut dyn FnMut(&[u8])| -> Result<(), Infallible> {
        take(state);
        Ok(())
    };
    match write_state_by_pieces(unfinished, path, heading, show) {
        Ok(written) => written,
        Err(never) => match never {},
    }
}

/// The same of a state that `show` shows piece by piece, all of which it is asked for even if the file cannot be written.
///
/// # Errors
/// When `show` fails; and, inside, when the file cannot be written. The one before is then still there.
pub fn write_state_by_pieces<H: Serialize, E>(
    unfinished: &Path,
    path: &Path,
    heading: &H,
    show: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
) -> Result<Result<(), StoreError>, E> {
    let heading = serde_json::to_string(heading).expect("plain data") + "\n";
    let mut digest = Sha256::new().chain_update(&heading);
    let mut file = files::begin(unfinished).and_then(|mut file| {
        // The checksum comes when all is known.
        file.write_all(&[b'0'; DIGEST_BYTES])?;
        file.write_all(heading.as_bytes())?;
        Ok(file)
    });
    let shown = show(&mut |piece| {
        digest.update(piece);
        if let Ok(open) = &mut file
            && let Err(error) = open.write_all(piece)
        {
            file = Err(error);
        }
    });
    if let Err(error) = shown {
        let _ = fs::remove_file(unfinished);
        return Err(error);
    }
    let digest = hexadecimal(&digest.finalize()) + "\n";
    let written = file.and_then(|mut file| {
        file.rewind()?;
        file.write_all(digest.as_bytes())?;
        Ok(file)
    });
    Ok(files::put_in_place(written, unfinished, path))
}

/// The line of the checksum.
const DIGEST_BYTES: usize = 65;

/// The heading and the state of a file that holds `bytes`.
///
/// # Errors
/// When it holds something else.
pub fn read_state<H: DeserializeOwned>(bytes: &[u8]) -> Result<(H, &[u8]), Unfit> {
    let damaged = |reason: &str| Unfit::Damaged(reason.to_owned());
    let line = |bytes: &[u8]| bytes.iter().position(|&byte| byte == b'\n');
    let end = line(bytes).ok_or_else(|| damaged("it has no checksum"))?;
    let (digest, rest) = (&bytes[..end], &bytes[end + 1..]);
    if digest.first() == Some(&b'{') {
        return Err(Unfit::Other("an earlier version of the program wrote it".to_owned()));
    }
    if digest != hexadecimal(&Sha256::digest(rest)).as_bytes() {
        return Err(damaged("its checksum does not fit"));
    }
    let end = line(rest).ok_or_else(|| damaged("it has no heading"))?;
    let heading =
        serde_json::from_slice(&rest[..end]).map_err(|_| Unfit::Other("its heading is unknown".to_owned()))?;
    Ok((heading, &rest[end + 1..]))
}

/// Refuses what another version of the program wrote, or a state in another format.
///
/// # Errors
/// When it is one of these.
pub fn refuse_other_programs(found: (u32, &str), expected: (u32, &str)) -> Result<(), Unfit> {
    if found == expected {
        return Ok(());
    }
    let ((format, version), (own_format, own)) = (found, expected);
    Err(Unfit::Other(format!("version {version} wrote it, in format {format}; this is {own}, with {own_format}")))
}
