//! Routers: drop speculative packets that have waited for too long, and keep the tables of channels.

use std::collections::BTreeMap;

use tailback_protocol::{Clock, Control, Fate, Here, Moment, Passing, Switch, remember, write_down};
use tailback_reservation::charged;

use crate::channel::{Channel, Tag};
use crate::table::{Grid, Slots};
use crate::{SMALL, kind, words};

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

    /// The channel of a port, or what it begins as.
    fn copy_of_channel(&self, port: u8) -> Channel {
        self.channels.get(&port).cloned().unwrap_or_else(|| Channel::new(self.grid))
    }

    /// What the table of a port does as a request passes.
    fn foretell_request(&self, request: &Control, eager: u8, port: u8, now: u64) -> String {
        let (mut channel, flits, tag) =
            (self.copy_of_channel(port), self.charged(request.flits), tag_of_request(request));
        let before = channel.clone();
        let slots = channel.request(self.grid, tag, flits, eager, Slots::from_words(&request.payload), now);
        let mut shifted = before.table().clone();
        shifted.advance(self.grid, now);
        let (room, left) = (words::room(&shifted, flits), words::list(slots.first, slots.free));
        let reserves = match channel.eager(tag) {
            [] => String::new(),
            taken => format!("; reserves {} eagerly", words::all_taken(taken)),
        };
        format!("table of port {port}: {room}; the request keeps {left}{reserves}")
    }

    /// What the table of a port does as an answer passes.
    fn foretell_answer(&self, answer: &Control, port: u8, now: u64) -> String {
        let (mut channel, flits, tag) = (self.copy_of_channel(port), self.charged(answer.flits), tag_of_answer(answer));
        let eager = channel.eager(tag).to_vec();
        let granted = answer.time.and_then(|tick| channel.grant(self.grid, tag, flits, tick, now));
        let confirmed = |taken| granted == Some(taken);
        let decision = match granted {
            Some(taken) if eager.contains(&taken) => format!("confirms {}, reserved eagerly", words::taken(taken)),
            Some(taken) => format!("takes {}", words::taken(taken)),
            None if answer.kind == kind::GRANT => {
                "has no room for the grant any more, which becomes a retry".to_owned()
            }
            None => "the retry passes".to_owned(),
        };
        let released: Vec<_> = eager.into_iter().filter(|&taken| !confirmed(taken)).collect();
        let releases = match released.as_slice() {
            [] => String::new(),
            released => format!("; releases {}", words::all_taken(released)),
        };
        format!("table of port {port}: {decision}{releases}")
    }
}

/// The segment that a request is about.
fn tag_of_request(request: &Control) -> Tag {
    (request.from, request.about.message, request.about.index)
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
        if channel.grant(grid, tag, flits, tick, here.now).is_some() {
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
            let tag = tag_of_request(request);
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

    fn foretell(&self, moment: Moment, packet: &Passing<'_>, here: &Here<'_>, _clock: Clock) -> Option<String> {
        match (moment, &packet.control) {
            (Moment::Arrives, Some(answer)) => Some(self.foretell_answer(answer, here.input.port, here.now)),
            (Moment::Crosses, control) => {
                let port = here.output?.port;
                let small =
                    || format!("table of port {port}: {} flits without a reservation are deducted", packet.flits);
                match control {
                    Some(request) => Some(self.foretell_request(request, *packet.marks, port, here.now)),
                    None => (*packet.marks & SMALL != 0).then(small),
                }
            }
            _ => None,
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.channels, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.channels = remember(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use tailback_protocol::PacketRef;

    use super::*;

    const GRID: Grid = Grid { cells: 4, cell_flits: 100, flit_ticks: 1 };
    const ABOUT: PacketRef = PacketRef { message: 7, index: 0 };

    /// What is foretold changes nothing, and is what happens to the packets of a segment of 150 flits.
    #[test]
    fn tables_foretell_what_they_reserve_confirm_take_and_release() {
        let mut router = Router::new(GRID, 0.0);
        let request = Control::new(kind::REQUEST, 1, 2, ABOUT).flits(150).payload(&Slots::all(GRID, 0).words());
        let answer = |kind| Control::new(kind, 2, 1, ABOUT).flits(150);
        let reserve = |router: &mut Router, tag| {
            let _ = router.channel(3).request(GRID, tag, 150, 1, Slots::all(GRID, 0), 0);
        };
        assert_eq!(
            router.foretell_request(&request, 1, 3, 0),
            "table of port 3: of slots 0–3 there is room for 150 flits in 0–2; the request keeps 0–2; reserves 100 flits of slot 0 \
             and 50 of slot 1 eagerly"
        );
        reserve(&mut router, tag_of_request(&request));
        let foretold = |router: &Router, kind, tick: Option<u64>| {
            router.foretell_answer(&Control { time: tick, ..answer(kind) }, 3, 10)
        };
        let confirmed = "table of port 3: confirms 100 flits of slot 0 and 50 of slot 1, reserved eagerly";
        assert_eq!(foretold(&router, kind::GRANT, Some(40)), confirmed);
        let taken = "table of port 3: takes 100 flits of slot 2 and 50 of slot 3; releases 100 flits of slot 0 and 50 of slot 1";
        assert_eq!(foretold(&router, kind::GRANT, Some(240)), taken);
        let released = "table of port 3: the retry passes; releases 100 flits of slot 0 and 50 of slot 1";
        assert_eq!(foretold(&router, kind::RETRY, None), released);
        // Others take what is left of slots 1 and 2.
        reserve(&mut router, (5, 0, 0));
        let full = "table of port 3: has no room for the grant any more, which becomes a retry; releases 100 flits of slot 0 and 50 of slot 1";
        assert_eq!(foretold(&router, kind::GRANT, Some(340)), full);
    }
}
