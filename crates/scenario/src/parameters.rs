//! Reading values by the declarations of their parameters.

use tailback_parameters::{Kind, Parameter, Value, Values};

use crate::diagnostic::Diagnostic;
use crate::nodes::{NodeBook, compact, read_nodes};
use crate::quantity::{TimeScale, parse_flits, parse_ticks};
use crate::reader::{Reading, TableReader};
use crate::renamed::take_parameter;
use crate::tree::{Item, Node};

/// Parameters that came later than their siblings, by the end of their paths. Where they are what their default says, the resolved text is
/// without them, so that scenarios have the digests, and find the results, that they had before.
const CAME_LATER: [&str; 24] = [
    "arrival.bursts.cycles_per_flit",
    "arrival.slots.cycles_per_flit",
    "measure.by_source",
    "measure.links.by",
    "measure.messages",
    "measure.until",
    "nic.delivery",
    "nic.line",
    "nic.pause_at",
    "protocol.central-scheduler.request_packets",
    "protocol.distributed-scheduler.request_packets",
    "protocol.in-band-reservation.output_returns",
    "protocol.lhrp.timeout_counts",
    "protocol.smsrp.timeout_counts",
    "protocol.srp.timeout_counts",
    "router.control_limit",
    "router.credit_interval",
    "router.destination_queue",
    "router.turns_kept",
    "router.turns_move",
    "routing.clos.queues",
    "routing.par.queue_counts",
    "routing.par6-2.queue_counts",
    "routing.par6-2.threshold",
];

/// What values mean depends on this.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context<'a> {
    pub scale: TimeScale,
    /// The nodes of the network, once they are known.
    pub nodes: Option<&'a NodeBook>,
}

/// The values of `parameters` in a table, with defaults for those that are not there. `None` if any is wrong.
pub(crate) fn read_parameters(
    table: &mut TableReader<'_>,
    parameters: &'static [Parameter],
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<Values> {
    let mut values = Values::default();
    let mut complete = true;
    for parameter in parameters {
        match read_parameter(table, parameter, context, reading) {
            Some(value) => {
                let resolved = item(&value, parameter.kind, context);
                if !goes_without_saying(parameter, &resolved, &table.path_of(parameter.name)) {
                    table.resolved.put(parameter.name, resolved);
                }
                values.set(parameter.name, value);
            }
            None => complete = false,
        }
    }
    complete.then_some(values)
}

/// Whether a parameter came later than others and is what it was before it could be said.
fn goes_without_saying(parameter: &Parameter, resolved: &Item, path: &str) -> bool {
    let came_later = CAME_LATER.iter().any(|end| path == *end || path.ends_with(&format!(".{end}")));
    let default = || parameter.default.and_then(|default| Node::parse(default, 0, 0));
    came_later && default().is_some_and(|default| default.item == *resolved)
}

fn read_parameter(
    table: &mut TableReader<'_>,
    parameter: &Parameter,
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<Value> {
    let path = table.path_of(parameter.name);
    let given = take_parameter(table, parameter.name, reading).map(|entry| entry.node.clone());
    let node = match (given, parameter.default) {
        (Some(node), _) => node,
        (None, Some(default)) => Node::parse(default, 0, 0).expect("a default is written as in a file"),
        (None, None) => {
            let missing = Diagnostic::at(table.span, format!("`{path}` is missing"));
            reading.blame(missing.help(format!("add `{} = …`: {}", parameter.name, parameter.help)));
            return None;
        }
    };
    Unread::new(&path, &node, context).read(parameter.kind, reading)
}

/// A value that is being read.
struct Unread<'a> {
    path: &'a str,
    node: &'a Node,
    context: &'a Context<'a>,
}

impl<'a> Unread<'a> {
    fn new(path: &'a str, node: &'a Node, context: &'a Context<'a>) -> Self {
        Self { path, node, context }
    }

    fn read(&self, kind: Kind, reading: &mut Reading) -> Option<Value> {
        match kind {
            Kind::Integer { min, max } => self.integer(self.node, min, max, reading).map(Value::Integer),
            Kind::Number { min, max } => self.number(self.node, min, max, reading).map(Value::Number),
            Kind::Flag => match self.node.item {
                Item::Flag(flag) => Some(Value::Flag(flag)),
                _ => self.mismatch("true or false", reading),
            },
            Kind::Choice(choices) => {
                let words: Vec<_> = choices.iter().map(|choice| choice.word).collect();
                match &self.node.item {
                    Item::Text(text) if words.contains(&text.as_str()) => Some(Value::Text(text.clone())),
                    Item::Text(text) => {
                        reading.unknown_word(self.node.span, &format!("value of `{}`:", self.path), text, &words);
                        None
                    }
                    _ => self.mismatch("one of some words", reading),
                }
            }
            Kind::Text => match &self.node.item {
                Item::Text(text) => Some(Value::Text(text.clone())),
                _ => self.mismatch("a text", reading),
            },
            Kind::Time => self.ticks(reading).map(Value::Ticks),
            Kind::Times => {
                let list = self.list("times", reading)?;
                let times: Vec<_> = list.iter().map(|node| Unread { node, ..*self }.ticks(reading)).collect();
                times.into_iter().collect::<Option<_>>().map(Value::Times)
            }
            Kind::Integers { min, max } => {
                let numbers: Vec<_> =
                    self.list("numbers", reading)?.iter().map(|n| self.integer(n, min, max, reading)).collect();
                numbers.into_iter().collect::<Option<_>>().map(Value::Integers)
            }
            Kind::Numbers { min, max } => {
                let numbers: Vec<_> =
                    self.list("numbers", reading)?.iter().map(|n| self.number(n, min, max, reading)).collect();
                numbers.into_iter().collect::<Option<_>>().map(Value::Numbers)
            }
            Kind::IntegerOr { min, max, word } => match &self.node.item {
                Item::Text(text) if text == word => Some(Value::IntegerOr(None)),
                Item::Text(_) => self.mismatch(&format!("a whole number or \"{word}\""), reading),
                _ => self.integer(self.node, min, max, reading).map(|number| Value::IntegerOr(Some(number))),
            },
            Kind::Flits { min, max } => self.flits(min, max, reading).map(Value::Integer),
            Kind::FlitsOr { min, max, word } => match &self.node.item {
                Item::Text(text) if text == word => Some(Value::IntegerOr(None)),
                _ => self.flits(min, max, reading).map(|flits| Value::IntegerOr(Some(flits))),
            },
            Kind::Nodes => {
                let nodes = self.context.nodes?;
                read_nodes(self.node, self.path, nodes, reading).map(Value::Nodes)
            }
        }
    }

    fn mismatch<T>(&self, wanted: &str, reading: &mut Reading) -> Option<T> {
        reading.mismatch(self.node, self.path, wanted);
        None
    }

    fn list(&self, of: &str, reading: &mut Reading) -> Option<&'a [Node]> {
        match &self.node.item {
            Item::List(list) => Some(list),
            _ => self.mismatch(&format!("a list of {of}"), reading),
        }
    }

    fn integer(&self, node: &Node, min: u64, max: u64, reading: &mut Reading) -> Option<u64> {
        let Item::Integer(number) = node.item else {
            reading.mismatch(node, self.path, "a whole number");
            return None;
        };
        self.fits(node, number, (min.into(), max.into()), reading).then_some(number as u64)
    }

    fn number(&self, node: &Node, min: f64, max: f64, reading: &mut Reading) -> Option<f64> {
        let number = match node.item {
            Item::Integer(number) => number as f64,
            Item::Number(number) => number,
            _ => {
                reading.mismatch(node, self.path, "a number");
                return None;
            }
        };
        self.fits(node, number, (min, max), reading).then_some(number)
    }

    /// Whether a number is in its range; complains if not.
    fn fits<T: PartialOrd + Copy + std::fmt::Display>(
        &self,
        node: &Node,
        value: T,
        range: (T, T),
        reading: &mut Reading,
    ) -> bool {
        let (min, max) = range;
        let fits = min <= value && value <= max;
        if !fits {
            let message = format!("`{}` = {value} is outside {min} to {max}", self.path);
            let mend = [(value < min, min), (value > max, max)].into_iter().find(|(is_beyond, _)| *is_beyond);
            let diagnostic = Diagnostic::at(node.span, message);
            reading.blame(match mend {
                Some((_, mend)) => diagnostic.help(format!("the nearest allowed value is {mend}")),
                // Nothing is near what is no number.
                None => diagnostic,
            });
        }
        fits
    }

    /// Flits, or as many as bytes take.
    fn flits(&self, min: u64, max: u64, reading: &mut Reading) -> Option<u64> {
        let Item::Text(text) = &self.node.item else { return self.integer(self.node, min, max, reading) };
        match parse_flits(text, self.context.scale.flit_bytes) {
            Ok(flits) => self.fits(self.node, flits, (min, max), reading).then_some(flits),
            Err((message, help)) => {
                reading.blame(Diagnostic::at(self.node.span, message).help(help));
                None
            }
        }
    }

    fn ticks(&self, reading: &mut Reading) -> Option<u64> {
        let scale = &self.context.scale;
        let steps = f64::from(scale.ticks_per_cycle);
        match &self.node.item {
            Item::Integer(cycles) if (0..=1 << 40).contains(cycles) => Some(*cycles as u64 * steps as u64),
            Item::Number(cycles) if *cycles >= 0.0 && *cycles < 1e12 && (cycles * steps).fract() == 0.0 => {
                Some((cycles * steps) as u64)
            }
            Item::Text(text) => parse_ticks(text, scale)
                .map_err(|(message, help)| reading.blame(Diagnostic::at(self.node.span, message).help(help)))
                .ok(),
            _ => self.mismatch("a time: a number of cycles, or a text such as \"50 ns\"", reading),
        }
    }
}

/// A value as it stands in the resolved text.
fn item(value: &Value, kind: Kind, context: &Context<'_>) -> Item {
    let list = |items: Vec<Item>| Item::List(items.into_iter().map(Node::free).collect());
    match value {
        Value::Integer(number) => Item::Integer((*number).into()),
        Value::Number(number) => Item::Number(*number),
        Value::Flag(flag) => Item::Flag(*flag),
        Value::Text(text) => Item::Text(text.clone()),
        Value::Ticks(ticks) => cycles(*ticks, context.scale.ticks_per_cycle),
        Value::Times(times) => list(times.iter().map(|&ticks| cycles(ticks, context.scale.ticks_per_cycle)).collect()),
        Value::Integers(numbers) => list(numbers.iter().map(|&number| Item::Integer(number.into())).collect()),
        Value::Numbers(numbers) => list(numbers.iter().map(|&number| Item::Number(number)).collect()),
        Value::IntegerOr(Some(number)) => Item::Integer((*number).into()),
        Value::IntegerOr(None) => match kind {
            Kind::IntegerOr { word, .. } | Kind::FlitsOr { word, .. } => Item::Text(word.to_owned()),
            _ => unreachable!("a value is of its kind"),
        },
        Value::Nodes(nodes) => compact(nodes, context.nodes.map_or(0, |book| book.count)),
    }
}

/// A time in cycles.
pub(crate) fn cycles(ticks: u64, ticks_per_cycle: u32) -> Item {
    let per_cycle = u64::from(ticks_per_cycle);
    if ticks.is_multiple_of(per_cycle) {
        Item::Integer((ticks / per_cycle).into())
    } else {
        Item::Number(ticks as f64 / per_cycle as f64)
    }
}
