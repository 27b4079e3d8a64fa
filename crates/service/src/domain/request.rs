//! What clients ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::run::is_default;
use super::{Execution, ScenarioSource, State, SweepRequest, shared};
use crate::access::hexadecimal;

/// Asks for a run to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RunRequest {
    /// What makes repeated requests one; empty for none.
    pub request_id: String,
    /// The name of the run; empty to be given one.
    pub run_id: String,
    /// Does all checks and creates nothing.
    pub validate_only: bool,
    pub scenario: Option<ScenarioSource>,
    pub execution: Execution,
    pub sweep: Option<SweepRequest>,
    #[serde(serialize_with = "shared::serialize")]
    pub labels: Arc<BTreeMap<String, String>>,
    /// Whether results that are there already may do. Like what follows, left out where it is not so: requests of before
    /// there was any have the same fingerprint.
    #[serde(skip_serializing_if = "is_default")]
    pub reuse: bool,
    /// Whether only its owner and admins may see the run.
    #[serde(skip_serializing_if = "is_default")]
    pub private: bool,
    /// The project whose the run is; empty for none.
    #[serde(skip_serializing_if = "is_default")]
    pub project: String,
}

impl RunRequest {
    /// Equal for requests that ask for the same. It is kept for as long as the run is, so it must not change from one
    /// version of the program to the next.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(self)
    }
}

/// Asks for a run that has no results to be simulated again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RetryRequest {
    /// What makes repeated requests one; empty for none.
    pub request_id: String,
    /// The run.
    #[serde(rename = "retry")]
    pub run_id: String,
}

impl RetryRequest {
    /// Equal for requests that ask for the same, and that of no request for a new run.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(self)
    }
}

fn fingerprint(request: &impl Serialize) -> String {
    hexadecimal(&Sha256::digest(serde_json::to_vec(request).expect("plain data")))
}

/// Which runs are to be listed: those for which all of it is true.
#[derive(Debug)]
pub(crate) struct RunFilter {
    /// In one of these states, whichever if there is no list.
    pub states: Option<Vec<State>>,
    /// With all of these labels.
    pub labels: BTreeMap<String, String>,
    /// With digests that begin so.
    pub scenario_digest: String,
    pub result_digest: String,
    /// Of this owner; of any if it is empty.
    pub owner: String,
    /// Of this project; of any, or of none, if it is empty.
    pub project: String,
    /// Of this sweep; of none if it is empty.
    pub parent_id: String,
}

/// A part of a list.
#[derive(Debug)]
pub(crate) struct Page {
    /// How many to give at most; 0 for as many as the server likes.
    pub size: u32,
    /// Where to go on; empty for the start.
    pub token: String,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn fingerprints_stay_what_they_were() {
        let scenario = ScenarioSource { document: "[traffic]".into(), ..ScenarioSource::default() };
        let execution =
            Execution { threads: Some(2), wall_time_max: Some(Duration::from_secs(9)), ..Execution::default() };
        let sweep = SweepRequest { over: vec!["seed=1,2".to_owned()], ..SweepRequest::default() };
        let labels = Arc::new(BTreeMap::from([("paper".to_owned(), "lhrp".to_owned())]));
        let (scenario, sweep) = (Some(scenario), Some(sweep));
        let request =
            RunRequest { run_id: "a".to_owned(), scenario, execution, sweep, labels, ..RunRequest::default() };
        assert_eq!(request.fingerprint(), "f473772c30701e7b0c880d828c122d7a8a8662f32af10c2381376bcf05589e53");
        let changes: [fn(&mut RunRequest); 4] = [
            |other| other.reuse = true,
            |other| other.private = true,
            |other| other.project = "fabric".to_owned(),
            |other| other.run_id = "b".to_owned(),
        ];
        for change in changes {
            let mut other = request.clone();
            change(&mut other);
            assert_ne!(other.fingerprint(), request.fingerprint(), "{other:?}");
        }
    }
}
