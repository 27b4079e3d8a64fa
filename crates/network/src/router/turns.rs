//! Turns: which packet of an input asks for the crossbar where arbiters serve by turns. The first that could cross does, so
//! those after it need not be looked at.

use super::examine::Examined;
use super::request::Request;
use super::state::{InputConnection, QueueId};
use super::{Microarchitecture, Routers, Surroundings};
use crate::time::Time;

/// The best packet of a port so far, and the virtual channels in which a better one could be.
struct Best {
    request: Option<Request>,
    better: u32,
}

impl<M: Microarchitecture> Routers<M> {
    /// The first packet of a port, by turns, that could cross: all have the same priority.
    #[inline]
    pub(super) fn first_in_turn(&mut self, port: QueueId, now: Time, around: &mut Surroundings<'_>) -> Option<Request> {
        let input = &self.inputs[port.index as usize];
        let after = (u32::from(input.connection.last_vc) + 1) % u32::BITS;
        let mut turns = input.heads.awake.rotate_right(after);
        while turns != 0 {
            let vc = ((turns.trailing_zeros() + after) % u32::BITS) as u8;
            turns &= turns - 1;
            if let Examined::Ready(request) = self.examine(QueueId { vc, ..port }, now, around) {
                return Some(request);
            }
        }
        None
    }

    /// The first packet by priority, and then by turns, where inputs have VOQs: these come one after the other, beginning
    /// after the queue that was served last.
    #[inline]
    pub(super) fn first_voq_in_turn(
        &mut self,
        port: QueueId,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> Option<Request> {
        let input = &self.inputs[port.index as usize];
        let InputConnection { last_voq, last_vc, .. } = input.connection;
        let later = u32::MAX.checked_shl(u32::from(last_vc) + 1).unwrap_or(0);
        if self.shape.voqs > 64 {
            return self.first_of_many_voqs(QueueId { voq: last_voq, ..port }, later, now, around);
        }
        let after = (u32::from(last_voq) + 1) % u64::BITS;
        let mut turns = input.awake_voqs.rotate_right(after);
        if turns == 0 {
            return None;
        }
        let next = |turns: &mut u64| {
            let place = turns.trailing_zeros();
            *turns &= *turns - 1;
            (((place + after) % u64::BITS) as u8, if place == u64::BITS - 1 { !later } else { u32::MAX })
        };
        // The VOQ that was served last comes twice, if it has awake heads: first with the channels after the one that was, and at the end with the others.
        let comes_first = turns >> (u64::BITS - 1) != 0;
        let (mut voq, mut vcs) = if comes_first { (last_voq, later) } else { next(&mut turns) };
        let mut best = Best { request: None, better: u32::MAX };
        loop {
            self.first_of_voq(QueueId { voq, ..port }, vcs, &mut best, now, around);
            if turns == 0 || best.better == 0 {
                return best.request;
            }
            (voq, vcs) = next(&mut turns);
        }
    }

    /// The same for any number of VOQs. `last` is the one that was served last, `later` are the virtual channels after that of the queue that was served last.
    #[cold]
    fn first_of_many_voqs(
        &mut self,
        last: QueueId,
        later: u32,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> Option<Request> {
        let mut best = Best { request: None, better: u32::MAX };
        let mut look = |routers: &mut Self, voq, vcs| {
            routers.first_of_voq(QueueId { voq, ..last }, vcs, &mut best, now, around);
        };
        look(self, last.voq, later);
        let served = usize::from(last.voq);
        for (from, until) in [(served + 1, self.shape.voqs), (0, served)] {
            let mut next = self.awake_voq(last.index, from).filter(|&voq| usize::from(voq) < until);
            while let Some(voq) = next {
                look(self, voq, u32::MAX);
                next = self.awake_voq(last.index, usize::from(voq) + 1).filter(|&voq| usize::from(voq) < until);
            }
        }
        look(self, last.voq, !later);
        best.request
    }

    /// Looks for a better packet in some virtual channels of a VOQ.
    #[inline(always)]
    fn first_of_voq(&mut self, voq: QueueId, vcs: u32, best: &mut Best, now: Time, around: &mut Surroundings<'_>) {
        let mut awake = self.heads(voq).awake & vcs & best.better;
        while awake != 0 {
            let vc = awake.trailing_zeros() as u8;
            awake &= awake - 1;
            if let Examined::Ready(request) = self.examine(QueueId { vc, ..voq }, now, around) {
                best.request = Some(request);
                best.better = around.fabric.higher_vcs(self.inputs[voq.index as usize].link_class, vc);
                awake &= best.better;
            }
        }
    }
}
