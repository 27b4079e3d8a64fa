//! The files of the page. They are built from `page/` at the root of the repository by `page/build`, and kept here so that
//! nothing but Rust is needed to build the program.

use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::{Method, Request, Response, StatusCode};
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;
use tonic::body::Body;

use super::plain;
use crate::access::hexadecimal;

/// A file, and how browsers know whether they have it.
struct File {
    path: &'static str,
    media_type: &'static str,
    content: &'static [u8],
    tag: String,
}

static FILES: LazyLock<[File; 4]> = LazyLock::new(|| {
    let file = |path, media_type, content: &'static [u8]| {
        let tag = format!("\"{}\"", &hexadecimal(&Sha256::digest(content))[..32]);
        File { path, media_type, content, tag }
    };
    [
        file("/", "text/html; charset=utf-8", include_bytes!("../../page/index.html")),
        file("/page.js", "text/javascript; charset=utf-8", include_bytes!("../../page/page.js")),
        file("/page.css", "text/css; charset=utf-8", include_bytes!("../../page/page.css")),
        file("/icon.svg", "image/svg+xml", include_bytes!("../../page/icon.svg")),
    ]
});

/// Gives a file. Browsers ask each time whether it is still the same: a page must never be older than its server.
pub(super) fn get<B>(request: &Request<B>) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "files are read, calls are posted".to_owned());
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
        return refused;
    }
    let Some(file) = FILES.iter().find(|file| file.path == request.uri().path()) else {
        return plain(StatusCode::NOT_FOUND, "there is no such file".to_owned());
    };
    let is_known = request.headers().get(IF_NONE_MATCH).is_some_and(|tag| tag.as_bytes() == file.tag.as_bytes());
    let mut response = Response::new(if is_known { Body::empty() } else { Body::new(full(file.content)) });
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let tag = HeaderValue::from_str(&file.tag).expect("hexadecimal digits in quotes");
    for (name, value) in [
        (CONTENT_TYPE, HeaderValue::from_static(file.media_type)),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (ETAG, tag),
    ] {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Bytes that are part of the program.
fn full(content: &'static [u8]) -> axum::body::Body {
    axum::body::Body::from(bytes::Bytes::from_static(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_no_other_server() {
        for file in FILES.iter() {
            let text = std::str::from_utf8(file.content).expect("text");
            // Names of the language of drawings, which nobody fetches.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for scheme in ["src=\"http", "href=\"http", "url(http", "@import"] {
                assert!(!text.contains(scheme), "{} has {scheme}", file.path);
            }
        }
    }

    #[test]
    fn who_has_a_file_is_not_sent_it_again() {
        let ask = |tag: Option<&HeaderValue>| {
            let mut request = Request::get("/page.js").body(()).expect("a request");
            tag.map(|tag| request.headers_mut().insert(IF_NONE_MATCH, tag.clone()));
            get(&request)
        };
        let first = ask(None);
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(ask(first.headers().get(ETAG)).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(ask(Some(&HeaderValue::from_static("\"other\""))).status(), StatusCode::OK);
    }
}
