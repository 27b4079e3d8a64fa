//! Who is calling, and what that one may do.
//!
//! Callers are known by a token, or by the certificate of their connection; a [file](tokens) says whose it is. Tokens are
//! drawn with 256 random bits; the file holds their SHA-256 only, so that reading it lets nobody in. All entries are
//! compared with in the same time, whichever matches.

mod failures;
mod grant;
mod token_file;
mod tokens;

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use tonic::metadata::MetadataValue;
use tonic::service::Interceptor;
use tonic::{Request, Status};

use crate::api_error::ApiError;
use crate::connection::Peer;
use crate::domain::Run;
use crate::meters::Meters;
pub(crate) use failures::Failures;
pub use grant::{Grant, certificate_line, new_token};
pub use token_file::{Changed, add_line, remove_name};
use tokens::{Credential, NotLetIn};
pub use tokens::{LastDay, TokenError, Tokens};

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// See everything but the private runs of others and those of projects that one is not in.
    Read,
    /// Create runs, cancel and delete one's own, and those of one's projects.
    Submit,
    /// See, cancel and delete the runs of others too, and put runs before those of others.
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
    /// The projects that this one is in.
    pub projects: Vec<String>,
    /// Where the call came from.
    pub from: Option<SocketAddr>,
    /// What was shown; nothing where nobody has to.
    credential: Option<Credential>,
}

impl Caller {
    /// Notes for those who run the server what was done to a run, and by whom.
    pub(crate) fn note(&self, action: &'static str, run: &str) {
        let from = self.from.map(|from| from.to_string()).unwrap_or_default();
        tracing::info!(target: "audit", action, run, name = self.name, role = self.role.word(), from);
    }

    /// The same of a file of an owner.
    pub(crate) fn note_file(&self, action: &'static str, owner: &str, file: &str) {
        let from = self.from.map(|from| from.to_string()).unwrap_or_default();
        tracing::info!(target: "audit", action, file, owner, name = self.name, role = self.role.word(), from);
    }

    /// Refuses callers below a role.
    pub(crate) fn must_be(&self, role: Role) -> Result<(), ApiError> {
        if self.role >= role { Ok(()) } else { Err(ApiError::NotAllowed { role: self.role, owner: None }) }
    }

    /// Tells those who may not see a run that it is not there.
    pub(crate) fn must_see(&self, run: &Run) -> Result<(), ApiError> {
        if self.may_see(run) { Ok(()) } else { Err(ApiError::RunNotFound(run.id.clone())) }
    }

    /// Refuses callers who may not put their runs before those of others: everybody may put them behind.
    pub(crate) fn may_have_priority(&self, priority: i32) -> Result<(), ApiError> {
        if priority > 0 { self.must_be(Role::Admin) } else { Ok(()) }
    }

    /// Whether a run is there for this caller.
    pub(crate) fn may_see(&self, run: &Run) -> bool {
        let is_open = !run.private && (run.project.is_empty() || self.is_in(&run.project));
        is_open || self.role == Role::Admin || self.name == run.owner
    }

    fn is_in(&self, project: &str) -> bool {
        self.projects.iter().any(|own| own == project)
    }

    /// Refuses callers whose runs cannot be of a project.
    pub(crate) fn may_put_into(&self, project: &str) -> Result<(), ApiError> {
        if project.is_empty() || self.role == Role::Admin || self.is_in(project) {
            return Ok(());
        }
        Err(ApiError::NotInProject(project.to_owned()))
    }

    /// Refuses callers who may not change a run: those who are in its project may do what its owner may.
    pub(crate) fn may_change(&self, run: &Run) -> Result<(), ApiError> {
        let is_shared = !run.private && self.is_in(&run.project);
        if is_shared { self.must_be(Role::Submit) } else { self.may_change_what_is_of(&run.owner) }
    }

    /// Refuses callers who may not change what belongs to `owner`.
    pub(crate) fn may_change_what_is_of(&self, owner: &str) -> Result<(), ApiError> {
        self.must_be(Role::Submit)?;
        if self.role == Role::Admin || self.name == owner {
            return Ok(());
        }
        Err(ApiError::NotAllowed { role: self.role, owner: Some(owner.to_owned()) })
    }
}

/// The tokens that are in force, from the last time that their file could be read.
#[derive(Clone, Debug)]
pub struct TokensInForce(Option<Arc<RwLock<Tokens>>>);

impl TokensInForce {
    /// Reads the file again. If that is not possible, or a line of it is not as it should be, all stays as it was.
    pub fn read_again(&self) {
        let Some(tokens) = &self.0 else { return tracing::info!("there are no tokens to read again") };
        let path = tokens.read().unwrap_or_else(PoisonError::into_inner).path.clone();
        match Tokens::read(&path) {
            Ok(read) => {
                tracing::info!(entries = read.count(), "the tokens were read again");
                *tokens.write().unwrap_or_else(PoisonError::into_inner) = read;
            }
            Err(error) => tracing::error!(%error, "the tokens stay as they were"),
        }
    }
}

/// Looks at what each call shows.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// None on a server that knows no tokens: then everybody who can reach it may do everything.
    tokens: TokensInForce,
    failures: Arc<Failures>,
    meters: Arc<Meters>,
}

impl Guard {
    /// Strangers who fail again and again are not listened to for a while.
    pub(crate) fn new(tokens: Option<Tokens>, failures: Arc<Failures>, meters: Arc<Meters>) -> Self {
        let tokens = TokensInForce(tokens.map(|tokens| Arc::new(RwLock::new(tokens))));
        Self { tokens, failures, meters }
    }

    pub(crate) fn tokens(&self) -> TokensInForce {
        self.tokens.clone()
    }

    /// Who has failed.
    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Who calls, by the header `authorization`; without one, by the certificate. A token that is shown must be good,
    /// whatever certificate comes with it.
    pub(crate) fn caller(&self, authorization: Option<&[u8]>, peer: Option<&Peer>) -> Result<Caller, ApiError> {
        let from = peer.map(|peer| peer.address);
        let Some(tokens) = &self.tokens.0 else {
            peer.inspect(|peer| peer.visit.is_let_in());
            let (name, role, projects) = ("local".to_owned(), Role::Admin, Vec::new());
            return Ok(Caller { name, role, projects, from, credential: None });
        };
        let shown = match authorization {
            Some(header) => bearer_token(header).map(Credential::token),
            None => peer.and_then(|peer| peer.certificate).map(Credential::Certificate),
        };
        let tokens = tokens.read().unwrap_or_else(PoisonError::into_inner);
        match shown.map(|shown| (shown, tokens.bearer(&shown, SystemTime::now()))) {
            Some((shown, Ok(entry))) => {
                peer.inspect(|peer| peer.visit.is_let_in());
                let (name, projects) = (entry.name.clone(), entry.projects.clone());
                Ok(Caller { name, role: entry.role, projects, from, credential: Some(shown) })
            }
            refused => {
                let why = match refused {
                    Some((_, Err(NotLetIn::Expired))) => "what was shown has expired",
                    Some(_) => "what was shown is not known",
                    None => "nothing was shown",
                };
                self.refuse(why, peer);
                Err(ApiError::NotAuthenticated)
            }
        }
    }

    /// What is shown is never logged.
    fn refuse(&self, why: &'static str, peer: Option<&Peer>) {
        self.meters.not_let_in();
        let Some(peer) = peer else { return };
        let failure = self.failures.put(peer.address.ip());
        let is_stranger = peer.visit.pause(failure.pause);
        if failure.is_logged() {
            let count = failure.count;
            tracing::warn!(target: "audit", peer = %peer.address, why, count, is_stranger, "a call is not let in");
        }
    }

    /// Refuses who was let in and would not be any more, may do less by now, or is in other projects: what was shown was revoked, has
    /// expired, or stands for less.
    pub(crate) fn must_still_be(&self, caller: &Caller) -> Result<(), ApiError> {
        let (Some(tokens), Some(shown)) = (&self.tokens.0, &caller.credential) else { return Ok(()) };
        let tokens = tokens.read().unwrap_or_else(PoisonError::into_inner);
        match tokens.bearer(shown, SystemTime::now()) {
            Ok(entry)
                if entry.name == caller.name && entry.role >= caller.role && entry.projects == caller.projects =>
            {
                Ok(())
            }
            _ => Err(ApiError::NotAuthenticated),
        }
    }
}

fn bearer_token(header: &[u8]) -> Option<&str> {
    let (scheme, token) = std::str::from_utf8(header).ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

impl Interceptor for Guard {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let authorization = request.metadata().get("authorization").map(MetadataValue::as_bytes);
        let caller = self.caller(authorization, request.extensions().get())?;
        request.extensions_mut().insert(caller);
        Ok(request)
    }
}

/// Bytes as text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn caller(name: &str, role: Role, projects: &[&str]) -> Caller {
        let projects = projects.iter().map(|&project| project.to_owned()).collect();
        Caller { name: name.to_owned(), role, projects, from: None, credential: None }
    }

    fn run(private: bool, project: &str) -> Run {
        Run { owner: "alice".to_owned(), private, project: project.to_owned(), ..Run::default() }
    }

    #[test]
    fn runs_belong_to_their_creators() {
        let may = |name, role| caller(name, role, &[]).may_change(&run(false, "")).is_ok();
        assert!(may("alice", Role::Submit) && may("bob", Role::Admin));
        assert!(!may("alice", Role::Read) && !may("bob", Role::Submit));
    }

    #[test]
    fn private_runs_are_there_for_their_owners_and_admins() {
        let sees = |name, role, private| caller(name, role, &[]).may_see(&run(private, ""));
        assert!(sees("alice", Role::Read, true) && sees("bob", Role::Admin, true));
        assert!(!sees("bob", Role::Submit, true) && sees("bob", Role::Read, false));
    }

    #[test]
    fn runs_of_a_project_are_there_for_those_in_it() {
        let (within, without) = (&["fabric", "other"][..], &["other"][..]);
        let of_project = run(false, "fabric");
        for (name, role, projects, sees, changes) in [
            ("bob", Role::Submit, within, true, true),
            ("bob", Role::Read, within, true, false),
            ("bob", Role::Submit, without, false, false),
            ("bob", Role::Admin, without, true, true),
            // Whoever has left the project keeps what is his or hers.
            ("alice", Role::Submit, without, true, true),
        ] {
            let caller = caller(name, role, projects);
            assert_eq!(
                (caller.may_see(&of_project), caller.may_change(&of_project).is_ok()),
                (sees, changes),
                "{caller:?}"
            );
        }
        // A row that is damaged is read as that of a private run.
        let private = run(true, "fabric");
        let member = caller("bob", Role::Submit, within);
        assert!(!member.may_see(&private) && member.may_change(&private).is_err());
        assert!(member.may_put_into("fabric").is_ok() && member.may_put_into("").is_ok());
        assert!(member.may_put_into("third").is_err() && caller("bob", Role::Admin, &[]).may_put_into("third").is_ok());
        assert!(caller("bob", Role::Submit, &[""]).may_change(&run(true, "")).is_err());
    }

    #[test]
    fn callers_stay_in_as_long_as_they_may_do_as_much() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        let projects = vec!["fabric".to_owned()];
        let grant = Grant { role: Role::Submit, projects, until: None };
        let (token, line) = new_token("alice", &grant).expect("there are random bytes");
        std::fs::write(file.path(), &line).expect("it can be written");
        let tokens = Tokens::read(file.path()).expect("it is well formed");
        let guard = Guard::new(Some(tokens), Arc::new(Failures::new(Duration::ZERO)), Arc::default());
        let caller = guard.caller(Some(format!("Bearer {token}").as_bytes()), None).expect("she is let in");
        for (now, stays) in [
            (line.clone(), true),
            (line.replace(" submit ", " admin "), true),
            (line.replace(" submit ", " read "), false),
            (line.replace("=fabric", "=other"), false),
            (line.replace("alice", "bob"), false),
            (String::new(), false),
        ] {
            std::fs::write(file.path(), &now).expect("it can be written");
            guard.tokens().read_again();
            assert_eq!(guard.must_still_be(&caller).is_ok(), stays, "{now}");
        }
    }

    #[test]
    fn only_bearers_bear_tokens() {
        for (header, token) in
            [("Bearer a", Some("a")), ("bearer  a ", Some("a")), ("Basic a", None), ("Bearer", None), ("", None)]
        {
            assert_eq!(bearer_token(header.as_bytes()), token, "{header}");
        }
        assert_eq!(bearer_token(b"Bearer \xff"), None);
    }
}
