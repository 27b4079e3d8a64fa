//! The schedulers in switches of the last stage: the arbiters of their outputs, and queues of what these grant.

use tailback_protocol::{Controller, ControllerAction, Party, remember, write_down};

use super::Shape;
use super::line::{Item, Line, Next};
use crate::output::{OutputArbiter, OutputState};
use crate::words::Word;

/// The outputs of a switch, and a queue of grants for each switch of the second stage.
pub(crate) struct Outputs {
    shape: Shape,
    leaf: u32,
    arbiters: Vec<OutputArbiter>,
    down: Vec<Line>,
}

impl Outputs {
    pub fn new(shape: Shape, leaf: u32, arbiters: Vec<OutputArbiter>) -> Self {
        let line = Line::to_queues(shape.routes, shape.places, shape.pace());
        Self { shape, leaf, arbiters, down: vec![line; shape.routes as usize] }
    }

    #[cfg(test)]
    pub fn arbiters(&self) -> &[OutputArbiter] {
        &self.arbiters
    }

    #[cfg(test)]
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.down.iter()
    }

    /// An output arbiter grants for as long as it is free and can.
    fn attend_output(&mut self, port: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        loop {
            let arbiter = &mut self.arbiters[port as usize];
            if !arbiter.is_ready() {
                return;
            }
            if !arbiter.pace().is_free(now) {
                let alarm = arbiter.pace().alarm();
                return actions.extend(alarm.map(|at| ControllerAction::Timer { at, token: port }));
            }
            let Some((input, route)) = arbiter.grant() else { return };
            arbiter.pace().serve(now);
            let output = self.leaf * self.shape.routes + port;
            self.down[route as usize].push(Item { input, output, packets: 1, from: self.leaf });
            self.attend_down(route, now, actions);
        }
    }

    /// Lets grants leave by a link. Their arbiters, which need not be the one that has just granted, have room again for others.
    fn attend_down(&mut self, route: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        while let Some(port) = self.send_grants(route, now, actions) {
            self.attend_output(port, now, actions);
        }
    }

    /// Lets a grant leave by a link, if one can, and returns the port of its arbiter.
    fn send_grants(&mut self, route: u32, now: u64, actions: &mut Vec<ControllerAction>) -> Option<u32> {
        let shape = self.shape;
        match self.down[route as usize].next(now, |item| shape.leaf(item.input)) {
            Next::Takes(Item { input, output, .. }) => {
                actions.push(shape.tell(shape.second(route), Word::Grant { input, output }));
                let port = shape.port(output);
                self.arbiters[port as usize].room(route);
                Some(port)
            }
            Next::Waits(alarm) => {
                let token = shape.routes + route;
                actions.extend(alarm.map(|at| ControllerAction::Timer { at, token }));
                None
            }
        }
    }
}

impl Controller for Outputs {
    fn on_message(&mut self, from: Party, words: &[u64], now: u64, actions: &mut Vec<ControllerAction>) {
        match (Word::of(words), from) {
            (Word::Request { input, output, packets, .. }, Party::Controller(_)) => {
                let port = self.shape.port(output);
                self.arbiters[port as usize].request(input, packets);
                self.attend_output(port, now, actions);
            }
            (Word::Credit { route }, Party::Sink(output)) => {
                let port = self.shape.port(output);
                self.arbiters[port as usize].credit(route);
                self.attend_output(port, now, actions);
            }
            (Word::GrantRoom { queue }, Party::Controller(_)) => {
                let route = self.shape.switch(from);
                self.down[route as usize].add_room(queue);
                self.attend_down(route, now, actions);
            }
            (word, _) => panic!("{from:?} tells the arbiters of outputs {word:?}"),
        }
    }

    fn on_timer(&mut self, token: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        match token.checked_sub(self.shape.routes) {
            None => {
                self.arbiters[token as usize].pace().alarmed();
                self.attend_output(token, now, actions);
            }
            Some(route) => {
                self.down[route as usize].alarmed();
                self.attend_down(route, now, actions);
            }
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let arbiters: Vec<&OutputState> = self.arbiters.iter().map(OutputArbiter::state).collect();
        write_down(&(arbiters, &self.down), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let (arbiters, down): (Vec<OutputState>, Vec<Line>) = remember(bytes)?;
        if arbiters.len() != self.arbiters.len() || down.len() != self.down.len() {
            return None;
        }
        self.arbiters.iter_mut().zip(arbiters).for_each(|(arbiter, state)| arbiter.set_state(state));
        self.down = down;
        Some(())
    }
}
