//! The arbiter of an output, in the egress adapter behind it: it grants room to one source after the other.

use serde::{Deserialize, Serialize};
use tailback_protocol::{Arrival, Clock, Control, Sink, SinkAction, remember, write_down};

use super::{GRANT, NO_PACKET, packets};
use crate::turns::Members;

/// The room of a node, and how much of it is granted at once, in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Granted at once at most.
    pub grant: u32,
    /// Granted at once at least, if so many are wanted.
    pub grant_min: u32,
    /// In the buffer of the output.
    pub output: u32,
    /// In the node, for what is not in order.
    pub reorder: u32,
    /// When that of the buffer is free again.
    pub output_returns: RoomReturns,
}

/// When room for a packet in the buffer of an output is free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoomReturns {
    /// When it has arrived at the node, and so left that buffer.
    Arrival,
    /// When it is in order there, as room in the node is.
    InOrder,
}

/// The sink of a node.
#[derive(Clone, Debug)]
pub(crate) struct Granter {
    room: Room,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// By source: packets that are requested and not granted.
    wanted: Vec<u32>,
    /// The sources that want something.
    wanting: Members,
    /// The source that comes first at the next turn.
    next: usize,
    /// Packets that there is room for in front of the node, and in it.
    output: u32,
    reorder: u32,
}

impl Granter {
    pub fn new(room: Room, nodes: u32) -> Self {
        let state = State {
            wanted: vec![0; nodes as usize],
            wanting: Members::below(nodes as usize),
            next: 0,
            output: room.output,
            reorder: room.reorder,
        };
        Self { room, state }
    }

    /// Packets that there is room for in front of the node, and in it.
    #[cfg(test)]
    pub fn left(&self) -> (u32, u32) {
        (self.state.output, self.state.reorder)
    }

    /// Who is granted something next, and how many packets. The one whose turn it is waits until there is room for as many as he is to have:
    /// if others who want less went before, he might wait for ever.
    fn next_grant(&self) -> Option<(usize, u32)> {
        let source = self.state.wanting.set().next_from(self.state.next)?;
        let wanted = self.state.wanted[source];
        let packets = wanted.min(self.room.grant).min(self.state.output).min(self.state.reorder);
        (packets >= wanted.min(self.room.grant_min)).then_some((source, packets))
    }

    /// There is room for one more packet in the buffer of the output.
    fn return_output(&mut self, node: u32) {
        self.state.output += 1;
        assert!(self.state.output <= self.room.output, "more packets come to node {node} than were granted");
    }

    /// Grants all that there is room for.
    fn grant(&mut self, node: u32, actions: &mut Vec<SinkAction>) {
        while let Some((source, packets)) = self.next_grant() {
            let state = &mut self.state;
            state.wanted[source] -= packets;
            if state.wanted[source] == 0 {
                state.wanting.remove(source);
            }
            state.output -= packets;
            state.reorder -= packets;
            state.next = source + 1;
            let grant = Control::new(GRANT, node, source as u32, NO_PACKET).payload(&[packets.into()]);
            actions.push(SinkAction::Control(grant));
        }
    }
}

impl Sink for Granter {
    fn on_request(&mut self, request: &Control, _now: u64, actions: &mut Vec<SinkAction>) {
        self.state.wanted[request.from as usize] += packets(request);
        self.state.wanting.insert(request.from as usize);
        self.grant(request.to, actions);
    }

    fn on_arrival(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        if self.room.output_returns == RoomReturns::Arrival {
            self.return_output(arrival.to);
            self.grant(arrival.to, actions);
        }
    }

    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        if self.room.output_returns == RoomReturns::InOrder {
            self.return_output(arrival.to);
        }
        self.state.reorder += 1;
        assert!(self.state.reorder <= self.room.reorder, "more packets are in order at node {} than came", arrival.to);
        self.grant(arrival.to, actions);
    }

    fn foretell(&self, request: &Control, _now: u64, _clock: Clock) -> Option<String> {
        let others = self.state.wanting.set().iter().filter(|&source| source != request.from as usize).count();
        let State { output, reorder, .. } = self.state;
        Some(format!(
            "has room for {output} packets before it and {reorder} in it; {others} other sources wait for grants"
        ))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.state, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.state = remember(bytes)?;
        Some(())
    }
}
