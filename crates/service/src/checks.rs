//! Checks of scenarios: several modest ones at once, and of large ones one at a time.
//!
//! How much memory a check takes is known by what the scenario asks for, which is counted before it is done. So each is made
//! as a modest one, if it is not too long for that; one that asks for more ends there, and is made again as a large one.
//!
//! **The invariant it keeps:** all checks together take no more memory than one large one and `checks_max` modest ones do,
//! and the texts that wait.

use std::io;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::allocator;
use crate::allowance::Allowance;
use crate::api_error::{ApiError, Limit};
use crate::limits::Limits;
use crate::pool::{Place, Pool, Stop};

/// Bytes of scenarios that are checked or wait for that. What clients send is counted already, but may be compressed.
const BYTES_MAX: usize = 24 << 20;

/// Where scenarios are checked.
pub(crate) struct Checks {
    /// A permit for each byte of [`BYTES_MAX`].
    bytes: Semaphore,
    modest: Pool,
    large: Pool,
    limits: Arc<Limits>,
}

/// What a check has found. As long as that of a large one is not put away, no other large one is made.
#[derive(Debug)]
pub(crate) struct Found<T> {
    pub result: T,
    pub place: Option<Place>,
}

impl Checks {
    /// # Errors
    /// When threads cannot be started.
    pub(crate) fn start(limits: Arc<Limits>) -> io::Result<Self> {
        let pool = |at_once| Pool::start("checks", "checks_max", at_once);
        Ok(Self { bytes: Semaphore::new(BYTES_MAX), modest: pool(limits.checks_max)?, large: pool(1)?, limits })
    }

    /// Checks a scenario of so many bytes by `work`, which is told what the scenario may ask for. It may be called twice. One that
    /// names files is a large one: how much memory they take is not known before they are read.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        (bytes, names_files): (usize, bool),
        work: impl Fn(&Allowance, &Stop) -> Result<T, ApiError> + Clone + Send + 'static,
    ) -> Result<Found<T>, ApiError> {
        let (what, limit) = ("bytes of scenarios to be checked", "checks_max");
        let full = ApiError::TooManyStreams { what, limit, allowed: BYTES_MAX as u64 };
        let wanted = u32::try_from(bytes).map_err(|_| full.clone())?;
        let _held = self.bytes.try_acquire_many(wanted).map_err(|_| full)?;
        let (modest, allowed) = (Allowance::modest(&self.limits), Allowance::of(&self.limits));
        let longest = self.limits.check_time();
        if bytes <= modest.scenario_bytes && !names_files {
            let work = work.clone();
            match self.modest.run(longest, move |stop| work(&modest, stop)).await {
                Err(refused) if asks_for_much(&refused) => {}
                result => return result.map(|result| Found { result, place: None }),
            }
        }
        let work = move |stop: &Stop| {
            let result = work(&allowed, stop);
            allocator::give_back();
            result
        };
        let (result, place) = self.large.run_and_hold(longest, work).await?;
        Ok(Found { result, place: Some(place) })
    }
}

/// Whether a scenario was refused because it asks for more than it was allowed to.
fn asks_for_much(refused: &ApiError) -> bool {
    use Limit::{GroupPairs, ListedNodes, Nodes, ScenarioBytes, SweepRuns};
    match refused {
        ApiError::LimitExceeded { limit, .. } => {
            matches!(limit, Nodes | ListedNodes | GroupPairs | ScenarioBytes | SweepRuns)
        }
        ApiError::InvalidScenario(refused) => refused.excess.is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Checks {
        Checks::start(Arc::new(Limits { checks_max: 1, ..Limits::default() })).expect("threads can be started")
    }

    /// A check of a scenario with so many nodes; gives how many it was allowed.
    fn of_nodes(asked: u64) -> impl Fn(&Allowance, &Stop) -> Result<u64, ApiError> + Clone + Send + 'static {
        move |allowed, _| {
            Limits::check(Limit::Nodes, asked, allowed.bounds.nodes)?;
            Ok(allowed.bounds.nodes)
        }
    }

    #[tokio::test]
    async fn what_asks_for_much_is_checked_again_and_one_at_a_time() {
        let checks = checks();
        let modest = checks.run((10, false), of_nodes(100)).await.expect("it is allowed");
        assert!(modest.result < 1_000_000 && modest.place.is_none());
        let large = checks.run((10, false), of_nodes(1_000_000)).await.expect("it is allowed");
        assert_eq!(large.result, 2_000_000);
        // While it is not put away, modest ones go on.
        assert!(checks.run((10, false), of_nodes(100)).await.is_ok());
        let next = checks.run((10, false), of_nodes(1_000_000));
        tokio::pin!(next);
        tokio::select! {
            biased;
            _ = &mut next => panic!("there is no place for another large one"),
            modest = checks.run((10, false), of_nodes(100)) => assert!(modest.is_ok()),
        }
        drop(large);
        assert!(next.await.is_ok());
        let refused = checks.run((10, false), of_nodes(3_000_000)).await.expect_err("that is too much");
        assert_eq!(refused, ApiError::LimitExceeded { limit: Limit::Nodes, allowed: 2_000_000, asked: 3_000_000 });
    }

    #[tokio::test]
    async fn long_texts_are_large_and_so_many_bytes_wait_and_no_more() {
        let checks = checks();
        assert_eq!(checks.run((1 << 20, false), of_nodes(100)).await.expect("it is allowed").result, 2_000_000);
        let _waiting = checks.bytes.try_acquire_many(BYTES_MAX as u32 - 1000).expect("they are free");
        let refused = checks.run((1001, false), of_nodes(100)).await.expect_err("there is no room");
        assert!(matches!(refused, ApiError::TooManyStreams { limit: "checks_max", .. }), "{refused}");
        assert!(checks.run((1000, false), of_nodes(100)).await.is_ok());
    }
}
