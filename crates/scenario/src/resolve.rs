//! From a document to a scenario in which nothing is left open.

use std::sync::Arc;

use tailback_hardware::{NetworkSpec, RoutingNeeds, TICKS_MAX};
use tailback_parameters::Values;
use tailback_protocol::{ClassRouting, Protocol};
use tailback_routing::deadlock::{Proof, STATES_MAX, Unproven, prove_while};
use tailback_routing::{ROUTINGS, Routing, minimal};
use tailback_topology::{AnyTopology, TOPOLOGIES, Topology};
use tailback_workload::{Groups, Workload};

use crate::bounds::Bounded;
use crate::choice::{Choice, Model, PROTOCOLS, read_choice};
use crate::clock::read_clock;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::document::Document;
use crate::files::Library;
use crate::network::{Hardware, Routings, check_destinations, check_spec, place_of, read_hardware, read_section};
use crate::nodes::{NodeBook, compact, read_nodes};
use crate::parameters::{Context, read_parameters};
use crate::program::read_programs;
use crate::protocol::{check_paths, check_protocol};
use crate::quantity::TimeScale;
use crate::reader::{Reading, TableReader};
use crate::resolved_text::texts;
use crate::sampling::{check_sampling, read_sampling};
use crate::scenario::{Chosen, Clock, Execution, Measure, PartitionChoice, Scenario};
use crate::sections::{EXECUTION, MEASURE};
use crate::sweep::read_sweep;
use crate::traffic::{check_end, check_listed, read_flows, smallest_packet};
use crate::tree::{Item, Node, Table};

/// Goes on reading with a document. What is given is complete if there are no mistakes.
pub(crate) fn resolve(document: &Document, mut reading: Reading) -> (Option<Scenario>, Reading) {
    let mut root = document.reader();
    let mut scenario = Resolver { reading: &mut reading, library: &document.library }.resolve(&mut root);
    if reading.go_on().is_none() {
        // What was not read by then is no mistake.
        return (None, Reading::default());
    }
    let _ = root.take("sweep");
    root.finish(&mut reading);
    read_sweep(document, &mut reading);
    if let Some(scenario) = &mut scenario {
        scenario.notes = document.diagnostics(std::mem::take(&mut reading.notes));
    }
    (scenario, reading)
}

/// Reads the seed, which is 1 if none is given.
pub(crate) fn read_seed(root: &mut TableReader<'_>, reading: &mut Reading) -> Option<u64> {
    let seed = match root.take("seed").map(|entry| &entry.node) {
        None => Some(1),
        Some(Node { item: Item::Integer(seed), .. }) if (0..=i128::from(i64::MAX)).contains(seed) => Some(*seed as u64),
        Some(node) => {
            reading.mismatch(node, "seed", "a whole number that is not negative");
            None
        }
    };
    root.resolved.put("seed", Item::Integer(seed.unwrap_or(1).into()));
    seed
}

/// The most characters of a title.
const TITLE_MAX: usize = 250;
/// The most named sets of nodes.
const NODE_SETS_MAX: usize = 1024;

struct Resolver<'r> {
    reading: &'r mut Reading,
    library: &'r Library,
}

impl Resolver<'_> {
    fn resolve(&mut self, root: &mut TableReader<'_>) -> Option<Scenario> {
        let title = self.title(root);
        let seed = read_seed(root, self.reading);
        let scale = read_clock(root, self.reading);
        let TimeScale { cycle_fs, ticks_per_cycle, flit_bytes, .. } = scale;
        let clock = Clock { cycle_fs, ticks_per_cycle, flit_bytes };
        let plain = Context { scale, nodes: None };
        let topology = self.topology(root, &plain);
        self.reading.go_on()?;
        let link_classes = self.link_classes(root, topology.as_ref());
        let hardware = read_hardware(root, &link_classes, &plain, self.reading);
        let protocol = self.protocol(root, &plain);
        let routing = self.routing(root, topology.as_ref(), &plain);
        self.reading.go_on()?;
        let graph = topology.as_ref().map(|topology| topology.built.graph());
        let measure = self.measure(root, graph.as_deref(), &link_classes, &plain);
        let execution = self.execution(root, &plain);
        let mut book = self.nodes(root, topology.as_ref(), seed.unwrap_or(1));
        self.reading.go_on()?;
        let packet_flits = hardware.as_ref().map_or(8, |hardware| hardware.packet_flits);
        let mut names = Vec::new();
        let flows = read_flows(root, packet_flits, scale, &mut book, &mut names, self.reading);
        self.reading.go_on()?;
        let programs = read_programs(root, (scale, self.library), &book, &mut names, self.reading);
        let flows = flows.zip(programs).map(|(flows, programs)| [flows, programs].concat());
        if let (Some(measure), Some(flows)) = (&measure, &flows) {
            check_end(root.table, measure, flows, self.reading);
            check_listed(root.table, measure, flows, self.reading);
            check_sampling(root.table, measure, graph.as_deref(), self.reading);
        }
        self.reading.go_on()?;
        let (topology, hardware, protocol, routing, flows) = (topology?, hardware?, protocol?, routing?, flows?);
        let smallest = smallest_packet(flows.iter().map(|traffic| traffic.size.clone()), packet_flits);
        let routings = self.routings(root, &topology, &routing, &protocol)?;
        let context = (&hardware, &protocol, &routings);
        let network = self.network(root.table, context, smallest, clock.ticks_per_cycle);
        self.reading.go_on()?;
        let proof = self.prove(root, routing.built.as_ref())?;
        self.reading.go_on()?;
        let (text, digest) = texts(&root.resolved);
        Some(Scenario {
            title,
            seed: seed?,
            clock,
            topology,
            routing,
            routings,
            protocol,
            network,
            workload: Workload { flows },
            measure: measure?,
            execution: execution?,
            proof,
            text,
            digest,
            notes: Diagnostics::default(),
        })
    }

    fn title(&mut self, root: &mut TableReader<'_>) -> String {
        let (title, span) = root.text("title", self.reading).unwrap_or_default();
        let length = title.chars().count();
        if length > TITLE_MAX {
            let message = format!("the title has {length} characters, the limit is {TITLE_MAX}");
            self.reading.blame(Diagnostic::at(span, message).help("say the rest in a comment"));
        }
        root.resolved.put("title", Item::Text(title.to_owned()));
        title.to_owned()
    }

    /// The node of a section that must be there.
    fn required<'a>(&mut self, root: &mut TableReader<'a>, key: &'static str, example: &str) -> Option<&'a Node> {
        let entry = root.take(key);
        if entry.is_none() {
            let missing = Diagnostic::at(root.span, format!("`{key}` is missing"));
            self.reading.blame(missing.help(format!("add {example}")));
        }
        entry.map(|entry| &entry.node)
    }

    fn topology(&mut self, root: &mut TableReader<'_>, context: &Context<'_>) -> Option<Chosen<AnyTopology>> {
        let example = "a section such as `[topology.dragonfly]` with p, a, h and g";
        let node = self.required(root, "topology", example)?;
        let (choice, resolved) = read_choice(node, "topology", "topology", TOPOLOGIES, context, self.reading)?;
        root.resolved.put("topology", resolved);
        // What is built here are formulas only: it takes no more for a large network than for a small one.
        let built = (choice.model.build)(&choice.values);
        let chosen = self.chosen(&choice, built, "topology")?;
        let (graph, allowed) = (chosen.built.graph(), self.reading.bounds.nodes);
        self.reading.bound(node.span, Bounded::Nodes, graph.nodes().into(), allowed)?;
        self.reading.bound(node.span, Bounded::Routers, graph.routers().into(), allowed)?;
        Some(chosen)
    }

    fn chosen<M: Model, T>(
        &mut self,
        choice: &Choice<M>,
        built: Result<T, tailback_parameters::BuildError>,
        path: &str,
    ) -> Option<Chosen<T>> {
        match built {
            Ok(built) => Some(Chosen { name: choice.model.name(), built }),
            Err(error) => {
                choice.blame(error, path, self.reading);
                None
            }
        }
    }

    /// The kinds of links of the topology, or of the model that it names if it cannot be built.
    fn link_classes(&self, root: &TableReader<'_>, topology: Option<&Chosen<AnyTopology>>) -> Vec<&'static str> {
        if let Some(topology) = topology {
            return topology.built.graph().link_classes().to_vec();
        }
        let tag = root.table.get("topology").and_then(|entry| match &entry.node.item {
            Item::Text(tag) => Some(tag.as_str()),
            Item::Table(table) => table.0.first().map(|entry| entry.key.as_str()),
            _ => None,
        });
        let model = TOPOLOGIES.iter().find(|model| Some(model.name) == tag);
        let all = || TOPOLOGIES.iter().flat_map(|model| model.link_classes).copied().collect();
        let mut classes: Vec<_> = model.map_or_else(all, |model| model.link_classes.to_vec());
        classes.insert(0, "terminal");
        classes.dedup();
        classes
    }

    fn protocol(&mut self, root: &mut TableReader<'_>, context: &Context<'_>) -> Option<Chosen<Arc<dyn Protocol>>> {
        let baseline = Node { item: Item::Text("baseline".to_owned()), span: root.span };
        let node = root.take("protocol").map_or(&baseline, |entry| &entry.node);
        let (choice, resolved) = read_choice(node, "protocol", "protocol", PROTOCOLS, context, self.reading)?;
        root.resolved.put("protocol", resolved);
        let built = (choice.model.build)(&choice.values);
        self.chosen(&choice, built, "protocol")
    }

    fn routing(
        &mut self,
        root: &mut TableReader<'_>,
        topology: Option<&Chosen<AnyTopology>>,
        context: &Context<'_>,
    ) -> Option<Chosen<Arc<dyn Routing>>> {
        let kind = topology.map(|topology| topology.built.graph().name());
        let suitable = ROUTINGS.iter().find(|model| Some(model.topology) == kind).map_or("minimal", |model| model.name);
        let node = self.required(root, "routing", &format!("a line such as `routing = \"{suitable}\"`"))?;
        let (choice, resolved) = read_choice(node, "routing", "routing", ROUTINGS, context, self.reading)?;
        root.resolved.put("routing", resolved);
        if let Some((groups, _)) = topology.and_then(|topology| topology.built.node_groups()) {
            let (pairs, allowed) = (u64::from(groups).pow(2), self.reading.bounds.group_pairs);
            self.reading.bound(node.span, Bounded::GroupPairs, pairs, allowed)?;
        }
        let built = (choice.model.build)(&topology?.built, &choice.values);
        self.chosen(&choice, built, "routing")
    }

    fn measure(
        &mut self,
        root: &mut TableReader<'_>,
        topology: Option<&dyn Topology>,
        link_classes: &[&'static str],
        context: &Context<'_>,
    ) -> Option<Measure> {
        let mut section = root.section("measure", self.reading);
        let values = read_parameters(&mut section, MEASURE, context, self.reading);
        let ticks = values.as_ref().map_or(0, |values| values.ticks("warmup").saturating_add(values.ticks("cycles")));
        let cycles = ticks / u64::from(context.scale.ticks_per_cycle);
        let sampling = read_sampling(&mut section, cycles, topology, link_classes, context, self.reading);
        let resolved = section.finish(self.reading);
        root.resolved.put("measure", Item::Table(resolved));
        let (values, sampling) = (values?, sampling?);
        let until_drained = values.text("until") == "drained";
        let ticks_per_cycle = context.scale.ticks_per_cycle;
        let measure = Measure {
            warmup: self.whole_cycles(root.table, "warmup", &values, ticks_per_cycle)?,
            cycles: self.whole_cycles(root.table, "cycles", &values, ticks_per_cycle)?,
            until_drained,
            series: values.integer_or("series"),
            series_by_creation: values.text("series_by") == "creation",
            by_source: values.flag("by_source"),
            messages: values.flag("messages"),
            trees_every: sampling.trees_every,
            links: sampling.links,
        };
        let limit = TICKS_MAX / u64::from(ticks_per_cycle);
        let problem = if measure.cycles == 0 {
            Some(("nothing is measured in 0 cycles".to_owned(), "measure at least one cycle".to_owned()))
        } else if measure.warmup.saturating_add(measure.cycles) > limit {
            Some((format!("a run cannot be longer than {limit} cycles"), "shorten warmup or cycles".to_owned()))
        } else {
            None
        };
        if let Some((message, help)) = problem {
            let span = place_of(root.table, "measure", "cycles");
            self.reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(help) });
            return None;
        }
        Some(measure)
    }

    fn whole_cycles(&mut self, root: &Table, key: &str, values: &Values, ticks_per_cycle: u32) -> Option<u64> {
        let (path, place) = (format!("measure.{key}"), place_of(root, "measure", key));
        self.reading.whole_cycles((&path, place), values.ticks(key), ticks_per_cycle)
    }

    fn execution(&mut self, root: &mut TableReader<'_>, context: &Context<'_>) -> Option<Execution> {
        let values = read_section(root, "execution", EXECUTION, context, self.reading)?;
        let regions_max = values.integer_or("regions").map(|regions| regions as u32);
        Some(Execution {
            threads: values.integer_or("threads").map(|threads| threads as u32),
            partition: match (values.text("partition"), regions_max) {
                ("router", _) => PartitionChoice::Routers,
                ("single", _) => PartitionChoice::Single,
                ("auto", None) => PartitionChoice::Auto,
                _ => PartitionChoice::Domains { regions_max: regions_max.unwrap_or(u32::MAX) },
            },
            memory_bytes: values.integer_or("memory_gib").map(|gib| gib << 30),
            deadlock_after: values.ticks("deadlock_after"),
        })
    }

    /// The nodes of the network and the sets of them in `[nodes]`, each of which may use those before it.
    fn nodes(&mut self, root: &mut TableReader<'_>, topology: Option<&Chosen<AnyTopology>>, seed: u64) -> NodeBook {
        let groups = topology.and_then(|topology| topology.built.node_groups());
        let mut book = NodeBook {
            count: topology.map_or(0, |topology| topology.built.graph().nodes()),
            groups: groups.map(|(count, nodes_each)| Groups { count, nodes_each }),
            seed,
            named: std::collections::BTreeMap::new(),
        };
        let Some(entry) = root.take("nodes") else { return book };
        let Item::Table(table) = &entry.node.item else {
            self.reading.mismatch(&entry.node, "nodes", "a table of named sets of nodes");
            return book;
        };
        if table.0.len() > NODE_SETS_MAX {
            let message = format!("there are {} sets of nodes, the limit is {NODE_SETS_MAX}", table.0.len());
            self.reading.blame(Diagnostic::at(entry.key_span, message));
            return book;
        }
        let mut resolved = Table::default();
        for entry in &table.0 {
            let path = format!("nodes.{}", entry.key);
            if let Some(set) = read_nodes(&entry.node, &path, &book, self.reading) {
                resolved.put(&entry.key, compact(&set, book.count));
                book.named.insert(entry.key.clone(), set);
            }
        }
        root.resolved.put("nodes", Item::Table(resolved));
        book
    }

    fn network(
        &mut self,
        root: &Table,
        (hardware, protocol, routings): (&Hardware, &Chosen<Arc<dyn Protocol>>, &Routings),
        packet_flits_min: u16,
        ticks_per_cycle: u32,
    ) -> NetworkSpec {
        let routing = routings.chosen.as_ref();
        hardware.check_injection(routing, root, self.reading);
        let built = protocol.built.as_ref();
        let spec = hardware.spec(built, routings, packet_flits_min, ticks_per_cycle);
        let topology = routing.topology();
        let counts_at_inputs = routing.interests().queues_at_inputs;
        let needs = RoutingNeeds { revises: routing.revises(), counts_at_inputs };
        check_spec(&spec, topology.link_classes(), needs, root, self.reading);
        check_destinations(&spec, topology.nodes(), root, self.reading);
        check_protocol(built, protocol.name, &spec, topology.as_ref(), root, self.reading);
        check_paths(built, protocol.name, |routing| Arc::clone(routings.of(routing)), root, self.reading);
        spec
    }

    /// The algorithms by how classes are routed. The minimal one is the chosen one where no class asks for it, or where all paths are minimal.
    fn routings(
        &mut self,
        root: &TableReader<'_>,
        topology: &Chosen<AnyTopology>,
        chosen: &Chosen<Arc<dyn Routing>>,
        protocol: &Chosen<Arc<dyn Protocol>>,
    ) -> Option<Routings> {
        let chosen = &chosen.built;
        let asked_for = protocol.built.classes().iter().any(|class| class.routing == ClassRouting::Minimal);
        let minimal = match asked_for.then(|| minimal(&topology.built)).flatten() {
            Some(minimal) => {
                self.prove(root, minimal.as_ref())?;
                minimal
            }
            None => Arc::clone(chosen),
        };
        Some(Routings { chosen: Arc::clone(chosen), minimal })
    }

    /// Packets must not be able to wait for each other in a circle.
    fn prove(&mut self, root: &TableReader<'_>, routing: &dyn Routing) -> Option<Proof> {
        let (allowed, wanted) = (self.reading.bounds.path_states, self.reading.wanted.clone());
        let span = root.table.get("routing").map(|entry| entry.node.span);
        match prove_while(routing, allowed, &|| wanted.is_wanted()) {
            Ok(proof) => Some(proof),
            Err(Unproven::Unwanted) => None,
            Err(Unproven::TooLarge(_)) if allowed < STATES_MAX => {
                self.reading.bound(span.unwrap_or(root.span), Bounded::PathStates, allowed + 1, allowed).and(None)
            }
            Err(refusal) => {
                let details = refusal.describe(routing.topology().as_ref());
                let help = "give packets more virtual channels, in an order that only ascends (routing.….vcs)";
                let diagnostic = Diagnostic { span, details, ..Diagnostic::new(refusal.to_string()) };
                self.reading.blame(diagnostic.help(help));
                None
            }
        }
    }
}
