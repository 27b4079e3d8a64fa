//! Rivals: outputs that could become better than the one that a head waits for, as its routing agent has said
//! ([`Validity::UntilRivaled`](tailback_routing::Validity)).
//!
//! A head that waits for one output and could take another one is looked at at each allocation, as what others have in use changes nearly
//! each tick. To see that none is better yet takes a fifth of what asking its agent takes.

use serde::{Deserialize, Serialize};
use tailback_routing::{Better, Rivals};

use super::examine::Outlook;
use super::state::{InputPort, Queue, QueueId};
use super::view::free_of_use;
use super::{Microarchitecture, Routers, Surroundings};
use crate::fabric::Fabric;
use crate::time::Time;

/// What the decision of a head depends on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct KeptRivals {
    /// The set of the rivals.
    ports: u64,
    /// Flits that have to be free behind a rival that is open for the head to decide anew, or, of all together, the most while it stays.
    free: i32,
    /// What was free behind the channel that the head waits for, see [`Routers::free_behind`]: with less it decides anew.
    own_free: i32,
    /// The virtual channel of the rivals, counted through all traffic classes.
    vc: u8,
    together: bool,
}

impl KeptRivals {
    pub const NONE: Self = Self { ports: 0, free: 0, own_free: 0, vc: 0, together: false };
}

impl<M: Microarchitecture> Routers<M> {
    /// The head of a queue keeps the decision that its routing agent has just made until a rival is better.
    #[inline]
    pub(super) fn keep_rivals(&mut self, id: QueueId, number: usize, class: u8, around: &Surroundings<'_>) {
        let InputPort { first_port: first, router, .. } = self.inputs[id.index as usize];
        let Queue { port, vc: own_vc, .. } = self.queues[number];
        let Rivals { ports, vc, better } = around.rivals(router, class);
        let output = first + u32::from(port);
        let own_free = self.free_behind(&self.outputs[output as usize], output, own_vc);
        // The rivals have links of one class; without any it does not matter.
        let link_class = self.outputs[(first + ports.trailing_zeros() % 64) as usize].link_class;
        let first_vc = if class == 0 { 0 } else { around.fabric.first_vc(class, link_class) };
        let buffer = u32::from(around.fabric.spec.input_buffers[usize::from(link_class)]);
        let (together, free) = match better {
            Better::Open { used_max } => (false, free_of_use(used_max, buffer)),
            Better::Emptier { flits } => {
                let in_all = i32::try_from(buffer * ports.count_ones()).unwrap_or(i32::MAX);
                (true, in_all.saturating_sub_unsigned(flits))
            }
        };
        let rivals = KeptRivals { ports, free, own_free, vc: first_vc + vc, together };
        self.extras.kept_decisions.keep_rivals(number, rivals);
    }

    /// Asks whether the head of a queue, which waits for an output until others are better, would decide the same now.
    #[inline(never)]
    pub(super) fn ask_rivals(
        &mut self,
        id: QueueId,
        number: usize,
        now: Time,
        around: &mut Surroundings<'_>,
    ) -> Outlook {
        let outlook = self.outlook(id, number, now, around.fabric);
        if cfg!(debug_assertions) && outlook != Outlook::Open {
            self.assert_decides_the_same(id, number, now, around);
        }
        if outlook == Outlook::Waits {
            let (output, queue) = (self.wanted_output(id, number), self.queues[number]);
            self.trace_no_channel(output, &queue, now, around);
        }
        outlook
    }

    /// The output that the head of a queue wants, by its number in the region.
    #[inline]
    fn wanted_output(&self, id: QueueId, number: usize) -> u32 {
        self.inputs[id.index as usize].first_port + u32::from(self.queues[number].port)
    }

    #[inline]
    fn outlook(&mut self, id: QueueId, number: usize, now: Time, fabric: &Fabric) -> Outlook {
        let first = self.inputs[id.index as usize].first_port;
        let queue = self.queues[number];
        let output = first + u32::from(queue.port);
        if self.rules.tells_heads && !self.extras.kept_decisions.hold(number, output) {
            return Outlook::Open;
        }
        let is_busy = self.outputs_share() && self.outputs[output as usize].connection.busy_until > now;
        if !is_busy && self.channel_for(id, output, &queue, now, fabric).is_some() {
            return Outlook::Unrivaled;
        }
        let rivals = self.extras.kept_decisions.rivals(number);
        if self.free_behind(&self.outputs[output as usize], output, queue.vc) < rivals.own_free {
            return Outlook::Open;
        }
        let mut ports = members_of_word(rivals.ports).map(|port| first + port);
        let is_better = if rivals.together {
            let free = ports.map(|index| self.free_behind(&self.outputs[index as usize], index, rivals.vc));
            free.sum::<i32>() > rivals.free
        } else {
            ports.any(|index| {
                let port = &self.outputs[index as usize];
                self.free_behind(port, index, rivals.vc) >= rivals.free
                    && self.is_open(port, index, rivals.vc, queue.flits, now, fabric)
            })
        };
        if is_better { Outlook::Open } else { Outlook::Waits }
    }
}

/// The members of a set, in ascending order.
#[inline]
fn members_of_word(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let member = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        member
    })
}
