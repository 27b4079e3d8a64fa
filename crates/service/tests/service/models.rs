//! Scenarios without runs, and the server itself.

use tailback_api::v1::{
    GetModelRequest, GetScenarioSchemaRequest, GetServerInfoRequest, ListModelsRequest, Scenario, Sweep,
    ValidateScenarioRequest,
};
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::{SMALL, Served, limits, reason, request};

#[tokio::test]
async fn scenarios_are_checked() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let sweep = Some(Sweep { over: vec!["traffic.load=0.1,0.2".to_owned()], seeds: 3, run_saturated: false });
    let asked = ValidateScenarioRequest { scenario: request(SMALL).scenario, sweep };
    let valid = client.scenarios.validate_scenario(asked).await.expect("it answers").into_inner();
    let plan = valid.plan.expect("it is valid");
    assert_eq!((plan.nodes, plan.routers, plan.cycles, plan.runs), (72, 36, 500, 6));
    assert!(valid.diagnostics.is_empty() && plan.memory_bytes > 0 && !plan.deadlock_freedom.is_empty());
    // What is resolved is itself a scenario, and the same.
    let asked = ValidateScenarioRequest { scenario: request(&valid.resolved).scenario, sweep: None };
    let again = client.scenarios.validate_scenario(asked).await.expect("it answers").into_inner();
    assert_eq!((again.scenario_digest, again.resolved), (valid.scenario_digest, valid.resolved));
    let scenario = Scenario {
        name: "bad.toml".to_owned(),
        document: SMALL.replace("g = 9", "g = 10\nx = 1"),
        overrides: vec!["traffic.laod=0.4".to_owned()],
        ..Scenario::default()
    };
    let asked = ValidateScenarioRequest { scenario: Some(scenario), sweep: None };
    let invalid = client.scenarios.validate_scenario(asked).await.expect("it answers OK").into_inner();
    assert!(invalid.plan.is_none() && invalid.resolved.is_empty());
    let unknown = invalid.diagnostics.iter().find(|found| found.message.contains("`x`")).expect("it is told");
    assert_eq!((unknown.source.as_str(), unknown.line, unknown.column), ("bad.toml", 9, 1));
    assert_eq!(&SMALL.replace("g = 9", "g = 10\nx = 1")[unknown.start as usize..unknown.end as usize], "x");
    assert!(invalid.diagnostics.iter().any(|found| found.source.contains("laod") && found.help.contains("load")));
    let old = request(&format!("{SMALL}[protocol.lhrp]\nrefusals = 4\n"));
    let asked = ValidateScenarioRequest { scenario: old.scenario, sweep: None };
    let noted = client.scenarios.validate_scenario(asked).await.expect("it answers").into_inner();
    assert!(noted.diagnostics.is_empty() && noted.notes[0].message.contains("`nacks`") && noted.notes[0].line > 9);
    let nothing = client.scenarios.validate_scenario(ValidateScenarioRequest::default()).await;
    assert_eq!(nothing.expect_err("there is no scenario").code(), Code::InvalidArgument);
    server.stop().await;
}

#[tokio::test]
async fn models_are_listed_and_described() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let listed = client.scenarios.list_models(ListModelsRequest { kind: "routing".to_owned() }).await;
    let routings = listed.expect("they are listed").into_inner().models;
    assert!(routings.len() > 5 && routings.iter().all(|model| model.kind == "routing"));
    let (kind, name) = ("topology".to_owned(), "dragonfly".to_owned());
    let model = client.scenarios.get_model(GetModelRequest { kind, name }).await.expect("it is there");
    let model = model.into_inner().model.expect("it is there");
    assert!(model.parameters.iter().any(|parameter| parameter.name == "g" && parameter.default.is_none()));
    let asked = ValidateScenarioRequest { scenario: request(&model.example).scenario, sweep: None };
    let checked = client.scenarios.validate_scenario(asked).await.expect("it answers").into_inner();
    assert!(checked.diagnostics.is_empty());
    let schema = client.scenarios.get_scenario_schema(GetScenarioSchemaRequest {}).await.expect("it is there");
    assert_eq!(schema.into_inner().json_schema, tailback_service::scenario_schema());
    let (kind, name) = ("topology".to_owned(), "doughnut".to_owned());
    let refused = client.scenarios.get_model(GetModelRequest { kind, name }).await.expect_err("there is none");
    assert_eq!((refused.code(), reason(&refused).0.as_str()), (Code::NotFound, "MODEL_NOT_FOUND"));
    server.stop().await;
}

#[tokio::test]
async fn the_server_tells_about_itself() {
    let server = Served::start().await;
    let mut client = server.client().await;
    let about = client.system.get_server_info(GetServerInfoRequest {}).await.expect("it tells").into_inner();
    assert_eq!((about.version.as_str(), about.caller.as_str(), about.caller_role.as_str()), ("test", "local", "admin"));
    let known = ["sweeps", "checkpoints", "priorities", "retry", "reuse", "private", "projects", "files", "tables"];
    assert_eq!(about.features, known);
    let (allowed, published) = (limits(), about.limits.expect("they are published"));
    assert_eq!(published.header_bytes_max, allowed.header_bytes_max);
    assert_eq!(published.connection_calls_max, allowed.connection_calls_max);
    assert_eq!((published.checks_max, published.samples_kept_max), (allowed.checks_max, allowed.samples_kept_max));
    assert_eq!((published.attempts_max, published.connections_max), (allowed.attempts_max, allowed.connections_max));
    assert_eq!((published.ended_age_max, published.ended_artifact_bytes_max), (None, 0), "runs are kept for ever");
    let interval = |ms: u64| Some(prost_types::Duration { seconds: 0, nanos: ms as i32 * 1_000_000 });
    assert_eq!(published.sample_interval, interval(allowed.sample_interval_ms));
    assert_eq!(published.checkpoint_interval, interval(allowed.checkpoint_interval_ms));
    let channel = tonic::transport::Channel::from_shared(server.url.clone()).expect("an address");
    let mut health = HealthClient::new(channel.connect().await.expect("somebody listens"));
    for service in ["", "tailback.v1.RunService"] {
        let asked = HealthCheckRequest { service: service.to_owned() };
        assert_eq!(health.check(asked).await.expect("it answers").into_inner().status, 1, "it serves");
    }
    server.stop().await;
}

/// Older clients ask for reflection by its first name.
#[tokio::test]
async fn both_versions_of_reflection_answer() {
    use tonic_reflection::pb::{v1, v1alpha};
    let server = Served::start().await;
    let channel = tonic::transport::Channel::from_shared(server.url.clone()).expect("an address");
    let channel = channel.connect().await.expect("somebody listens");
    let mut names = Vec::new();
    {
        use v1::server_reflection_request::MessageRequest::ListServices;
        use v1::server_reflection_response::MessageResponse::ListServicesResponse;
        let asked =
            v1::ServerReflectionRequest { host: String::new(), message_request: Some(ListServices(String::new())) };
        let mut client = v1::server_reflection_client::ServerReflectionClient::new(channel.clone());
        let mut answers =
            client.server_reflection_info(tokio_stream::once(asked)).await.expect("it answers").into_inner();
        let answer = answers.message().await.expect("the stream goes on").expect("there is an answer");
        let Some(ListServicesResponse(listed)) = answer.message_response else { panic!("it lists services") };
        names.push(listed.service.into_iter().map(|service| service.name).collect::<Vec<_>>());
    }
    {
        use v1alpha::server_reflection_request::MessageRequest::ListServices;
        use v1alpha::server_reflection_response::MessageResponse::ListServicesResponse;
        let asked = v1alpha::ServerReflectionRequest {
            host: String::new(),
            message_request: Some(ListServices(String::new())),
        };
        let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(channel);
        let mut answers =
            client.server_reflection_info(tokio_stream::once(asked)).await.expect("it answers").into_inner();
        let answer = answers.message().await.expect("the stream goes on").expect("there is an answer");
        let Some(ListServicesResponse(listed)) = answer.message_response else { panic!("it lists services") };
        names.push(listed.service.into_iter().map(|service| service.name).collect::<Vec<_>>());
    }
    for listed in names {
        assert!(listed.contains(&"tailback.v1.RunService".to_owned()), "{listed:?}");
    }
    server.stop().await;
}
