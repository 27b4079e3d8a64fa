//! What scenarios can be made of: models with their schemas and examples.

use tailback_scenario::{Document, Kind, ModelSummary, models};

use crate::api_error::ApiError;
use crate::schema;

/// A model with all that can be said about it.
pub(crate) struct Model {
    pub model: ModelSummary,
    /// The JSON Schema of its table of parameters.
    pub json_schema: String,
    /// A small scenario that uses it, complete and without mistakes.
    pub example: String,
}

/// All models of a kind; of all kinds if none is named.
pub(crate) fn list(kind: &str) -> impl Iterator<Item = ModelSummary> {
    models().filter(move |model| kind.is_empty() || model.kind == kind)
}

/// All about one model.
pub(crate) fn get(kind: &str, name: &str) -> Result<Model, ApiError> {
    let model = models().find(|model| model.kind == kind && model.name == name).ok_or_else(|| {
        let kind = if kind.is_empty() { "model" } else { kind };
        ApiError::ModelNotFound { kind: kind.to_owned(), name: name.to_owned() }
    })?;
    let example = example(&model)
        .ok_or_else(|| ApiError::Internal(format!("there is no example of {} {}", model.kind, model.name)))?;
    let json_schema = serde_json::to_string_pretty(&schema::model_schema(&model)).expect("plain data");
    Ok(Model { model, json_schema, example })
}

/// What values a parameter takes, in words.
pub(crate) fn values(kind: Kind) -> String {
    match kind {
        Kind::Integer { min, max } => format!("whole number, {min} to {max}"),
        Kind::Number { min, max } => format!("number, {min} to {max}"),
        Kind::Flag => "true or false".to_owned(),
        Kind::Choice(choices) => {
            let words: Vec<_> = choices.iter().map(|choice| format!("\"{}\" ({})", choice.word, choice.help)).collect();
            words.join("; ")
        }
        Kind::Text => "text".to_owned(),
        Kind::Time => "time, in cycles or as a text with a unit".to_owned(),
        Kind::Times => "list of times, each in cycles or as a text with a unit".to_owned(),
        Kind::Integers { min, max } => format!("list of whole numbers, {min} to {max}"),
        Kind::Numbers { min, max } => format!("list of numbers, {min} to {max}"),
        Kind::IntegerOr { min, max, word } => format!("whole number, {min} to {max}, or \"{word}\""),
        Kind::Flits { min, max } => format!("flits, {min} to {max}, or bytes as a text with a unit"),
        Kind::FlitsOr { min, max, word } => {
            format!("flits, {min} to {max}, or bytes as a text with a unit, or \"{word}\"")
        }
        Kind::Nodes => "set of nodes, such as \"all\", \"0..64\" or [1, 5]".to_owned(),
    }
}

/// What some protocols need of routers.
const ROUTERS: &str = "[router]\nvirtual_output_queues = true\n";

/// What the interfaces need that protocols for Clos networks reserve routes of.
const INTERFACES: &str = "[nic]\nvc_choice = \"rotation\"\n";

/// A small scenario with a model, found by trying: so it is known to be free of mistakes.
fn example(model: &ModelSummary) -> Option<String> {
    let plain = |network: &String| format!("{network}[[traffic]]\nload = 0.1\n");
    let mut networks = networks(model).into_iter().filter(|network| is_good(&plain(network)));
    if is_of_network(model) {
        return networks.next().as_ref().map(plain);
    }
    let sections = if model.kind == "protocol" { &["", ROUTERS, INTERFACES][..] } else { &[""] };
    let tables = tables(model);
    networks.find_map(|network| {
        let texts = tables.iter().map(|own| with_model(model, own, &network));
        texts.flat_map(|text| sections.iter().map(move |section| format!("{section}{text}"))).find(|text| is_good(text))
    })
}

fn is_good(text: &str) -> bool {
    Document::read("example", text).resolve().is_ok()
}

/// Whether networks consist of it, and of another such model.
fn is_of_network(model: &ModelSummary) -> bool {
    ["topology", "routing"].contains(&model.kind)
}

/// Networks to try: those of the model if networks consist of it, else all, as it is tried in those that have no mistakes without it.
fn networks(model: &ModelSummary) -> Vec<String> {
    let of_kind = |kind: &'static str| -> Vec<ModelSummary> {
        if model.kind == kind { vec![*model] } else { models().filter(|other| other.kind == kind).collect() }
    };
    let routing_tables = if model.kind == "routing" { tables(model) } else { vec![String::new()] };
    let mut networks = Vec::new();
    for topology in of_kind("topology") {
        let topology_tables = tables(&topology);
        for routing in of_kind("routing") {
            let (topology, routing) = (topology.name, routing.name);
            for topology_table in &topology_tables {
                networks.extend(routing_tables.iter().map(|routing_table| {
                    format!("[topology.{topology}]\n{topology_table}\n[routing.{routing}]\n{routing_table}\n")
                }));
            }
        }
    }
    networks
}

/// A scenario of a network with a model of another kind, of which `own` is the table.
fn with_model(model: &ModelSummary, own: &str, network: &str) -> String {
    let mut text = network.to_owned();
    match (model.kind, model.name) {
        ("protocol", name) => text += &format!("[protocol.{name}]\n{own}\n"),
        // Sections that there may be several of are told apart by commas; those in lists have brackets already.
        ("section", name) if !name.starts_with('[') => {
            text += &format!("[{}]\n{own}\n", name.split(',').next().unwrap_or(name));
        }
        _ => {}
    }
    if let ("collective", name) = (model.kind, model.name) {
        return text + &format!("[clock]\nflit = \"64 B\"\n[[program]]\n[program.collective.{name}]\n{own}");
    }
    if let ("section", "[program]") = (model.kind, model.name) {
        return text + &format!("[[program]]\ncollective.barrier = {{}}\n{own}");
    }
    text += "[[traffic]]\n";
    match (model.kind, model.name) {
        ("section", "[traffic]") => text += own,
        ("section", "[traffic.phases]") => text += &format!("load = 0.1\n[[traffic.phases]]\n{own}"),
        // A list of tables, not a table.
        ("pattern", "mix") => text += &format!("load = 0.1\n[[traffic.pattern.mix]]\n{own}"),
        (kind @ ("pattern" | "size" | "arrival"), name) => {
            text += &format!("load = 0.1\n[traffic.{kind}.{name}]\n{own}");
        }
        _ => text += "load = 0.1\n",
    }
    text
}

/// Tables of parameters to try: with all defaults written out or without, and lists of several lengths.
fn tables(model: &ModelSummary) -> Vec<String> {
    let mut tables = vec![(String::new(), String::new())];
    for parameter in model.parameters {
        let values: Vec<String> = match parameter.default {
            Some(default) => vec![default.to_owned()],
            None => candidates(parameter.kind),
        };
        let extended = |(whole, short): &(String, String)| {
            let required = parameter.default.is_none();
            let add = |value: &String| {
                let line = format!("{} = {value}\n", parameter.name);
                let short = if required { format!("{short}{line}") } else { short.clone() };
                (format!("{whole}{line}"), short)
            };
            values.iter().map(add).collect::<Vec<_>>()
        };
        tables = tables.iter().flat_map(extended).collect();
    }
    let (whole, mut short): (Vec<String>, Vec<String>) = tables.into_iter().unzip();
    short.retain(|table| !whole.contains(table));
    let mut tables: Vec<String> = whole.into_iter().chain(short).collect();
    if let ("topology", Some(last)) =
        (model.kind, model.parameters.iter().rfind(|parameter| parameter.default.is_none()))
    {
        // Some numbers go together: where routers of two have two links each, five groups are joined by one link each, as some routing wants it.
        let [small, larger] = ["2", "5"].map(|number| format!("{} = {number}\n", last.name));
        let others: Vec<_> =
            tables.iter().filter(|table| table.contains(&small)).map(|t| t.replace(&small, &larger)).collect();
        tables.extend(others);
    }
    tables
}

/// Small values of a kind.
fn candidates(kind: Kind) -> Vec<String> {
    match kind {
        Kind::Integer { min, max } | Kind::Flits { min, max } => vec![2.clamp(min, max).to_string()],
        Kind::Number { min, max } => vec![format!("{:?}", 0.1f64.clamp(min, max))],
        Kind::Flag => vec!["false".to_owned()],
        Kind::Choice(choices) => choices.iter().map(|choice| format!("\"{}\"", choice.word)).collect(),
        Kind::Text => vec!["\"text\"".to_owned()],
        Kind::Time => vec!["10".to_owned()],
        Kind::Times => vec!["[10, 20]".to_owned()],
        Kind::Integers { .. } => ["[2, 2]", "[2]", "[2, 2, 2]"].map(str::to_owned).to_vec(),
        Kind::Numbers { .. } => ["[1.0, 1.0]", "[1.0]"].map(str::to_owned).to_vec(),
        Kind::IntegerOr { word, .. } | Kind::FlitsOr { word, .. } => vec![format!("\"{word}\"")],
        Kind::Nodes => vec!["[0, 1]".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn each_model_has_an_example_that_uses_it_and_a_schema() {
        for model in models() {
            let found = get(model.kind, model.name).unwrap_or_else(|error| panic!("{error}"));
            let name = model.name.split(',').next().expect("there is a first part");
            let uses = found.example.contains(name.trim_matches(['[', ']']));
            assert!(uses, "{} {}:\n{}", model.kind, model.name, found.example);
            let schema: Value = serde_json::from_str(&found.json_schema).expect("it is JSON");
            let properties = schema["properties"].as_object().expect("it has properties");
            assert_eq!(properties.len(), model.parameters.len());
            for (parameter, property) in model.parameters.iter().map(|p| (p, &properties[p.name])) {
                assert_eq!(property.get("default").is_some(), parameter.default.is_some(), "{}", parameter.name);
            }
        }
    }

    /// Some have 81 tables: whoever asks for an example waits for all that are tried.
    #[test]
    fn nothing_is_tried_twice() {
        for model in models().filter(is_of_network) {
            let networks = networks(&model);
            let once: BTreeSet<&String> = networks.iter().collect();
            assert_eq!(networks.len(), once.len(), "{} {}", model.kind, model.name);
        }
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert!(matches!(get("topology", "torus-of-cheese"), Err(ApiError::ModelNotFound { .. })));
        assert!(list("cheese").count() == 0 && list("topology").count() > 3 && list("").count() > 20);
    }
}
