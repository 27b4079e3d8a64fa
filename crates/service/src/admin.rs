//! Metrics and liveness over plain HTTP, for monitors and orchestrators, on a port of its own.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::context::{Context, stopped};
use crate::meters::Gauges;
use crate::store::StoreError;

/// Serves until the server is gone.
pub(crate) async fn serve(listener: TcpListener, context: Arc<Context>, gone: watch::Receiver<bool>) {
    let router = Router::new()
        .route(
            "/metrics",
            get({
                let context = context.clone();
                async move || ([(CONTENT_TYPE, "text/plain; version=0.0.4")], metrics(&context)).into_response()
            }),
        )
        .route(
            "/readyz",
            get({
                let context = context.clone();
                async move || if *context.stopping.borrow() { not("the server stops") } else { good() }
            }),
        )
        .route(
            "/livez",
            get(async move || match alive(&context).await {
                Ok(()) => good(),
                Err(error) => not(&error.to_string()),
            }),
        );
    if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(stopped(gone)).await {
        tracing::error!(%error, "the admin port is closed");
    }
}

fn metrics(context: &Context) -> String {
    let (pending, running) = context.engine.queue().counts();
    context.meters.text(&Gauges { pending, running, stopping: *context.stopping.borrow() })
}

/// The store can be read.
async fn alive(context: &Context) -> Result<(), StoreError> {
    context.store.read(|connection| Ok(connection.query_row("SELECT 1", [], |_| Ok(()))?)).await
}

type Answer = (StatusCode, String);

fn good() -> Answer {
    (StatusCode::OK, "ok\n".to_owned())
}

fn not(reason: &str) -> Answer {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"))
}
