//! What only some routers have, beside their ports and queues: an array for each thing, which is empty in all others.

use serde::{Deserialize, Serialize};
use tailback_hardware::Arbiter;

use super::WORDS_MAX;
use super::decision::KeptDecisions;
use super::state::{Backlog, HeadTimeout, Heads, InputConnection, OutputConnection, OutputQueue, Sender, Turn};
use super::turns_by_priority::TurnsByPriority;
use crate::fabric::Fabric;
use crate::packet::NONE;
use crate::time::Time;

/// What only some routers have. Arrays that nobody needs are empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Extras {
    /// By port and VOQ, where there are VOQs: their heads. And the set of VOQs beyond the first 64 with an awake head.
    pub heads: Vec<Heads>,
    pub awake_voqs: Vec<u64>,
    /// By port and virtual channel but the first, where channels have connections to the crossbar of their own.
    pub inputs: Vec<InputConnection>,
    pub outputs: Vec<OutputConnection>,
    /// With a queue for each node: flits in the buffer at the other end, or on the way there, by port, virtual channel and node.
    pub held: Vec<u16>,
    /// The same: by port, and by output of its router, the set of VOQs of which a head may sleep there.
    pub sleeping_nodes: Vec<u64>,
    /// Where only the next sleeper is woken: by port, and by input of its router, the set of virtual channels whose head sleeps there.
    pub sleepers: Vec<u32>,
    /// By port: set of ports beyond the first 64 at which a head waits until something changes here.
    pub waiters: Vec<u64>,
    /// Where links are started by events: by port, and by port and output queue.
    pub senders: Vec<Sender>,
    pub queues: Vec<OutputQueue>,
    /// Where packets take credits only when they leave: flits in the output queue, by port and virtual channel.
    pub uncredited: Vec<u32>,
    /// Where credits wait for each other: by port, when the next may be returned.
    pub next_credit: Vec<Time>,
    /// Where nodes pause the links that lead to them: by port, until when.
    pub paused_until: Vec<Time>,
    /// Where routing measures queues: by port.
    pub backlogs: Vec<Backlog>,
    /// By port: flits at inputs that are routed to it, where these are counted.
    pub routed: Vec<u32>,
    /// Where the protocol looks at input buffers: flits in the buffer of each virtual channel.
    pub occupied: Vec<u16>,
    /// Where the protocol looks at what waits for nodes: by port, data flits that wait for its node.
    pub waiting_for_node: Vec<u32>,
    /// Where the protocol looks at what links have sent: by port, flits since the run began.
    pub sent: Vec<u64>,
    /// Where decisions stay until a port is named.
    pub kept_decisions: KeptDecisions,
    /// Where packets time out: by queue.
    pub timeouts: Vec<HeadTimeout>,
    /// With a stage for virtual channels: whether a packet owns a channel, which queue (by port and channel) it chose last,
    /// and, by queue, the channel that was owned last.
    pub owned: Vec<bool>,
    pub last_seeker: Vec<u32>,
    pub last_channel: Vec<u16>,
    /// Where arbiters keep their turns in all rounds but the first: by crossbar connection of inputs, whose turn it was last.
    pub turns: Vec<Turn>,
    /// Where channels that share an output queue take turns to enter it: by port, the one that did last.
    pub last_entered: Vec<u8>,
    /// Where arbiters have turns for each priority.
    pub turns_by_priority: TurnsByPriority,
    /// Where the least recently served goes first: when each queue was served, and each input by each output.
    pub queue_served: Vec<Time>,
    pub input_served: Vec<Time>,
}

impl Extras {
    pub fn new(fabric: &Fabric, ports: usize) -> Self {
        let (shape, rules) = (fabric.shape, fabric.rules);
        let only_if = |condition: bool, count: usize| if condition { count } else { 0 };
        let by_age = |arbiter: Arbiter, count: usize| only_if(arbiter == Arbiter::LeastRecentlyServed, count);
        let queues = ports * shape.voqs * shape.vcs;
        let kinds = ports / shape.ports * shape.vcs * fabric.spec.input_buffers.len();
        let owners = only_if(rules.vc_allocation, ports * shape.vcs);
        let space = fabric.spec.router.output_queues.flits.unwrap_or(u32::MAX);
        let queue = OutputQueue { head: NONE, tail: NONE, space };
        Self {
            heads: vec![Heads::default(); only_if(shape.voqs > 1, ports * shape.voqs)],
            awake_voqs: vec![0; ports * (shape.voqs.div_ceil(64) - 1)],
            inputs: vec![InputConnection::default(); ports * (shape.inputs - 1)],
            outputs: vec![OutputConnection::default(); ports * (shape.outputs - 1)],
            held: vec![0; only_if(rules.destination_queue.is_some(), queues)],
            sleeping_nodes: vec![
                0;
                only_if(
                    rules.destination_queue.is_some(),
                    ports * shape.ports * shape.voqs.div_ceil(64)
                )
            ],
            sleepers: vec![0; only_if(rules.wakes_next, ports * shape.ports)],
            waiters: vec![0; only_if(shape.words > 1, ports * (WORDS_MAX - 1))],
            senders: vec![Sender::NEW; only_if(!rules.departs_at_once, ports)],
            queues: vec![queue; only_if(!rules.departs_at_once, ports * shape.output_queues)],
            uncredited: vec![0; only_if(!rules.claims_first, ports * shape.vcs)],
            next_credit: vec![0; only_if(rules.credit_interval > 0, ports)],
            paused_until: vec![0; only_if(rules.nodes_pause, ports)],
            backlogs: vec![Backlog::default(); only_if(rules.measures_queues, ports)],
            routed: vec![0; only_if(rules.counts_routed, ports)],
            occupied: vec![0; only_if(rules.counts_inputs, ports * shape.vcs)],
            waiting_for_node: vec![0; only_if(rules.counts_for_nodes.is_some(), ports)],
            sent: vec![0; only_if(rules.counts_sent, ports)],
            kept_decisions: match rules.keeps_decisions {
                true => KeptDecisions::new(queues, ports, kinds, rules.keeps_rivals),
                false => KeptDecisions::default(),
            },
            timeouts: vec![HeadTimeout::default(); only_if(rules.times_out, queues)],
            owned: vec![false; owners],
            last_seeker: vec![0; owners],
            last_channel: vec![0; only_if(rules.vc_allocation, queues)],
            turns: vec![Turn::default(); only_if(rules.first_round_turns, ports * shape.inputs)],
            last_entered: vec![0; only_if(rules.channels_take_turns, ports)],
            turns_by_priority: match rules.turns_by_priority {
                true => TurnsByPriority::new(fabric, ports),
                false => TurnsByPriority::default(),
            },
            queue_served: vec![0; by_age(rules.input_arbiter, queues)],
            input_served: vec![0; by_age(rules.output_arbiter, ports * shape.outputs * shape.ports * shape.inputs)],
        }
    }
}
