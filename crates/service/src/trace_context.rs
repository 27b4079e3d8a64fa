//! Traces that go beyond a call: one goes on with the trace of its client, and a run with that of the call that asked for it.
//!
//! What is handed on is a `traceparent` of W3C. Where no traces are collected, nothing is.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The header, and the key under which propagators keep it.
pub(crate) const TRACEPARENT: &str = "traceparent";

/// Lets a span that nothing has happened in yet go on with a trace. What is no context of one is ignored, as W3C asks for.
pub(crate) fn go_on(span: &Span, traceparent: &str) {
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    // It fails where no traces are collected.
    let _ = span.set_parent(TraceContextPropagator::new().extract(&carrier));
}

/// The context of the current span, for whatever goes on with it later; empty where no traces are collected.
pub(crate) fn current() -> String {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut carrier);
    carrier.remove(TRACEPARENT).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    const GIVEN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    /// The trace that a span goes on with.
    fn trace_of(traceparent: &str) -> String {
        let tracer = SdkTracerProvider::builder().build().tracer("test");
        let collected = tracing_subscriber::registry().with(tracing_opentelemetry::layer().with_tracer(tracer));
        tracing::subscriber::with_default(collected, || {
            let span = tracing::info_span!("call");
            go_on(&span, traceparent);
            let entered = span.enter();
            let (context, handed_on) = (span.context(), current());
            drop(entered);
            let trace = context.span().span_context().trace_id().to_string();
            assert!(handed_on.starts_with(&format!("00-{trace}-")), "{handed_on}");
            assert_ne!(handed_on, traceparent, "what goes on is this span, not the one before it");
            trace
        })
    }

    #[test]
    fn a_span_goes_on_with_the_trace_it_is_given_and_hands_itself_on() {
        assert_eq!(trace_of(GIVEN), "0af7651916cd43dd8448eb211c80319c");
    }

    #[test]
    fn what_is_no_context_begins_a_trace() {
        let zeros = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        let long = "00-".repeat(30_000);
        for odd in ["", "-", "00", zeros, &GIVEN[3..], &GIVEN.replace('0', "é"), &long] {
            assert!(
                !["0af7651916cd43dd8448eb211c80319c", "00000000000000000000000000000000"].contains(&&*trace_of(odd))
            );
        }
    }

    #[test]
    fn nothing_is_handed_on_where_no_traces_are_collected() {
        let span = tracing::info_span!("call");
        go_on(&span, GIVEN);
        let _entered = span.enter();
        assert_eq!(current(), "");
    }
}
