//! What requests have left when nobody asks for anything any more.

use std::fs;

use tailback_api::v1::{CancelRunRequest, ListRunsRequest, RunState};

use super::Servers;
use crate::harness::{Client, Served, in_time};

/// What the allocator may do on its own account, with twice as many runs in the database.
const GROWTH_MAX: u64 = 24 << 20;

/// The connections for reading of two servers, eight each, which are opened when all others are in use: the database and its log.
const READING_MAX: usize = 2 * 8 * 2;

/// What there is of a process in which servers have nothing to do.
#[derive(Debug)]
pub struct Left {
    descriptors: usize,
    memory_bytes: u64,
}

impl Left {
    /// Ends all runs, waits until all connections, streams and workers are gone, and looks at this process.
    pub async fn by(servers: &Servers) -> Self {
        end_runs(&mut servers.open.client().await).await;
        for server in [&servers.open, &servers.guarded] {
            let connections = "connections_open{port=\"clients\"}";
            for metric in ["streams_open", connections] {
                in_time(format!("{metric} is 0"), until_none(server, metric)).await;
            }
        }
        in_time("workers end that have nothing to do", async {
            while has_children() {
                tokio::task::yield_now().await;
            }
        })
        .await;
        Self { descriptors: descriptors(), memory_bytes: memory_bytes() }
    }

    /// Compares it with what was left before.
    pub fn must_be_no_more_than(&self, before: &Self) {
        assert!(self.descriptors <= before.descriptors + READING_MAX, "{self:?}, before {before:?}");
        assert!(self.memory_bytes < before.memory_bytes + GROWTH_MAX, "{self:?}, before {before:?}");
    }
}

/// Cancels all runs that have not ended, and waits for their ends.
async fn end_runs(client: &mut Client) {
    loop {
        let states = [RunState::Pending, RunState::Running, RunState::Cancelling].map(Into::into).to_vec();
        let asked = ListRunsRequest { states, page_size: 1000, ..ListRunsRequest::default() };
        let listed = in_time("runs are listed", client.runs.list_runs(asked)).await.expect("they are");
        let found = listed.into_inner().runs;
        if found.is_empty() {
            return;
        }
        for run in found {
            let cancelled = client.runs.cancel_run(CancelRunRequest { run_id: run.id.clone() });
            // It may have ended meanwhile.
            let _ = in_time(format!("{} is cancelled", run.id), cancelled).await;
            client.ended(&run.id).await;
        }
    }
}

async fn until_none(server: &Served, metric: &str) {
    while server.metric::<f64>(metric).await > 0.0 {}
}

/// Whether this process has started any that are there.
fn has_children() -> bool {
    let own = format!("PPid:\t{}", std::process::id());
    let all = fs::read_dir("/proc").expect("the system tells of its processes").flatten();
    let mut told = all.filter_map(|process| fs::read_to_string(process.path().join("status")).ok());
    told.any(|status| status.lines().any(|line| line == own))
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("the system tells of descriptors").count()
}

fn memory_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
