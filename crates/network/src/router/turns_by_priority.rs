//! Turns of arbiters by priority. Where there is one turn for all packets, who is served after one that goes first follows from where that came from:
//! data of the inputs behind it can wait for ever where control packets of one input come all the time.

use serde::{Deserialize, Serialize};

use super::request::Request;
use super::state::Turn;
use super::{Microarchitecture, Routers, Surroundings};
use crate::fabric::Fabric;

/// The turns of all arbiters of a region by level: by priority, and for packets in transit and those that enter the network apart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TurnsByPriority {
    levels: usize,
    /// By traffic class: the level of its packets in transit. That of those that enter is the next one.
    level_of_class: Vec<u8>,
    /// By crossbar connection of outputs and level: the input connection that was served last.
    outputs: Vec<u16>,
    /// By crossbar connection of inputs and level.
    inputs: Vec<Turn>,
    /// By port and level: the output queue that was served last.
    links: Vec<u8>,
}

impl TurnsByPriority {
    /// Those of so many ports. Nobody has been served.
    pub fn new(fabric: &Fabric, ports: usize) -> Self {
        let classes = &fabric.spec.classes;
        let mut priorities: Vec<u8> = classes.iter().map(|class| class.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let level =
            |priority| 2 * priorities.iter().position(|&other| other == priority).expect("it is one of them") as u8;
        let (levels, shape) = (2 * priorities.len(), &fabric.shape);
        Self {
            levels,
            level_of_class: classes.iter().map(|class| level(class.priority)).collect(),
            outputs: vec![0; ports * shape.outputs * levels],
            inputs: vec![Turn::default(); ports * shape.inputs * levels],
            links: vec![0; ports * levels],
        }
    }

    fn level(&self, class: u8, enters: bool) -> usize {
        usize::from(self.level_of_class[usize::from(class)]) + usize::from(enters)
    }

    fn link(&self, index: u32, class: u8) -> usize {
        index as usize * self.levels + self.level(class, false)
    }

    /// The output queue of a port that sent a packet of the priority of a class last.
    pub fn last_queue(&self, index: u32, class: u8) -> usize {
        self.links[self.link(index, class)].into()
    }

    /// An output queue of a port sends a packet of a class.
    pub fn note_queue(&mut self, index: u32, class: u8, queue: usize) {
        let link = self.link(index, class);
        self.links[link] = queue as u8;
    }
}

impl<M: Microarchitecture> Routers<M> {
    /// The input connection that was served last with a packet of the level of a request, at the output that it is for.
    pub(super) fn last_of_level(&self, request: &Request, around: &Surroundings<'_>) -> u16 {
        self.extras.turns_by_priority.outputs[self.output_level(request, around.pool[request.packet].class)]
    }

    /// Whose turn it was last among packets of the priority of a request, at the connection of its queue to the crossbar.
    pub(super) fn last_turn_of_level(&self, request: &Request, around: &Surroundings<'_>) -> Turn {
        self.extras.turns_by_priority.inputs[self.input_level(request, around.pool[request.packet].class)]
    }

    /// Notes at both ends that a request is served, which is of a packet of a class.
    pub(super) fn note_turns_of_level(&mut self, request: &Request, class: u8) {
        let output = self.output_level(request, class);
        self.extras.turns_by_priority.outputs[output] = self.input_number(request.id);
        self.note_input_turn_of_level(request, class);
    }

    /// Notes that an input serves a request, which is of a packet of a class.
    pub(super) fn note_input_turn_of_level(&mut self, request: &Request, class: u8) {
        let (input, &Request { id, port, .. }) = (self.input_level(request, class), request);
        self.extras.turns_by_priority.inputs[input] = Turn { voq: id.voq, vc: id.vc, port };
    }

    fn output_level(&self, request: &Request, class: u8) -> usize {
        let own = if self.outputs_share() { 0 } else { usize::from(request.vc) };
        let connection = request.output as usize * self.shape.outputs + own;
        let turns = &self.extras.turns_by_priority;
        connection * turns.levels + turns.level(class, self.enters(request.id))
    }

    fn input_level(&self, request: &Request, class: u8) -> usize {
        let turns = &self.extras.turns_by_priority;
        self.turn_index(request.id) * turns.levels + turns.level(class, false)
    }
}
