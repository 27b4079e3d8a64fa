//! Who is calling, and what that one may do.
//!
//! Tokens are drawn with 256 random bits; the file holds their SHA-256 only, so that reading it lets nobody in. All
//! entries are compared with in the same time, whichever matches.

use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};
use tonic::metadata::MetadataMap;
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::api_error::ApiError;
use crate::names;

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// See everything.
    Read,
    /// Create runs, cancel and delete one's own.
    Submit,
    /// Cancel and delete the runs of others too.
    Admin,
}

impl Role {
    /// The role as it is written.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Submit => "submit",
            Self::Admin => "admin",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Read, Self::Submit, Self::Admin].into_iter().find(|role| role.word() == word)
    }
}

/// Who is calling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub name: String,
    pub role: Role,
}

impl Caller {
    /// Refuses callers below a role.
    pub(crate) fn must_be(&self, role: Role) -> Result<(), ApiError> {
        if self.role >= role { Ok(()) } else { Err(ApiError::NotAllowed { role: self.role, owner: None }) }
    }

    /// Refuses callers who may not change a run of `owner`.
    pub(crate) fn may_change_run_of(&self, owner: &str) -> Result<(), ApiError> {
        self.must_be(Role::Submit)?;
        if self.role == Role::Admin || self.name == owner {
            return Ok(());
        }
        Err(ApiError::NotAllowed { role: self.role, owner: Some(owner.to_owned()) })
    }
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read {file}: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        error: std::io::Error,
    },
    /// A line of it is not as it should be.
    #[error("{file}:{line}: {problem}; a line is a name, a role (read, submit or admin) and the SHA-256 of a token")]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The system has no random bytes to give.
    #[error("cannot draw a token: {0}")]
    Random(getrandom::Error),
}

/// Those who are let in.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    role: Role,
    hash: [u8; 32],
}

/// A new token, and the line for the file that lets its bearer in.
///
/// # Errors
/// When the system has no random bytes to give.
pub fn new_token(name: &str, role: Role) -> Result<(String, String), TokenError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
    let token = format!("tb_{}", hexadecimal(&bytes));
    let line = format!("{name} {} {}", role.word(), hexadecimal(&Sha256::digest(&token)));
    Ok((token, line))
}

impl Tokens {
    /// Reads a file of tokens.
    ///
    /// # Errors
    /// When it cannot be read, or a line is not as it should be.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|error| TokenError::Unreadable { file: file.clone(), error })?;
        let mut tokens = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let fail = |problem: String| TokenError::Line { file: file.clone(), line: line_number, problem };
            let fields: Vec<&str> = line.split_whitespace().collect();
            match fields.as_slice() {
                [] => {}
                [first, ..] if first.starts_with('#') => {}
                [name, role, hash] => {
                    names::new_run(name).map_err(|_| fail(format!("{} is not a name", names::quoted(name))))?;
                    let role =
                        Role::parse(role).ok_or_else(|| fail(format!("{} is not a role", names::quoted(role))))?;
                    let hash = bytes_of(hash).ok_or_else(|| fail("the last field is not a SHA-256".to_owned()))?;
                    tokens.entries.push(Entry { name: (*name).to_owned(), role, hash });
                }
                _ => return Err(fail(format!("{} fields", fields.len()))),
            }
        }
        Ok(tokens)
    }

    /// The bearer of a token. Takes as long whether or which one matches.
    fn bearer(&self, token: &str) -> Option<Caller> {
        let hash: [u8; 32] = Sha256::digest(token).into();
        let mut found = 0u64;
        for (index, entry) in self.entries.iter().enumerate() {
            let equal: Choice = entry.hash.as_slice().ct_eq(hash.as_slice());
            found.conditional_assign(&(index as u64 + 1), equal);
        }
        let entry = self.entries.get(usize::try_from(found).ok()?.checked_sub(1)?)?;
        Some(Caller { name: entry.name.clone(), role: entry.role })
    }
}

/// Looks at the token of each call.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// None on a server that knows no tokens: then everybody who can reach it may do everything.
    tokens: Option<Arc<Tokens>>,
}

impl Guard {
    pub(crate) fn new(tokens: Option<Tokens>) -> Self {
        Self { tokens: tokens.map(Arc::new) }
    }

    fn caller(&self, metadata: &MetadataMap) -> Result<Caller, ApiError> {
        let Some(tokens) = &self.tokens else {
            return Ok(Caller { name: "local".to_owned(), role: Role::Admin });
        };
        let header = metadata.get("authorization").and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| {
            let (scheme, token) = header.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        token.and_then(|token| tokens.bearer(token)).ok_or(ApiError::NotAuthenticated)
    }
}

impl Interceptor for Guard {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let caller = self.caller(request.metadata())?;
        request.extensions_mut().insert(caller);
        Ok(request)
    }
}

/// Bytes as text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Tokens, TokenError> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        std::fs::write(file.path(), text).expect("and written to");
        Tokens::read(file.path())
    }

    #[test]
    fn only_bearers_of_known_tokens_are_let_in() {
        let (alice, first) = new_token("alice", Role::Submit).expect("there are random bytes");
        let (bob, second) = new_token("bob", Role::Read).expect("there are random bytes");
        let tokens = read(&format!("# people\n\n{first}\n  {second}\n")).expect("the file is well formed");
        let caller = |name: &str, role| Some(Caller { name: name.to_owned(), role });
        assert_eq!(tokens.bearer(&alice), caller("alice", Role::Submit));
        assert_eq!(tokens.bearer(&bob), caller("bob", Role::Read));
        for wrong in ["", "tb_", &alice[1..], &format!("{alice} "), first.rsplit(' ').next().expect("a hash")] {
            assert_eq!(tokens.bearer(wrong), None, "{wrong}");
        }
        assert!(!first.contains(&alice), "the file does not hold the token");
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        for (text, problem) in [
            ("alice submit", "2 fields"),
            ("\nalice boss 00", "`boss` is not a role"),
            ("../x read 00", "is not a name"),
            ("alice read 00zz", "not a SHA-256"),
        ] {
            let error = read(text).expect_err("it is wrong").to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn runs_belong_to_their_creators() {
        let caller = |role| Caller { name: "alice".to_owned(), role };
        assert!(caller(Role::Read).may_change_run_of("alice").is_err());
        assert!(caller(Role::Submit).may_change_run_of("alice").is_ok());
        assert!(caller(Role::Submit).may_change_run_of("bob").is_err());
        assert!(caller(Role::Admin).may_change_run_of("bob").is_ok());
    }
}
