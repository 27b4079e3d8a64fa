//! What a client owes its server: the opening of a connection, and the rest of headers that it has begun to send.
//!
//! HTTP/2 is looked at only as far as it takes to know that. What is malformed is left to those who read it in earnest.
//!
//! **The invariant it keeps:** who owes nothing has sent whole frames only, or the part of a body.

/// `PRI * HTTP/2.0…`, with which every connection begins.
const PREFACE_BYTES: usize = 24;
const HEADING_BYTES: usize = 9;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// What a client owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owed {
    /// The preface, and the settings that follow it.
    Opening,
    /// The rest of headers, after so many frames. Of a frame whose heading is cut off nobody knows yet what it will be.
    Headers { after: u64 },
    /// Nothing: it may be silent for as long as it likes.
    Nothing,
}

/// The frames that a client sends.
#[derive(Debug)]
pub(super) struct Frames {
    preface_left: usize,
    has_settings: bool,
    /// The heading of the next frame, as far as it has come.
    heading: [u8; HEADING_BYTES],
    heading_bytes: usize,
    /// Bytes of the frame after its heading that have not come yet.
    payload_left: usize,
    kind: u8,
    flags: u8,
    /// Whether headers have begun that have not ended.
    in_headers: bool,
    /// How many headers, and frames that end none, have come as a whole.
    whole: u64,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self {
            preface_left: PREFACE_BYTES,
            has_settings: false,
            heading: [0; HEADING_BYTES],
            heading_bytes: 0,
            payload_left: 0,
            kind: 0,
            flags: 0,
            in_headers: false,
            whole: 0,
        }
    }

    /// Takes what has arrived.
    pub(super) fn put(&mut self, mut bytes: &[u8]) {
        bytes = skip(&mut self.preface_left, bytes);
        while !bytes.is_empty() {
            if self.heading_bytes < HEADING_BYTES {
                let taken = bytes.len().min(HEADING_BYTES - self.heading_bytes);
                self.heading[self.heading_bytes..][..taken].copy_from_slice(&bytes[..taken]);
                (self.heading_bytes, bytes) = (self.heading_bytes + taken, &bytes[taken..]);
                if self.heading_bytes < HEADING_BYTES {
                    return;
                }
                self.begin_frame();
            }
            bytes = skip(&mut self.payload_left, bytes);
            if self.payload_left == 0 {
                self.end_frame();
            }
        }
    }

    fn begin_frame(&mut self) {
        let [high, middle, low, kind, flags, ..] = self.heading;
        self.payload_left = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        (self.kind, self.flags) = (kind, flags);
        self.in_headers = matches!(kind, HEADERS | CONTINUATION);
    }

    fn end_frame(&mut self) {
        self.heading_bytes = 0;
        self.has_settings |= self.kind == SETTINGS;
        if self.flags & END_HEADERS != 0 {
            self.in_headers = false;
        }
        // Headers that go on are not counted, or their sender could take any time.
        self.whole += u64::from(!self.in_headers);
    }

    pub(super) fn owed(&self) -> Owed {
        let heading_is_cut = (1..HEADING_BYTES).contains(&self.heading_bytes);
        if self.preface_left > 0 || !self.has_settings {
            Owed::Opening
        } else if self.in_headers || heading_is_cut {
            Owed::Headers { after: self.whole }
        } else {
            Owed::Nothing
        }
    }
}

/// Counts bytes that are awaited, and gives those behind them.
fn skip<'b>(left: &mut usize, bytes: &'b [u8]) -> &'b [u8] {
    let skipped = bytes.len().min(*left);
    *left -= skipped;
    &bytes[skipped..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    fn frame(kind: u8, flags: u8, payload: usize) -> Vec<u8> {
        let mut frame = vec![0, (payload >> 8) as u8, payload as u8, kind, flags, 0, 0, 0, 1];
        frame.resize(HEADING_BYTES + payload, 0xff);
        frame
    }

    /// What is owed after each of several pieces.
    fn owed<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<Owed> {
        let mut frames = Frames::new();
        let after = |piece: &[u8]| {
            frames.put(piece);
            frames.owed()
        };
        pieces.into_iter().map(after).collect()
    }

    #[test]
    fn a_connection_is_open_when_preface_and_settings_have_come() {
        let settings = frame(SETTINGS, 0, 6);
        let found = owed([&PREFACE[..1], &PREFACE[1..], &settings[..14], &settings[14..]]);
        assert_eq!(found, [Owed::Opening, Owed::Opening, Owed::Opening, Owed::Nothing]);
        assert_eq!(owed([PREFACE, &frame(0, 0, 3), &frame(6, 0, 8)]), [Owed::Opening; 3], "these are no settings");
        assert_eq!(owed([PREFACE, &frame(SETTINGS, 0, 0)])[1], Owed::Nothing, "they may be empty");
    }

    #[test]
    fn headers_are_owed_until_they_end_and_bodies_never() {
        let opening = [PREFACE, &frame(SETTINGS, 0, 0)].concat();
        let (headers, more, last) =
            (frame(HEADERS, 0, 5), frame(CONTINUATION, 0, 2), frame(CONTINUATION, END_HEADERS, 0));
        let found = owed([&opening[..], &headers[..3], &headers[3..], &more, &last]);
        let owes = Owed::Headers { after: 1 };
        assert_eq!(found, [Owed::Nothing, owes, owes, owes, Owed::Nothing]);
        let data = frame(0, 0, 300);
        assert_eq!(owed([&opening[..], &data[..200], &data[200..]])[1..], [Owed::Nothing; 2]);
        // Each that begins has a time of its own.
        let whole = frame(HEADERS, END_HEADERS, 5);
        let found = owed([&opening[..], &headers[..3], &[&headers[3..], &last, &whole[..3]].concat()]);
        assert_eq!(found[1..], [owes, Owed::Headers { after: 2 }]);
    }

    proptest! {
        /// However the bytes are cut into pieces, what is owed in the end is the same.
        #[test]
        fn pieces_do_not_matter(frames in prop::collection::vec((0u8..12, any::<u8>(), 0usize..40), 0..8),
                                cuts in prop::collection::vec(1usize..30, 1..40), end in 0usize..300) {
            let mut bytes = PREFACE.to_vec();
            frames.iter().for_each(|&(kind, flags, payload)| bytes.extend(frame(kind, flags, payload)));
            bytes.truncate(end);
            let (mut rest, mut pieces) = (&bytes[..], Vec::new());
            for cut in cuts {
                let (piece, behind) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = behind;
            }
            pieces.push(rest);
            prop_assert_eq!(owed(pieces).last().copied(), owed([&bytes[..]]).last().copied());
        }
    }
}
