//! SystemService.

use std::sync::Arc;

use tailback_api::v1::system_service_server::SystemService;
use tailback_api::v1::{GetServerInfoRequest, GetServerInfoResponse};
use tonic::{Request, Response, Status};

use crate::context::{Context, caller};
use crate::wire;

/// SystemService.
pub(super) struct System(pub Arc<Context>);

#[tonic::async_trait]
impl SystemService for System {
    async fn get_server_info(
        &self,
        request: Request<GetServerInfoRequest>,
    ) -> Result<Response<GetServerInfoResponse>, Status> {
        let caller = caller(&request)?;
        let (runs_pending, runs_running) = self.0.engine.queue().counts();
        Ok(Response::new(GetServerInfoResponse {
            version: self.0.version.clone(),
            limits: Some(wire::limits(&self.0.limits)),
            features: self.0.features.clone(),
            runs_pending,
            runs_running,
            caller: caller.name,
            caller_role: caller.role.word().to_owned(),
        }))
    }
}
