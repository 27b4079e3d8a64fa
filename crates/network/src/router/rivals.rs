//! Rivals: outputs that could become better than the one that a head waits for, as its routing agent has said
//! ([`Validity::UntilRivaled`](tailback_routing::Validity)).
//!
//! A head that waits for one output and could take another one is looked at at each allocation, as what others have in use changes nearly
//! each tick. To see that none is better yet takes a fifth of what asking its agent takes, and less while the output is busy and no credits
//! have come for the rivals: then nothing can have changed.

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
    /// When rivals were looked at last: until when nothing but credits for one of them changes anything, as the output of the head is busy.
    pub quiet_until: Time,
    /// That channel of that class of links at the router, as one number, and how often credits had come to them.
    pub channel: u32,
    pub credits: u32,
    /// The virtual channel of the rivals, counted through all traffic classes.
    vc: u8,
    together: bool,
}

impl KeptRivals {
    pub const NONE: Self =
        Self { ports: 0, free: 0, own_free: 0, quiet_until: 0, channel: 0, credits: 0, vc: 0, together: false };
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
        let (together, free, is_hopeless) = match better {
            Better::Open { used_max, any_emptier } => (false, free_of_use(used_max, buffer), !any_emptier),
            Better::Emptier { flits } => {
                let in_all = i32::try_from(buffer * ports.count_ones()).unwrap_or(i32::MAX);
                (true, in_all.saturating_sub_unsigned(flits), true)
            }
        };
        let vc = first_vc + vc;
        let channel = self.channel_of_kind(router, link_class, vc, around.fabric) as u32;
        let rivals = KeptRivals { ports, free, own_free, channel, vc, together, ..KeptRivals::NONE };
        self.extras.kept_decisions.keep_rivals(number, rivals);
        if M::PLAIN && is_hopeless {
            self.extras.kept_decisions.rest(number, self.outputs[output as usize].connection.busy_until);
        }
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
        if M::PLAIN && self.extras.kept_decisions.is_quiet(number, now) && !self.is_named(id, number) {
            self.note_wait(id, number, now, around);
            return Outlook::Waits;
        }
        self.look_at_rivals(id, number, now, around)
    }

    /// The same, where something may have changed. A function of its own, as what it needs of the stack takes as long as all of the above.
    #[inline(never)]
    fn look_at_rivals(&mut self, id: QueueId, number: usize, now: Time, around: &mut Surroundings<'_>) -> Outlook {
        let outlook = self.outlook(id, number, now, around.fabric);
        match outlook {
            Outlook::Waits => self.note_wait(id, number, now, around),
            Outlook::Unrivaled if cfg!(debug_assertions) => self.assert_decides_the_same(id, number, now, around),
            _ => {}
        }
        outlook
    }

    /// The head of a queue goes on waiting for its output.
    #[inline]
    fn note_wait(&mut self, id: QueueId, number: usize, now: Time, around: &mut Surroundings<'_>) {
        if cfg!(debug_assertions) {
            self.assert_decides_the_same(id, number, now, around);
        }
        let (output, queue) = (self.wanted_output(id, number), self.queues[number]);
        self.trace_no_channel(output, &queue, now, around);
    }

    /// The output that the head of a queue wants, by its number in the region.
    #[inline]
    fn wanted_output(&self, id: QueueId, number: usize) -> u32 {
        self.inputs[id.index as usize].first_port + u32::from(self.queues[number].port)
    }

    /// Whether its output was named since the head of a queue decided to leave by it.
    #[inline]
    fn is_named(&self, id: QueueId, number: usize) -> bool {
        self.rules.tells_heads && !self.extras.kept_decisions.hold(number, self.wanted_output(id, number))
    }

    /// What has become of the decision of the head of a queue, by its own output and its rivals.
    #[inline]
    fn outlook(&mut self, id: QueueId, number: usize, now: Time, fabric: &Fabric) -> Outlook {
        if self.is_named(id, number) {
            return Outlook::Open;
        }
        let first = self.inputs[id.index as usize].first_port;
        let queue = self.queues[number];
        let output = first + u32::from(queue.port);
        let busy_until = self.outputs[output as usize].connection.busy_until;
        let is_busy = self.outputs_share() && busy_until > now;
        if !is_busy && self.channel_for(id, output, &queue, now, fabric).is_some() {
            return Outlook::Unrivaled;
        }
        let &KeptRivals { ports, free, own_free, vc, together, .. } = self.extras.kept_decisions.rivals(number);
        if self.free_behind(&self.outputs[output as usize], output, queue.vc) < own_free {
            return Outlook::Open;
        }
        let rivals = || members_of_word(ports).map(|port| first + port);
        let mut free_behind = rivals().map(|index| self.free_behind(&self.outputs[index as usize], index, vc));
        let is_hopeless =
            if together { free_behind.sum::<i32>() <= free } else { free_behind.all(|found| found < free) };
        if is_hopeless {
            if M::PLAIN {
                self.extras.kept_decisions.rest(number, busy_until);
            }
            return Outlook::Waits;
        }
        let is_better = |index: u32| {
            let port = &self.outputs[index as usize];
            self.free_behind(port, index, vc) >= free && self.is_open(port, index, vc, queue.flits, now, fabric)
        };
        if together || rivals().any(is_better) { Outlook::Open } else { Outlook::Waits }
    }

    /// A virtual channel of all ports of a router with links of a class, as one number.
    #[inline]
    pub(super) fn channel_of_kind(&self, router: u32, link_class: u8, vc: u8, fabric: &Fabric) -> usize {
        let kinds = fabric.spec.input_buffers.len();
        (router as usize * kinds + usize::from(link_class)) * self.shape.vcs + usize::from(vc)
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
