//! File descriptors: connections must never take the ones that runs and the database need.
//!
//! **The invariant it keeps:** of the descriptors that the process may have, connections get half at most.

use std::fs::File;
use std::io;

/// What is needed beside connections: the database with its readers, listeners, the log, and files of runs.
const NEEDED: u32 = 64;
/// Connections of the admin port at most.
const ADMIN_CONNECTIONS_MAX: u32 = 64;

/// How many connections there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    pub clients: u32,
    pub admin: u32,
}

/// Raises the number of descriptors that the process may have as far as it is allowed to, and shares them out: clients
/// get `wanted` if there are as many.
pub(crate) fn share(wanted: u32) -> Shares {
    let descriptors = raise();
    let shares = shares(descriptors, wanted);
    if shares.clients < wanted {
        let allowed = shares.clients;
        tracing::warn!(
            descriptors,
            wanted,
            allowed,
            "fewer connections than connections_max: raise the limit of open files"
        );
    }
    shares
}

fn shares(descriptors: u32, wanted: u32) -> Shares {
    let free = (descriptors / 2).min(descriptors.saturating_sub(NEEDED)).max(2);
    let admin = (free / 8).clamp(1, ADMIN_CONNECTIONS_MAX);
    Shares { clients: wanted.clamp(1, free - admin), admin }
}

/// Raises the limit; gives what it is then.
#[cfg(unix)]
fn raise() -> u32 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let found = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: found.maximum, maximum: found.maximum }) {
        tracing::warn!(%error, "cannot raise the number of open files");
    }
    let descriptors = getrlimit(Resource::Nofile).current;
    descriptors.map_or(u32::MAX, |descriptors| u32::try_from(descriptors).unwrap_or(u32::MAX))
}

/// Elsewhere this is what there is by default, or more.
#[cfg(not(unix))]
fn raise() -> u32 {
    256
}

/// Whether something failed because too many files are open: in this process, or on the whole system.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    // `EMFILE` and `ENFILE`, which are the same on all systems with `/dev/null`.
    matches!(error.raw_os_error(), Some(23 | 24))
}

/// Whether no file can be opened now, because too many are.
pub(crate) fn are_short() -> bool {
    File::open("/dev/null").is_err_and(|error| is_shortage(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_get_half_at_most() {
        assert_eq!(shares(1 << 20, 4096), Shares { clients: 4096, admin: 64 });
        assert_eq!(shares(1024, 4096), Shares { clients: 448, admin: 64 });
        assert_eq!(shares(1024, 10), Shares { clients: 10, admin: 64 });
        for descriptors in [0, 3, 64, 70, 100, 128, 256, 1024, 1 << 16, u32::MAX] {
            let Shares { clients, admin } = shares(descriptors, u32::MAX);
            assert!(clients > 0 && admin > 0, "there is always one, as for who looks what is wrong");
            let both = clients + admin;
            assert!(both <= 2 || both <= descriptors / 2 && descriptors - both >= NEEDED, "{descriptors}: {both}");
        }
    }
}
