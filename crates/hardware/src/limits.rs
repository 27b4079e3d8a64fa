//! The rules that a usable network keeps beyond the range of each single number.

use crate::{
    AllocationOrder, Arbiter, CreditCheck, CrossbarPorts, Delivery, Ejection, InputServed, InputTurns, NetworkSpec,
    OutputHeld, QueuePer, SourceQueues, VCS_MAX,
};

/// The longest that a network can be simulated, in ticks. Times of 32 bits go on after it: for what is on its way when a run ends, and for links that
/// are held by what waits for them.
pub const TICKS_MAX: u64 = (u32::MAX - (1 << 26)) as u64;

/// The longest that a step of a router, or a packet on a link, can take, in ticks.
const STEP_TICKS_MAX: u32 = 1 << 22;

/// The longest that the credits of an input can wait for each other, in ticks.
const CREDIT_TICKS_MAX: u64 = 1 << 23;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The section that the parameter to look at is in, as in `links.local`.
    pub section: String,
    /// That parameter.
    pub parameter: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Problem {
    fn of_router(parameter: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { section: "router".to_owned(), parameter, message: message.into(), help: help.into() }
    }
}

/// What a routing does that does not suit all routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoutingNeeds {
    /// It decides anew at each attempt of a packet to leave.
    pub revises: bool,
    /// It counts packets at inputs that are routed to an output, from when they arrive.
    pub counts_at_inputs: bool,
}

/// All rules that a network breaks. `link_classes` are the names of its kinds of links.
#[must_use]
pub fn check(spec: &NetworkSpec, link_classes: &[&str], routing: RoutingNeeds) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_buffers(spec, link_classes, &mut problems);
    check_links(spec, link_classes, &mut problems);
    check_channels(spec, link_classes, &mut problems);
    check_router(spec, routing, &mut problems);
    check_router_times(spec, link_classes, &mut problems);
    check_interfaces(spec, &mut problems);
    problems
}

fn check_interfaces(spec: &NetworkSpec, problems: &mut Vec<Problem>) {
    let (nic, router) = (&spec.nic, &spec.router);
    let mut broken = |parameter, message: &str, help: &str| {
        let (message, help) = (message.to_owned(), help.to_owned());
        problems.push(Problem { section: "nic".to_owned(), parameter, message, help });
    };
    if nic.vc_choice.takes_turns() && nic.queues == SourceQueues::Fifo {
        let message = "flows can take channels in turn only where each has a queue of its own";
        broken("vc_choice", message, "set nic.queues = \"per-destination\"");
    }
    let takes_no_line = nic.delivery == Delivery::Arrival;
    if takes_no_line && nic.line_flit_ticks.is_some() {
        let message = "data that is handed over as it arrives takes no line";
        broken("line", message, "set nic.delivery = \"in-order\"");
    } else if nic.line_flit_ticks.is_some_and(|line| line < spec.links[0].flit_ticks.into()) {
        let message = "the line is faster than the link that feeds it";
        broken("line", message, "set links.ejection.cycles_per_flit, or leave it out");
    }
    if nic.pause_flits.is_none() {
        return;
    }
    if takes_no_line {
        let message = "data that is handed over as it arrives waits for no line";
        broken("pause_at", message, "set nic.delivery = \"in-order\"");
    }
    if router.ejection == Ejection::Idle || router.vc_allocation {
        let message = "packets that cross side by side, or own virtual channels, cannot be held up by their node";
        broken("pause_at", message, "set router.ejection = \"room\" and router.vc_allocation = false, or leave it out");
    }
}

/// Under virtual cut-through a packet moves on when the next buffer has room for all of it.
fn check_buffers(spec: &NetworkSpec, link_classes: &[&str], problems: &mut Vec<Problem>) {
    let packet = spec.packet_flits_max;
    for (class, &flits) in spec.input_buffers.iter().enumerate() {
        if flits < packet {
            let name = if class == 0 { "injection" } else { link_classes[class] };
            problems.push(Problem {
                section: format!("links.{name}"),
                parameter: "buffer",
                message: format!("a buffer of {flits} flits has no room for a packet of {packet}"),
                help: format!(
                    "under virtual cut-through a whole packet must fit: give it {packet} flits or more, or make \
                     packets smaller (nic.packet_flits)"
                ),
            });
        }
    }
    if let Some(flits) = spec.router.output_queues.flits.filter(|&flits| flits < packet.into()) {
        problems.push(Problem::of_router(
            "output_queue",
            format!("an output queue of {flits} flits has no room for a packet of {packet}"),
            format!("give it {packet} flits or more, or make packets smaller (nic.packet_flits)"),
        ));
    }
}

/// A link is not held by a packet for longer than times can tell.
fn check_links(spec: &NetworkSpec, link_classes: &[&str], problems: &mut Vec<Problem>) {
    let packet = u32::from(spec.packet_flits_max);
    let name = |class: usize| if class == 0 { "ejection" } else { link_classes[class] };
    let links = spec.links.iter().enumerate().map(|(class, link)| (name(class), link));
    for (name, link) in links.chain([("injection", &spec.injection)]) {
        if packet * u32::from(link.flit_ticks) > STEP_TICKS_MAX {
            let cycles = STEP_TICKS_MAX / packet / spec.ticks_per_cycle;
            problems.push(Problem {
                section: format!("links.{name}"),
                parameter: "cycles_per_flit",
                message: format!("a packet of {packet} flits would take too long on a link"),
                help: format!("give it {cycles} cycles for a flit at most, or make packets smaller (nic.packet_flits)"),
            });
        }
    }
}

fn check_channels(spec: &NetworkSpec, link_classes: &[&str], problems: &mut Vec<Problem>) {
    for (class, name) in link_classes.iter().enumerate() {
        let needed = spec.classes.iter().map(|c| c.channels(class).end).max().unwrap_or(0);
        if needed > VCS_MAX {
            problems.push(Problem {
                section: format!("links.{}", if class == 0 { "injection" } else { name }),
                parameter: "vcs",
                message: format!("{name} links would need {needed} virtual channels, the limit is {VCS_MAX}"),
                help: format!(
                    "routing needs that many for {} traffic classes: choose one that needs fewer",
                    spec.classes.len()
                ),
            });
        }
    }
}

/// Queues for each node: who takes room knows for which node, and gives it back for that one.
fn check_destination_queues(spec: &NetworkSpec, revises: bool, broken: &mut impl FnMut(&'static str, &str, &str)) {
    const NAME: &str = "destination_queue";
    let Some(flits) = spec.router.destination_queue else { return };
    if flits < spec.packet_flits_max {
        broken(NAME, "a queue has no room for a packet", "give it as many flits (nic.packet_flits)");
    }
    if spec.router.virtual_output_queues {
        broken(NAME, "queues are for outputs of the router or for nodes", "set virtual_output_queues = false");
    }
    if spec.router.credits == CreditCheck::Link {
        broken(NAME, "room for a node is taken before a packet crosses", "set credits = \"crossbar\"");
    }
    if revises {
        let help = "use a routing that decides once";
        broken(NAME, "this routing counts the heads of virtual channels, of which each has one", help);
    }
    if spec.router.vc_allocation {
        broken(NAME, "packets that own a virtual channel block what goes elsewhere", "set vc_allocation = false");
    }
    if spec.classes.len() > 1 {
        broken(
            NAME,
            "packets of several traffic classes would share queues",
            "use a protocol without packets of its own",
        );
    }
    if spec.nic.queues == SourceQueues::Fifo {
        broken(NAME, "one packet without room would hold up all at its source", "set nic.queues = \"per-destination\"");
    }
}

/// Routers count their times in few bits, and credits wait for all that are before them.
fn check_router_times(spec: &NetworkSpec, link_classes: &[&str], problems: &mut Vec<Problem>) {
    let router = &spec.router;
    for (parameter, ticks) in [("head_delay", router.head_delay), ("crossbar_delay", router.crossbar_delay)] {
        if ticks > STEP_TICKS_MAX {
            let cycles = STEP_TICKS_MAX / spec.ticks_per_cycle;
            problems.push(Problem::of_router(
                parameter,
                "a packet would take too long in a router",
                format!("give it {cycles} cycles at most"),
            ));
        }
    }
    // A packet of a flit each: there are no smaller ones.
    let waiting = |class: usize| {
        let channels = spec.classes.iter().map(|c| c.channels(class).end).max().unwrap_or(0);
        channels as u64 * u64::from(spec.input_buffers[class])
    };
    let longest = (0..spec.input_buffers.len()).max_by_key(|&class| waiting(class));
    let Some(class) = longest.filter(|&class| waiting(class) * u64::from(router.credit_interval) > CREDIT_TICKS_MAX)
    else {
        return;
    };
    let name = if class == 0 { "injection" } else { link_classes[class] };
    let cycles = CREDIT_TICKS_MAX / waiting(class) / u64::from(spec.ticks_per_cycle);
    problems.push(Problem::of_router(
        "credit_interval",
        format!("credits for the {} flits behind {name} links would wait too long for each other", waiting(class)),
        format!("give it {cycles} cycles at most, or make these buffers smaller"),
    ));
}

fn check_router(spec: &NetworkSpec, routing: RoutingNeeds, problems: &mut Vec<Problem>) {
    let router = &spec.router;
    let mut broken = |parameter, message: &str, help: &str| {
        problems.push(Problem::of_router(parameter, message, help));
    };
    if !spec.ticks_per_cycle.is_power_of_two() {
        let speedup = spec.ticks_per_cycle;
        broken("speedup", &format!("a speedup of {speedup} is not a power of two"), "use 1, 2, 4, 8 or 16");
    }
    if router.crossbar_delay == 0 {
        broken("crossbar_delay", "a packet cannot cross in no time", "give it at least one step of the crossbar");
    }
    if router.vc_allocation && router.iterations > 1 {
        broken("iterations", "with vc_allocation an allocation has one round", "set iterations = 1");
    }
    let private_inputs = router.crossbar_inputs == CrossbarPorts::PerChannel;
    if router.virtual_output_queues && private_inputs {
        let help = "set crossbar_inputs = \"per-port\", or virtual_output_queues = false";
        broken("crossbar_inputs", "virtual output queues share the connection of their port", help);
    }
    check_destination_queues(spec, routing.revises, &mut broken);
    if router.input_turns == InputTurns::Outputs && router.input_arbiter != Arbiter::RoundRobin {
        let help = "set input_arbiter = \"round-robin\", or input_turns = \"queues\"";
        broken("input_turns", "only a round-robin arbiter takes turns", help);
    }
    if router.input_served == InputServed::Asked && router.order == AllocationOrder::OutputFirst {
        let help = "set order = \"input-first\", or input_served = \"granted\"";
        broken("input_served", "where outputs choose first, inputs ask with all their packets", help);
    }
    if router.ejection == Ejection::Idle && router.vc_allocation {
        let help = "set vc_allocation = false, or ejection = \"room\"";
        broken("ejection", "packets that cross side by side cannot own virtual channels", help);
    }
    if router.output_held == OutputHeld::FullRate && router.vc_allocation {
        let help = "set vc_allocation = false, or output_held = \"crossing\"";
        broken("output_held", "packets own a virtual channel until they have crossed", help);
    }
    if spec.classes.iter().any(|class| router.ejection_vcs > class.vcs[0]) {
        let help = "give injection as many (links.injection.vcs), or lower ejection_vcs";
        broken("ejection_vcs", "there are more virtual channels for ejection than for injection", help);
    }
    if router.vc_allocation && routing.revises {
        let help = "use a routing that decides once, or set vc_allocation = false";
        broken("vc_allocation", "this routing changes its mind after packets have acquired a channel", help);
    }
    if router.virtual_output_queues && routing.revises {
        let help = "use a routing that decides once, or set virtual_output_queues = false";
        broken("virtual_output_queues", "this routing changes its mind after packets are sorted by output", help);
    }
    if !router.virtual_output_queues && routing.counts_at_inputs {
        let help = "set virtual_output_queues = true, or queue_counts = \"output\" in the section of the routing";
        broken("virtual_output_queues", "this routing counts packets in VOQs, and there are none", help);
    }
    if router.output_queues.control_limit.is_some() && router.output_queues.per == QueuePer::Port {
        let help = "set output_queue_per = \"class\" or \"channel\", or control_limit = \"unlimited\"";
        broken(
            "control_limit",
            "control packets and data share an output queue, in which none goes before another",
            help,
        );
    }
    if router.credits == CreditCheck::Link && router.output_queues.per != QueuePer::Channel {
        let help = "set output_queue_per = \"channel\", or credits = \"crossbar\"";
        broken("credits", "packets that wait for credits in a shared output queue block other channels", help);
    }
}
