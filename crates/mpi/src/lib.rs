//! Ranks of a simulation that reach each other by MPI.
//!
//! [`join`] gives the exchange of this process, if it was started as one of several. A window takes two calls: one in which
//! all tell each other how long their letters are and what they have to say besides, and one for the letters, if there are
//! any.
//!
//! **What this crate must never know:** what is being simulated.
//!
//! **The invariant it keeps:** without the feature `mpi` nothing of MPI is built, and a process that was started alone
//! makes no call of it.

#[cfg(feature = "mpi")]
mod world;

use tailback_engine::Exchange;

/// Why a process cannot take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinError {
    /// It was built without the feature `mpi`.
    Without,
    /// The MPI of this machine cannot be used by several threads one after the other.
    Threads,
}

/// What starters of several processes tell each of them: how many there are. Of all MPIs in use, one does.
pub const SIZES: [&str; 4] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "TAILBACK_MPI"];

/// The exchange with the other processes, if there are others: `variable` gives what the environment says of a name.
///
/// # Errors
/// When there are others, and they cannot be reached.
pub fn join(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Box<dyn Exchange>>, JoinError> {
    let several = |name: &&str| variable(name).and_then(|text| text.trim().parse::<u32>().ok()).is_some_and(|n| n > 1);
    if !SIZES.iter().any(several) {
        return Ok(None);
    }
    reach()
}

#[cfg(feature = "mpi")]
fn reach() -> Result<Option<Box<dyn Exchange>>, JoinError> {
    let world = world::World::join()?;
    Ok((world.ranks() > 1).then(|| Box::new(world) as Box<dyn Exchange>))
}

#[cfg(not(feature = "mpi"))]
fn reach() -> Result<Option<Box<dyn Exchange>>, JoinError> {
    Err(JoinError::Without)
}

/// Ends all processes at once, of which this one has said why.
pub fn abort(code: i32) -> ! {
    #[cfg(feature = "mpi")]
    world::abort(code);
    #[cfg(not(feature = "mpi"))]
    std::process::exit(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_alone_joins_nobody() {
        assert!(join(|_| None).is_ok_and(|exchange| exchange.is_none()));
        assert!(join(|name| (name == SIZES[0]).then(|| "1".to_owned())).is_ok_and(|exchange| exchange.is_none()));
    }

    #[cfg(not(feature = "mpi"))]
    #[test]
    fn several_need_the_feature() {
        assert_eq!(join(|_| Some("2".to_owned())).err(), Some(JoinError::Without));
    }
}
