//! The receiving side: chooses slots, grants them, and acknowledges what was sent speculatively.

use serde::{Deserialize, Serialize};
use tailback_protocol::{Arrival, Clock, Control, Sink, SinkAction, remember, write_down};
use tailback_random::scramble;
use tailback_reservation::charged;

use crate::table::{Grid, Slots, Table, Taken};
use crate::{SMALL, kind, words};

/// Which of the slots that suit everybody a node grants, unless one of them was reserved eagerly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotChoice {
    /// The earliest.
    Earliest,
    /// Any of them, so that requests to several nodes that share a channel meet less often.
    Random,
}

/// The sink of CRP.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub grid: Grid,
    pub overhead: f64,
    pub choice: SlotChoice,
    pub table: Table,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// From a tick on.
    Grant(u64),
    /// Nothing suits all tables on the way: ask again.
    Retry,
    /// The table of the node itself is full: what asks again is to come at a tick.
    Full(u64),
}

impl Destination {
    /// Answers a request for so many flits, overhead included. `draw` is a number that nobody else draws.
    pub(crate) fn answer(&mut self, flits: u32, slots: Slots, draw: u64, now: u64) -> Answer {
        self.table.advance(self.grid, now);
        let own = self.table.availability(flits);
        if own == 0 {
            return Answer::Full(now + self.grid.horizon_ticks());
        }
        let slots = slots.from_slot(self.grid, self.table.first());
        let suits_all = own & slots.free;
        if suits_all == 0 {
            return Answer::Retry;
        }
        let eager = suits_all & slots.eager;
        let index = match self.choice {
            _ if eager != 0 => eager.trailing_zeros(),
            SlotChoice::Earliest => suits_all.trailing_zeros(),
            SlotChoice::Random => nth_bit(suits_all, (draw % u64::from(suits_all.count_ones())) as u32),
        };
        let start = self.table.start(self.grid, index as usize);
        let taken = self.table.take(self.table.first() + u64::from(index), flits);
        debug_assert!(taken.is_some(), "a slot that is available has room");
        Answer::Grant(start)
    }

    /// The flits that a request charges, and its answer.
    fn answer_to(&mut self, request: &Control, now: u64) -> (u32, Answer) {
        let &Control { from, about, flits, .. } = request;
        let charged = charged(flits, self.overhead) as u32;
        let draw = scramble(scramble(u64::from(from) << 32 | u64::from(about.message)) ^ now);
        (charged, self.answer(charged, Slots::from_words(&request.payload), draw, now))
    }
}

/// The place of the bit that has `below` others below it.
fn nth_bit(mut bits: u32, below: u32) -> u32 {
    (0..below).for_each(|_| bits &= bits - 1);
    bits.trailing_zeros()
}

impl Sink for Destination {
    fn on_data(&mut self, arrival: &Arrival<'_>, now: u64, actions: &mut Vec<SinkAction>) {
        if arrival.kind == kind::SPECULATIVE {
            actions.push(SinkAction::Control(arrival.acknowledgement(kind::ACKNOWLEDGEMENT)));
        } else if arrival.marks & SMALL != 0 {
            self.table.advance(self.grid, now);
            self.table.deduct(arrival.flits.into());
        }
    }

    fn on_request(&mut self, request: &Control, now: u64, actions: &mut Vec<SinkAction>) {
        let &Control { from, to, about, flits, .. } = request;
        let control = |kind| Control::new(kind, to, from, about).flits(flits).along(request);
        let answer = match self.answer_to(request, now).1 {
            Answer::Grant(tick) => control(kind::GRANT).time(tick),
            Answer::Retry => control(kind::RETRY),
            Answer::Full(tick) => control(kind::RETRY).time(tick),
        };
        actions.push(SinkAction::Control(answer));
    }

    fn foretell(&self, request: &Control, now: u64, clock: Clock) -> Option<String> {
        let mut after = self.clone();
        let (charged, answer) = after.answer_to(request, now);
        let mut before = self.table.clone();
        before.advance(self.grid, now);
        let decision = match answer {
            Answer::Grant(tick) => {
                let slot = self.grid.slot_at(tick);
                let here = charged.min(before.free()[(slot - before.first()) as usize]);
                let taken = words::taken(Taken { slot, here, after: charged - here });
                format!("grants {taken}, from cycle {} on", clock.cycles(tick))
            }
            Answer::Retry => "none of these is one that the request has kept: it is to come again".to_owned(),
            Answer::Full(_) => "the request is to come again when all of them are over".to_owned(),
        };
        Some(format!("table of the node: {}; {decision}", words::room(&before, charged)))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.table, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.table = remember(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { cells: 4, cell_flits: 100, flit_ticks: 2 };

    fn node(choice: SlotChoice) -> Destination {
        Destination { grid: GRID, overhead: 0.0, choice, table: Table::new(GRID) }
    }

    fn slots(free: u32, eager: u32) -> Slots {
        Slots { first: 0, free, eager }
    }

    #[test]
    fn the_earliest_slot_that_suits_all_is_granted_and_an_eager_one_before_it() {
        let mut node = node(SlotChoice::Earliest);
        assert_eq!(node.answer(80, slots(0b1110, 0), 0, 0), Answer::Grant(200));
        // 20 flits of that slot are free, at its end, and the rest comes from the next.
        assert_eq!(node.answer(80, slots(0b1110, 0), 0, 0), Answer::Grant(360));
        assert_eq!(node.answer(80, slots(0b1111, 0b1000), 0, 0), Answer::Grant(600));
        assert_eq!(node.table.free(), [100, 0, 40, 20]);
    }

    #[test]
    fn without_a_common_slot_or_any_slot_a_request_is_to_come_again() {
        let mut node = node(SlotChoice::Earliest);
        assert_eq!(node.answer(100, slots(0b0001, 0), 0, 0), Answer::Grant(0));
        assert_eq!(node.answer(100, slots(0b0001, 0), 0, 0), Answer::Retry);
        for _ in 0..3 {
            assert!(matches!(node.answer(100, slots(0b1111, 0), 0, 0), Answer::Grant(_)));
        }
        assert_eq!(node.answer(1, slots(0b1111, 0), 0, 7), Answer::Full(7 + 800));
        // A slot later there is a new cell.
        assert_eq!(node.answer(1, slots(0b1111, 0), 0, 200), Answer::Grant(800));
    }

    #[test]
    fn random_slots_are_all_drawn() {
        let drawn = |draw| match node(SlotChoice::Random).answer(80, slots(0b1011, 0), draw, 0) {
            Answer::Grant(tick) => tick / GRID.slot_ticks(),
            other => panic!("{other:?}"),
        };
        assert_eq!([0, 1, 2, 3].map(drawn), [0, 1, 3, 0]);
    }
}
