//! `tailback token`: a token for a server.

use std::fs::OpenOptions;
use std::io::Write as _;

use tailback_service::{Role, new_token};

use crate::arguments::{RoleArgument, TokenArguments};
use crate::complaint::Complaint;
use crate::output::say_line;

/// Runs the command.
pub fn run(arguments: &TokenArguments) -> Result<(), Complaint> {
    let role = match arguments.role {
        RoleArgument::Read => Role::Read,
        RoleArgument::Submit => Role::Submit,
        RoleArgument::Admin => Role::Admin,
    };
    let (token, line) = new_token(&arguments.name, role).map_err(|error| Complaint::bad_input(error.to_string()))?;
    let file = arguments.tokens.display();
    let opened = OpenOptions::new().create(true).append(true).open(&arguments.tokens);
    let written = opened.and_then(|mut file| writeln!(file, "{line}"));
    written.map_err(|error| Complaint::failed(format!("cannot write {file}: {error}")))?;
    say_line!("{token}");
    eprintln!("added {} to {file}; the server reads it when it starts", arguments.name);
    eprintln!("keep the token: only its hash is in the file");
    Ok(())
}
