//! `tailback token`: who is let in by a server.

use tailback_service::{Changed, Grant, Role, TokenError, add_line, certificate_line, new_token, remove_name};

use crate::arguments::{RoleArgument, TokenArguments};
use crate::complaint::Complaint;
use crate::output::{count, say_line, tell_line};
use crate::remote;

/// Runs the command.
pub fn run(arguments: &TokenArguments) -> Result<(), Complaint> {
    let file = arguments.tokens.display();
    let changed = match (&arguments.revoke, &arguments.name) {
        (Some(name), _) => revoke(arguments, name)?,
        (None, name) => add(arguments, name.as_deref().unwrap_or_default())?,
    };
    if changed.was_open {
        tell_line!("{file} could be read by others: it is private now");
    }
    tell_line!("a server that runs reads it on SIGHUP");
    Ok(())
}

fn add(arguments: &TokenArguments, name: &str) -> Result<Changed, Complaint> {
    let role = match arguments.role {
        RoleArgument::Read => Role::Read,
        RoleArgument::Submit => Role::Submit,
        RoleArgument::Admin => Role::Admin,
    };
    if let Some(last) = arguments.expires.as_ref().filter(|last| last.is_over()) {
        let help = "name today, in UTC, or a day that comes".to_owned();
        return Err(Complaint::BadInput(format!("--expires: {last} is over, and would let nobody in"), Some(help)));
    }
    let grant = Grant { role, projects: arguments.projects.clone(), until: arguments.expires.clone() };
    let file = arguments.tokens.display();
    let (token, line) = match &arguments.cert {
        Some(certificate) => (None, certificate_line(name, &grant, &remote::bytes(certificate)?)?),
        None => {
            let (token, line) = new_token(name, &grant)?;
            (Some(token), line)
        }
    };
    let changed = add_line(&arguments.tokens, &line)?;
    tell_line!("added {name} to {file}");
    if let Some(token) = token {
        say_line!("{token}");
        tell_line!("keep the token: only its hash is in the file");
    }
    Ok(changed)
}

fn revoke(arguments: &TokenArguments, name: &str) -> Result<Changed, Complaint> {
    let file = arguments.tokens.display();
    let changed = remove_name(&arguments.tokens, name)?;
    if changed.entries == 0 {
        return Err(Complaint::bad_input(format!("{file} lets in nobody called `{name}`")));
    }
    let entries = u32::try_from(changed.entries).unwrap_or(u32::MAX);
    tell_line!("removed what lets in {name} from {file}: {}", count(entries, "line"));
    Ok(changed)
}

impl From<TokenError> for Complaint {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::File { .. } | TokenError::Random(_) => Self::failed(error.to_string()),
            _ => Self::bad_input(error.to_string()),
        }
    }
}
