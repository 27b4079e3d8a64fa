//! Counters for those who run the server, in the text format of Prometheus.

mod exposition;
mod histogram;
mod memory;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tonic::Code;

use crate::domain::State;
use exposition::{Exposition, labels};
use histogram::{Histogram, Time};
use memory::Attempts;

pub(crate) use memory::MemoryUsed;

/// What is counted since the server was started.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    created: AtomicU64,
    ended: Mutex<BTreeMap<&'static str, u64>>,
    /// By method and code. Names of methods live as long as the program: nobody can have more of them counted.
    calls: Mutex<BTreeMap<(&'static str, String), u64>>,
    failed_attempts: AtomicU64,
    workers_started: AtomicU64,
    checkpoints: AtomicU64,
    checkpoint_bytes: AtomicU64,
    checkpoint_us: AtomicU64,
    samples: AtomicU64,
    streams: AtomicU64,
    turned_away: AtomicU64,
    not_let_in: AtomicU64,
    waiting: Histogram<Time>,
    attempts: Attempts,
}

/// What is the case now.
#[derive(Clone, Debug)]
pub(crate) struct Gauges {
    pub stopping: bool,
    /// Connections of each port.
    pub connections: [(&'static str, u32); 2],
    /// Bytes of memory that are reserved for runs, and that may be.
    pub memory: (u64, u64),
    /// What the disk and the database say; nothing if they do not answer.
    pub stored: Option<StoredGauges>,
}

/// What takes a look at the disk and the database.
#[derive(Clone, Debug)]
pub(crate) struct StoredGauges {
    pub runs: Vec<(State, u64)>,
    pub disk_free_bytes: u64,
    pub database_bytes: u64,
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

    /// A call was answered.
    pub(crate) fn call(&self, method: &'static str, code: Code) {
        let key = (method, format!("{code:?}"));
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
    }

    /// An attempt to carry out a run has failed.
    pub(crate) fn attempt_failed(&self) {
        self.failed_attempts.fetch_add(1, Ordering::Relaxed);
    }

    /// A process was started to carry out runs.
    pub(crate) fn worker_started(&self) {
        self.workers_started.fetch_add(1, Ordering::Relaxed);
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

    /// A run is simulated, for the first time, so long after it was accepted.
    pub(crate) fn waited(&self, time: Duration) {
        self.waiting.count_time(time);
    }

    /// All of it as text.
    pub(crate) fn text(&self, gauges: &Gauges) -> String {
        let mut text = Exposition::default();
        self.write_gauges(&mut text, gauges);
        self.write_counters(&mut text);
        text.text()
    }

    fn write_gauges(&self, text: &mut Exposition, gauges: &Gauges) {
        let Gauges { stopping, connections, memory: (reserved, allowed), stored } = gauges;
        text.one("stopping", "gauge", "Whether the server stops.", f64::from(u8::from(*stopping)));
        let connections = connections.map(|(port, count)| (labels(&[("port", port)]), count.into()));
        text.family("connections_open", "gauge", "Connections, by the port that they were made to.", connections);
        text.one("streams_open", "gauge", "Streams and waiting calls.", number(&self.streams));
        let in_use = self.attempts.in_use();
        let together: u64 = in_use.values().sum();
        text.one("memory_used_bytes", "gauge", "Memory that workers have in use.", together as f64);
        let of_runs = in_use.iter().map(|(run, bytes)| (labels(&[("run", run)]), *bytes as f64));
        let help = "Memory in use by each run that is simulated now; those that are not for everybody together, without a name.";
        text.family("run_memory_used_bytes", "gauge", help, of_runs);
        text.one("memory_reserved_bytes", "gauge", "Memory that runs being simulated may have.", *reserved as f64);
        text.one("memory_limit_bytes", "gauge", "Memory that may be reserved: memory_bytes_max.", *allowed as f64);
        let Some(StoredGauges { runs, disk_free_bytes, database_bytes }) = stored else { return };
        let runs = runs.iter().map(|(state, count)| (labels(&[("state", state.word())]), *count as f64));
        text.family("runs", "gauge", "Runs that are kept, sweeps and their runs too, by state.", runs);
        text.one("disk_free_bytes", "gauge", "Room on the disk of the data directory.", *disk_free_bytes as f64);
        text.one("database_size_bytes", "gauge", "Size of the database with its log.", *database_bytes as f64);
    }

    fn write_counters(&self, text: &mut Exposition) {
        let mut count = |name: &str, help: &str, counter| text.one(name, "counter", help, number(counter));
        count("connections_turned_away_total", "Connections beyond those allowed.", &self.turned_away);
        count("calls_not_let_in_total", "Calls without a good token or certificate.", &self.not_let_in);
        count("runs_created_total", "Runs that were accepted.", &self.created);
        count("attempts_failed_total", "Attempts to carry out runs that failed.", &self.failed_attempts);
        count("workers_started_total", "Processes that were started to carry out runs.", &self.workers_started);
        count("samples_total", "Metric samples that were taken.", &self.samples);
        count("checkpoints_total", "Checkpoints that were written.", &self.checkpoints);
        count("checkpoint_bytes_total", "Bytes of their states.", &self.checkpoint_bytes);
        let seconds = number(&self.checkpoint_us) / 1e6;
        text.one("checkpoint_seconds_total", "counter", "Seconds that writing them took.", seconds);
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ended = ended.iter().map(|(state, count)| (labels(&[("state", state)]), *count as f64));
        text.family("runs_ended_total", "counter", "Runs that reached a last state.", ended);
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let calls =
            calls.iter().map(|((method, code), count)| (labels(&[("method", method), ("code", code)]), *count as f64));
        text.family("calls_total", "counter", "Calls by method and code.", calls);
        let help = "Time from accepting a run until it is simulated the first time.";
        text.histogram("run_waiting_seconds", help, &self.waiting.counted());
        let help = "The most memory that each attempt had in use that is over.";
        text.histogram("attempt_memory_peak_bytes", help, &self.attempts.peaks());
    }
}

fn number(counter: &AtomicU64) -> f64 {
    counter.load(Ordering::Relaxed) as f64
}
