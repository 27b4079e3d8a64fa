//! Which messages are those that are traced: one, or three of a program for one that is announced.
//!
//! **The invariant it keeps:** only the regions of the two nodes decide, by what is offered and arrives there.

use tailback_topology::NodeId;
use tailback_workload::Part;

use super::{TracedMessage, Which};
use crate::payload::Told;
use crate::time::Time;

/// A message that a node offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    pub source: NodeId,
    pub destination: NodeId,
    pub traffic: u16,
    pub created: Time,
    pub told: Told,
    pub part: Part,
}

/// The messages that are traced, as far as they are known in a region.
#[derive(Clone, Debug, Default)]
pub(super) struct Legs {
    /// Those that are offered here; that of a flow is known everywhere.
    offered: Vec<Offered>,
    /// The announcement of the message, where it was offered and where it has arrived.
    announced: Option<Offered>,
    /// Messages from the one node to the other that have been offered.
    count: u64,
    /// What their sources call them, where that is known, unless others are called so by now.
    names: Vec<(NodeId, u32)>,
}

impl Legs {
    pub fn of(message: &TracedMessage) -> Self {
        let &TracedMessage { source, destination, which } = message;
        let known = match which {
            Which::Offered { traffic, created } => {
                // What lies behind the end of time is never offered.
                let created = Time::try_from(created).unwrap_or(Time::MAX);
                let told = Told::default();
                Some(Offered { source, destination, traffic, created, told, part: Part::Whole })
            }
            Which::Nth(_) => None,
        };
        Self { offered: known.into_iter().collect(), ..Self::default() }
    }

    /// A node offers a message: whether it is one that is traced.
    pub fn is_offered(&mut self, message: &TracedMessage, offered: &Offered) -> bool {
        let Which::Nth(number) = message.which else { return self.has(offered) };
        let is_traced = match offered.part {
            Part::Whole | Part::Announcement(_) => {
                let is_between = (message.source, message.destination) == (offered.source, offered.destination);
                let place = self.count;
                self.count += u64::from(is_between);
                is_between && place == number
            }
            Part::Answer(number) => self.announced.is_some_and(|announced| {
                let Offered { source, destination, traffic, told, .. } = announced;
                let back = (destination, source, traffic, told.to, told.from, Part::Announcement(number));
                let &Offered { source, destination, traffic, told, .. } = offered;
                back == (source, destination, traffic, told.from, told.to, announced.part)
            }),
            Part::Data(number) => self.announced.is_some_and(|announced| {
                let Offered { source, destination, traffic, told, .. } = announced;
                let forth = (source, destination, traffic, told.from, told.to, Part::Announcement(number));
                let &Offered { source, destination, traffic, told, .. } = offered;
                forth == (source, destination, traffic, told.from, told.to, announced.part)
            }),
        };
        if is_traced {
            self.offered.push(*offered);
            self.is_announced(offered);
        }
        is_traced
    }

    /// A message that is traced is known here: that of an announcement tells its answer, and the data.
    pub fn is_announced(&mut self, message: &Offered) {
        if let Part::Announcement(_) = message.part {
            self.announced = Some(*message);
        }
    }

    pub fn has(&self, offered: &Offered) -> bool {
        self.offered.contains(offered)
    }

    pub fn is_name(&self, source: NodeId, name: u32) -> bool {
        self.names.contains(&(source, name))
    }

    /// Whether any node calls one of them so.
    pub fn has_name(&self, name: u32) -> bool {
        self.names.iter().any(|&(_, known)| known == name)
    }

    /// A node calls a message so from now on, which is one that is traced or another.
    pub fn named(&mut self, source: NodeId, name: u32, is_traced: bool) {
        let place = self.names.iter().position(|&known| known == (source, name));
        match place {
            Some(place) if !is_traced => drop(self.names.remove(place)),
            None if is_traced => self.names.push((source, name)),
            _ => {}
        }
    }
}
