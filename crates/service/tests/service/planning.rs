//! What a server says beforehand of the memory that a run takes, and refuses because of it.

use tailback_api::v1::{CreateRunRequest, Plan, ValidateScenarioRequest};
use tailback_service::Limits;
use tonic::Code;

use crate::harness::{Client, SMALL, Served, limits, reason, request};

/// Days of simulation.
const CYCLES: u64 = 2_000_000_000;

/// A long run that measures `what` besides.
fn long(what: &str) -> String {
    SMALL.replace("cycles = 400", &format!("cycles = {CYCLES}\n{what}"))
}

async fn plan(client: &mut Client, document: &str) -> Plan {
    let asked = ValidateScenarioRequest { scenario: request(document).scenario, sweep: None };
    let answer = client.scenarios.validate_scenario(asked).await.expect("it can be checked").into_inner();
    answer.plan.unwrap_or_else(|| panic!("{document}\nis refused: {:?}", answer.diagnostics))
}

/// A server whose runs may take a TiB.
async fn generous() -> Served {
    Served::with(Limits { memory_bytes_max: 1 << 40, ..limits() }).await
}

#[tokio::test]
async fn a_time_series_is_part_of_the_plan_and_refused_if_it_is_too_long() {
    let server = generous().await;
    let mut client = server.client().await;
    let plain = plan(&mut client, &long("")).await.memory_bytes;
    let rare = plan(&mut client, &long("series = 1000000")).await.memory_bytes;
    let series = plan(&mut client, &long("series = 1")).await.memory_bytes;
    assert!(plain < 64 << 20, "the network is small: {plain} bytes");
    assert!(rare < 64 << 20, "2,000 rows are few: {rare} bytes");
    // A row has more than ten columns of eight bytes each.
    assert!(series > CYCLES * 80, "{series} bytes");
    for validate_only in [true, false] {
        let asked = CreateRunRequest { validate_only, ..request(&long("series = 1")) };
        let refused = client.create(asked).await.expect_err("it takes more than a TiB");
        let (why, about) = reason(&refused);
        assert_eq!((refused.code(), why.as_str()), (Code::ResourceExhausted, "LIMIT_EXCEEDED"));
        assert_eq!((about["limit"].as_str(), &about["asked"]), ("memory_bytes_max", &series.to_string()));
    }
    let asked = CreateRunRequest { validate_only: true, ..request(&long("series = 1000000")) };
    client.create(asked).await.expect("it takes little");
    server.stop().await;
}

/// A network of 72 nodes with so many flows of its own, of which each ends or not.
fn flows(count: usize, end: &str) -> String {
    let flow = |index| format!("[[traffic]]\nname = \"f{index}\"\nload = 0.001\n{end}\n");
    let flows: String = (0..count).map(flow).collect();
    long("").replace("[[traffic]]\nload = 0.3\n", &flows)
}

#[tokio::test]
async fn histograms_of_each_flow_are_part_of_the_plan() {
    let server = generous().await;
    let mut client = server.client().await;
    let mut of = [0; 4];
    for (index, (count, end)) in [(1, ""), (101, ""), (1, "count = 1"), (101, "count = 1")].into_iter().enumerate() {
        of[index] = plan(&mut client, &flows(count, end)).await.memory_bytes;
    }
    let [one, many, one_ending, many_ending] = of;
    // Latencies up to the length of the run take some thousand buckets of eight bytes, for messages and for packets.
    assert!(many - one > 100 * 2 * 1000 * 8, "{one} and {many} bytes");
    // Of flows that end, times until messages are complete and slowdowns besides.
    assert!(many_ending - one_ending > 2 * (many - one), "{one_ending} and {many_ending} bytes");
    server.stop().await;
}

#[tokio::test]
async fn queues_at_sources_are_told_and_that_nothing_bounds_them() {
    let server = generous().await;
    let mut client = server.client().await;
    let unlimited = plan(&mut client, &long("")).await;
    let limited = plan(&mut client, &format!("{}\n[nic]\nqueue_limit = 10\n", long(""))).await;
    let short = plan(&mut client, SMALL).await;
    // The messages of the whole run, some forty bytes each, of eight flits.
    let offered = 72 * CYCLES * 3 / 10 / 8;
    assert!(!unlimited.backlog_limited && !short.backlog_limited, "only their length bounds them");
    assert!(unlimited.backlog_bytes_max > offered * 32, "{} bytes", unlimited.backlog_bytes_max);
    assert!(short.backlog_bytes_max < unlimited.backlog_bytes_max / 1_000_000);
    assert!(limited.backlog_limited, "ten messages of each node wait at most");
    let dropping = format!("protocol = \"srp\"\n{}\n[nic]\nqueue_limit = 10\n", long(""));
    assert!(!plan(&mut client, &dropping).await.backlog_limited, "copies of what is dropped are kept beside them");
    assert!((72 * 10 * 32..72 * 10 * 100).contains(&limited.backlog_bytes_max), "{} bytes", limited.backlog_bytes_max);
    server.stop().await;
}
