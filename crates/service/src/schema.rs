//! JSON Schemas of scenarios and of the models in them, made from the declarations that scenarios are read by: for editors,
//! forms and programs that write scenarios. They say what may stand where; whether it makes sense together is said by
//! reading the scenario.

use serde_json::{Map, Value, json};
use tailback_scenario::{Key, Kind, ModelSummary, Parameter, models};

/// The pattern that is a list of others.
const MIX: &str = "mix";

/// Which schemas these are.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The JSON Schema (draft 2020-12) of whole scenarios, as TOML has them.
#[must_use]
pub fn scenario_schema() -> String {
    let mut properties = Map::new();
    let mut put = |name: &str, schema: Value| drop(properties.insert(name.to_owned(), schema));
    put("title", json!({ "type": "string", "description": "what reports are headed by" }));
    put("seed", json!({ "type": "integer", "minimum": 0, "default": 1, "description": "of all random streams" }));
    put("clock", clock());
    for kind in ["topology", "routing", "protocol"] {
        put(kind, choice(kind, Map::new()));
    }
    put("links", links());
    for name in ["router", "nic", "execution"] {
        put(name, section(name));
    }
    put("measure", measure());
    put("nodes", json!({ "type": "object", "additionalProperties": kind_schema(Kind::Nodes) }));
    put(
        "traffic",
        json!({ "anyOf": [reference("traffic"), { "type": "array", "items": reference("traffic"), "minItems": 1 }] }),
    );
    put(
        "program",
        json!({ "anyOf": [reference("program"), { "type": "array", "items": reference("program"), "minItems": 1 }] }),
    );
    put("sweep", sweep());
    let schema = json!({
        "$schema": DIALECT,
        "title": "A scenario of tailback",
        "type": "object",
        "properties": properties,
        "required": ["topology"],
        "anyOf": [{ "required": ["traffic"] }, { "required": ["program"] }],
        "additionalProperties": false,
        "$defs": { "traffic": traffic(), "pattern": pattern(), "program": program() },
    });
    serde_json::to_string_pretty(&schema).expect("plain data")
}

/// The JSON Schema of a model's table of parameters, on its own.
pub(crate) fn model_schema(model: &ModelSummary) -> Value {
    let mut schema = table(model);
    schema["$schema"] = json!(DIALECT);
    schema["title"] = json!(format!("{}.{}", model.kind, model.name));
    schema
}

/// The table of parameters of a model.
fn table(model: &ModelSummary) -> Value {
    let required: Vec<_> = required(model).map(|parameter| parameter.name).collect();
    json!({
        "description": model.summary,
        "type": "object",
        "properties": properties(model.parameters),
        "required": required,
        "additionalProperties": false,
    })
}

fn properties(parameters: &[Parameter]) -> Map<String, Value> {
    let property = |parameter: &Parameter| {
        let mut schema = kind_schema(parameter.kind);
        schema["description"] = json!(parameter.help);
        if let Some(default) = parameter.default.map(literal) {
            schema["default"] = default;
        }
        (parameter.name.to_owned(), schema)
    };
    parameters.iter().map(property).collect()
}

fn required(model: &ModelSummary) -> impl Iterator<Item = &'static Parameter> {
    model.parameters.iter().filter(|parameter| parameter.default.is_none())
}

/// One of several models: its name alone if it needs no more, or a table with its name and its table. `more` are others
/// that it may be.
fn choice(kind: &str, more: Map<String, Value>) -> Value {
    let all = || models().filter(|model| model.kind == kind && model.name != MIX);
    let alone: Vec<_> = all().filter(|model| required(model).next().is_none()).map(|model| model.name).collect();
    let named = all().map(|model| (model.name.to_owned(), table(&model)));
    let properties: Map<_, _> = named.chain(more).collect();
    let tagged = json!({
        "type": "object", "properties": properties, "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
    });
    let schema = if alone.is_empty() { tagged } else { json!({ "anyOf": [{ "enum": alone }, tagged] }) };
    with_examples(schema, models().filter(|model| model.kind == kind).filter_map(|model| example(&model)))
}

fn with_examples(mut schema: Value, examples: impl IntoIterator<Item = Value>) -> Value {
    let examples: Vec<Value> = examples.into_iter().collect();
    if !examples.is_empty() {
        schema["examples"] = json!(examples);
    }
    schema
}

/// The value that the example of a model gives to its key; of a list of tables, which have the schema, the first.
fn example(model: &ModelSummary) -> Option<Value> {
    let table: Map<String, Value> = toml::from_str(model.example?).expect("examples are read by a test");
    let (key, value) = table.into_iter().next()?;
    Some(if ["traffic", "phases", "program"].contains(&key.as_str()) { value[0].clone() } else { value })
}

fn section(name: &str) -> Value {
    let found = models().find(|model| model.kind == "section" && model.name == name);
    let model = found.expect("all sections that are named here are there");
    with_examples(table(&model), example(&model))
}

/// The classes of links that there are depend on the topology.
fn links() -> Value {
    let sections = models().filter(|model| model.kind == "section");
    let named = sections.filter_map(|model| Some((model.name.strip_prefix("links.")?.to_owned(), table(&model))));
    let (numbered, named): (Vec<_>, Vec<_>) = named.partition(|(name, _)| name.contains("1,"));
    let mut schema = closed(&Value::Object(named.into_iter().collect()));
    // "level1, links.level2, …" are all levels.
    let pattern = |name: String| name.split("1,").next().map(|stem| format!("^{stem}[0-9]+$")).unwrap_or_default();
    let patterns: Map<_, _> = numbered.into_iter().map(|(names, table)| (pattern(names), table)).collect();
    schema["patternProperties"] = Value::Object(patterns);
    schema
}

/// When to measure, and what is looked at now and again.
fn measure() -> Value {
    let mut schema = section("measure");
    for name in ["trees", "links"] {
        schema["properties"][name] = section(&format!("measure.{name}"));
    }
    schema
}

fn clock() -> Value {
    let mut schema = section("clock");
    let keys = models().find(|model| model.name == "clock").map(|model| model.keys).unwrap_or_default();
    for Key { name, help, .. } in keys {
        schema["properties"][name] = json!({ "type": "string", "description": help });
    }
    schema
}

fn traffic() -> Value {
    let mut schema = section("[traffic]");
    let mut phase = section("[traffic.phases]");
    phase["properties"]["load"] = schema["properties"]["load"].clone();
    phase["properties"]["pattern"] = reference("pattern");
    let flits = json!({ "type": "integer", "minimum": 1 });
    // A flow says how much it sends, or when.
    schema["required"] = json!([]);
    schema["anyOf"] = json!(["load", "destination_load", "at"].map(|key| json!({ "required": [key] })));
    schema["properties"]["destination_load"] = json!({
        "type": "number",
        "minimum": 0,
        "description": "flits per destination and link cycle, in place of `load`",
    });
    schema["properties"]["name"] = json!({ "type": "string", "description": "tells results apart" });
    schema["properties"]["pattern"] = reference("pattern");
    schema["properties"]["size"] = json!({ "anyOf": [choice("size", Map::new()), flits, bytes()] });
    schema["properties"]["arrival"] = choice("arrival", Map::new());
    schema["properties"]["phases"] = json!({ "type": "array", "items": phase });
    schema
}

fn program() -> Value {
    let mut schema = section("[program]");
    schema["required"] = json!([]);
    // It says in one way what its ranks do.
    schema["oneOf"] = ["collective", "goal", "messages"].map(|key| json!({ "required": [key] })).into();
    schema["properties"]["name"] = json!({ "type": "string", "description": "tells results apart" });
    schema["properties"]["collective"] = choice("collective", Map::new());
    let text = || json!({ "type": "string" });
    let source = closed(&json!({ "file": text(), "text": text(), "sha256": text() }));
    for key in ["goal", "messages"] {
        schema["properties"][key] =
            json!({ "anyOf": [{ "type": "string", "description": "the name of a file" }, source] });
    }
    let map = &mut schema["properties"]["map"];
    let listed = json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } });
    *map = json!({ "anyOf": [map, listed, source] });
    schema
}

/// Patterns may be made of patterns.
fn pattern() -> Value {
    let model = models().find(|model| model.kind == "pattern" && model.name == MIX).expect("there is one");
    let mut part = table(&model);
    let share = &mut part["properties"]["share"];
    *share = json!({ "anyOf": [share, { "const": "rest" }] });
    part["properties"]["pattern"] = reference("pattern");
    let mix = json!({ "type": "array", "items": part, "minItems": 1 });
    choice("pattern", Map::from_iter([(MIX.to_owned(), mix)]))
}

fn sweep() -> Value {
    let mut variant = closed(&json!({ "name": { "type": "string" }, "set": { "type": "object" } }));
    variant["required"] = json!(["name"]);
    let seed = json!({ "type": "integer", "minimum": 0 });
    closed(&json!({
        "over": { "type": "object", "description": "paths, and the values that they take: a list, or a range a..b/step" },
        "seeds": { "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "array", "items": seed, "minItems": 1 }] },
        "stop_when_saturated": { "type": "boolean", "default": true },
        "variant": { "type": "array", "items": variant },
    }))
}

fn closed(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn kind_schema(kind: Kind) -> Value {
    match kind {
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(choices) => json!({ "enum": choices.iter().map(|choice| choice.word).collect::<Vec<_>>() }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Time => json!({ "type": ["number", "string"] }),
        Kind::Times => json!({ "type": "array", "items": kind_schema(Kind::Time) }),
        Kind::Integers { min, max } => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": min, "maximum": max } })
        }
        Kind::Numbers { min, max } => {
            json!({ "type": "array", "items": { "type": "number", "minimum": min, "maximum": max } })
        }
        Kind::IntegerOr { min, max, word } => {
            json!({ "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, { "const": word }] })
        }
        Kind::Flits { min, max } => {
            json!({ "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, bytes()] })
        }
        Kind::FlitsOr { min, max, word } => {
            json!({ "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, bytes(), { "const": word }] })
        }
        Kind::Nodes => json!({ "type": ["string", "array", "object"] }),
    }
}

/// An amount of data with a unit.
fn bytes() -> Value {
    json!({ "type": "string", "pattern": "^[0-9.]+ *[kKMG]?i?B$" })
}

/// A default as it stands in a document: numbers, texts and lists are written alike in JSON.
fn literal(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_of_scenarios_names_every_model_and_every_parameter() {
        let text = scenario_schema();
        let schema: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(schema["$schema"], DIALECT);
        assert!(!text.contains(": null"), "nothing is left open: {text}");
        for model in models().filter(|model| model.name != MIX) {
            assert!(text.contains(model.summary), "{} {}", model.kind, model.name);
            for parameter in model.parameters {
                assert!(text.contains(&format!("\"{}\"", parameter.name)), "{} of {}", parameter.name, model.name);
            }
        }
    }

    #[test]
    fn what_is_referred_to_is_there() {
        let text = scenario_schema();
        let schema: Value = serde_json::from_str(&text).expect("it is JSON");
        let references = text.split("#/$defs/").skip(1).map(|rest| rest.split('"').next().unwrap_or_default());
        let mut count = 0;
        for name in references {
            assert!(schema["$defs"][name].is_object(), "{name}");
            count += 1;
        }
        assert!(count >= 4, "{count}");
    }
}
