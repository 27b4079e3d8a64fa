//! What a server tells about its work: the log, on standard error, and traces, for a collector.

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tonic::codegen::http::Uri;
use tonic::transport::ClientTlsConfig;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::arguments::Format;
use crate::complaint::Complaint;
use crate::output::Log;

/// How long a server that ends waits for a collector to take what is left.
const LAST_TRACES_MAX: Duration = Duration::from_secs(5);

/// Traces on their way to a collector.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// To the collector at this address, by OTLP over gRPC. Within a runtime.
    pub fn to(collector: &str) -> Result<Self, Complaint> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(collector);
        let exporter = if collector.starts_with("https:") {
            exporter.with_tls_config(ClientTlsConfig::new().with_native_roots())
        } else {
            exporter
        };
        let exporter = exporter.build();
        let exporter = exporter.map_err(|error| Complaint::bad_input(format!("no traces for {collector}: {error}")))?;
        let resource = Resource::builder().with_service_name("tailback").build();
        Ok(Self(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build()))
    }

    /// Sends what is left. A collector that is not there holds up nobody for long.
    pub fn finish(&self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_TRACES_MAX) {
            tracing::warn!(%error, "the collector does not take the last traces");
        }
    }
}

/// The address of a collector, as it stands on the command line.
pub fn collector(address: &str) -> Result<String, String> {
    let uri: Uri = address.parse().map_err(|error| format!("it is not an address: {error}"))?;
    match uri.scheme_str() {
        Some("http" | "https") => Ok(address.to_owned()),
        _ => Err("it begins with neither http:// nor https://".to_owned()),
    }
}

/// Has what is said from now on written to standard error, and spans sent to a collector if there is one.
pub fn start(format: Format, traces: Option<&Traces>) {
    let filter = logged(std::env::var("TAILBACK_LOG").ok().as_deref());
    // Without colours: all that a terminal would obey is written out, wherever it comes from.
    let log = fmt::layer().with_writer(|| Log);
    let log = match format {
        Format::Text => log.boxed(),
        Format::Json => log.json().boxed(),
    };
    // What is for the audit, and what libraries say, stays in the log.
    let ours = Targets::new().with_target("tailback", LevelFilter::INFO);
    let spans = traces.map(|traces| {
        let layer = tracing_opentelemetry::layer().with_tracer(traces.0.tracer("tailback"));
        layer.with_location(false).with_threads(false).with_filter(ours)
    });
    tracing_subscriber::registry().with(log.with_filter(filter)).with(spans).init();
}

/// What is logged, by what `TAILBACK_LOG` says.
fn logged(said: Option<&str>) -> Targets {
    said.and_then(|said| said.parse().ok()).unwrap_or_else(|| Targets::new().with_default(LevelFilter::INFO))
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::logged;

    #[test]
    fn a_level_holds_for_all_targets_that_have_none_of_their_own() {
        let said = logged(Some("warn,audit=info"));
        assert!(said.would_enable("audit", &Level::INFO));
        assert!(said.would_enable("tailback_service::engine", &Level::WARN));
        assert!(!said.would_enable("tailback_service::engine", &Level::INFO));
    }

    #[test]
    fn what_is_not_understood_is_as_if_nothing_were_said() {
        for said in [None, Some("audit=loudly"), Some("a=b=c")] {
            assert_eq!(logged(said), logged(Some("info")), "{said:?}");
        }
    }
}
