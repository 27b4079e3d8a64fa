//! The service under load: 200 watchers of 20 runs while 500 submissions arrive, the same without anybody watching, and
//! 10,000 finished runs by pages.
//!
//! Numbers of events must ascend and each run must be seen to end by each of its watchers; that is checked. How long
//! things take is printed. `cargo bench -p tailback-benches --bench service-load` takes about a minute; as a test it
//! does the same with a tenth of everything.

use std::time::{Duration, Instant};

use tailback_api::v1::run_service_client::RunServiceClient;
use tailback_api::v1::watch_run_response::Event;
use tailback_api::v1::{CreateRunRequest, ListRunsRequest, RunState, Scenario, WaitRunRequest, WatchRunRequest};
use tailback_service::{Configuration, Limits, Server};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tonic::transport::Channel;

type Client = RunServiceClient<Channel>;

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

fn request(id: &str, cycles: u32) -> CreateRunRequest {
    let document = format!(
        "routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n[[traffic]]\nload = 0.3\n\
         [measure]\nwarmup = 100\ncycles = {cycles}\n"
    );
    let scenario = Scenario { name: "load.toml".to_owned(), document, overrides: Vec::new() };
    CreateRunRequest { run_id: id.to_owned(), scenario: Some(scenario), ..CreateRunRequest::default() }
}

async fn create(client: &mut Client, request: CreateRunRequest) {
    client.create_run(request).await.expect("it is accepted");
}

async fn wait(client: &mut Client, id: String) {
    let ended = client.wait_run(WaitRunRequest { run_id: id, timeout: None }).await.expect("it can be waited for");
    assert_eq!(ended.into_inner().run.expect("there is a run").state(), RunState::Succeeded);
}

/// Watches a run to its end; gives how many events it saw.
async fn watch(mut client: Client, id: String) -> usize {
    let request = WatchRunRequest { run_id: id, ..WatchRunRequest::default() };
    let mut events = client.watch_run(request).await.expect("it can be watched").into_inner();
    let (mut last, mut states, mut seen) = (0, Vec::new(), 0);
    while let Some(event) = events.message().await.expect("the stream goes on") {
        seen += 1;
        if let Some(Event::Heartbeat(_)) = event.event {
            continue;
        }
        assert!(event.sequence > last, "event {} came after {last}", event.sequence);
        last = event.sequence;
        if let Some(Event::StateChanged(run)) = event.event {
            states.push(run.state());
        }
    }
    assert_eq!(states, [RunState::Pending, RunState::Running, RunState::Succeeded]);
    seen
}

/// Simulates all runs, with this many watchers for each and submissions meanwhile; gives how long the runs took, the
/// events that were seen, and how long each submission took.
async fn simulate(client: &Client, name: &str, load: Load, watchers: u32) -> (Duration, usize, Vec<Duration>) {
    let began = Instant::now();
    let mut watching = JoinSet::new();
    for run in 0..load.runs {
        let id = format!("{name}-{run}");
        create(&mut client.clone(), request(&id, load.cycles)).await;
        (0..watchers).for_each(|_| drop(watching.spawn(watch(client.clone(), id.clone()))));
    }
    let mut took = Vec::new();
    for index in 0..load.submissions {
        let asked = Instant::now();
        create(&mut client.clone(), request(&format!("{name}-more-{index}"), 1)).await;
        took.push(asked.elapsed());
    }
    for run in 0..load.runs {
        wait(&mut client.clone(), format!("{name}-{run}")).await;
    }
    let elapsed = began.elapsed();
    let seen = watching.join_all().await.into_iter().sum();
    (elapsed, seen, took)
}

/// Runs that do next to nothing, many at a time; then all of them by pages. Gives how long the slowest page took.
async fn pages(client: &Client, load: Load) -> Duration {
    let mut creating = JoinSet::new();
    for worker in 0..16 {
        let mut client = client.clone();
        creating.spawn(async move {
            for index in (worker..load.finished).step_by(16) {
                create(&mut client, request(&format!("finished-{index}"), 1)).await;
                if index % 64 == worker % 64 {
                    wait(&mut client, format!("finished-{index}")).await;
                }
            }
        });
    }
    creating.join_all().await;
    let (mut slowest, mut found) = (Duration::ZERO, 0);
    let mut request = ListRunsRequest { page_size: 100, ..ListRunsRequest::default() };
    loop {
        let asked = Instant::now();
        let page = client.clone().list_runs(request.clone()).await.expect("it can be listed").into_inner();
        slowest = slowest.max(asked.elapsed());
        found += page.runs.len();
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    assert!(found >= load.finished as usize);
    slowest
}

async fn all(load: Load) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let limits = Limits { sample_interval_ms: 100, queue_max: 100_000, ..Limits::default() };
    let configuration = Configuration { limits, ..Configuration::local(folder.path().to_owned(), "load") };
    let server = Server::bind(configuration).await.expect("it can be started");
    let url = format!("http://{}", server.address());
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(async { stopped.await.unwrap_or(()) }));
    let channel = Channel::from_shared(url).expect("an address").connect().await.expect("somebody listens");
    let client = RunServiceClient::new(channel);
    let (alone, _, _) = simulate(&client, "alone", load, 0).await;
    let (watched, seen, mut took) = simulate(&client, "watched", load, load.watchers / load.runs).await;
    took.sort();
    let quantile = |q: f64| took[((took.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e3;
    println!("{} runs that nobody watches: {:.2} s", load.runs, alone.as_secs_f64());
    println!("{} runs with {} watchers: {:.2} s, {seen} events", load.runs, load.watchers, watched.as_secs_f64());
    let [half, most] = [0.5, 0.99].map(quantile);
    println!("{} submissions meanwhile: half within {half:.1} ms, 99 % within {most:.1} ms", load.submissions);
    let slowest = pages(&client, load).await;
    println!("{} runs by pages of 100: the slowest in {:.1} ms", load.finished, slowest.as_secs_f64() * 1e3);
    drop(stop);
    serving.await.expect("it ends").expect("it serves");
}

fn main() {
    // Cargo says so when it is a benchmark that is wanted.
    let whole = std::env::args().any(|argument| argument == "--bench");
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    runtime.block_on(all(if whole { WHOLE } else { PART }));
}
