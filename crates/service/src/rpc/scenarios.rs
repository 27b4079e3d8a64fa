//! ScenarioService.

use std::sync::Arc;

use prost::Message as _;
use tailback_api::v1::scenario_service_server::ScenarioService;
use tailback_api::v1::{
    GetModelRequest, GetModelResponse, GetScenarioSchemaRequest, GetScenarioSchemaResponse, ListModelsRequest,
    ListModelsResponse, ValidateScenarioRequest, ValidateScenarioResponse,
};
use tonic::{Request, Response, Status};

use crate::admission;
use crate::allowance::Allowance;
use crate::api_error::ApiError;
use crate::context::{Context, caller};
use crate::domain::{ScenarioSource, SweepRequest};
use crate::engine::sweep;
use crate::models;
use crate::pool::Stop;
use crate::schema::scenario_schema;
use crate::store::named::NamedFiles;
use crate::wire;

/// ScenarioService.
pub(super) struct Scenarios(pub Arc<Context>);

#[tonic::async_trait]
impl ScenarioService for Scenarios {
    async fn validate_scenario(
        &self,
        request: Request<ValidateScenarioRequest>,
    ) -> Result<Response<ValidateScenarioResponse>, Status> {
        let caller = caller(&request)?;
        let ValidateScenarioRequest { scenario, sweep } = request.into_inner();
        let (scenario, sweep) = (scenario.map(ScenarioSource::from), sweep.map(SweepRequest::from));
        admission::scenario(scenario.as_ref(), &self.0.limits)?;
        sweep.as_ref().map_or(Ok(()), sweep::check_size)?;
        let scenario = scenario.unwrap_or_default();
        self.0.must_have_files(&caller, &scenario).await?;
        let (bytes, names_files) = (scenario.bytes(), !scenario.files.is_empty());
        let (store, limits) = (self.0.store.clone(), self.0.limits.clone());
        let validate = move |allowed: &Allowance, stop: &Stop| {
            let files = admission::files(&scenario, store.folder(), &limits, stop);
            validate((&scenario, &files), sweep.as_ref(), allowed, stop)
        };
        let validated = match self.0.checks.run((bytes, names_files), validate).await {
            Ok(validated) => validated.result,
            Err(ApiError::InvalidScenario(mistakes)) => {
                ValidateScenarioResponse { diagnostics: wire::diagnostics(&mistakes), ..Default::default() }
            }
            Err(refused) => return Err(refused.into()),
        };
        self.0.limits.check_answer(validated.encoded_len() as u64)?;
        Ok(Response::new(validated))
    }

    async fn list_models(&self, request: Request<ListModelsRequest>) -> Result<Response<ListModelsResponse>, Status> {
        let models = models::list(&request.into_inner().kind).map(|model| wire::model_summary(&model)).collect();
        Ok(Response::new(ListModelsResponse { models }))
    }

    async fn get_model(&self, request: Request<GetModelRequest>) -> Result<Response<GetModelResponse>, Status> {
        let GetModelRequest { kind, name } = request.into_inner();
        let model = self.0.read(move |_| models::get(&kind, &name)).await?;
        Ok(Response::new(GetModelResponse { model: Some(wire::model(model)) }))
    }

    async fn get_scenario_schema(
        &self,
        _: Request<GetScenarioSchemaRequest>,
    ) -> Result<Response<GetScenarioSchemaResponse>, Status> {
        Ok(Response::new(GetScenarioSchemaResponse { json_schema: scenario_schema() }))
    }
}

fn validate(
    (given, files): (&ScenarioSource, &Arc<NamedFiles>),
    asked: Option<&SweepRequest>,
    allowed: &Allowance,
    stop: &Stop,
) -> Result<ValidateScenarioResponse, ApiError> {
    let wanted = stop.clone();
    let document = given.read_within(allowed.bounds, files.clone()).while_wanted(move || wanted.is_wanted());
    let scenario = document.resolve().map_err(|mistakes| files.refusal(mistakes))?;
    let runs = match asked {
        Some(asked) => admission::sweep(&document, asked, allowed)?.1,
        None => 1,
    };
    let plan = admission::planned(&scenario, scenario.execution.threads.unwrap_or(1), stop)?;
    let plan = wire::plan(&scenario, &plan, runs);
    Ok(ValidateScenarioResponse {
        diagnostics: Vec::new(),
        notes: wire::diagnostics(&scenario.notes),
        resolved: scenario.text,
        scenario_digest: scenario.digest,
        plan: Some(plan),
    })
}
