//! Routers, links and network interfaces.

use std::sync::Arc;

use tailback_hardware::{
    ClassSpec, LinkSpec, NetworkSpec, NicSpec, RouterSpec, RoutingNeeds, SourceQueues, check, parameters,
};
use tailback_parameters::{Parameter, Values};
use tailback_protocol::{ClassRouting, Protocol};
use tailback_routing::Routing;

use crate::diagnostic::{Diagnostic, Span};
use crate::parameters::{Context, read_parameters};
use crate::reader::{Reading, TableReader};
use crate::tree::{Item, Table};

/// The longest latency of a link, in ticks.
const LATENCY_TICKS_MAX: u64 = 1 << 24;

/// How packets of the classes of a protocol are routed.
#[derive(Clone, Debug)]
pub struct Routings {
    /// As the scenario says.
    pub chosen: Arc<dyn Routing>,
    /// On minimal paths.
    pub minimal: Arc<dyn Routing>,
}

impl Routings {
    /// The algorithm for classes that are routed so.
    #[must_use]
    pub fn of(&self, routing: ClassRouting) -> &Arc<dyn Routing> {
        match routing {
            ClassRouting::Chosen => &self.chosen,
            ClassRouting::Minimal => &self.minimal,
        }
    }
}

/// What `[router]`, `[links]` and `[nic]` say.
pub(crate) struct Hardware {
    router: RouterSpec,
    pub nic: NicSpec,
    pub packet_flits: u16,
    injection: LinkSpec,
    /// Virtual channels of injection per traffic class; as many as routing needs if nothing is said.
    injection_vcs: Option<u8>,
    /// By link class.
    links: Vec<LinkSpec>,
    buffers: Vec<u16>,
}

/// Reads a section whose keys are `parameters`, and puts what it resolves to into `resolved`.
pub(crate) fn read_section(
    parent: &mut TableReader<'_>,
    key: &'static str,
    parameters: &'static [Parameter],
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<Values> {
    let mut section = parent.section(key, reading);
    let values = read_parameters(&mut section, parameters, context, reading);
    let resolved = section.finish(reading);
    parent.resolved.put(key, Item::Table(resolved));
    values
}

/// Reads the three sections. `link_classes` are those of the topology, terminals first.
pub(crate) fn read_hardware(
    root: &mut TableReader<'_>,
    link_classes: &[&'static str],
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<Hardware> {
    let mut section = root.section("links", reading);
    let injection = read_link(&mut section, "injection", parameters::INJECTION, context, reading);
    let ejection = read_link(&mut section, "ejection", parameters::EJECTION, context, reading);
    let mut between: Vec<Option<(LinkSpec, Values)>> = Vec::new();
    for class in &link_classes[1..] {
        between.push(read_link(&mut section, class, parameters::of_links(class), context, reading));
    }
    let resolved = section.finish(reading);
    root.resolved.put("links", Item::Table(resolved));
    let router = read_section(root, "router", parameters::ROUTER, context, reading);
    let nic = read_section(root, "nic", parameters::NIC, context, reading);
    let (injection, injection_values) = injection?;
    let (ejection, _) = ejection?;
    let between: Vec<(LinkSpec, Values)> = between.into_iter().collect::<Option<_>>()?;
    let (router, nic) = (router?, nic?);
    let buffer = |values: &Values| values.integer("buffer") as u16;
    let whole_packets = injection_values.flag("whole_packets");
    Some(Hardware {
        router: parameters::router(&router),
        nic: NicSpec {
            side_by_side: whole_packets && injection_values.flag("side_by_side"),
            ..parameters::nic(&nic, context.scale.ticks_per_cycle)
        },
        packet_flits: nic.integer("packet_flits") as u16,
        injection: LinkSpec { flit_ticks: if whole_packets { 0 } else { injection.flit_ticks }, ..injection },
        injection_vcs: injection_values.integer_or("vcs").map(|vcs| vcs as u8),
        links: [ejection].into_iter().chain(between.iter().map(|(link, _)| *link)).collect(),
        buffers: [buffer(&injection_values)].into_iter().chain(between.iter().map(|(_, v)| buffer(v))).collect(),
    })
}

fn read_link(
    section: &mut TableReader<'_>,
    key: &'static str,
    parameters: &'static [Parameter],
    context: &Context<'_>,
    reading: &mut Reading,
) -> Option<(LinkSpec, Values)> {
    let place = section.table.get(key).map_or(section.span, |entry| entry.node.span);
    let values = read_section(section, key, parameters, context, reading)?;
    let ticks_per_cycle = context.scale.ticks_per_cycle;
    let latency = values.ticks("latency");
    let path = section.path_of(key);
    if latency > LATENCY_TICKS_MAX {
        let most = LATENCY_TICKS_MAX / u64::from(ticks_per_cycle);
        let message = format!("`{path}.latency` is longer than {most} link cycles");
        reading.blame(Diagnostic::at(place, message).help(format!("give it {most} cycles at most")));
        return None;
    }
    if latency == 0 || !latency.is_multiple_of(ticks_per_cycle.into()) {
        let message = format!("`{path}.latency` is not a whole number of link cycles from 1 on");
        reading.blame(Diagnostic::at(place, message).help("links are clocked: give whole cycles, at least 1"));
        return None;
    }
    Some((parameters::link(&values, ticks_per_cycle), values))
}

impl Hardware {
    /// The whole of it, with the virtual channels that routing needs for each traffic class of `protocol`.
    pub fn spec(
        &self,
        protocol: &dyn Protocol,
        routings: &Routings,
        packet_flits_min: u16,
        ticks_per_cycle: u32,
    ) -> NetworkSpec {
        let mut classes: Vec<ClassSpec> = Vec::new();
        for class in protocol.classes() {
            let mut vcs = routings.of(class.routing).virtual_channels();
            vcs[0] = self.injection_vcs.unwrap_or(vcs[0]).max(vcs[0]);
            let first_vc = match classes.last() {
                None => vec![0; vcs.len()],
                Some(before) => before.first_vc.iter().zip(&before.vcs).map(|(first, vcs)| first + vcs).collect(),
            };
            classes.push(ClassSpec { priority: class.priority, is_control: class.is_control, first_vc, vcs });
        }
        NetworkSpec {
            ticks_per_cycle,
            links: self.links.clone(),
            injection: self.injection,
            input_buffers: self.buffers.clone(),
            classes,
            packet_flits_max: self.packet_flits,
            packet_flits_min,
            router: self.router.clone(),
            nic: self.nic,
        }
    }

    /// Complains if routing needs more channels of injection than there are, or has no use for so many.
    pub fn check_injection(&self, routing: &dyn Routing, root: &Table, reading: &mut Reading) {
        let needed = routing.virtual_channels()[0];
        let too_many = |vcs: u8| vcs > needed && routing.names_injection_channels();
        if let Some(vcs) = self.injection_vcs.filter(|&vcs| vcs < needed || too_many(vcs)) {
            let least = if too_many(vcs) { "just" } else { "at least" };
            let message = format!("routing needs {least} {needed} virtual channels of injection, there are {vcs}");
            reading.blame(Diagnostic {
                span: place_of(root, "links.injection", "vcs"),
                ..Diagnostic::new(message).help(format!("set links.injection.vcs = {needed}"))
            });
        }
    }
}

/// Complains about all rules that a network breaks.
pub(crate) fn check_spec(
    spec: &NetworkSpec,
    link_classes: &[&str],
    routing: RoutingNeeds,
    root: &Table,
    reading: &mut Reading,
) {
    for problem in check(spec, link_classes, routing) {
        let span = place_of(root, &problem.section, problem.parameter);
        let message = format!("{}.{}: {}", problem.section, problem.parameter, problem.message);
        reading.blame(Diagnostic { span, ..Diagnostic::new(message).help(problem.help) });
    }
}

/// The most nodes of which each remembers something of each other.
const PAIRS_OF_NODES_MAX: u32 = 1 << 12;

/// Complains about a queue for each of too many nodes, and about turns of too many.
pub(crate) fn check_destinations(spec: &NetworkSpec, nodes: u32, root: &Table, reading: &mut Reading) {
    if spec.router.destination_queue.is_some() && nodes > 256 {
        let message = format!("routers can have queues for 256 nodes at most, there are {nodes}");
        reading.blame(Diagnostic {
            span: place_of(root, "router", "destination_queue"),
            ..Diagnostic::new(message).help("set router.destination_queue = \"none\", or take a smaller network")
        });
    }
    if spec.nic.queues == SourceQueues::InTurn && nodes > PAIRS_OF_NODES_MAX {
        let message =
            format!("destinations can take turns among {PAIRS_OF_NODES_MAX} nodes at most, there are {nodes}");
        reading.blame(Diagnostic {
            span: place_of(root, "nic", "queues"),
            ..Diagnostic::new(message).help("set nic.queues = \"per-destination\", or take a smaller network")
        });
    }
}

/// Where a value stands, or the innermost section of its path that is there.
pub(crate) fn place_of(root: &Table, section: &str, parameter: &str) -> Option<Span> {
    let mut table = root;
    let mut place = None;
    for key in section.split('.').chain([parameter]) {
        let Some(entry) = table.get(key) else { break };
        place = Some(entry.node.span);
        match &entry.node.item {
            Item::Table(inner) => table = inner,
            _ => break,
        }
    }
    place
}
