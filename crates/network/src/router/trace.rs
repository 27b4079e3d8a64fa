//! What routers note of the packets of a message that is traced. Without `TRACES` of their microarchitecture nothing of it is
//! there.

use tailback_protocol::{Control, Fate, Moment, PortVc};

use super::state::{Queue, QueueId};
use super::{Microarchitecture, Routers, Surroundings};
use crate::fabric::Fabric;
use crate::message_trace::{Blocked, Occurrence, Place, Subject};
use crate::packet::{NONE, Packet};
use crate::time::Time;

impl<M: Microarchitecture> Routers<M> {
    /// Whether a packet is traced.
    #[inline(always)]
    pub(super) fn is_traced(packet: u32, around: &Surroundings<'_>) -> bool {
        M::TRACES && packet != NONE && around.pool[packet].is_traced()
    }

    /// A packet comes in.
    #[inline(always)]
    pub(super) fn trace_arrival(&self, id: QueueId, packet: u32, now: Time, around: &mut Surroundings<'_>) {
        if M::TRACES {
            around.trace.passes(&around.pool[packet], around.fabric);
        }
        if Self::is_traced(packet, around) {
            let (router, input) = (self.router_id(id, around), PortVc { port: id.port, vc: id.vc });
            around.trace.comes_in(packet, &around.pool[packet], router, input, now);
        }
    }

    /// The head of a queue waits for something from a tick on.
    #[inline(always)]
    pub(super) fn trace_head(&self, id: QueueId, blocked: Blocked, from: Time, around: &mut Surroundings<'_>) {
        if M::TRACES {
            Self::trace_wait(self.queue(id).head, blocked, from, around);
        }
    }

    /// A packet waits for something from a tick on.
    #[inline(always)]
    pub(super) fn trace_wait(packet: u32, blocked: Blocked, from: Time, around: &mut Surroundings<'_>) {
        if Self::is_traced(packet, around) {
            around.trace.waits_for(packet, blocked, from);
        }
    }

    /// The head of a queue has found no channel by which it could leave.
    #[inline(always)]
    pub(super) fn trace_no_channel(&self, output: u32, queue: &Queue, now: Time, around: &mut Surroundings<'_>) {
        if Self::is_traced(queue.head, around) {
            let blocked = self.blocked_by(output, queue, now, around.fabric);
            around.trace.waits_for(queue.head, blocked, now);
        }
    }

    /// What keeps a packet from leaving that has found no channel.
    fn blocked_by(&self, output: u32, queue: &Queue, now: Time, fabric: &Fabric) -> Blocked {
        let port = &self.outputs[output as usize];
        let vcs = queue.vc..queue.vc + queue.vcs;
        if self.extras.paused_until.get(output as usize).is_some_and(|&until| until > now) {
            return Blocked::Paused;
        }
        if vcs.clone().all(|vc| self.output(output, vc).busy_until > now) && !self.ejects_when_idle(output) {
            return Blocked::Output;
        }
        let has_space = |vc| {
            if self.departs_at_once() {
                self.departures.space(output, port, queue.flits.into(), now)
            } else {
                self.space(output, fabric.output_queue(port.link_class, vc), now) >= u32::from(queue.flits)
            }
        };
        if vcs.clone().any(has_space) { Blocked::Credits } else { Blocked::OutputQueue }
    }

    /// A packet starts to cross.
    #[inline(always)]
    pub(super) fn trace_crossing(packet: u32, port: u8, vc: u8, now: Time, around: &mut Surroundings<'_>) {
        if Self::is_traced(packet, around) {
            around.trace.leaves_buffer(packet, Some(PortVc { port, vc }), now);
        }
    }

    /// The link of a packet that has crossed starts to send it.
    #[inline(always)]
    pub(super) fn trace_start(packet: u32, at: Time, around: &mut Surroundings<'_>) {
        if Self::is_traced(packet, around) {
            around.trace.starts(packet, at);
        }
    }

    /// A packet ends here, or at least its data does.
    #[inline(always)]
    pub(super) fn trace_end(
        &self,
        id: QueueId,
        packet: u32,
        moment: Moment,
        fate: &Fate,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        if Self::is_traced(packet, around) {
            around.trace.leaves_buffer(packet, None, now);
            let what = match fate {
                Fate::Forward => unreachable!("it goes on"),
                Fate::Drop(_) => Occurrence::Dropped(moment),
                Fate::Trim(_) => Occurrence::Trimmed(moment),
                Fate::Absorb(_) => Occurrence::Absorbed(moment),
            };
            self.trace_note(id, packet, what, now, around);
        }
    }

    /// The protocol has decided about a packet, and said so.
    #[cold]
    pub(super) fn trace_decision(
        &self,
        id: QueueId,
        packet: u32,
        foretold: Option<String>,
        marks_before: u8,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        if let Some(text) = foretold {
            self.trace_note(id, packet, Occurrence::Decided(text), now, around);
        }
        self.trace_marks(id, packet, marks_before, now, around);
    }

    /// The marks of a packet may have changed.
    #[inline(always)]
    pub(super) fn trace_marks(&self, id: QueueId, packet: u32, before: u8, now: Time, around: &mut Surroundings<'_>) {
        let after = around.pool[packet].marks;
        if Self::is_traced(packet, around) && before != after {
            self.trace_note(id, packet, Occurrence::Marked { before, after }, now, around);
        }
    }

    /// Something happens to a packet that is traced.
    pub(super) fn trace_note(
        &self,
        id: QueueId,
        packet: u32,
        what: Occurrence,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        let place = Place::Router(self.router_id(id, around));
        around.trace.note(now, place, Subject::of(&around.pool[packet]), what);
    }

    /// A router sends a control packet, which is traced if it is about the message.
    #[inline(always)]
    pub(super) fn trace_injection(
        router: u32,
        control: &Control,
        packet: &mut Packet,
        now: Time,
        around: &mut Surroundings<'_>,
    ) {
        if M::TRACES && around.trace.concerns(control) {
            packet.set_traced(true);
            let (place, says) = (Place::Router(around.router_ids[router as usize]), around.fabric.describe(control));
            around.trace.note(now, place, Subject::of(packet), Occurrence::Injected { says });
        }
    }

    /// The number of a queue's router in the network.
    fn router_id(&self, id: QueueId, around: &Surroundings<'_>) -> u32 {
        around.router_ids[self.inputs[id.index as usize].router as usize]
    }
}
