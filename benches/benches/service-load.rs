//! The service under load: 200 watchers of 20 runs while 500 submissions arrive, the same without anybody watching, and
//! 10,000 finished runs by pages.
//!
//! Each watcher must be told all that is kept of its run, in order; that is checked. How long things take is printed, and
//! what processor time the simulations took, which tells on a busy machine too whether watchers slow them down.
//! `cargo bench -p tailback-benches --bench service-load` takes about a minute; as a test it does the same with a tenth of
//! everything.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use tailback_api::v1::result_service_client::ResultServiceClient;
use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{
    CreateRunRequest, GetReportRequest, ListRunsRequest, RunState, Scenario, WaitRunRequest, WatchRunRequest,
};
use tailback_benches::served::{Served, is_whole, is_worker};
use tailback_report::Report;
use tailback_service::Limits;
use tokio::task::JoinSet;
use tonic::transport::Channel;

/// How much of everything.
#[derive(Clone, Copy)]
struct Load {
    runs: u32,
    watchers: u32,
    submissions: u32,
    finished: u32,
    cycles: u32,
}

const WHOLE: Load = Load { runs: 20, watchers: 200, submissions: 500, finished: 10_000, cycles: 400_000 };
const PART: Load = Load { runs: 2, watchers: 20, submissions: 50, finished: 100, cycles: 20_000 };

/// From one submission to the next.
const SUBMIT_EVERY: Duration = Duration::from_millis(20);

/// A client of the services.
#[derive(Clone)]
struct Client {
    runs: RunServiceClient<Channel>,
    results: ResultServiceClient<Channel>,
}

/// What a watcher was told.
#[derive(Default)]
struct Told {
    events: usize,
    samples: usize,
    out_of_order: usize,
    /// The numbers of what is kept.
    kept: BTreeSet<i64>,
}

/// What came of simulating all runs.
struct Simulated {
    /// From the first creation to the last end.
    elapsed: Duration,
    /// Processor time of everything: simulations, server and clients.
    processor: Duration,
    /// Processor time of the simulations that are watched, or not.
    engine_processor_s: f64,
    /// Wall time of the same.
    engine_wall_s: f64,
    /// Of each submission, ascending.
    submissions: Vec<Duration>,
    events: usize,
    samples: usize,
    lost: usize,
    out_of_order: usize,
}

fn request(id: &str, cycles: u32) -> CreateRunRequest {
    let document = format!(
        "routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n[[traffic]]\nload = 0.3\n\
         [measure]\nwarmup = 100\ncycles = {cycles}\n"
    );
    let scenario = Scenario { name: "load.toml".to_owned(), document, ..Scenario::default() };
    CreateRunRequest { run_id: id.to_owned(), scenario: Some(scenario), ..CreateRunRequest::default() }
}

impl Client {
    async fn create(&mut self, request: CreateRunRequest) {
        self.runs.create_run(request).await.expect("it is accepted");
    }

    async fn wait(&mut self, id: String) {
        let ended = self.runs.wait_run(WaitRunRequest { run_id: id, timeout: None }).await;
        let run = ended.expect("it can be waited for").into_inner().run.expect("there is a run");
        assert_eq!(run.state(), RunState::Succeeded);
    }

    /// Watches a run to its end.
    async fn watch(mut self, id: String) -> Told {
        let request = WatchRunRequest { run_id: id, ..WatchRunRequest::default() };
        let mut events = self.runs.watch_run(request).await.expect("it can be watched").into_inner();
        let (mut told, mut last) = (Told::default(), 0);
        while let Some(event) = events.message().await.expect("the stream goes on") {
            if let Some(Event::Heartbeat(_)) = event.event {
                continue;
            }
            told.events += 1;
            told.out_of_order += usize::from(event.sequence <= last);
            last = event.sequence;
            match event.event {
                Some(Event::Sample(_)) => told.samples += 1,
                _ => drop(told.kept.insert(event.sequence)),
            }
        }
        told
    }

    /// Processor and wall time that simulating took.
    async fn engine_time(&mut self, id: String) -> (f64, f64) {
        let report = self.results.get_report(GetReportRequest { run_id: id }).await.expect("there is one");
        let report = Report::read_json(report.into_inner().json.as_bytes()).expect("it can be read");
        (report.performance.cpu_s, report.performance.wall_s)
    }
}

/// Simulates all runs, with this many watchers for each and submissions meanwhile.
async fn simulate(client: &mut Client, name: &str, load: Load, watchers: u32) -> Simulated {
    let (began, processor) = (Instant::now(), ProcessTime::now());
    let ids: Vec<String> = (0..load.runs).map(|run| format!("{name}-{run}")).collect();
    let mut watching = JoinSet::new();
    for (run, id) in ids.iter().enumerate() {
        client.create(request(id, load.cycles)).await;
        for _ in 0..watchers {
            let watch = client.clone().watch(id.clone());
            watching.spawn(async move { (run, watch.await) });
        }
    }
    let submissions = submit(client, name, load.submissions).await;
    for id in &ids {
        client.wait(id.clone()).await;
    }
    let all = watching.join_all().await;
    let (elapsed, processor) = (began.elapsed(), processor.elapsed());
    let mut simulated = Simulated {
        elapsed,
        processor,
        engine_processor_s: 0.0,
        engine_wall_s: 0.0,
        submissions,
        events: all.iter().map(|(_, told)| told.events).sum(),
        samples: all.iter().map(|(_, told)| told.samples).sum(),
        lost: 0,
        out_of_order: all.iter().map(|(_, told)| told.out_of_order).sum(),
    };
    for (run, id) in ids.into_iter().enumerate() {
        let (processor_s, wall_s) = client.engine_time(id.clone()).await;
        simulated.engine_processor_s += processor_s;
        simulated.engine_wall_s += wall_s;
        let kept = client.clone().watch(id).await.kept;
        assert!(kept.len() >= 3, "three states at least are kept");
        let own = all.iter().filter(|(watched, _)| *watched == run);
        simulated.lost += own.map(|(_, told)| kept.difference(&told.kept).count()).sum::<usize>();
    }
    simulated
}

/// Submits runs, one at each tick of a clock, whether those before have been answered or not; gives how long after its
/// tick each was answered, ascending.
async fn submit(client: &Client, name: &str, count: u32) -> Vec<Duration> {
    let began = tokio::time::Instant::now();
    let mut submitting = JoinSet::new();
    for index in 0..count {
        let (mut client, tick) = (client.clone(), began + SUBMIT_EVERY * index);
        let request = request(&format!("{name}-more-{index}"), 1);
        submitting.spawn(async move {
            tokio::time::sleep_until(tick).await;
            client.create(request).await;
            tick.elapsed()
        });
    }
    let mut took = submitting.join_all().await;
    took.sort();
    took
}

impl Simulated {
    fn print(&self, load: Load, watchers: u32) {
        println!("{} runs with {watchers} watchers, {} submissions meanwhile:", load.runs, load.submissions);
        let quantile = |q: f64| self.submissions[((self.submissions.len() - 1) as f64 * q) as usize];
        let [half, most] = [0.5, 0.99].map(|q| quantile(q).as_secs_f64() * 1e3);
        let slowest = quantile(1.0).as_secs_f64() * 1e3;
        println!("  submissions: p50 {half:.1} ms, p99 {most:.1} ms, the slowest {slowest:.1} ms");
        println!(
            "  events: {} delivered ({} of them samples), {} lost, {} out of order",
            self.events, self.samples, self.lost, self.out_of_order
        );
        println!(
            "  engine: {:.2} s of processor time, {:.2} s of wall time",
            self.engine_processor_s, self.engine_wall_s
        );
        let (elapsed, processor) = (self.elapsed.as_secs_f64(), self.processor.as_secs_f64());
        println!("  all: {elapsed:.2} s, {processor:.2} s of processor time");
    }
}

/// Runs that do next to nothing, many at a time; then all of them by pages. Gives how long the slowest page took.
async fn pages(client: &Client, load: Load) -> Duration {
    let mut creating = JoinSet::new();
    for worker in 0..16 {
        let mut client = client.clone();
        creating.spawn(async move {
            for index in (worker..load.finished).step_by(16) {
                client.create(request(&format!("finished-{index}"), 1)).await;
            }
            for index in (worker..load.finished).step_by(16) {
                client.wait(format!("finished-{index}")).await;
            }
        });
    }
    creating.join_all().await;
    let (mut slowest, mut found) = (Duration::ZERO, 0);
    let states = vec![RunState::Succeeded.into()];
    let mut request = ListRunsRequest { page_size: 100, states, ..ListRunsRequest::default() };
    loop {
        let asked = Instant::now();
        let page = client.clone().runs.list_runs(request.clone()).await.expect("it can be listed").into_inner();
        slowest = slowest.max(asked.elapsed());
        found += page.runs.len();
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert!(found >= load.finished as usize, "{found} runs were listed");
    slowest
}

async fn all(load: Load) {
    let limits = Limits { sample_interval_ms: 100, queue_max: 100_000, ..Limits::default() };
    let server = Served::start(limits).await;
    let channel = server.channel().await;
    let mut client =
        Client { runs: RunServiceClient::new(channel.clone()), results: ResultServiceClient::new(channel) };
    let alone = simulate(&mut client, "alone", load, 0).await;
    alone.print(load, 0);
    let watched = simulate(&mut client, "watched", load, load.watchers / load.runs).await;
    watched.print(load, load.watchers);
    let slower = |with: f64, without: f64| (with / without - 1.0) * 100.0;
    println!(
        "watchers slow the engine by {:.1} % of processor time, {:.1} % of wall time",
        slower(watched.engine_processor_s, alone.engine_processor_s),
        slower(watched.engine_wall_s, alone.engine_wall_s),
    );
    assert_eq!((watched.lost, watched.out_of_order), (0, 0));
    let slowest = pages(&client, load).await;
    println!("{} finished runs by pages of 100: the slowest in {:.1} ms", load.finished, slowest.as_secs_f64() * 1e3);
    drop(client);
    server.stop().await;
}

fn main() {
    if is_worker() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(all(if is_whole() { WHOLE } else { PART }));
}
