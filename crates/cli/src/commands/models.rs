//! `tailback models`: what exists, with all parameters.

use std::fmt::Write as _;

use serde::Serialize;
use tailback_scenario::reading::nearest;
use tailback_scenario::{Key, Kind, ModelSummary, Parameter, formulas, models};

use crate::arguments::{Format, ModelsArguments};
use crate::complaint::Complaint;
use crate::output::{say, say_line};

/// A model as `models --format json` prints it.
#[derive(Serialize)]
struct Shown {
    kind: &'static str,
    name: &'static str,
    summary: &'static str,
    parameters: Vec<ShownParameter>,
    example: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<ShownResult>,
}

/// A number that a formula gives.
#[derive(Serialize)]
struct ShownResult {
    name: &'static str,
    help: &'static str,
}

#[derive(Serialize)]
struct ShownParameter {
    name: &'static str,
    values: String,
    default: Option<&'static str>,
    help: &'static str,
    choices: Vec<ShownChoice>,
}

#[derive(Serialize)]
struct ShownChoice {
    value: &'static str,
    help: &'static str,
}

/// Runs the command.
pub fn run(arguments: &ModelsArguments) -> Result<(), Complaint> {
    if arguments.schema {
        say_line!("{}", tailback_service::scenario_schema());
        return Ok(());
    }
    let wanted = |shown: &Shown| arguments.name.as_ref().is_none_or(|name| is_called(shown, name));
    let shown: Vec<Shown> = everything().map(show).filter(wanted).collect();
    if shown.is_empty() {
        let name = arguments.name.as_deref().unwrap_or_default();
        let help = match nearest(name, everything().flat_map(|model| [short(model.name), model.kind])) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`tailback models` lists them all".to_owned(),
        };
        return Err(Complaint::BadInput(format!("there is no model or kind of models called `{name}`"), Some(help)));
    }
    match arguments.format {
        Format::Json => say_line!("{}", serde_json::to_string_pretty(&shown).expect("plain data")),
        Format::Text => say!("{}", text(&shown)),
    }
    Ok(())
}

/// What scenario files can name, and what figures can compute.
fn everything() -> impl Iterator<Item = ModelSummary> {
    models().chain(formulas())
}

/// Whether somebody means a model, or all of its kind. Of sections the last part of the name will do: `phases` for
/// `[traffic.phases]`.
fn is_called(shown: &Shown, name: &str) -> bool {
    [shown.name, short(shown.name), shown.kind].contains(&name)
}

fn short(name: &'static str) -> &'static str {
    let name = name.trim_matches(['[', ']']);
    name.rsplit('.').next().unwrap_or(name)
}

fn show(model: ModelSummary) -> Shown {
    let parameters = model.parameters.iter().map(show_parameter).chain(model.keys.iter().map(show_key)).collect();
    let results = model.results.iter().map(|result| ShownResult { name: result.name, help: result.help }).collect();
    Shown { kind: model.kind, name: model.name, summary: model.summary, parameters, example: model.example, results }
}

fn show_key(key: &Key) -> ShownParameter {
    let Key { name, values, default, help } = *key;
    ShownParameter { name, values: values.to_owned(), default, help, choices: Vec::new() }
}

fn show_parameter(parameter: &Parameter) -> ShownParameter {
    let choices = match parameter.kind {
        Kind::Choice(choices) => choices.iter().map(|c| ShownChoice { value: c.word, help: c.help }).collect(),
        _ => Vec::new(),
    };
    let Parameter { name, default, help, .. } = *parameter;
    ShownParameter { name, values: values(parameter.kind), default, help, choices }
}

/// What values a parameter takes, for people.
fn values(kind: Kind) -> String {
    match kind {
        Kind::Integer { min, max } => format!("whole number, {min} to {max}"),
        Kind::Number { min, max } => format!("number, {min} to {max}"),
        Kind::Flag => "true or false".to_owned(),
        Kind::Choice(_) => "one of:".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::Time => "time, in cycles or with a unit".to_owned(),
        Kind::Times => "list of times, each in cycles or with a unit".to_owned(),
        Kind::Integers { min, max } => format!("list of whole numbers, {min} to {max}"),
        Kind::Numbers { min, max } => format!("list of numbers, {min} to {max}"),
        Kind::IntegerOr { min, max, word } => format!("whole number, {min} to {max}, or \"{word}\""),
        Kind::Flits { min, max } => format!("flits, {min} to {max}, or bytes with a unit"),
        Kind::FlitsOr { min, max, word } => format!("flits, {min} to {max}, or bytes with a unit, or \"{word}\""),
        Kind::Nodes => "set of nodes".to_owned(),
    }
}

fn text(shown: &[Shown]) -> String {
    let mut text = String::new();
    let mut kind = "";
    for model in shown {
        if model.kind != kind {
            kind = model.kind;
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", kind.to_uppercase());
        }
        let _ = writeln!(text, "\n  {}   {}", model.name, model.summary);
        for parameter in &model.parameters {
            let default =
                parameter.default.map_or_else(|| "required".to_owned(), |default| format!("default {default}"));
            let _ = writeln!(
                text,
                "      {:<22} {} ({}; {default})",
                parameter.name,
                parameter.help,
                parameter.values.trim_end_matches(':')
            );
            for choice in &parameter.choices {
                let _ = writeln!(text, "        {:<20} = {}", choice.value, choice.help);
            }
        }
        for ShownResult { name, help } in &model.results {
            let _ = writeln!(text, "      {:<22} {help}", format!("gives {name}"));
        }
        for (number, line) in model.example.iter().flat_map(|example| example.lines()).enumerate() {
            let _ = writeln!(text, "      {:<22} {line}", if number == 0 { "for example" } else { "" });
        }
    }
    text
}
