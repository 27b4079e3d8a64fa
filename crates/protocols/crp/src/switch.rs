//! Routers: drop speculative packets that have waited for too long, and keep the tables of channels.

use std::collections::BTreeMap;

use tailback_protocol::{Control, Fate, Here, Passing, Switch, remember, write_down};
use tailback_reservation::charged;

use crate::channel::{Channel, Tag};
use crate::table::{Grid, Slots};
use crate::{SMALL, kind};

/// A router of CRP.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    grid: Grid,
    overhead: f64,
    /// By port.
    channels: BTreeMap<u8, Channel>,
}

impl Router {
    pub fn new(grid: Grid, overhead: f64) -> Self {
        Self { grid, overhead, channels: BTreeMap::new() }
    }

    fn channel(&mut self, port: u8) -> &mut Channel {
        self.channels.entry(port).or_insert_with(|| Channel::new(self.grid))
    }

    fn charged(&self, flits: u32) -> u32 {
        charged(flits, self.overhead) as u32
    }
}

/// The segment that an answer is about.
fn tag_of_answer(answer: &Control) -> Tag {
    (answer.to, answer.about.message, answer.about.index)
}

impl Switch for Router {
    /// An answer comes back by the channel that its request has taken.
    fn arrives(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        let Some(answer) = packet.control.take() else { return Fate::Forward };
        let (grid, flits, tag) = (self.grid, self.charged(answer.flits), tag_of_answer(&answer));
        let channel = self.channel(here.input.port);
        if answer.kind == kind::RETRY {
            channel.retry(grid, tag, here.now);
            return Fate::Forward;
        }
        let tick = answer.time.expect("a grant names a time");
        if channel.grant(grid, tag, flits, tick, here.now) {
            return Fate::Forward;
        }
        let &Control { from, to, about, flits, .. } = &answer;
        Fate::Absorb(Some(Control::new(kind::RETRY, from, to, about).flits(flits).along(&answer)))
    }

    fn crosses(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) {
        let (grid, now) = (self.grid, here.now);
        let port = here.output.expect("a packet that crosses leaves by a port").port;
        if let Some(request) = &packet.control {
            let flits = self.charged(request.flits);
            let tag = (request.from, request.about.message, request.about.index);
            let slots = Slots::from_words(packet.payload);
            let slots = self.channel(port).request(grid, tag, flits, *packet.marks, slots, now);
            packet.payload.copy_from_slice(&slots.words());
        } else if *packet.marks & SMALL != 0 {
            self.channel(port).deduct(grid, packet.flits.into(), now);
        }
    }

    fn expires(&mut self, packet: &mut Passing<'_>, _here: &mut Here<'_>) -> Fate {
        Fate::Drop(packet.nack(kind::NACK))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.channels, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.channels = remember(bytes)?;
        Some(())
    }
}
