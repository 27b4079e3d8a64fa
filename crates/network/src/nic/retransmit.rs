//! What sources keep of messages until all their packets are forgotten, where the protocol wants that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::source_queues::Waiting;
use crate::packet::NONE;
use crate::payload::Told;
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
    /// Since when this packet waits, if the source did not let it go when it was first asked.
    pub rest_refused_since: Option<Time>,
    /// The number of its first packet in its flow, where flows are numbered.
    pub first_number: u32,
    /// What a program tells with it.
    pub told: Told,
}

/// The messages of a node, by name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RetransmitBuffer {
    messages: Vec<KeptMessage>,
    free: Vec<u32>,
    /// Names that are not used again, if they are not: else messages are called by their places.
    names: Option<Names>,
}

/// Names that are not used again, and the places of the messages that have them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Names {
    places: BTreeMap<u32, u32>,
    next: u32,
}

impl RetransmitBuffer {
    /// One that keeps nothing, and uses names again or not.
    pub fn new(names_are_unique: bool) -> Self {
        Self { messages: Vec::new(), free: Vec::new(), names: names_are_unique.then(Names::default) }
    }

    fn place(&self, name: u32) -> usize {
        self.names.as_ref().map_or(name, |names| names.places[&name]) as usize
    }

    /// Keeps a message that is cut into packets of at most `packet_flits_max` flits; returns its name.
    pub fn keep(&mut self, message: &Waiting, packet_flits_max: u16) -> u32 {
        let &Waiting { created, destination, flits_left: flits, traffic, told, .. } = message;
        let packets_left = flits.div_ceil(packet_flits_max.into());
        let copy = KeptMessage {
            created,
            destination,
            flits,
            traffic,
            packets_left,
            rest_index: 0,
            rest_flits: 0,
            rest_refused_since: None,
            first_number: 0,
            told,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.messages[place as usize] = copy;
                place
            }
            None => {
                self.messages.push(copy);
                self.messages.len() as u32 - 1
            }
        };
        let Some(names) = &mut self.names else { return place };
        let name = names.next;
        assert_ne!(name, NONE, "a node sends fewer than 2^32 - 1 messages");
        names.next += 1;
        names.places.insert(name, place);
        name
    }

    pub fn get(&self, name: u32) -> &KeptMessage {
        &self.messages[self.place(name)]
    }

    pub fn get_mut(&mut self, name: u32) -> &mut KeptMessage {
        let place = self.place(name);
        &mut self.messages[place]
    }

    /// Forgets a packet of a message; returns whether it was the last.
    pub fn forget(&mut self, name: u32) -> bool {
        let place = self.place(name);
        let copy = &mut self.messages[place];
        copy.packets_left -= 1;
        let done = copy.packets_left == 0;
        if done {
            self.free.push(place as u32);
            if let Some(names) = &mut self.names {
                names.places.remove(&name);
            }
        }
        done
    }

    /// Flits that were taken out of send queues and have not been sent.
    pub fn withheld_flits(&self) -> u64 {
        self.messages.iter().map(|copy| u64::from(copy.rest_flits)).sum()
    }
}
