//! What answers end with: words in which no terminal finds anything that it would obey. Those of services that are not ours, as that
//! which describes all others, repeat what they were asked.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::body::{Frame, SizeHint};
use tonic::Status;
use tonic::codegen::Body as HttpBody;

use crate::tame::{is_obeyed, tame};

/// Writes out what a terminal would obey in the words of a status, if these headers have one.
pub(crate) fn tame_words(headers: &mut HeaderMap) {
    let Some(status) = Status::from_header_map(headers).filter(|status| status.message().contains(is_obeyed)) else {
        return;
    };
    let mut written = HeaderMap::new();
    let tamed = Status::new(status.code(), tame(status.message())).add_header(&mut written);
    match tamed.ok().and_then(|()| written.remove(Status::GRPC_MESSAGE)) {
        Some(words) => headers.insert(Status::GRPC_MESSAGE, words),
        // What cannot be written is not sent.
        None => headers.remove(Status::GRPC_MESSAGE),
    };
}

/// A body whose last words are tame.
pub(crate) struct TameEnd<B>(Pin<Box<B>>);

impl<B> TameEnd<B> {
    pub(crate) fn new(body: B) -> Self {
        Self(Box::pin(body))
    }
}

impl<B: HttpBody<Data = Bytes>> HttpBody for TameEnd<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        self.0.as_mut().poll_frame(waking).map_ok(|mut frame| {
            frame.trailers_mut().into_iter().for_each(tame_words);
            frame
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn words_are_written_out_and_all_else_stays() {
        let wild = Status::with_details(Code::NotFound, "no \u{1b}[2J here", Bytes::from_static(b"details"));
        let mut headers = HeaderMap::new();
        wild.add_header(&mut headers).expect("it can be written");
        tame_words(&mut headers);
        let tamed = Status::from_header_map(&headers).expect("it is one");
        assert_eq!((tamed.code(), tamed.message()), (Code::NotFound, r"no \u001b[2J here"));
        assert_eq!(tamed.details(), b"details");
        let before = headers.clone();
        tame_words(&mut headers);
        assert_eq!(headers, before, "tame words stay as they are");
    }
}
