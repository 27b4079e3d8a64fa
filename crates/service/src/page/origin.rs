//! Whether a request comes from the page of this server.
//!
//! A browser sends what other pages tell it to. They cannot read answers that are not of their own server, and a call needs
//! headers for which the browser asks first, which is refused. Two ways round that are closed here: a page whose name is made to
//! lead to this machine (DNS rebinding) is told by the name, and one that calls all the same by its origin.

use hyper::header::{HOST, HeaderMap, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Uri};
use std::net::IpAddr;

/// Under which names a server may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Its address, or `localhost`: no other server has these.
    Own,
    /// Any: where a certificate says who it is, or callers show who they are.
    Any,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("the request does not say which server it is for: send the header Host")]
    NoHost,
    #[error("without tokens and encryption this server is asked by its address, or as localhost, and by no other name")]
    Name,
    #[error("calls from the pages of other servers are not answered")]
    Origin,
}

/// Refuses what pages of other servers have sent.
pub(super) fn check<B>(request: &Request<B>, names: Names) -> Result<(), Refused> {
    let host = host(request.uri(), request.headers()).ok_or(Refused::NoHost)?;
    if names == Names::Own && !is_own(host.host()) {
        return Err(Refused::Name);
    }
    let Some(origin) = request.headers().get(ORIGIN).filter(|_| *request.method() == Method::POST) else {
        return Ok(());
    };
    let origin: Option<Uri> = origin.to_str().ok().and_then(|origin| origin.parse().ok());
    if origin.is_some_and(|origin| origin.authority() == Some(&host)) { Ok(()) } else { Err(Refused::Origin) }
}

/// The server that a request is for.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut named = headers.get_all(HOST).iter();
    let (first, second) = (named.next(), named.next());
    match (uri.authority(), first, second) {
        (_, _, Some(_)) => None,
        (Some(authority), ..) => Some(authority.clone()),
        (None, Some(host), None) => host.to_str().ok()?.parse().ok(),
        (None, None, None) => None,
    }
}

/// An address, or the name that every machine has for itself.
fn is_own(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(host: &str, origin: Option<&str>, names: Names) -> Result<(), Refused> {
        let mut request = Request::post("/tailback.v1.RunService/ListRuns").header(HOST, host);
        if let Some(origin) = origin {
            request = request.header(ORIGIN, origin);
        }
        check(&request.body(()).expect("a request"), names)
    }

    #[test]
    fn a_server_that_asks_for_nothing_has_no_name() {
        for host in ["127.0.0.1:7880", "localhost:7880", "LOCALHOST", "[::1]:7880", "10.0.0.7:80"] {
            assert_eq!(asked(host, None, Names::Own), Ok(()), "{host}");
        }
        for host in ["example.org", "localhost.example.org:7880", "127.0.0.1.example.org", "1.2.3", "0x7f.1"] {
            assert_eq!(asked(host, None, Names::Own), Err(Refused::Name), "{host}");
            assert_eq!(asked(host, None, Names::Any), Ok(()), "{host}");
        }
        assert_eq!(asked("", None, Names::Any), Err(Refused::NoHost));
        assert_eq!(check(&Request::get("/").body(()).expect("a request"), Names::Any), Err(Refused::NoHost));
        let twice = Request::get("/").header(HOST, "localhost").header(HOST, "example.org");
        assert_eq!(check(&twice.body(()).expect("a request"), Names::Any), Err(Refused::NoHost));
    }

    #[test]
    fn only_the_page_of_the_server_calls_it() {
        let host = "127.0.0.1:7880";
        for origin in ["http://127.0.0.1:7880", "https://127.0.0.1:7880"] {
            assert_eq!(asked(host, Some(origin), Names::Own), Ok(()), "{origin}");
        }
        for origin in ["http://127.0.0.1:7881", "http://localhost:7880", "http://example.org", "null", ""] {
            assert_eq!(asked(host, Some(origin), Names::Own), Err(Refused::Origin), "{origin}");
            assert_eq!(asked(host, Some(origin), Names::Any), Err(Refused::Origin), "{origin}");
        }
    }
}
