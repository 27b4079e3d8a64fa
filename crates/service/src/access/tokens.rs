//! Those who are let in, as a file says.
//!
//! A line is a name, a role and what its bearer shows: the SHA-256 of a token, or `cert=` and the fingerprint of a
//! certificate. Behind that `until=2027-01-31` makes it count to the end of that day, in UTC, and `projects=fabric,storage`
//! names the projects that its bearer is in. Lines that begin with `#` say nothing.
//!
//! **The invariant it keeps:** a file is taken as a whole or not at all, and only if nobody but its owner can change it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prost_types::Timestamp;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

use super::Role;
use super::grant::must_be_a_name;
use crate::configuration::CertificateError;
use crate::names;

/// A day has as many seconds in UTC.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Bytes of a file of tokens: more are not read.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("cannot {verb} {file}: {error}")]
    File {
        /// What was tried.
        verb: &'static str,
        /// The file.
        file: String,
        /// Why not.
        error: std::io::Error,
    },
    /// Others than its owner can read or change it.
    #[error("{file} can be {what} by others (mode {mode:o}): make it private with `chmod 600 {file}`")]
    Open {
        /// The file.
        file: String,
        /// What others can do.
        what: &'static str,
        /// Its permissions.
        mode: u32,
    },
    /// A line of it is not as it should be.
    #[error(
        "{file}:{line}: {problem}; a line is a name, a role (read, submit or admin), the SHA-256 of a token or \
         cert=FINGERPRINT, until=YYYY-MM-DD if it expires, and projects=NAME,… if there are some"
    )]
    Line {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// What is to be added could not be read afterwards.
    #[error("{0}")]
    Entry(String),
    /// The certificate cannot be read.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The system has no random bytes to give.
    #[error("cannot draw a token: {0}")]
    Random(getrandom::Error),
}

/// Those who are let in.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    pub(super) path: PathBuf,
    entries: Vec<Entry>,
}

/// What is shown by who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    /// A token, by its SHA-256.
    Token([u8; 32]),
    /// A certificate, by its fingerprint.
    Certificate([u8; 32]),
}

/// Who bears a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub name: String,
    pub role: Role,
    pub projects: Vec<String>,
    credential: Credential,
    /// When it stops to count.
    until: Option<SystemTime>,
}

/// The last day, in UTC, on which an entry counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastDay {
    pub(super) text: String,
    end: SystemTime,
}

/// Why a credential lets nobody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotLetIn {
    Unknown,
    Expired,
}

impl LastDay {
    /// Whether it has passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.end <= SystemTime::now()
    }
}

impl std::fmt::Display for LastDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::str::FromStr for LastDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_date = text.len() == 10
            && text.bytes().enumerate().all(|(index, byte)| match index {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let start = is_date.then(|| format!("{text}T00:00:00Z").parse::<Timestamp>().ok()).flatten();
        let start = start.and_then(|start| u64::try_from(start.seconds).ok());
        let start = start.ok_or_else(|| format!("{} is not a day such as 2027-01-31", names::quoted(text)))?;
        Ok(Self { text: text.to_owned(), end: UNIX_EPOCH + Duration::from_secs(start) + DAY })
    }
}

impl Tokens {
    /// Reads a file of tokens.
    ///
    /// # Errors
    /// When it cannot be read, others than its owner can change it, or a line is not as it should be.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let file = path.display().to_string();
        let failed = |error| TokenError::File { verb: "read", file: file.clone(), error };
        let opened = File::open(path).map_err(failed)?;
        // Asked of what is open: the name may lead elsewhere a moment later.
        must_be_private(&file, &opened.metadata().map_err(failed)?)?;
        let mut text = String::new();
        opened.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        let mut tokens = Self { path: path.to_owned(), entries: Vec::new() };
        for (index, line) in text.lines().enumerate() {
            let entry = Entry::parse(line);
            let entry = entry.map_err(|problem| TokenError::Line { file: file.clone(), line: index + 1, problem });
            tokens.entries.extend(entry?);
        }
        Ok(tokens)
    }

    /// How many entries there are.
    pub(super) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is somebody who is let in by a certificate.
    pub(crate) fn have_certificates(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.credential, Credential::Certificate(_)))
    }

    /// Who bears a credential. Takes as long whether or which one matches.
    pub(super) fn bearer(&self, shown: &Credential, now: SystemTime) -> Result<&Entry, NotLetIn> {
        let mut found = 0u64;
        for (index, entry) in self.entries.iter().enumerate() {
            found.conditional_assign(&(index as u64 + 1), entry.credential.equals(shown));
        }
        let index = usize::try_from(found).ok().and_then(|found| found.checked_sub(1)).ok_or(NotLetIn::Unknown)?;
        let entry = &self.entries[index];
        if entry.until.is_some_and(|until| now >= until) { Err(NotLetIn::Expired) } else { Ok(entry) }
    }
}

impl Credential {
    pub(super) fn token(token: &str) -> Self {
        Self::Token(Sha256::digest(token).into())
    }

    /// Whether both are the same, without telling by the time it takes how much of them is.
    fn equals(&self, other: &Self) -> Choice {
        match (self, other) {
            (Self::Token(one), Self::Token(other)) | (Self::Certificate(one), Self::Certificate(other)) => {
                one.as_slice().ct_eq(other.as_slice())
            }
            _ => Choice::from(0),
        }
    }
}

impl Entry {
    /// The entry of a line; none if it says nothing.
    pub(super) fn parse(line: &str) -> Result<Option<Self>, String> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (name, role, shown, further) = match fields.as_slice() {
            [] => return Ok(None),
            [first, ..] if first.starts_with('#') => return Ok(None),
            [name, role, shown, further @ ..] => (name, role, shown, further),
            _ => return Err(format!("{} fields", fields.len())),
        };
        must_be_a_name(name)?;
        let role = Role::parse(role).ok_or_else(|| format!("{} is not a role", names::quoted(role)))?;
        let credential = match shown.strip_prefix("cert=") {
            // As openssl prints it, too: in upper case, with colons.
            Some(print) => bytes_of(&print.replace(':', "")).map(Credential::Certificate),
            None => bytes_of(shown).map(Credential::Token),
        };
        let credential = credential.ok_or("the third field is neither a SHA-256 nor cert= and one")?;
        let (mut until, mut projects) = (None, None);
        for field in further {
            let is_new = if let Some(day) = field.strip_prefix("until=") {
                until.replace(day.parse::<LastDay>()?.end).is_none()
            } else if let Some(names) = field.strip_prefix("projects=") {
                let names: Vec<String> = names.split(',').map(str::to_owned).collect();
                names.iter().try_for_each(|name| must_be_a_name(name))?;
                projects.replace(names).is_none()
            } else {
                return Err(format!("{} begins with neither until= nor projects=", names::quoted(field)));
            };
            if !is_new {
                return Err(format!("{} is the second of its kind", names::quoted(field)));
            }
        }
        Ok(Some(Self { name: (*name).to_owned(), role, credential, until, projects: projects.unwrap_or_default() }))
    }
}

/// Whoever can change the file can let anybody in. Reading it lets nobody in, but is nobody's business either; its group
/// may, because orchestrators give secrets to processes by way of one.
#[cfg(unix)]
fn must_be_private(file: &str, about: &std::fs::Metadata) -> Result<(), TokenError> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = about.permissions().mode() & 0o7777;
    let open = |what| Err(TokenError::Open { file: file.to_owned(), what, mode });
    match mode {
        mode if mode & 0o022 != 0 => open("changed"),
        mode if mode & 0o004 != 0 => open("read"),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn must_be_private(_: &str, _: &std::fs::Metadata) -> Result<(), TokenError> {
    Ok(())
}

fn bytes_of(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
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
    use super::super::{Grant, new_token};
    use super::*;

    /// At noon of a day.
    fn noon(day: &str) -> SystemTime {
        day.parse::<LastDay>().expect("a day").end - DAY / 2
    }

    fn read(text: &str) -> Result<Tokens, TokenError> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        std::fs::write(file.path(), text).expect("and written to");
        Tokens::read(file.path())
    }

    fn bearer(tokens: &Tokens, token: &str, day: &str) -> Result<(String, Role), NotLetIn> {
        let found = tokens.bearer(&Credential::token(token), noon(day));
        found.map(|entry| (entry.name.clone(), entry.role))
    }

    #[test]
    fn only_bearers_of_known_tokens_are_let_in() {
        let (alice, first) = new_token("alice", &Role::Submit.into()).expect("there are random bytes");
        let (bob, second) = new_token("bob", &Role::Read.into()).expect("there are random bytes");
        let tokens = read(&format!("# people\n\n{first}\n  {second}\n")).expect("the file is well formed");
        let day = "2026-11-22";
        assert_eq!(bearer(&tokens, &alice, day), Ok(("alice".to_owned(), Role::Submit)));
        assert_eq!(bearer(&tokens, &bob, day), Ok(("bob".to_owned(), Role::Read)));
        for wrong in ["", "tb_", &alice[1..], &format!("{alice} "), first.rsplit(' ').next().expect("a hash")] {
            assert_eq!(bearer(&tokens, wrong, day), Err(NotLetIn::Unknown), "{wrong}");
        }
        assert!(!first.contains(&alice), "the file does not hold the token");
    }

    #[test]
    fn tokens_count_to_the_end_of_their_last_day() {
        let last = "2027-01-31".parse().expect("a day");
        let (token, line) =
            new_token("alice", &Grant { until: Some(last), ..Role::Submit.into() }).expect("there are random bytes");
        assert!(line.ends_with(" until=2027-01-31"), "{line}");
        let tokens = read(&line).expect("the file is well formed");
        for (day, found) in [("2026-02-28", Ok(())), ("2027-01-31", Ok(())), ("2027-02-01", Err(NotLetIn::Expired))] {
            assert_eq!(bearer(&tokens, &token, day).map(drop), found, "{day}");
        }
        for bad in ["2027-02-30", "2027-1-31", "27-01-31", "1969-12-31", "2027-01-31T00:00:00Z", "\x1b[2J", ""] {
            assert!(bad.parse::<LastDay>().is_err(), "{bad}");
        }
    }

    #[test]
    fn bearers_are_in_the_projects_of_their_line() {
        let last = "2027-01-31".parse().expect("a day");
        let projects = ["fabric", "storage"].map(str::to_owned).to_vec();
        let grant = Grant { role: Role::Read, projects: projects.clone(), until: Some(last) };
        let (token, line) = new_token("alice", &grant).expect("there are random bytes");
        let at = |line: &str| {
            let tokens = read(line).expect("the file is well formed");
            let found = tokens.bearer(&Credential::token(&token), noon("2027-01-31"));
            found.expect("the token counts").projects.clone()
        };
        assert_eq!(at(&line), projects);
        // In either order, and without.
        let turned = line.replace(" until=2027-01-31", "") + " until=2027-01-31";
        assert_eq!(at(&turned), projects);
        assert_eq!(at(line.split(" projects=").next().expect("a line")), Vec::<String>::new());
    }

    #[test]
    fn a_certificate_is_no_token() {
        let print = "AB:".repeat(31) + "cd";
        let tokens = read(&format!("alice read cert={print}")).expect("the file is well formed");
        let mut bytes = [0xab; 32];
        bytes[31] = 0xcd;
        let now = SystemTime::now();
        assert!(tokens.bearer(&Credential::Certificate(bytes), now).is_ok_and(|entry| entry.name == "alice"));
        assert_eq!(tokens.bearer(&Credential::Token(bytes), now), Err(NotLetIn::Unknown));
        assert!(tokens.have_certificates());
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        let hash = "00".repeat(32);
        for (text, problem) in [
            ("alice submit", "2 fields"),
            ("\nalice boss 00", ":2: `boss` is not a role"),
            ("../x read 00", "is not a name"),
            ("alice read 00zz", "neither a SHA-256"),
            ("alice read cert=00", "neither a SHA-256"),
            (&format!("alice read +{}", &hash[1..]), "neither a SHA-256"),
            (&format!("alice read {hash} 2027-01-31"), "begins with neither until= nor projects="),
            (&format!("alice read {hash} until=soon"), "`soon` is not a day"),
            (&format!("alice read {hash} until=2027-01-31 more"), "`more` begins with neither"),
            (&format!("alice read {hash} until=2027-01-31 until=2027-02-28"), "`until=2027-02-28` is the second"),
            (&format!("alice read {hash} projects=a until=2027-02-28 projects=b"), "`projects=b` is the second"),
            (&format!("alice read {hash} projects="), "`` is not a name"),
            (&format!("alice read {hash} projects=a,../b"), "`../b` is not a name"),
        ] {
            let error = read(text).expect_err("it is wrong").to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_that_others_can_read_or_change_are_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        let set = |mode| std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode));
        for (mode, is_private) in
            [(0o600, true), (0o400, true), (0o440, true), (0o640, true), (0o644, false), (0o660, false), (0o602, false)]
        {
            set(mode).expect("it is ours");
            let read = Tokens::read(file.path());
            assert_eq!(read.is_ok(), is_private, "{mode:o}");
            assert!(read.err().is_none_or(|error| error.to_string().contains("chmod 600")));
        }
    }
}
