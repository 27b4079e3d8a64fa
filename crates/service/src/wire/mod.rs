//! The edge: what clients send and get, made of [`domain`](crate::domain) types and back.
//!
//! Only `rpc` works with messages of the interface; whatever lies behind it sees what is made of them here. So the
//! interface, the inside of the service and its files can change one without the other.

mod event;
mod file;
mod request;
mod run;
mod scenario;
mod series;
mod server;
mod status;

pub(crate) use event::{event, heartbeat};
pub(crate) use file::file;
pub(crate) use request::list;
pub(crate) use run::run;
pub(crate) use scenario::{diagnostics, model, plan, summary as model_summary};
pub(crate) use series::{artifact, column};
pub(crate) use server::limits;

use std::time::Duration;

/// Milliseconds since 1970.
fn timestamp(ms: i64) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: ms.div_euclid(1000), nanos: (ms.rem_euclid(1000) * 1_000_000) as i32 }
}

fn length(length: Duration) -> prost_types::Duration {
    let seconds = i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
    prost_types::Duration { seconds, nanos: length.subsec_nanos() as i32 }
}

/// A length of time; zero for what is not one, which is refused where it matters.
fn read_length(asked: prost_types::Duration) -> Duration {
    let [seconds, nanos] = [asked.seconds, asked.nanos.into()].map(u64::try_from);
    match (seconds, nanos) {
        (Ok(seconds), Ok(nanos)) => Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanos)),
        _ => Duration::ZERO,
    }
}
