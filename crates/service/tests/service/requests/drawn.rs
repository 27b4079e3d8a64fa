//! What is asked, drawn at random, of all that there is to ask.

use std::collections::HashMap;

use proptest::prelude::*;
use tailback_api::v1::upload_file_request::Part;
use tailback_api::v1::{
    CreateRunRequest, DeleteFileRequest, Execution, GetModelRequest, ListFilesRequest, ListRunsRequest,
    QuerySeriesRequest, ReadArtifactRequest, RetryRunRequest, Scenario, Sweep, UploadFileRequest, UploadHeader,
    ValidateScenarioRequest, WaitRunRequest, WatchRunRequest,
};
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

use super::raw::{RawCall, raw_calls};
use crate::harness::SMALL;

/// What a server of them can be asked.
#[derive(Clone, Debug)]
pub enum Request {
    Create(Box<CreateRunRequest>),
    Validate(Box<ValidateScenarioRequest>),
    List(ListRunsRequest),
    Get(String),
    Wait(WaitRunRequest),
    Watch(WatchRunRequest),
    Cancel(String),
    Retry(RetryRunRequest),
    Delete(String),
    Report(String),
    Artifacts(String),
    Read(ReadArtifactRequest),
    Series(QuerySeriesRequest),
    Upload(Vec<UploadFileRequest>),
    Files(ListFilesRequest),
    DeleteFile(DeleteFileRequest),
    Models(String),
    Model(GetModelRequest),
    Schema,
    Info,
    Health(String),
    HealthWatch(String),
    Reflection(MessageRequest),
}

/// How it is asked.
#[derive(Clone, Debug)]
pub enum Asked {
    Plainly(Request),
    /// With what is sent compressed, and what is answered.
    Compressed(Request),
    /// Without a token, of a server that wants one.
    ByStranger(Request),
    Raw(RawCall),
    RawByStranger(RawCall),
    ByBrowser(RawCall),
}

/// Names that there may be, and texts that are none.
fn texts() -> impl Strategy<Value = String> {
    let hostile =
        ["", ".", "../../etc/passwd", "small/../small", "%s%n", "\u{1b}[2J", "a'; DROP TABLE runs; --", "\u{202e}x"];
    prop_oneof![
        4 => "[ab]",
        2 => "[ab]\\.[1-3]",
        1 => Just("small".to_owned()),
        1 => prop::sample::select(hostile.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,60}",
        1 => (1000usize..20_000).prop_map(|length| "x".repeat(length)),
    ]
}

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![0..3u64, Just(u32::MAX.into()), Just(i64::MAX as u64), Just(u64::MAX)]
}

fn durations() -> impl Strategy<Value = Option<prost_types::Duration>> {
    let any = (any::<i64>(), any::<i32>()).prop_map(|(seconds, nanos)| prost_types::Duration { seconds, nanos });
    let short = (0..3_000_000i32).prop_map(|nanos| prost_types::Duration { seconds: 0, nanos });
    prop::option::of(prop_oneof![3 => short, 1 => any])
}

/// How long a call may wait, which is not to be long in a test.
fn short() -> impl Strategy<Value = Option<prost_types::Duration>> {
    (0..3_000_000i32).prop_map(|nanos| Some(prost_types::Duration { seconds: 0, nanos }))
}

fn overrides() -> impl Strategy<Value = Vec<String>> {
    let paths =
        prop::sample::select(vec!["traffic.load", "measure.cycles", "seed", "topology.dragonfly.g", "[", "no.such"]);
    let values = prop::sample::select(vec!["0.1", "7", "-1", "nan", "18446744073709551616", "\"\"", "{", "[[[["]);
    let one = prop_oneof![
        6 => (paths, values).prop_map(|(path, value)| format!("{path}={value}")),
        1 => (1usize..9000).prop_map(|dots| format!("{}=1", ".".repeat(dots))),
        1 => "\\PC{0,40}",
    ];
    prop::collection::vec(one, 0..4)
}

/// Digests that there may be, and texts that are none.
fn digests() -> impl Strategy<Value = String> {
    // The first is that of no bytes at all.
    let some = ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", &"0".repeat(64)];
    prop_oneof![3 => prop::sample::select(some.map(str::to_owned).to_vec()), 1 => texts()]
}

fn uploads() -> impl Strategy<Value = Vec<UploadFileRequest>> {
    let header = || {
        (texts(), numbers(), digests())
            .prop_map(|(name, size, sha256)| Part::Header(UploadHeader { name, size, sha256 }))
    };
    let piece = (0usize..5000).prop_map(|bytes| Part::Content(vec![7; bytes].into()));
    let other = prop_oneof![1 => header(), 3 => piece];
    (prop::option::weighted(0.9, header()), prop::collection::vec(prop::option::weighted(0.9, other), 0..3)).prop_map(
        |(header, others)| {
            let parts = [header].into_iter().chain(others);
            parts.map(|part| UploadFileRequest { part }).collect()
        },
    )
}

fn scenarios() -> impl Strategy<Value = Option<Scenario>> {
    let document = prop_oneof![3 => Just(SMALL.to_owned()), 1 => "\\PC{0,200}"];
    let files = prop_oneof![3 => Just(HashMap::new()), 1 => prop::collection::hash_map(texts(), digests(), 0..3)];
    let scenario = (texts(), document, overrides(), files).prop_map(|(name, document, overrides, files)| Scenario {
        name,
        document,
        overrides,
        files,
    });
    prop::option::weighted(0.95, scenario)
}

fn sweeps() -> impl Strategy<Value = Option<Sweep>> {
    let axis = prop_oneof![
        Just("traffic.load=0.1..0.3/0.1".to_owned()),
        Just("seed=0..4294967295/1".to_owned()),
        Just("traffic.load=0..1e300/1e-300".to_owned()),
        "\\PC{0,30}",
    ];
    let seeds = prop_oneof![4 => 0..3u32, 1 => Just(u32::MAX)];
    let sweep = (prop::collection::vec(axis, 0..4), seeds, any::<bool>())
        .prop_map(|(over, seeds, run_saturated)| Sweep { over, seeds, run_saturated });
    prop::option::weighted(0.3, sweep)
}

fn creations() -> impl Strategy<Value = Request> {
    let execution = (prop::option::of(numbers()), durations(), numbers(), any::<i8>()).prop_map(
        |(threads, wall_time_max, artifact_bytes_max, priority)| Execution {
            threads: threads.map(|threads| threads as u32),
            wall_time_max,
            artifact_bytes_max,
            priority: priority.into(),
        },
    );
    let labels = prop::collection::hash_map(texts(), texts(), 0..3);
    let project = prop_oneof![Just(String::new()), texts()];
    let names = (texts(), texts(), project, any::<[bool; 3]>());
    (names, scenarios(), prop::option::of(execution), sweeps(), labels).prop_map(
        |((request_id, run_id, project, [validate_only, reuse, private]), scenario, execution, sweep, labels)| {
            let asked = CreateRunRequest {
                request_id,
                run_id,
                validate_only,
                scenario,
                execution,
                sweep,
                labels,
                reuse,
                private,
                project,
            };
            Request::Create(Box::new(asked))
        },
    )
}

fn any_request() -> impl Strategy<Value = Request> {
    let list = (numbers(), texts(), prop::collection::vec(-1..9i32, 0..3), texts(), texts());
    let list = list.prop_map(|(size, page_token, states, scenario_digest, owner)| {
        let (labels, result_digest) = (HashMap::new(), String::new());
        let page_size = size as u32;
        Request::List(ListRunsRequest {
            page_size,
            page_token,
            states,
            labels,
            scenario_digest,
            result_digest,
            owner,
            ..ListRunsRequest::default()
        })
    });
    let watch = (texts(), any::<i64>(), any::<bool>(), durations());
    let series = (texts(), prop::collection::vec(texts(), 0..3), texts(), prop::option::of(numbers()), texts());
    prop_oneof![
        4 => creations(),
        2 => (scenarios(), sweeps())
            .prop_map(|(scenario, sweep)| Request::Validate(Box::new(ValidateScenarioRequest { scenario, sweep }))),
        2 => list,
        1 => texts().prop_map(Request::Get),
        1 => (texts(), short()).prop_map(|(run_id, timeout)| Request::Wait(WaitRunRequest { run_id, timeout })),
        1 => watch.prop_map(|(run_id, after_sequence, states_only, sample_interval_min)| {
            Request::Watch(WatchRunRequest { run_id, after_sequence, states_only, sample_interval_min })
        }),
        1 => texts().prop_map(Request::Cancel),
        1 => (texts(), texts()).prop_map(|(run_id, request_id)| Request::Retry(RetryRunRequest { run_id, request_id })),
        1 => texts().prop_map(Request::Delete),
        1 => texts().prop_map(Request::Report),
        1 => texts().prop_map(Request::Artifacts),
        1 => (texts(), texts(), numbers())
            .prop_map(|(run_id, name, offset)| Request::Read(ReadArtifactRequest { run_id, name, offset })),
        1 => series.prop_map(|(run_id, columns, traffic, from_cycle, table)| {
            Request::Series(QuerySeriesRequest { run_id, columns, traffic, from_cycle, until_cycle: from_cycle, table })
        }),
        2 => uploads().prop_map(Request::Upload),
        1 => (numbers(), texts(), digests(), texts()).prop_map(|(size, page_token, sha256, owner)| {
            Request::Files(ListFilesRequest { page_size: size as u32, page_token, sha256, owner })
        }),
        1 => (digests(), texts())
            .prop_map(|(sha256, owner)| Request::DeleteFile(DeleteFileRequest { sha256, owner })),
        1 => texts().prop_map(Request::Models),
        1 => (texts(), texts()).prop_map(|(kind, name)| Request::Model(GetModelRequest { kind, name })),
        1 => others(),
    ]
}

/// What is asked about the server.
fn others() -> impl Strategy<Value = Request> {
    let names = || prop_oneof![Just("tailback.v1.RunService".to_owned()), Just(String::new()), texts()];
    let described = prop_oneof![
        names().prop_map(MessageRequest::FileContainingSymbol),
        names().prop_map(MessageRequest::FileByFilename),
        names().prop_map(MessageRequest::ListServices),
        names().prop_map(MessageRequest::AllExtensionNumbersOfType),
    ];
    prop_oneof![
        Just(Request::Schema),
        Just(Request::Info),
        names().prop_map(Request::Health),
        names().prop_map(Request::HealthWatch),
        described.prop_map(Request::Reflection),
    ]
}

pub fn anything() -> impl Strategy<Value = Asked> {
    prop_oneof![
        12 => any_request().prop_map(Asked::Plainly),
        3 => any_request().prop_map(Asked::Compressed),
        2 => any_request().prop_map(Asked::ByStranger),
        2 => raw_calls().prop_map(Asked::Raw),
        1 => raw_calls().prop_map(Asked::RawByStranger),
        1 => raw_calls().prop_map(Asked::ByBrowser),
    ]
}
