//! The headers of pages in Parquet files, looked at before the library makes the room that they ask for.

use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use crate::files::FromStart;

/// Structures in a header of a page lie in each other so deep at most.
const DEPTH_MAX: u32 = 4;
/// The field of a header that tells how many bytes its page has, once it is unpacked.
const UNPACKED_FIELD: i64 = 2;

/// Numbers of Thrift's compact protocol, as the headers of pages are written in.
const STOP: u8 = 0;
const FLAGS: [u8; 2] = [1, 2];
const BYTE: u8 = 3;
const WHOLE: [u8; 3] = [4, 5, 6];
const DOUBLE: u8 = 7;
const TEXT: u8 = 8;
const STRUCTURE: u8 = 12;

/// A file from the header of a page on, which is refused if its page would take too much.
pub(super) struct PageStart {
    pub file: FromStart,
    /// What all pages take together, as soon as the file has told it: what is read before that are no pages.
    pub unpacked_max: Arc<OnceLock<u64>>,
    pub is_checked: bool,
}

impl Read for PageStart {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
        if let (false, Some(&limit)) = (self.is_checked, self.unpacked_max.get()) {
            check(&bytes[..count], limit).map_err(io::Error::other)?;
        }
        self.is_checked = true;
        Ok(count)
    }
}

/// Whether a page whose header these bytes begin with takes no more than so many bytes.
fn check(bytes: &[u8], limit: u64) -> Result<(), String> {
    match unpacked(bytes) {
        None => Err("the header of a page is damaged or too long".to_owned()),
        // The library refuses what is less than nothing.
        Some(size) if u64::try_from(size).is_ok_and(|size| size > limit) => {
            Err(format!("a page would take {size} bytes, and all of them together have {limit}"))
        }
        Some(_) => Ok(()),
    }
}

/// The most that a header says of the size of its page: a field may be there twice, and the library takes the last.
fn unpacked(mut bytes: &[u8]) -> Option<i64> {
    let (mut field, mut size) = (0, 0);
    loop {
        let kind = next_field(&mut bytes, &mut field)?;
        if kind == STOP {
            return Some(size);
        } else if field == UNPACKED_FIELD && WHOLE.contains(&kind) {
            size = size.max(signed(&mut bytes)?);
        } else {
            skip(&mut bytes, kind, DEPTH_MAX)?;
        }
    }
}

/// The kind of the next field of a structure; its number follows from that of the one before.
fn next_field(bytes: &mut &[u8], field: &mut i64) -> Option<u8> {
    let first = *bytes.split_off_first()?;
    let (step, kind) = (first >> 4, first & 0xf);
    if kind != STOP {
        *field = if step == 0 { signed(bytes)? } else { field.checked_add(step.into())? };
    }
    Some(kind)
}

fn skip(bytes: &mut &[u8], kind: u8, depth: u32) -> Option<()> {
    let length = match kind {
        kind if FLAGS.contains(&kind) => 0,
        kind if WHOLE.contains(&kind) => return varint(bytes).map(drop),
        BYTE => 1,
        DOUBLE => 8,
        TEXT => usize::try_from(varint(bytes)?).ok()?,
        STRUCTURE => return skip_structure(bytes, depth.checked_sub(1)?),
        // There are no lists in headers of pages.
        _ => return None,
    };
    bytes.split_off(..length).map(drop)
}

fn skip_structure(bytes: &mut &[u8], depth: u32) -> Option<()> {
    let mut field = 0;
    loop {
        match next_field(bytes, &mut field)? {
            STOP => return Some(()),
            kind => skip(bytes, kind, depth)?,
        }
    }
}

/// A number whose last bit is its sign.
fn signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = varint(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header as it is written: the kind of the page, its bytes unpacked and packed, and what a page of values says.
    fn header(unpacked: &[u8]) -> Vec<u8> {
        [&[0x15, 0x00, 0x15], unpacked, &[0x15, 0x50, 0x2c, 0x15, 0x06, 0x15, 0x00, 0x18, 0x02, 7, 7, 0x00, 0x00]]
            .concat()
    }

    #[test]
    fn a_page_takes_no_more_than_all_of_them() {
        assert_eq!(check(&header(&[0x50]), 40), Ok(()));
        let said = "a page would take 40 bytes, and all of them together have 39";
        assert_eq!(check(&header(&[0x50]), 39).unwrap_err(), said);
        let most = header(&[0xfe, 0xff, 0xff, 0xff, 0x0f]);
        assert_eq!(unpacked(&most), Some(i32::MAX.into()));
        assert!(check(&most, 1 << 30).is_err());
    }

    #[test]
    fn a_size_that_is_told_twice_is_the_larger() {
        let plain = header(&[0x50]);
        // The number of the field in full, after all others.
        let twice = [&plain[..plain.len() - 1], &[0x05, 0x04, 0xd0, 0x0f, 0x00]].concat();
        assert_eq!((unpacked(&plain), unpacked(&twice)), (Some(40), Some(1000)));
    }

    #[test]
    fn headers_that_end_early_or_hold_something_else_are_refused() {
        let plain = header(&[0x50]);
        for length in 0..plain.len() {
            assert_eq!(unpacked(&plain[..length]), None, "{length}");
        }
        assert_eq!(unpacked(&[0x19, 0x00, 0x00]), None, "a list");
        assert_eq!(unpacked(&[0x1c; 100]), None, "too deep");
        assert_eq!(unpacked(&[0xff; 100]), None);
        assert_eq!(unpacked(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x7f]), None, "a text that is not there");
    }
}
