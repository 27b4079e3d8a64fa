//! Scenarios and models as clients see them.

use tailback_api::v1;
use tailback_scenario::{Diagnostics, ModelSummary, Parameter, Scenario};
use tailback_sim::Plan;

use super::status::shortened;
use crate::models::{self, Model};

/// All mistakes of a scenario, or all notes.
pub(crate) fn diagnostics(all: &Diagnostics) -> Vec<v1::Diagnostic> {
    let describe = |diagnostic: &tailback_scenario::Diagnostic| {
        let mut told = v1::Diagnostic {
            message: shortened(&diagnostic.message),
            help: diagnostic.help.as_deref().map_or_else(String::new, shortened),
            details: diagnostic.details.iter().map(|detail| shortened(detail)).collect(),
            ..v1::Diagnostic::default()
        };
        if let Some(span) = diagnostic.span {
            let (line, column) = all.position(span);
            told.source = shortened(&all.sources[span.source].name);
            (told.line, told.column) = (line as u32, column as u32);
            (told.start, told.end) = (span.start as u32, span.end as u32);
        }
        told
    };
    let untold = (all.untold > 0).then(|| format!("and {} more mistakes", all.untold));
    let untold = untold.map(|message| v1::Diagnostic { message, ..v1::Diagnostic::default() });
    all.list.iter().map(describe).chain(untold).collect()
}

/// What a scenario would take, as one of so many runs.
pub(crate) fn plan(scenario: &Scenario, plan: &Plan, runs: usize) -> v1::Plan {
    let ticks_per_cycle = f64::from(scenario.clock.ticks_per_cycle);
    v1::Plan {
        nodes: plan.nodes,
        routers: plan.routers,
        links: plan.links,
        regions: plan.regions,
        lookahead_cycles: plan.lookahead_ticks.map(|ticks| ticks as f64 / ticks_per_cycle),
        memory_bytes: plan.memory_bytes,
        backlog_bytes_max: plan.backlog.bytes_max,
        backlog_limited: plan.backlog.is_limited,
        cycles: scenario.measure.warmup + scenario.measure.cycles,
        runs: runs as u32,
        deadlock_freedom: scenario.proof.describe(scenario.topology.built.graph().as_ref()),
    }
}

/// A model in short.
pub(crate) fn summary(model: &ModelSummary) -> v1::ModelSummary {
    let [kind, name, summary] = [model.kind, model.name, model.summary].map(str::to_owned);
    v1::ModelSummary { kind, name, summary }
}

/// All about one model.
pub(crate) fn model(Model { model, json_schema, example }: Model) -> v1::Model {
    let parameters = model.parameters.iter().map(parameter).collect();
    v1::Model { summary: Some(summary(&model)), parameters, json_schema, example }
}

fn parameter(parameter: &Parameter) -> v1::Parameter {
    v1::Parameter {
        name: parameter.name.to_owned(),
        values: models::values(parameter.kind),
        default: parameter.default.map(str::to_owned),
        help: parameter.help.to_owned(),
    }
}
