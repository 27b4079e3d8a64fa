//! Counters for those who run the server, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tonic::Code;

use crate::domain::State;

/// What is counted since the server was started.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    created: AtomicU64,
    ended: Mutex<BTreeMap<&'static str, u64>>,
    calls: Mutex<BTreeMap<(String, String), u64>>,
    failed_attempts: AtomicU64,
    checkpoints: AtomicU64,
    checkpoint_bytes: AtomicU64,
    checkpoint_us: AtomicU64,
    samples: AtomicU64,
    streams: AtomicU64,
    turned_away: AtomicU64,
    not_let_in: AtomicU64,
}

/// What is the case now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub pending: u32,
    pub running: u32,
    pub stopping: bool,
    pub connections: u32,
}

impl Meters {
    pub(crate) fn created(&self, runs: u64) {
        self.created.fetch_add(runs, Ordering::Relaxed);
    }

    /// Makes it known that runs have ended, and counts them if that succeeds. Who sees that a run has ended and then
    /// asks for the counters finds it counted: they are not told in between.
    pub(crate) fn ended<E>(&self, states: &[State], make_known: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let mut counts = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        make_known()?;
        states.iter().for_each(|state| *counts.entry(state.word()).or_default() += 1);
        Ok(())
    }

    /// A call of a method that exists was answered.
    pub(crate) fn call(&self, method: &str, code: Code) {
        let key = (method.to_owned(), format!("{code:?}"));
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
    }

    /// An attempt to carry out a run has failed.
    pub(crate) fn attempt_failed(&self) {
        self.failed_attempts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn checkpoint(&self, bytes: usize, took: Duration) {
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
        self.checkpoint_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.checkpoint_us.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    pub(crate) fn sample(&self) {
        self.samples.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stream_opened(&self) {
        self.streams.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stream_closed(&self) {
        self.streams.fetch_sub(1, Ordering::Relaxed);
    }

    /// There was no place for a connection.
    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    /// A call has shown nothing that lets it in.
    pub(crate) fn not_let_in(&self) {
        self.not_let_in.fetch_add(1, Ordering::Relaxed);
    }

    /// All of it as text.
    pub(crate) fn text(&self, gauges: &Gauges) -> String {
        let mut text = String::new();
        let mut one = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
            let _ = writeln!(text, "# HELP tailback_{name} {help}\n# TYPE tailback_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "tailback_{name}{labels} {value}");
            }
        };
        let single = |value: f64| vec![(String::new(), value)];
        let count = |counter: &AtomicU64| single(counter.load(Ordering::Relaxed) as f64);
        one("runs_pending", "gauge", "Runs that wait.", &single(gauges.pending.into()));
        one("runs_running", "gauge", "Runs that are being carried out.", &single(gauges.running.into()));
        one("stopping", "gauge", "Whether the server stops.", &single(f64::from(u8::from(gauges.stopping))));
        one("connections_open", "gauge", "Connections of clients.", &single(gauges.connections.into()));
        one("connections_turned_away_total", "counter", "Connections beyond those allowed.", &count(&self.turned_away));
        one(
            "calls_not_let_in_total",
            "counter",
            "Calls without a good token or certificate.",
            &count(&self.not_let_in),
        );
        one("streams_open", "gauge", "Streams and waiting calls.", &count(&self.streams));
        one("runs_created_total", "counter", "Runs that were accepted.", &count(&self.created));
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ended: Vec<_> =
            ended.iter().map(|(state, count)| (format!("{{state=\"{state}\"}}"), *count as f64)).collect();
        one("runs_ended_total", "counter", "Runs that reached a last state.", &ended);
        one(
            "attempts_failed_total",
            "counter",
            "Attempts to carry out runs that failed.",
            &count(&self.failed_attempts),
        );
        one("samples_total", "counter", "Metric samples that were taken.", &count(&self.samples));
        one("checkpoints_total", "counter", "Checkpoints that were written.", &count(&self.checkpoints));
        one("checkpoint_bytes_total", "counter", "Bytes of their states.", &count(&self.checkpoint_bytes));
        let seconds = self.checkpoint_us.load(Ordering::Relaxed) as f64 / 1e6;
        one("checkpoint_seconds_total", "counter", "Seconds that writing them took.", &single(seconds));
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let calls: Vec<_> = calls
            .iter()
            .map(|((method, code), count)| (format!("{{method=\"{method}\",code=\"{code}\"}}"), *count as f64))
            .collect();
        one("calls_total", "counter", "Calls by method and code.", &calls);
        text
    }
}
