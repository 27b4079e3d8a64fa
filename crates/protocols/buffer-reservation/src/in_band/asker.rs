//! The ingress adapter: it asks for room for all packets of a flow at once, up to a limit, and holds them until they are granted.

use serde::{Deserialize, Serialize};
use tailback_protocol::{
    Clock, Control, Offered, Outgoing, PacketKind, Source, SourceAction, Verdict, remember, write_down,
};

use super::{GRANT, NO_PACKET, REQUEST, packets};

/// What waits for one destination, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Flow {
    unrequested: u32,
    requested: u32,
    granted: u32,
}

/// The source of a node.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    /// Packets of a flow that may be requested and not granted.
    requests: u32,
    packet_flits: u32,
    /// By destination.
    flows: Vec<Flow>,
    /// Packets that have not left.
    waiting: u64,
}

impl Asker {
    pub fn new(requests: u32, packet_flits: u16, nodes: u32) -> Self {
        let flows = vec![Flow::default(); nodes as usize];
        Self { requests, packet_flits: packet_flits.into(), flows, waiting: 0 }
    }

    /// Packets of a flow that are requested and not granted, and those that are granted and have not left.
    #[cfg(test)]
    pub fn requested_and_granted(&self, destination: u32) -> (u32, u32) {
        let Flow { requested, granted, .. } = self.flows[destination as usize];
        (requested, granted)
    }

    /// Asks for all that may be asked for now.
    fn ask(&mut self, node: u32, destination: u32, actions: &mut Vec<SourceAction>) {
        let flow = &mut self.flows[destination as usize];
        let packets = flow.unrequested.min(self.requests - flow.requested);
        if packets == 0 {
            return;
        }
        flow.unrequested -= packets;
        flow.requested += packets;
        let request = Control::new(REQUEST, node, destination, NO_PACKET).payload(&[packets.into()]);
        actions.push(SourceAction::Control(request));
    }
}

impl Source for Asker {
    fn offered(&mut self, message: &Offered, _now: u64, actions: &mut Vec<SourceAction>) {
        let packets = message.flits.div_ceil(self.packet_flits);
        self.waiting += u64::from(packets);
        self.flows[message.destination as usize].unrequested += packets;
        self.ask(message.source, message.destination, actions);
    }

    fn may_send(&mut self, packet: &Outgoing, _now: u64, _actions: &mut Vec<SourceAction>) -> Verdict {
        if self.flows[packet.destination as usize].granted > 0 {
            Verdict::Send { kind: PacketKind::DATA, marks: 0 }
        } else {
            Verdict::Hold
        }
    }

    fn sent(&mut self, packet: &Outgoing, _now: u64) {
        self.flows[packet.destination as usize].granted -= 1;
        self.waiting -= 1;
    }

    fn on_control(&mut self, control: &Control, _latency: u64, _now: u64, actions: &mut Vec<SourceAction>) {
        assert_eq!(control.kind, GRANT, "a source is sent nothing but grants");
        let (destination, packets) = (control.from, packets(control));
        let flow = &mut self.flows[destination as usize];
        assert!(flow.requested >= packets, "node {destination} grants nothing that it was not asked for");
        flow.requested -= packets;
        if flow.granted == 0 {
            actions.push(SourceAction::Open { destination });
        }
        flow.granted += packets;
        self.ask(control.to, destination, actions);
    }

    fn foretell(&self, control: &Control, _now: u64, _clock: Clock) -> Option<String> {
        let Flow { unrequested, granted, .. } = self.flows[control.from as usize];
        let granted = granted + packets(control);
        Some(format!(
            "may send {granted} packets to node {} now, {unrequested} more are not requested yet",
            control.from
        ))
    }

    fn is_idle(&self) -> bool {
        self.waiting == 0
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.flows, self.waiting), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.flows, self.waiting) = remember(bytes)?;
        Some(())
    }
}
