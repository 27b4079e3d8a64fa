//! One model of several: `routing = "minimal"`, or `[routing.minimal]` with its parameters.

use std::collections::BTreeSet;

use tailback_buffer_reservation::{
    CENTRAL_SCHEDULER, DISTRIBUTED_SCHEDULER, END_TO_END_ACKNOWLEDGEMENT, IN_BAND_RESERVATION, SCHEDULER_COST,
    SINGLE_STAGE_THROUGHPUT,
};
use tailback_crp::CRP;
use tailback_ecn::ECN;
use tailback_hardware::parameters as hardware;
use tailback_marking::{MVCM, PFISTER, RENATO};
use tailback_parameters::{BuildError, Parameter, Values};
use tailback_programs::{COLLECTIVES, CollectiveModel};
use tailback_protocol::{BASELINE, FormulaModel, ProtocolModel};
use tailback_reservation::{COMPREHENSIVE, LHRP, SMSRP, SRP};
use tailback_routing::{ROUTINGS, RoutingModel};
use tailback_topology::{TOPOLOGIES, TopologyModel};
use tailback_workload::{ARRIVALS, ArrivalModel, PATTERNS, PatternModel, SIZES, SizeModel};

use crate::diagnostic::{Diagnostic, Span};
use crate::parameters::{Context, read_parameters};
use crate::reader::{Reading, TableReader, list};
use crate::tree::{Item, Node, Table};

/// All protocols.
pub(crate) const PROTOCOLS: &[ProtocolModel] = &[
    BASELINE,
    ECN,
    SRP,
    SMSRP,
    LHRP,
    COMPREHENSIVE,
    CRP,
    RENATO,
    PFISTER,
    MVCM,
    CENTRAL_SCHEDULER,
    DISTRIBUTED_SCHEDULER,
    IN_BAND_RESERVATION,
    END_TO_END_ACKNOWLEDGEMENT,
];

/// All formulas.
pub(crate) const FORMULAS: &[FormulaModel] = &[SINGLE_STAGE_THROUGHPUT, SCHEDULER_COST];

/// The names of all kinds of control packets that some protocol sends.
pub fn control_kinds() -> impl Iterator<Item = &'static str> + Clone {
    let kinds: BTreeSet<_> = PROTOCOLS.iter().flat_map(|model| model.control_kinds).copied().collect();
    kinds.into_iter().collect::<Vec<_>>().into_iter()
}

/// The key that a formula is chosen by.
pub(crate) const FORMULA: &str = "formula";

/// The name of the pattern that is made of others.
pub(crate) const MIX: &str = "mix";

/// The names of the models that the value of a key can be, if it is one of several.
pub(crate) fn tags_of(key: &str) -> Option<Vec<&'static str>> {
    match key {
        "topology" => Some(names(TOPOLOGIES)),
        "routing" => Some(names(ROUTINGS)),
        "protocol" => Some(names(PROTOCOLS)),
        FORMULA => Some(names(FORMULAS)),
        "pattern" => Some(names(PATTERNS).into_iter().chain([MIX]).collect()),
        "size" => Some(names(SIZES)),
        "arrival" => Some(names(ARRIVALS)),
        "collective" => Some(names(COLLECTIVES)),
        _ => None,
    }
}

fn names<M: Model>(models: &[M]) -> Vec<&'static str> {
    models.iter().map(Model::name).collect()
}

/// Something with a name and parameters.
pub(crate) trait Model: 'static {
    fn name(&self) -> &'static str;
    fn parameters(&self) -> &'static [Parameter];
}

macro_rules! models {
    ($($model:ty),+) => {
        $(impl Model for $model {
            fn name(&self) -> &'static str {
                self.name
            }
            fn parameters(&self) -> &'static [Parameter] {
                self.parameters
            }
        })+
    };
}

models!(
    TopologyModel,
    RoutingModel,
    ProtocolModel,
    PatternModel,
    SizeModel,
    ArrivalModel,
    CollectiveModel,
    FormulaModel
);

/// A model that was chosen, with its values.
pub(crate) struct Choice<M: 'static> {
    pub model: &'static M,
    pub values: Values,
    /// Where the choice stands.
    pub span: Span,
    /// Where its values stand, of those that are given.
    places: Vec<(String, Span)>,
}

impl<M: Model> Choice<M> {
    /// Complains that the model cannot be built.
    pub fn blame(&self, error: BuildError, path: &str, reading: &mut Reading) {
        let place = error.parameter.and_then(|name| self.places.iter().find(|(key, _)| key == name));
        let span = place.map_or(self.span, |(_, span)| *span);
        let what = error.parameter.map_or_else(|| path.to_owned(), |p| format!("{path}.{}.{p}", self.model.name()));
        let message = if place.is_some() { error.message } else { format!("{what}: {}", error.message) };
        reading.blame(Diagnostic::at(span, message).maybe_help(error.help));
    }
}

/// A chosen model by name, with what is in its table.
struct Tagged<'a> {
    tag: &'a str,
    tag_span: Span,
    /// Its values, if there is more than a name.
    inner: Option<&'a Node>,
}

/// Takes `"name"` or `{ name = { … } }` apart.
fn tagged<'a>(node: &'a Node, path: &str, known: &[&str], reading: &mut Reading) -> Option<Tagged<'a>> {
    match &node.item {
        Item::Text(tag) => Some(Tagged { tag, tag_span: node.span, inner: None }),
        Item::Table(table) => match table.0.as_slice() {
            [entry] => Some(Tagged { tag: &entry.key, tag_span: entry.key_span, inner: Some(&entry.node) }),
            [] => {
                let help = format!("choose one of {}", list(known));
                reading.blame(Diagnostic::at(node.span, format!("`{path}` is left open")).help(help));
                None
            }
            [first, second, ..] => {
                let message = format!("`{path}` is both \"{}\" and \"{}\"", first.key, second.key);
                reading.blame(Diagnostic::at(second.key_span, message).help("choose one"));
                None
            }
        },
        _ => {
            reading.mismatch(node, path, "the name of a model, or a table with its parameters");
            None
        }
    }
}

/// Reads which of `models` a node names, and its values. Gives the resolved choice beside it.
pub(crate) fn read_choice<M: Model>(
    node: &Node,
    path: &str,
    what: &str,
    models: &'static [M],
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<(Choice<M>, Item)> {
    let key = path.rsplit('.').next().unwrap_or(path);
    let known = tags_of(key).expect("what is chosen is the value of a key that is known for it");
    let Tagged { tag, tag_span, inner } = tagged(node, path, &known, reading)?;
    let Some(model) = models.iter().find(|model| model.name() == tag) else {
        reading.unknown_word(tag_span, what, tag, &known);
        return None;
    };
    let path = format!("{path}.{tag}");
    let mut table = match inner {
        Some(inner) => TableReader::of(inner, path, reading),
        None => TableReader::absent(tag_span, path),
    };
    let values = read_parameters(&mut table, model.parameters(), context, reading);
    let places = table.table.0.iter().map(|entry| (entry.key.clone(), entry.node.span)).collect();
    let mut resolved = Table::default();
    resolved.put(model.name(), Item::Table(table.finish(reading)));
    Some((Choice { model, values: values?, span: tag_span, places }, Item::Table(resolved)))
}

/// The number of steps of the crossbar per link cycle, which all times depend on.
pub(crate) fn peek_speedup(root: &Table) -> u32 {
    let given = root.get("router").and_then(|router| match &router.node.item {
        Item::Table(table) => table.get(hardware::SPEEDUP.name),
        _ => None,
    });
    match given.map(|entry| &entry.node.item) {
        Some(Item::Integer(number)) if (1..=16).contains(number) => *number as u32,
        _ => hardware::SPEEDUP.default.and_then(|text| text.parse().ok()).expect("the default is a number"),
    }
}
