//! The schedulers in switches of the first and the second stage: they pass requests on to the last stage and grants back to sources.

use tailback_protocol::{Controller, ControllerAction, Party, remember, write_down};

use super::Shape;
use super::line::{Item, Line, Next};
use crate::words::Word;

/// Which switch a relay is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The switch of a leaf, on the side of its sources.
    First,
    /// A spine of this number.
    Second,
}

/// A relay. Requests go up, by a queue for each switch of the next stage; grants go down, by a queue for each source or switch of the stage
/// before.
pub(crate) struct Relay {
    shape: Shape,
    stage: Stage,
    up: Vec<Line>,
    down: Vec<Line>,
}

impl Relay {
    pub fn new(shape: Shape, stage: Stage) -> Self {
        let Shape { routes, places, .. } = shape;
        let bounded = || Line::to_queues(routes, places, shape.pace());
        let (up, down) = match stage {
            Stage::First => (bounded(), Line::without_end(shape.pace())),
            Stage::Second => (Line::without_end(shape.request_pace()), bounded()),
        };
        Self { shape, stage, up: vec![up; routes as usize], down: vec![down; routes as usize] }
    }

    #[cfg(test)]
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.up.iter().chain(&self.down)
    }

    /// Lets requests leave by the link of a queue.
    fn attend_up(&mut self, queue: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        let shape = self.shape;
        loop {
            let item = match self.up[queue as usize].next(now, |item| shape.leaf(item.output)) {
                Next::Takes(item) => item,
                Next::Waits(alarm) => {
                    return actions.extend(alarm.map(|at| ControllerAction::Timer { at, token: queue }));
                }
            };
            let Item { input, output, packets, .. } = item;
            let (to, before) = match self.stage {
                Stage::First => (shape.second(queue), Party::Source(input)),
                Stage::Second => (shape.third(queue), shape.first(shape.leaf(input))),
            };
            actions.push(shape.tell(to, Word::Request { input, output, route: 0, packets }));
            actions.push(shape.tell(before, Word::RequestRoom { queue }));
        }
    }

    /// Lets grants leave by the link of a queue.
    fn attend_down(&mut self, queue: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        let shape = self.shape;
        loop {
            let item = match self.down[queue as usize].next(now, |item| shape.port(item.input)) {
                Next::Takes(item) => item,
                Next::Waits(alarm) => {
                    let token = shape.routes + queue;
                    return actions.extend(alarm.map(|at| ControllerAction::Timer { at, token }));
                }
            };
            let Item { input, output, from, .. } = item;
            let (to, before) = match self.stage {
                Stage::First => (Party::Source(input), shape.second(from)),
                Stage::Second => (shape.first(queue), shape.third(from)),
            };
            actions.push(shape.tell(to, Word::Grant { input, output }));
            actions.push(shape.tell(before, Word::GrantRoom { queue }));
        }
    }
}

impl Controller for Relay {
    fn on_message(&mut self, from: Party, words: &[u64], now: u64, actions: &mut Vec<ControllerAction>) {
        let sender = self.shape.switch(from);
        match Word::of(words) {
            Word::Request { input, output, route, packets } => {
                let queue = if self.stage == Stage::First { route } else { self.shape.leaf(output) };
                self.up[queue as usize].push(Item { input, output, packets, from: sender });
                self.attend_up(queue, now, actions);
            }
            Word::Grant { input, output } => {
                let queue = if self.stage == Stage::First { self.shape.port(input) } else { self.shape.leaf(input) };
                self.down[queue as usize].push(Item { input, output, packets: 1, from: sender });
                self.attend_down(queue, now, actions);
            }
            // Room in the queue of another switch is room for what waits here for that switch.
            Word::RequestRoom { queue } => {
                self.up[sender as usize].add_room(queue);
                self.attend_up(sender, now, actions);
            }
            Word::GrantRoom { queue } => {
                self.down[sender as usize].add_room(queue);
                self.attend_down(sender, now, actions);
            }
            word => panic!("{from:?} tells a relay {word:?}"),
        }
    }

    fn on_timer(&mut self, token: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        match token.checked_sub(self.shape.routes) {
            None => {
                self.up[token as usize].alarmed();
                self.attend_up(token, now, actions);
            }
            Some(queue) => {
                self.down[queue as usize].alarmed();
                self.attend_down(queue, now, actions);
            }
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&(&self.up, &self.down), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        (self.up, self.down) = remember(bytes)?;
        Some(())
    }
}
