//! What sources keep of messages until all their packets are forgotten, where the protocol wants that.

use serde::{Deserialize, Serialize};

use super::source_queues::Waiting;
use crate::time::Time;

/// A message of which some packets are not forgotten.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptMessage {
    pub created: Time,
    pub destination: u32,
    pub flits: u32,
    pub traffic: u16,
    /// Packets that are not forgotten.
    packets_left: u32,
    /// What has not been sent and was taken out of the send queue: its first packet, and its flits.
    pub rest_index: u32,
    pub rest_flits: u32,
    /// The number of its first packet in its flow, where flows are numbered.
    pub first_number: u32,
}

/// The messages of a node, by name. Names are used again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RetransmitBuffer {
    messages: Vec<KeptMessage>,
    free: Vec<u32>,
}

impl RetransmitBuffer {
    /// Keeps a message that is cut into packets of at most `packet_flits_max` flits; returns its name.
    pub fn keep(&mut self, message: &Waiting, packet_flits_max: u16) -> u32 {
        let &Waiting { created, destination, flits_left: flits, traffic, .. } = message;
        let packets_left = flits.div_ceil(packet_flits_max.into());
        let copy = KeptMessage {
            created,
            destination,
            flits,
            traffic,
            packets_left,
            rest_index: 0,
            rest_flits: 0,
            first_number: 0,
        };
        if let Some(name) = self.free.pop() {
            self.messages[name as usize] = copy;
            return name;
        }
        self.messages.push(copy);
        self.messages.len() as u32 - 1
    }

    pub fn get(&self, name: u32) -> &KeptMessage {
        &self.messages[name as usize]
    }

    pub fn get_mut(&mut self, name: u32) -> &mut KeptMessage {
        &mut self.messages[name as usize]
    }

    /// Forgets a packet of a message; returns whether it was the last.
    pub fn forget(&mut self, name: u32) -> bool {
        let copy = &mut self.messages[name as usize];
        copy.packets_left -= 1;
        if copy.packets_left == 0 {
            self.free.push(name);
        }
        copy.packets_left == 0
    }

    /// Flits that were taken out of send queues and have not been sent.
    pub fn withheld_flits(&self) -> u64 {
        self.messages.iter().map(|copy| u64::from(copy.rest_flits)).sum()
    }
}
