//! ScenarioService.

use std::sync::Arc;

use tailback_api::v1::scenario_service_server::ScenarioService;
use tailback_api::v1::{
    Diagnostic, GetModelRequest, GetModelResponse, GetScenarioSchemaRequest, GetScenarioSchemaResponse,
    ListModelsRequest, ListModelsResponse, Plan, Scenario, Sweep, ValidateScenarioRequest, ValidateScenarioResponse,
};
use tailback_scenario::Diagnostics;
use tonic::{Request, Response, Status};

use crate::admission;
use crate::context::Context;
use crate::engine::sweep;
use crate::models;
use crate::refusal::Refusal;
use crate::schema::scenario_schema;

/// ScenarioService.
pub(super) struct Scenarios(pub Arc<Context>);

#[tonic::async_trait]
impl ScenarioService for Scenarios {
    async fn validate_scenario(
        &self,
        request: Request<ValidateScenarioRequest>,
    ) -> Result<Response<ValidateScenarioResponse>, Status> {
        let ValidateScenarioRequest { scenario, sweep } = request.into_inner();
        admission::scenario(scenario.as_ref(), &self.0.limits)?;
        let scenario = scenario.unwrap_or_default();
        let validated = self.0.check(move || match validate(&scenario, sweep.as_ref()) {
            Err(Refusal::InvalidScenario(mistakes)) => {
                Ok(ValidateScenarioResponse { diagnostics: describe(&mistakes), ..Default::default() })
            }
            other => other,
        });
        Ok(Response::new(validated.await?))
    }

    async fn list_models(&self, request: Request<ListModelsRequest>) -> Result<Response<ListModelsResponse>, Status> {
        let models = models::list(&request.into_inner().kind);
        Ok(Response::new(ListModelsResponse { models }))
    }

    async fn get_model(&self, request: Request<GetModelRequest>) -> Result<Response<GetModelResponse>, Status> {
        let GetModelRequest { kind, name } = request.into_inner();
        let model = self.0.check(move || models::get(&kind, &name)).await?;
        Ok(Response::new(GetModelResponse { model: Some(model) }))
    }

    async fn get_scenario_schema(
        &self,
        _: Request<GetScenarioSchemaRequest>,
    ) -> Result<Response<GetScenarioSchemaResponse>, Status> {
        Ok(Response::new(GetScenarioSchemaResponse { json_schema: scenario_schema() }))
    }
}

fn validate(given: &Scenario, asked: Option<&Sweep>) -> Result<ValidateScenarioResponse, Refusal> {
    let document = admission::document(given);
    let scenario = document.resolve().map_err(Refusal::InvalidScenario)?;
    let runs = match asked {
        Some(asked) => {
            let varied = sweep::wanted(&document, asked)?;
            varied.points().len() * varied.runs_per_point()
        }
        None => 1,
    };
    let plan = tailback_sim::Plan::new(&scenario);
    let ticks_per_cycle = f64::from(scenario.clock.ticks_per_cycle);
    let plan = Plan {
        nodes: plan.nodes,
        routers: plan.routers,
        links: plan.links,
        regions: plan.regions,
        lookahead_cycles: plan.lookahead_ticks.map(|ticks| ticks as f64 / ticks_per_cycle),
        memory_bytes: plan.memory_bytes,
        cycles: scenario.measure.warmup + scenario.measure.cycles,
        runs: runs as u32,
        deadlock_freedom: scenario.proof.describe(scenario.topology.built.graph().as_ref()),
    };
    Ok(ValidateScenarioResponse {
        diagnostics: Vec::new(),
        resolved: scenario.text,
        scenario_digest: scenario.digest,
        plan: Some(plan),
    })
}

fn describe(mistakes: &Diagnostics) -> Vec<Diagnostic> {
    let describe = |mistake: &tailback_scenario::Diagnostic| {
        let mut told = Diagnostic {
            message: mistake.message.clone(),
            help: mistake.help.clone().unwrap_or_default(),
            details: mistake.details.clone(),
            ..Diagnostic::default()
        };
        if let Some(span) = mistake.span {
            let (line, column) = mistakes.position(span);
            told.source = mistakes.sources[span.source].name.clone();
            (told.line, told.column) = (line as u32, column as u32);
            (told.start, told.end) = (span.start as u32, span.end as u32);
        }
        told
    };
    mistakes.list.iter().map(describe).collect()
}
