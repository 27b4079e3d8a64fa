//! Who sends what to whom.

mod declarations;
mod finite;
mod slots;

use tailback_workload::{
    ARRIVALS, Arrival, LOAD_MIN, MessageSize, NodeSet, PATTERNS, Pattern, Phase, SIZES, Setting, Traffic,
};

use crate::choice::{MIX, read_choice};
use crate::diagnostic::Diagnostic;
use crate::naming::{Called, path_of, read_name};
use crate::nodes::NodeBook;
use crate::parameters::{Context, read_parameters};
use crate::quantity::TimeScale;
use crate::reader::{Reading, TableReader};
use crate::tree::{Entry, Item, Node, Table};
use declarations::{FROM, LOAD, PHASE, RATE_KEYS, SATURATES, SATURATING};
pub(crate) use declarations::{PHASE_FROM, PHASE_KEYS, SHARE, TRAFFIC, TRAFFIC_KEYS};
use finite::Amount;
pub(crate) use finite::{check_end, check_listed};
use slots::{Sharing, check_slots};

/// The set of nodes that is called so inside of a flow: its sources.
const SOURCES: &str = "from";

/// Where messages go if nothing is said.
pub(crate) const PATTERN_DEFAULT: &str = "uniform";

/// The most flows of a scenario.
const FLOWS_MAX: usize = 1024;

/// The most later phases of a flow.
const PHASES_MAX: usize = 1024;

/// Reads all flows.
pub(crate) fn read_flows(
    root: &mut TableReader<'_>,
    packet_flits: u16,
    scale: TimeScale,
    book: &mut NodeBook,
    names: &mut Vec<String>,
    reading: &mut Reading,
) -> Option<Vec<Traffic>> {
    let span = root.span;
    // `traffic = []` takes the flows of a base away.
    let Some(entry) = root.take("traffic").filter(|entry| !is_empty_list(&entry.node)) else {
        if root.table.get("program").is_some() {
            return Some(Vec::new());
        }
        reading.blame(
            Diagnostic::at(span, "nobody sends anything: there is neither `[[traffic]]` nor `[[program]]`")
                .help("add a section such as `[[traffic]]` with `load = 0.3`"),
        );
        return None;
    };
    let single = std::slice::from_ref(&entry.node);
    let list = match &entry.node.item {
        Item::List(list) => list.as_slice(),
        Item::Table(_) => single,
        _ => {
            reading.mismatch(&entry.node, "traffic", "a list of tables, `[[traffic]]`");
            return None;
        }
    };
    if list.len() > FLOWS_MAX {
        let message = format!("there are {} flows, the limit is {FLOWS_MAX}", list.len());
        reading.blame(Diagnostic::at(entry.node.span, message));
        return None;
    }
    let mut flows: Vec<Option<Traffic>> = Vec::new();
    let mut resolved = Vec::new();
    let mut sharing = Sharing::default();
    for (index, node) in list.iter().enumerate() {
        let mut table = TableReader::of(node, "traffic".to_owned(), reading);
        let called = Called { otherwise: "traffic", index, count: list.len() };
        let name = read_name(&mut table, &called, names, reading);
        table.path = path_of(node, &called);
        let flow = TrafficReader { scale, book: &mut *book, packet_flits, name }.read(&mut table, reading);
        flows.push(flow.filter(|flow| check_slots(flow, &mut sharing, &table, reading).is_some()));
        resolved.push(Node::free(Item::Table(table.finish(reading))));
    }
    root.resolved.put("traffic", Item::List(resolved));
    flows.into_iter().collect()
}

fn is_empty_list(node: &Node) -> bool {
    matches!(&node.item, Item::List(list) if list.is_empty())
}

/// Reads one flow.
struct TrafficReader<'a> {
    scale: TimeScale,
    book: &'a mut NodeBook,
    packet_flits: u16,
    name: String,
}

impl TrafficReader<'_> {
    fn read(mut self, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Traffic> {
        let values = read_parameters(table, &[FROM], &self.context(), reading);
        let amount = self.amount(table, reading);
        let saturates = read_parameters(table, &[SATURATING], &self.context(), reading).map(|v| v.flag(SATURATES));
        if saturates == Some(false) {
            // Said only where it is true, so that scenarios have the digests, and find the results, that they had before.
            table.resolved.remove(SATURATES);
        }
        let sources = values.map(|values| values.nodes("from").clone());
        let known = sources.clone().unwrap_or_else(|| NodeSet::all(self.book.count));
        let outside = self.book.named.insert(SOURCES.to_owned(), known);
        let traffic = self.read_further(sources, amount, table, reading);
        self.book.named.remove(SOURCES);
        self.book.named.extend(outside.map(|set| (SOURCES.to_owned(), set)));
        let mut traffic = traffic?;
        traffic.saturates = saturates?;
        Some(traffic)
    }

    fn context(&self) -> Context<'_> {
        Context { scale: self.scale, nodes: Some(self.book) }
    }

    /// Reads what may depend on who sends.
    fn read_further(
        &mut self,
        sources: Option<NodeSet>,
        amount: Option<Amount>,
        table: &mut TableReader<'_>,
        reading: &mut Reading,
    ) -> Option<Traffic> {
        let pattern = self.pattern(table, None, reading);
        let size = self.size(table, reading);
        let (load, start, count) = match amount {
            Some(Amount::At(cycles)) => {
                let (sources, size, pattern) = (sources?, size?, pattern?);
                let traffic = Traffic::at(self.name.clone(), sources, size, pattern, &cycles);
                self.check_sources(table, &traffic.sources, traffic.phases(), reading)?;
                return Some(traffic);
            }
            Some(Amount::Rate { load, start, count }) => (Some(load), start, count),
            None => (None, 0, None),
        };
        let arrival = self.arrival(table, reading);
        let load = load
            .zip(sources.as_ref())
            .zip(pattern.as_ref())
            .and_then(|((load, sources), pattern)| self.load_of_sources(load, sources, pattern, table, reading));
        let first = load.zip(pattern).map(|(load, pattern)| Phase { from_cycle: start, pattern, load });
        let phases = self.phases(table, first, reading);
        let (sources, size, arrival, phases) = (sources?, size?, arrival?, phases?);
        self.check_sources(table, &sources, &phases, reading)?;
        check_loads(table, &phases, reading)?;
        self.check_count(table, count, &phases, reading)?;
        let mut traffic = Traffic::new(self.name.clone(), sources, size, arrival, phases);
        traffic.count = count;
        Some(traffic)
    }

    /// Nobody may be left with only itself to send to.
    fn check_sources(
        &self,
        table: &TableReader<'_>,
        sources: &NodeSet,
        phases: &[Phase],
        reading: &mut Reading,
    ) -> Option<()> {
        let permutations: u64 = phases.iter().map(|phase| phase.pattern.permutations()).sum();
        reading.lists(table.span, permutations * u64::from(sources.len()))?;
        let sending = phases.iter().filter(|phase| phase.load > 0.0);
        let node = sending.filter_map(|phase| phase.pattern.leaves_alone(sources)).next();
        let Some(node) = node else { return Some(()) };
        let place = ["pattern", "from"].iter().find_map(|key| table.table.get(key)).map(|entry| entry.node.span);
        let message = format!("node {node} of flow \"{}\" would send to itself", self.name);
        let help = format!("take it out of the sources, as in `from = {{ outside = [{node}] }}`");
        reading.blame(Diagnostic::at(place.unwrap_or(table.span), message).help(help));
        None
    }

    fn phases(&self, table: &mut TableReader<'_>, first: Option<Phase>, reading: &mut Reading) -> Option<Vec<Phase>> {
        let mut phases: Vec<Option<Phase>> = vec![first];
        let mut resolved = Vec::new();
        if let Some(entry) = table.take("phases") {
            let Item::List(list) = &entry.node.item else {
                reading.mismatch(&entry.node, &table.path_of("phases"), "a list of tables");
                return None;
            };
            if list.len() > PHASES_MAX {
                let message = format!("there are {} phases, the limit is {PHASES_MAX}", list.len());
                reading.blame(Diagnostic::at(entry.key_span, message));
                return None;
            }
            for (index, node) in list.iter().enumerate() {
                let path = table.path_of(&format!("phases.{index}"));
                let mut inner = TableReader::of(node, path, reading);
                let before = phases.last().and_then(Option::as_ref);
                let phase = self.phase(&mut inner, before, reading);
                self.check_ascent(before, phase.as_ref(), node, reading);
                phases.push(phase);
                resolved.push(Node::free(Item::Table(inner.finish(reading))));
            }
        }
        table.resolved.put("phases", Item::List(resolved));
        phases.into_iter().collect()
    }

    fn check_ascent(&self, before: Option<&Phase>, phase: Option<&Phase>, node: &Node, reading: &mut Reading) {
        if let (Some(before), Some(phase)) = (before, phase)
            && phase.from_cycle <= before.from_cycle
        {
            let (start, earlier) = (phase.from_cycle, before.from_cycle);
            let message = format!("this phase begins in cycle {start}, the one before it in cycle {earlier}");
            reading.blame(Diagnostic::at(node.span, message).help("give phases in order of time"));
        }
    }

    /// A phase; what it does not say stays as it was before.
    fn phase(&self, table: &mut TableReader<'_>, before: Option<&Phase>, reading: &mut Reading) -> Option<Phase> {
        let mut with_load = table.table.clone();
        if let (None, Some(before)) = (with_load.get(LOAD.name), before) {
            with_load.put(LOAD.name, Item::Number(before.load));
        }
        let mut values_table = TableReader::new(&with_load, table.span, table.path.clone());
        let values = read_parameters(&mut values_table, PHASE, &self.context(), reading);
        table.resolved = values_table.resolved;
        let (_, _) = (table.take("from"), table.take("load"));
        let pattern = self.pattern(table, before.map(|phase| &phase.pattern), reading);
        let values = values?;
        let from_cycle = table.whole_cycles("from", values.ticks("from"), self.scale.ticks_per_cycle, reading);
        Some(Phase { from_cycle: from_cycle?, pattern: pattern?, load: values.number("load") })
    }

    /// The pattern of a table, or `otherwise` if it names none.
    fn pattern(
        &self,
        table: &mut TableReader<'_>,
        otherwise: Option<&Pattern>,
        reading: &mut Reading,
    ) -> Option<Pattern> {
        let path = table.path_of("pattern");
        let uniform = Node { item: Item::Text(PATTERN_DEFAULT.to_owned()), span: table.span };
        let node = match (table.take("pattern"), otherwise) {
            (Some(entry), _) => &entry.node,
            (None, Some(pattern)) => return Some(pattern.clone()),
            (None, None) => &uniform,
        };
        let (pattern, resolved) = self.read_pattern(node, &path, reading)?;
        table.resolved.put("pattern", resolved);
        Some(pattern)
    }

    fn read_pattern(&self, node: &Node, path: &str, reading: &mut Reading) -> Option<(Pattern, Item)> {
        let mix = match &node.item {
            Item::Text(word) if word == MIX => Some(node),
            Item::Table(table) => match table.0.as_slice() {
                [Entry { key, node, .. }] if key == MIX => Some(node),
                _ => None,
            },
            _ => None,
        };
        if let Some(parts) = mix {
            return self.mix(parts, &format!("{path}.{MIX}"), reading);
        }
        let (choice, resolved) = read_choice(node, path, "pattern", PATTERNS, &self.context(), reading)?;
        if self.book.count == 0 {
            return None;
        }
        if choice.model.lists_nodes {
            reading.lists(node.span, self.book.count.into())?;
        }
        let setting = Setting { nodes: self.book.count, groups: self.book.groups, seed: self.book.seed };
        match (choice.model.build)(&choice.values, &setting) {
            Ok(pattern) => Some((pattern, resolved)),
            Err(error) => {
                choice.blame(error, path, reading);
                None
            }
        }
    }

    /// By chance one of several patterns: a list of tables with a share and a pattern each.
    fn mix(&self, node: &Node, path: &str, reading: &mut Reading) -> Option<(Pattern, Item)> {
        let Item::List(list) = &node.item else {
            reading.mismatch(node, path, "a list of tables with `share` and `pattern`");
            return None;
        };
        let mut parts: Vec<Option<(Pattern, f64)>> = Vec::new();
        let mut resolved = Vec::new();
        for (index, node) in with_rest(list, reading).iter().enumerate() {
            let mut table = TableReader::of(node, format!("{path}.{index}"), reading);
            let share = read_parameters(&mut table, SHARE, &self.context(), reading);
            let pattern = self.pattern(&mut table, None, reading);
            parts.push(share.zip(pattern).map(|(share, pattern)| (pattern, share.number("share"))));
            resolved.push(Node::free(Item::Table(table.finish(reading))));
        }
        let (patterns, shares): (Vec<_>, Vec<_>) = parts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
        if shares.iter().sum::<f64>() <= 0.0 {
            let help = "give at least one pattern a positive share";
            reading.blame(Diagnostic::at(node.span, "no pattern of this mixture has a share").help(help));
            return None;
        }
        let mut table = Table::default();
        table.put(MIX, Item::List(resolved));
        Some((Pattern::mix(patterns, &shares), Item::Table(table)))
    }

    /// A size; a plain number, or an amount of bytes, is a fixed one, and without any it is that of a packet.
    fn size(&self, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<MessageSize> {
        let path = table.path_of("size");
        let node = match table.take("size") {
            Some(entry) => entry.node.clone(),
            None => Node { item: Item::Integer(self.packet_flits.into()), span: table.span },
        };
        let is_amount = match &node.item {
            Item::Text(text) => text.starts_with(|c: char| c.is_ascii_digit()),
            item => matches!(item, Item::Integer(_) | Item::Number(_)),
        };
        let node = if is_amount { fixed(node) } else { node };
        let (choice, resolved) = read_choice(&node, &path, "size", SIZES, &self.context(), reading)?;
        table.resolved.put("size", resolved);
        (choice.model.build)(&choice.values).map_err(|error| choice.blame(error, &path, reading)).ok()
    }

    fn arrival(&self, table: &mut TableReader<'_>, reading: &mut Reading) -> Option<Arrival> {
        let path = table.path_of("arrival");
        let bernoulli = Node { item: Item::Text("bernoulli".to_owned()), span: table.span };
        let node = table.take("arrival").map_or(&bernoulli, |entry| &entry.node);
        let (choice, resolved) = read_choice(node, &path, "arrival process", ARRIVALS, &self.context(), reading)?;
        table.resolved.put("arrival", resolved);
        Some((choice.model.build)(&choice.values))
    }
}

/// What is next to nothing has no chance at all in a cycle, as numbers go.
fn check_loads(table: &TableReader<'_>, phases: &[Phase], reading: &mut Reading) -> Option<()> {
    let is_too_little = |phase: &Phase| phase.load > 0.0 && phase.load < LOAD_MIN;
    let Some(index) = phases.iter().position(is_too_little) else { return Some(()) };
    // The first is what the flow itself says.
    let later = index.checked_sub(1).zip(table.table.get("phases"));
    let place = match later.map(|(later, entry)| (later, &entry.node.item)) {
        Some((later, Item::List(list))) => list.get(later).map(|node| node.span),
        _ => RATE_KEYS.iter().find_map(|key| table.table.get(key)).map(|entry| entry.node.span),
    };
    let message = format!("a load is 0, or at least {LOAD_MIN:e} flits per source and link cycle");
    reading.blame(Diagnostic::at(place.unwrap_or(table.span), message).help("let it be 0 for silence"));
    None
}

/// What shares may be above 100 together without being refused: sums of decimal numbers are not exact.
const SHARES_SLACK: f64 = 1e-9;

/// The parts of a mixture with a number for the share that is what the others leave of 100, which is nothing where they are 100 themselves, as at
/// an end of a sweep.
fn with_rest(parts: &[Node], reading: &mut Reading) -> Vec<Node> {
    let share = |node: &Node| match &node.item {
        Item::Table(table) => table.get("share").and_then(|entry| entry.node.item.number()),
        _ => None,
    };
    let others: f64 = parts.iter().filter_map(share).sum();
    let mut parts = parts.to_vec();
    let tables = parts.iter_mut().filter_map(|node| match &mut node.item {
        Item::Table(table) => table.get_mut("share"),
        _ => None,
    });
    for entry in tables.filter(|entry| entry.node.item == Item::Text("rest".to_owned())).take(1) {
        if others > 100.0 + SHARES_SLACK {
            let message = format!("the other shares of this mixture are {others} together: nothing of 100 is left");
            let help = "give the others less, or write a number for this share, too";
            reading.blame(Diagnostic::at(entry.node.span, message).help(help));
        }
        entry.node.item = Item::Number((100.0 - others).max(0.0));
    }
    parts
}

/// `{ fixed = { flits = … } }` around a number.
fn fixed(number: Node) -> Node {
    let span = number.span;
    let around = |key: &str, node: Node| Node {
        item: Item::Table(Table(vec![Entry { key: key.to_owned(), key_span: span, node }])),
        span,
    };
    around("fixed", around("flits", number))
}

/// Flits of the smallest data packet that sizes can cause, when messages are cut into packets.
pub(crate) fn smallest_packet(sizes: impl Iterator<Item = MessageSize>, packet_flits: u16) -> u16 {
    let packet = u32::from(packet_flits);
    let last = |size: u32| match size % packet {
        0 => packet,
        rest => rest,
    };
    let smallest = |size: MessageSize| match size {
        MessageSize::Fixed(size) => last(size),
        MessageSize::Uniform { min, max } if max <= packet => min,
        MessageSize::Uniform { .. } => 1,
        MessageSize::Weighted { sizes, .. } => sizes.into_iter().map(last).min().unwrap_or(packet),
    };
    sizes.map(smallest).min().unwrap_or(packet) as u16
}
