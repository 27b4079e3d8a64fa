//! Requests that ask for more than there is: each is refused, with the number, and delays nobody else.

use prost::Message as _;
use tailback_api::v1::{
    CreateRunRequest, GetReportRequest, ListRunsRequest, QuerySeriesRequest, ReadArtifactRequest, RunState, Scenario,
    Sweep, ValidateScenarioRequest,
};
use tailback_service::Limits;
use tonic::{Code, Status};

use crate::harness::{Client, SMALL, Served, in_time, limit, limits, named, reason, request, violations};

fn swept(over: &[&str], seeds: u32) -> Option<Sweep> {
    Some(Sweep { over: over.iter().map(|&text| text.to_owned()).collect(), seeds, run_saturated: false })
}

/// Asks for a scenario to be checked, and for a run of it that is not to be carried out.
async fn refused(client: &mut Client, scenario: Scenario, sweep: Option<Sweep>) -> [Status; 2] {
    let asked = ValidateScenarioRequest { scenario: Some(scenario.clone()), sweep: sweep.clone() };
    let checked = in_time("a scenario is refused", client.scenarios.validate_scenario(asked)).await;
    let checked = checked.expect_err("it asks for too much");
    let asked = CreateRunRequest { scenario: Some(scenario), sweep, validate_only: true, ..request(SMALL) };
    [checked, client.create(asked).await.expect_err("it asks for too much")]
}

#[tokio::test]
async fn networks_and_sets_are_counted_first() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let tree =
        "routing = \"nearest-common-ancestor\"\n[topology.k-ary-n-tree]\nk = 128\nn = 4\n[[traffic]]\nload = 0.1\n";
    let groups = SMALL.replace("p = 2\na = 4\nh = 2\ng = 9", "p = 1\na = 128\nh = 120\ng = 15361");
    let large = SMALL.replace("p = 2\na = 4\nh = 2\ng = 9", "p = 32\na = 60\nh = 18\ng = 1041");
    let sets = format!("{large}[nodes]\ngaps = {{ outside = [3] }}\na = \"gaps\"\nb = \"gaps\"\n");
    for (document, named) in [(tree, "nodes_max"), (&groups, "group_pairs_max"), (&sets, "listed_nodes_max")] {
        for refused in refused(&mut client, request(document).scenario.expect("there is one"), None).await {
            assert_eq!((refused.code(), limit(&refused).as_str()), (Code::ResourceExhausted, named));
        }
    }
    server.stop().await;
}

/// Channels that may wait for each other in a circle: whether they do is seen by following all paths, which took a minute here, and in larger networks gigabytes.
#[tokio::test]
async fn circles_of_channels_are_looked_for_so_far_and_no_further() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let shared = SMALL.replace("routing = \"minimal\"", "routing = { minimal = { vcs = \"l0 g0 l0\" } }");
    let large = shared.replace("p = 2\na = 4\nh = 2\ng = 9", "p = 8\na = 16\nh = 8\ng = 129");
    for (document, why) in [(&shared, "can wait for each other in a circle"), (&large, "the limit is 450000")] {
        let asked = ValidateScenarioRequest { scenario: request(document).scenario, sweep: None };
        let checked = in_time("a scenario with a circle is checked", client.scenarios.validate_scenario(asked)).await;
        let found = checked.expect("it is answered").into_inner().diagnostics;
        assert!(found.len() == 1 && found[0].message.contains(why), "{found:?}");
    }
    server.stop().await;
}

/// One check asks whether it may go on, as a sweep of them does: here each has taken too long already when it begins.
#[tokio::test]
async fn a_single_check_stops_when_it_has_taken_too_long() {
    let server = Served::with(Limits { check_s_max: 0, ..limits() }).await;
    let mut client = server.client().await;
    for refused in refused(&mut client, request(SMALL).scenario.expect("there is one"), None).await {
        assert_eq!((refused.code(), limit(&refused).as_str()), (Code::ResourceExhausted, "check_time_max"));
    }
    server.stop().await;
}

#[tokio::test]
async fn sweeps_are_counted_first() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let wide = ["a=1..99999", "b=1..99999", "c=1..99999", "d=1..99999"];
    let many: Vec<String> = (0..65).map(|index| format!("a{index}=1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let long = format!("title={}", "x".repeat(70_000));
    for (sweep, named) in [
        (swept(&["seed=1..2001"], 0), "sweep_runs_max"),
        (swept(&["traffic.load=0.1..0.9/0.1"], 9999), "sweep_runs_max"),
        (swept(&[], u32::MAX), ""),
        (swept(&wide, 0), ""),
        (swept(&many, 0), ""),
        (swept(&[&long], 0), ""),
    ] {
        for refused in refused(&mut client, request(SMALL).scenario.expect("there is one"), sweep).await {
            assert_eq!(limit(&refused), named, "{refused:?}");
            let code = if named.is_empty() { Code::InvalidArgument } else { Code::ResourceExhausted };
            assert_eq!(refused.code(), code);
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn names_paths_and_overrides_are_counted_first() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let scenario = |name: &str, overrides: Vec<String>| Scenario {
        name: name.to_owned(),
        document: SMALL.to_owned(),
        overrides,
        ..Scenario::default()
    };
    let deep = format!("{}=1", vec!["a"; 8001].join("."));
    let invalid = client.create(CreateRunRequest { scenario: Some(scenario("x", vec![deep])), ..request(SMALL) }).await;
    assert!(invalid.expect_err("it is too deep").message().contains("the path has 8001 keys, the limit is 32"));
    for (given, field) in [
        (scenario(&"x".repeat(300), Vec::new()), "scenario.name"),
        (scenario("x", vec![String::new(); 1025]), "scenario.overrides"),
        (scenario("x", vec![format!("traffic.from=[{}0]", "1,".repeat(100_000)); 2]), "scenario.overrides"),
        (Scenario { document: "a=1\n".repeat(200_001), ..scenario("x", Vec::new()) }, "scenario.document"),
    ] {
        for refused in refused(&mut client, given, None).await {
            assert!(refused.message().starts_with(field), "{refused:?}");
        }
    }
    // Overrides of a sweep's runs are many copies.
    let sweep = swept(&["seed=1..2000"], 0);
    let long = scenario("x", vec![format!("title={}", "x".repeat(200)); 100]);
    let asked = CreateRunRequest { scenario: Some(long), sweep, ..request(SMALL) };
    let few = client.create(asked).await.expect_err("that is too much for all runs together");
    assert_eq!(limit(&few), "scenario_bytes_max");
    server.stop().await;
}

/// What takes a few kilobytes on its way, compressed, takes many megabytes where it is read.
#[tokio::test]
async fn repeated_values_are_counted_first() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let states = |count: usize| ListRunsRequest { states: vec![RunState::Pending.into(); count], ..Default::default() };
    client.runs.list_runs(states(7)).await.expect("so many there are");
    for count in [8, 4_000_000] {
        let refused = client.runs.list_runs(states(count)).await.expect_err("there are less");
        let told = ("states".to_owned(), format!("{count} states, the limit is 7"));
        assert_eq!((refused.code(), violations(&refused)), (Code::InvalidArgument, vec![told]));
    }
    let owner = ListRunsRequest { owner: "x".repeat(64), ..Default::default() };
    let refused = client.runs.list_runs(owner).await.expect_err("nobody has such a name");
    assert_eq!(violations(&refused)[0].0, "owner");
    for (columns, what) in [(vec![String::new(); 4097], "4097 columns"), (vec!["x".repeat(300_000)], "bytes of texts")]
    {
        let asked = QuerySeriesRequest { run_id: "any".to_owned(), columns, ..Default::default() };
        let refused = client.results.query_series(asked).await.expect_err("that is too much");
        assert!(refused.message().starts_with("columns: ") && refused.message().contains(what), "{refused:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn lists_end_before_they_are_too_large() {
    let server = Served::with(Limits { answer_bytes_max: 1 << 20, ..limits() }).await;
    let mut client = server.client().await;
    let padded = format!("{SMALL}# {}\n", "x".repeat(300_000));
    for index in 0..5 {
        client.create(named(&format!("run-{index}"), &padded)).await.expect("it is accepted");
    }
    let (mut sizes, mut page_token) = (Vec::new(), String::new());
    loop {
        let asked = ListRunsRequest { include_scenario: true, page_token, ..ListRunsRequest::default() };
        let page = in_time("a page of runs", client.runs.list_runs(asked)).await.expect("they are listed").into_inner();
        assert!(page.runs.iter().all(|run| run.scenario.as_ref().is_some_and(|given| given.document == padded)));
        sizes.push(page.runs.len());
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    assert_eq!(sizes, [1, 1, 1, 1, 1]);
    let all = client.runs.list_runs(ListRunsRequest::default()).await.expect("they are listed").into_inner();
    assert_eq!(all.runs.len(), 5, "without their scenarios they are small");
    server.stop().await;
}

#[tokio::test]
async fn reports_and_series_end_before_they_are_too_large() {
    let server = Served::with(Limits { answer_bytes_max: 1000, ..limits() }).await;
    let mut client = server.client().await;
    let run = client.create(request(&SMALL.replace("cycles = 400", "cycles = 400\nseries = 10"))).await;
    let run = client.ended(&run.expect("it is accepted").id).await.id;
    let refused = client.results.get_report(GetReportRequest { run_id: run.clone() }).await;
    assert_eq!(limit(&refused.expect_err("it is too large")), "answer_bytes_max");
    let series = |columns: &[&str]| QuerySeriesRequest {
        run_id: run.clone(),
        columns: columns.iter().map(|&name| name.to_owned()).collect(),
        ..QuerySeriesRequest::default()
    };
    let refused = client.results.query_series(series(&[])).await.expect_err("it is too large");
    assert_eq!(limit(&refused), "answer_bytes_max");
    let found = client.results.query_series(series(&["cycle"])).await.expect("one column is small").into_inner();
    assert_eq!((found.rows, found.columns.len()), (50, 1));
    server.stop().await;
}

#[tokio::test]
async fn checks_answer_as_a_whole_or_not_at_all() {
    let asked = || ValidateScenarioRequest { scenario: request(SMALL).scenario, sweep: None };
    let mut bytes = None;
    for less in [0, 0, 1] {
        let answer_bytes_max = bytes.map_or(4 << 20, |bytes: u32| bytes - less);
        let server = Served::with(Limits { answer_bytes_max, ..limits() }).await;
        let answer = server.client().await.scenarios.validate_scenario(asked()).await;
        server.stop().await;
        match answer {
            Ok(answer) if less == 0 => bytes = Some(answer.into_inner().encoded_len() as u32),
            Err(refused) if less == 1 => assert_eq!(limit(&refused), "answer_bytes_max"),
            other => panic!("with {answer_bytes_max} bytes: {other:?}"),
        }
    }
}

/// Checks that would take a minute each: as many as wait, and more, delay no report; and none goes on when nobody waits.
#[tokio::test]
async fn slow_checks_delay_nobody_else() {
    let server = Served::with(Limits { checks_max: 1, memory_bytes_max: 1 << 40, ..limits() }).await;
    let mut client = server.client().await;
    let run = client.create(request(SMALL)).await.expect("it is accepted").id;
    client.ended(&run).await;
    let document = SMALL.replace("p = 2\na = 4\nh = 2\ng = 9", "p = 32\na = 60\nh = 18\ng = 1041");
    let slow = || CreateRunRequest { sweep: swept(&["seed=1..2000"], 0), validate_only: true, ..request(&document) };
    let mut checks = tokio::task::JoinSet::new();
    for _ in 0..18 {
        let (mut client, asked) = (client.clone(), slow());
        checks.spawn(async move { client.create(asked).await });
    }
    // One works and sixteen wait: the first that ends is the one for which there was no place.
    let first = in_time("one check too many is refused", checks.join_next()).await;
    let full = first.expect("there are some").expect("it does not panic").expect_err("it is refused");
    assert_eq!((full.code(), reason(&full).0.as_str()), (Code::ResourceExhausted, "TOO_MANY_STREAMS"));
    assert_eq!(limit(&full), "checks_max");
    let report = client.results.get_report(GetReportRequest { run_id: run });
    let report = in_time("a report while checks are slow", report).await.expect("it has a report");
    assert!(!report.into_inner().json.is_empty());
    assert!(checks.try_join_next().is_none(), "the others are slow");
    checks.shutdown().await;
    let asked = ValidateScenarioRequest { scenario: request(SMALL).scenario, sweep: None };
    // Until the server has seen that they are gone.
    let checked = async {
        while let Err(refused) = client.scenarios.validate_scenario(asked.clone()).await {
            assert_eq!(limit(&refused), "checks_max");
        }
    };
    in_time("a check when the others are gone", checked).await;
    server.stop().await;
}

/// Large files whose disk is slow, here pipes that nobody writes to: as many as are compared at once, and wait, and more, delay no
/// report and no small file.
#[cfg(unix)]
#[tokio::test]
async fn large_files_delay_no_report() {
    let limits = Limits { reads_max: 1, answer_bytes_max: 32 << 10, ..limits() };
    let server = Served::with(limits).await;
    let mut client = server.client().await;
    let document = SMALL.replace("cycles = 400", "cycles = 400\nseries = 1");
    let run = client.create(request(&document)).await.expect("it is accepted").id;
    client.ended(&run).await;
    let series = server.folder.join("artifacts/1/series.csv");
    assert!(std::fs::metadata(&series).expect("it is there").len() > 32 << 10);
    std::fs::remove_file(&series).expect("it is there");
    let made = std::process::Command::new("mkfifo").arg(&series).status().expect("it can be made");
    assert!(made.success());
    let mut reads = tokio::task::JoinSet::new();
    for index in 0..18 {
        let (mut client, run_id) = (client.clone(), run.clone());
        reads.spawn(async move {
            if index % 2 == 0 {
                let asked = ReadArtifactRequest { run_id, name: "series.csv".to_owned(), offset: 0 };
                client.results.read_artifact(asked).await.map(drop)
            } else {
                let asked = QuerySeriesRequest { run_id, ..QuerySeriesRequest::default() };
                client.results.query_series(asked).await.map(drop)
            }
        });
    }
    // One waits for its disk and sixteen for that: the first that ends is the one for which there was no place.
    let first = in_time("one file too many is refused", reads.join_next()).await;
    let full = first.expect("there are some").expect("it does not panic").expect_err("it is refused");
    assert_eq!((reason(&full).0.as_str(), limit(&full).as_str()), ("TOO_MANY_STREAMS", "reads_max"));
    let report = client.results.get_report(GetReportRequest { run_id: run.clone() });
    in_time("a report while files are slow", report).await.expect("it has a report");
    let asked = ReadArtifactRequest { run_id: run, name: "report.txt".to_owned(), offset: 0 };
    let mut small =
        in_time("a small file", client.results.read_artifact(asked)).await.expect("it is whole").into_inner();
    assert!(small.message().await.expect("it can be read").is_some());
    assert!(reads.try_join_next().is_none(), "the others wait");
    reads.shutdown().await;
    // Whoever reads it comes to its end.
    let written = tokio::task::spawn_blocking(move || std::fs::write(series, ""));
    in_time("the one that reads is found", written).await.expect("it does not panic").expect("somebody reads");
    server.stop().await;
}
