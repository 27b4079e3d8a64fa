//! What happens when something arrives at its node.

use super::trace::Event;
use super::world::{Flying, What, World};
use crate::{Arrival, Control, Sink, SinkAction};

impl World {
    /// Something arrives at its node.
    pub(super) fn deliver(&mut self, flying: Flying, from: u32, to: u32) -> Result<(), String> {
        match flying.what {
            What::Control(control) => self.deliver_control(&control, flying.sent_at),
            What::Data { message, packet, .. } => {
                self.trace.events.push(Event::Arrived { at: self.now, message, index: packet.index });
                if !self.arrived[message].insert(packet.index) {
                    return Err(format!("packet {} of message {message} arrived twice", packet.index));
                }
                let Some(most) = self.hooks.resequencing else {
                    return self.tell_sink(&flying, (from, to), |sink, arrival, now, actions| {
                        sink.on_data(arrival, now, actions);
                    });
                };
                self.tell_sink(&flying, (from, to), |sink, arrival, now, actions| {
                    sink.on_arrival(arrival, now, actions);
                })?;
                self.deliver_in_order((message, packet.index), flying, (from, to), most)
            }
        }
    }

    fn deliver_in_order(
        &mut self,
        place: (usize, u32),
        flying: Flying,
        ends: (u32, u32),
        most: u32,
    ) -> Result<(), String> {
        let packets = self.nodes[0].most_flits().into();
        let messages = self.trace.messages.iter().map(|&(from, to, flits)| (from, to, u32::div_ceil(flits, packets)));
        let (in_order, waiting) = self.order.add(place, flying, &messages.collect::<Vec<_>>());
        if waiting > most as usize {
            return Err(format!("{waiting} packets wait for their order at node {}", ends.1));
        }
        for flying in in_order {
            self.tell_sink(&flying, ends, |sink, arrival, now, actions| sink.on_data(arrival, now, actions))?;
        }
        Ok(())
    }

    /// Tells a sink, if there is one, something about data.
    fn tell_sink(
        &mut self,
        flying: &Flying,
        (from, to): (u32, u32),
        tell: impl FnOnce(&mut dyn Sink, &Arrival<'_>, u64, &mut Vec<SinkAction>),
    ) -> Result<(), String> {
        let What::Data { kind, packet, flits, marks, .. } = flying.what else { return Ok(()) };
        let Flying { payload, sent_at, entropy, .. } = flying;
        let (sent_at, entropy) = (*sent_at, *entropy);
        let arrival = Arrival { kind, from, to, packet, flits, marks, entropy, sent_at, hops: 0, payload };
        let (now, interface) = (self.now, &mut self.nodes[to as usize]);
        if interface.sink.is_none() {
            return Ok(());
        }
        interface.ask_sink(|sink, actions| tell(sink, &arrival, now, actions))
    }

    fn deliver_control(&mut self, control: &Control, sent_at: u64) -> Result<(), String> {
        let latency = self.now - sent_at;
        let direction = self.direction(control.kind)?;
        let interface = &mut self.nodes[control.to as usize];
        let about = interface.messages.get(&control.about.message).map(|message| message.id);
        let message = about.filter(|_| !direction.asks_sink() && self.hooks.copies);
        self.trace.events.push(Event::Heard { at: self.now, message, control: control.clone(), latency });
        if !direction.asks_sink() {
            return interface.on_control(control, latency, self.now);
        }
        let now = self.now;
        interface.ask_sink(|sink, actions| sink.on_request(control, now, actions))
    }
}
