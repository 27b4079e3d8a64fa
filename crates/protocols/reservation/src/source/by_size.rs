//! The combination: small messages as by LHRP, large ones as by SRP.

use tailback_protocol::{Control, Outgoing, Source, SourceAction, Verdict};

use super::{ByMessage, ByPacket};

/// The source of the comprehensive protocol.
#[derive(Clone, Debug)]
pub(crate) struct BySize {
    /// The flits of the smallest message that counts as large.
    pub large_from: u32,
    pub small: ByPacket,
    pub large: ByMessage,
}

impl Source for BySize {
    fn may_send(&mut self, packet: &Outgoing, now: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        if packet.message_flits < self.large_from {
            self.small.may_send(packet, now, actions)
        } else {
            self.large.may_send(packet, now, actions)
        }
    }

    fn on_control(&mut self, control: &Control, latency: u64, now: u64, actions: &mut Vec<SourceAction>) {
        if self.large.knows(control.about.message) {
            self.large.on_control(control, latency, now, actions);
        } else {
            self.small.on_control(control, latency, now, actions);
        }
    }

    fn done(&mut self, message: u32) {
        self.large.done(message);
    }

    fn is_idle(&self) -> bool {
        self.small.is_idle() && self.large.is_idle()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        self.small.save(bytes);
        self.large.save(bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.small.load(bytes)?;
        self.large.load(bytes)
    }
}
