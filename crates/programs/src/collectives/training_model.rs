//! The parameters of a training step, and the sizes that follow from them.

use tailback_parameters::{BuildError, Kind, Parameter, Values};

use super::ring;
use super::rounds::{InRounds, fits, message_flits};
use super::training::{Split, TrainingStep};
use super::{CollectiveModel, FLITS_MAX, NODES, REDUCE, Setting, combining, cycles};
use crate::Steps;

pub(super) const TRAINING_STEP: CollectiveModel = CollectiveModel {
    name: "training-step",
    summary: "a training step of a transformer: microbatches forward and backward through a pipeline, then the gradients",
    example: "collective.training-step = { tensor = 2, pipeline = 2, layers = 8, microbatches = 4, parameters = 100_000_000, hidden = 1024, sequence = 1024 }",
    parameters: &[
        NODES,
        Parameter {
            name: "data",
            kind: Kind::IntegerOr { min: 1, max: u32::MAX as u64, word: "rest" },
            default: Some("\"rest\""),
            help: "how many replicas train on data of their own; as many as there are ranks for by default",
        },
        count("pipeline", 1 << 20, Some("1"), "how many stages the layers are split into"),
        count("tensor", 1 << 20, Some("1"), "how many ranks share each layer"),
        count("layers", 1 << 20, None, "the layers of the model, a multiple of the stages"),
        count("microbatches", 1 << 20, Some("1"), "how many microbatches each replica trains on in a step"),
        count("parameters", 1 << 50, None, "the parameters of the model"),
        count("bytes_per_value", 64, Some("2"), "the bytes of an activation or a gradient"),
        count("hidden", 1 << 24, None, "the values of a token between layers"),
        count("sequence", 1 << 24, None, "the tokens of a sequence"),
        count("microbatch", 1 << 20, Some("1"), "the sequences of a microbatch"),
        time("forward", "how long a rank computes for a microbatch in a layer forward"),
        time("backward", "the same backward"),
        REDUCE,
    ],
    build: |values, setting| Ok(Box::new(build(values, setting)?)),
};

const fn count(name: &'static str, max: u64, default: Option<&'static str>, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Integer { min: 1, max }, default, help }
}

const fn time(name: &'static str, help: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Time, default: Some("0"), help }
}

/// A training step as its parameters want it.
fn build(values: &Values, setting: &Setting) -> Result<impl Steps + use<>, BuildError> {
    let split = split(values, setting.ranks)?;
    let layers = values.integer("layers");
    if !layers.is_multiple_of(split.pipeline) {
        let message = format!("{layers} layers are no multiple of {} stages", split.pipeline);
        return Err(BuildError::at("layers", message).help("take a multiple, so that all stages have as many layers"));
    }
    let token_values = u128::from(values.amount("hidden")) * u128::from(values.amount("sequence"));
    let activation = in_flits(token_values * u128::from(values.amount("microbatch")), "hidden", values, setting)?;
    fits(activation, "hidden")?;
    let held = values.amount("parameters").div_ceil(u64::from(split.pipeline) * u64::from(split.tensor));
    let gradients = in_flits(held.into(), "parameters", values, setting)?;
    let ring = |ranks, flits, parameter| {
        InRounds::new(ring::all_reduce(ranks), flits, parameter).map(|ring| ring.combining(combining(values)))
    };
    let program = TrainingStep {
        split,
        microbatches: values.integer("microbatches"),
        layers_of_stage: layers / split.pipeline,
        activation_flits: message_flits(activation),
        forward_cycles: cycles(values, "forward", setting),
        backward_cycles: cycles(values, "backward", setting),
        shards: ring(split.tensor, activation, "hidden")?,
        replicas: ring(split.data, gradients, "parameters")?,
    };
    program.countable()
}

fn split(values: &Values, ranks: u32) -> Result<Split, BuildError> {
    let [pipeline, tensor] = ["pipeline", "tensor"].map(|name| values.integer(name));
    let of_replica = u64::from(pipeline) * u64::from(tensor);
    let data = values.integer_or("data").unwrap_or((u64::from(ranks) / of_replica).max(1));
    let product = u128::from(data) * u128::from(of_replica);
    if product != u128::from(ranks) {
        let message = format!(
            "{data} replicas of {pipeline} stages of {tensor} ranks are {product} ranks, and there are {ranks}"
        );
        return Err(BuildError::at("data", message).help("make data × pipeline × tensor the number of nodes"));
    }
    Ok(Split { data: data as u32, pipeline, tensor })
}

/// As many flits as some values take, whose number follows from `parameter`.
fn in_flits(number: u128, parameter: &'static str, values: &Values, setting: &Setting) -> Result<u64, BuildError> {
    let Some(flit_bytes) = setting.flit_bytes else {
        let message = "the sizes of a training step are in bytes, and nobody says how large a flit is";
        return Err(BuildError::at(parameter, message).help("give the scenario the bytes of a flit"));
    };
    let bytes = number * u128::from(values.amount("bytes_per_value"));
    let flits = (bytes as f64 / flit_bytes).ceil();
    if flits > FLITS_MAX as f64 {
        let message = format!("{number} values are {flits} flits, more than {FLITS_MAX}");
        return Err(BuildError::at(parameter, message).help("take a smaller model, or larger flits"));
    }
    Ok(flits as u64)
}
