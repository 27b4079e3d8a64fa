//! Letting somebody in: new tokens, and the lines of the [file](super::tokens) that say what is granted.

use sha2::{Digest as _, Sha256};

use super::tokens::{LastDay, TokenError};
use super::{Role, hexadecimal};
use crate::{connection, names};

/// What is granted to who is let in.
#[derive(Clone, Debug)]
pub struct Grant {
    /// What that one may do.
    pub role: Role,
    /// The projects that that one is in.
    pub projects: Vec<String>,
    /// The last day of it.
    pub until: Option<LastDay>,
}

impl From<Role> for Grant {
    fn from(role: Role) -> Self {
        Self { role, projects: Vec::new(), until: None }
    }
}

/// A new token, and the line for the file that lets its bearer in.
///
/// # Errors
/// When the name, or that of a project, cannot be one, or the system has no random bytes to give.
pub fn new_token(name: &str, grant: &Grant) -> Result<(String, String), TokenError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
    let token = format!("tb_{}", hexadecimal(&bytes));
    let line = line(name, grant, &hexadecimal(&Sha256::digest(&token)))?;
    Ok((token, line))
}

/// The line for the file that lets in who has a certificate, which is given as PEM.
///
/// # Errors
/// When the name, or that of a project, cannot be one, or the certificate cannot be read.
pub fn certificate_line(name: &str, grant: &Grant, pem: &[u8]) -> Result<String, TokenError> {
    let fingerprint = connection::fingerprint(pem)?;
    line(name, grant, &format!("cert={}", hexadecimal(&fingerprint)))
}

fn line(name: &str, Grant { role, projects, until }: &Grant, credential: &str) -> Result<String, TokenError> {
    for name in std::iter::once(name).chain(projects.iter().map(String::as_str)) {
        must_be_a_name(name).map_err(TokenError::Entry)?;
    }
    let until = until.as_ref().map_or_else(String::new, |day| format!(" until={}", day.text));
    let projects = if projects.is_empty() { String::new() } else { format!(" projects={}", projects.join(",")) };
    Ok(format!("{name} {} {credential}{until}{projects}", role.word()))
}

/// Refuses what cannot be the name of an owner or a project.
pub(super) fn must_be_a_name(name: &str) -> Result<(), String> {
    names::new_run(name).map_err(|_| not_a_name(name))
}

fn not_a_name(name: &str) -> String {
    format!("{} is not a name: a letter, then letters, digits and hyphens, lower case, 63 at most", names::quoted(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_not_be_read_are_refused() {
        for bad in ["", "Alice", "alice bob", "alice\nmallory admin", "#alice", "\x1b[31m", "../alice"] {
            let of_project = Grant { projects: vec![bad.to_owned()], ..Role::Read.into() };
            for refused in [new_token(bad, &Role::Read.into()), new_token("alice", &of_project)] {
                let refused = refused.expect_err("it is no name").to_string();
                assert!(refused.contains("is not a name") && !refused.contains(['\n', '\x1b']), "{refused}");
            }
        }
    }
}
