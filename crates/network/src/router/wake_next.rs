//! Of the heads that sleep at an output the next one alone is woken, where it is the output that chooses among them: each has a
//! connection to the crossbar of its own, so it could cross if it were chosen.
//!
//! **The invariant it keeps:** whoever crosses would cross if all were woken. A head that sleeps on either could not leave when this
//! was looked at last, and nothing has changed for it, or comes after one that was woken.

use super::examine::has_space;
use super::request::{Request, SETTLED};
use super::state::QueueId;
use super::{Microarchitecture, Routers, Surroundings, members};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// Wakes the first of those that sleep at a port and could leave, in the order in which its output serves; and those that decide
    /// anew where to go.
    pub(super) fn wake_next(&mut self, index: u32, now: Time, around: &mut Surroundings<'_>) {
        let first_port = self.inputs[index as usize].first_port;
        let space = self.space_of_idle(index, now);
        let (mut sleepers, mut stay) = (self.outputs[index as usize].waiters, 0);
        let mut best: Option<(u64, QueueId)> = None;
        while sleepers != 0 {
            let port = sleepers.trailing_zeros();
            sleepers &= sleepers - 1;
            let input = self.queue_id(first_port + port, 0, 0);
            for vc in members(self.heads(input).asleep) {
                let id = QueueId { vc, ..input };
                match self.sleeper(id, index, space, now, around) {
                    Sleeper::Elsewhere => {}
                    Sleeper::DecidesAnew => self.wake_head(id, now, around),
                    Sleeper::HasToWait => stay |= 1 << port,
                    Sleeper::CouldLeave(request) => {
                        let key = self.output_key(&request, around);
                        match best {
                            Some((least, _)) if least < key => stay |= 1 << port,
                            _ => {
                                let beaten = best.replace((key, id));
                                stay |= beaten.map_or(0, |(_, beaten)| 1 << beaten.port);
                            }
                        }
                    }
                }
            }
        }
        self.outputs[index as usize].waiters = stay;
        match best {
            // Those that stay hear of it when the output is free again.
            Some((_, next)) => self.wake_head(next, now, around),
            None if stay != 0 => self.expect_room(index, now, around),
            None => {}
        }
    }

    /// The free flits of the only output queue of a port, whose connection is free: a packet that they have room for needs nothing more but
    /// credits.
    fn space_of_idle(&mut self, index: u32, now: Time) -> Option<u32> {
        let port = &mut self.outputs[index as usize];
        debug_assert!(port.connection.busy_until <= now, "nobody is woken before the output is free");
        (M::PLAIN || self.rules.departs_at_once).then(|| {
            has_space(&mut self.departures, index, port, self.rules.packet_flits_max, now);
            port.space
        })
    }

    /// Whether a head that sleeps could leave by a port, which has so many free flits if that is known.
    #[inline]
    fn sleeper(
        &mut self,
        id: QueueId,
        index: u32,
        space: Option<u32>,
        now: Time,
        around: &Surroundings<'_>,
    ) -> Sleeper {
        let (number, port) = (self.queue_index(id), self.inputs[index as usize].port);
        let queue = self.queues[number];
        if queue.port != port {
            return Sleeper::Elsewhere;
        }
        if !queue.is_settled() {
            return Sleeper::DecidesAnew;
        }
        let channel = match space {
            Some(space) if u32::from(queue.flits) > space => None,
            Some(_) => self.channel_with_credits(index, &queue),
            None => self.channel_with_room(index, &queue, now, around.fabric),
        };
        let (packet, output) = (queue.head, index);
        channel.map_or(Sleeper::HasToWait, |vc| {
            Sleeper::CouldLeave(Request { id, queue: number as u32, packet, output, port, vc, header: SETTLED })
        })
    }
}

/// A head that sleeps, to a port at which something has changed.
enum Sleeper {
    /// It waits for another port.
    Elsewhere,
    /// It has to decide anew where to go.
    DecidesAnew,
    /// It cannot leave.
    HasToWait,
    CouldLeave(Request),
}
