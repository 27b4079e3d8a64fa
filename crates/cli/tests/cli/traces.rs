//! Traces of a server, as a collector gets them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener as Listener};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use crate::program::{Program, compare};
use crate::served::{LOG, Server};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// What has been collected: spans, and the names of what sent them.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<(Vec<Span>, Vec<String>)>>);

#[tonic::async_trait]
impl TraceService for Collected {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut collected = self.0.lock().expect("nobody panics with it");
        for sent in request.into_inner().resource_spans {
            let attributes = sent.resource.into_iter().flat_map(|resource| resource.attributes);
            collected.1.extend(attributes.filter(|attribute| attribute.key == "service.name").map(|name| {
                match name.value.and_then(|value| value.value) {
                    Some(Value::StringValue(name)) => name,
                    other => panic!("a name is {other:?}"),
                }
            }));
            collected.0.extend(sent.scope_spans.into_iter().flat_map(|scope| scope.spans));
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

/// A collector; it ends with the runtime.
fn collector() -> (Runtime, String, Collected) {
    let runtime = Runtime::new().expect("threads can be started");
    let collected = Collected::default();
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).expect("there is a port");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    let service = TraceServiceServer::new(collected.clone());
    let serving = tonic::transport::Server::builder().add_service(service);
    runtime.spawn(serving.serve_with_incoming(TcpListenerStream::new(listener)));
    (runtime, url, collected)
}

fn hexadecimal(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The texts among the attributes of a span.
fn texts(span: &Span) -> BTreeMap<&str, &str> {
    let text = |value: &'_ Value| match value {
        Value::StringValue(text) => Some(text.clone().leak() as &str),
        _ => None,
    };
    let attributes = span.attributes.iter();
    attributes.filter_map(|given| Some((given.key.as_str(), text(given.value.as_ref()?.value.as_ref()?)?))).collect()
}

#[test]
fn runs_go_on_with_the_trace_of_the_call_that_asked_for_them() {
    let (_runtime, url, collected) = collector();
    let program = Program::new();
    let server = Server::start(&program, &["--otlp", &url]);
    let traceparent = format!("00-{TRACE}-{CALLER}-01");
    let submit = ["submit", "small.toml", "--id", "curve", "--over", "traffic.load=0.1,0.2", "--wait", "--quiet"];
    let submit = [&submit[..], &["--server", &server.url]].concat();
    let said = program.run_with(&submit, &[("TRACEPARENT", &traceparent)]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    server.good(&program, &["submit", "small.toml", "--id", "other", "--wait", "--quiet"]);
    server.stop();

    let (spans, names) = std::mem::take(&mut *collected.0.lock().expect("nobody panics with it"));
    assert!(!names.is_empty() && names.iter().all(|name| name == "tailback"), "{names:?}");
    let keys = spans.iter().flat_map(|span| &span.events).flat_map(|event| &event.attributes);
    assert!(keys.clone().any(|given| given.key == "work"), "what is logged about a run is there");
    assert!(keys.clone().all(|given| given.key != "from"), "lines of the audit are not");
    let is_submission = |span: &&Span| {
        let is_call = texts(span).get("method") == Some(&"/tailback.v1.RunService/CreateRun");
        is_call && hexadecimal(&span.trace_id) == TRACE
    };
    let submissions: Vec<&Span> = spans.iter().filter(is_submission).collect();
    let [submission] = submissions[..] else { panic!("submissions: {submissions:?}") };
    assert_eq!(hexadecimal(&submission.parent_span_id), CALLER);
    let runs: Vec<&Span> = spans.iter().filter(|span| span.name == "run").collect();
    // Two points, the table of the sweep, and a run by itself.
    assert_eq!(runs.len(), 4, "{runs:?}");
    for run in runs {
        let (name, trace) = (texts(run)["run"].to_owned(), hexadecimal(&run.trace_id));
        assert_eq!(trace == TRACE, name != "other", "{name} is part of trace {trace}");
        assert!(name == "other" || run.parent_span_id == submission.span_id, "{name} has another parent");
        let told: Vec<&str> = run.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!((told.first(), told.last()), (Some(&"begins"), Some(&"ends")), "{name}");
    }
}

#[test]
fn a_collector_that_is_not_there_stops_nothing() {
    // A port that was free a moment ago, and at which nobody listens.
    let port = Listener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    let url = format!("http://{}", port.expect("there is one"));
    let program = Program::new();
    let server = Server::start(&program, &["--otlp", &url]);
    server.good(&program, &["submit", "small.toml", "--id", "first", "--wait", "--quiet"]);
    server.stop();
    assert!(program.read(LOG).contains("BatchSpanProcessor.ExportError"), "{}", program.read(LOG));
}

#[test]
fn what_is_no_address_of_a_collector_is_refused() {
    let program = Program::new();
    for (number, address) in ["nonsense", "ftp://here:4317", "http://", ""].into_iter().enumerate() {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--otlp", address];
        let said = program.run(&arguments);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{address:?}");
        if number == 1 {
            compare("service-mistake-serve-otlp", &arguments, &said.stderr);
        }
    }
    assert!(!program.path("tailback-data").exists());
}
