//! Ranks that go through steps.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tailback_workload::{Action, Machine, Part, Program, Want};

use crate::endpoint::{Done, Endpoint, Message, Transport};
use crate::matching::Source;
use crate::snapshot::{remember, write_down};
use crate::steps::{Send, Step, Steps};

/// A program whose ranks go through steps.
#[derive(Clone, Debug)]
pub struct SteppingProgram {
    steps: Arc<dyn Steps>,
    transport: Transport,
    ticks_per_cycle: u32,
    messages: u64,
    phases: u32,
}

impl SteppingProgram {
    /// A program of these steps.
    #[must_use]
    pub fn new(steps: Arc<dyn Steps>, transport: Transport, ticks_per_cycle: u32) -> Self {
        let messages = if transport == Transport::EAGER {
            steps.messages()
        } else {
            steps.sum_over_messages(&|_, send| transport.messages(send.flits))
        };
        let phases = steps.phases().len() as u32;
        Self { steps, transport, ticks_per_cycle, messages, phases }
    }
}

impl Program for SteppingProgram {
    fn ranks(&self) -> u32 {
        self.steps.ranks()
    }

    fn phases(&self) -> Vec<String> {
        self.steps.phases()
    }

    fn messages(&self) -> u64 {
        self.messages
    }

    fn messages_between(&self, holds: &dyn Fn(u32, u32) -> bool) -> u64 {
        let count = |from, send: &Send| if holds(from, send.to) { self.transport.messages(send.flits) } else { 0 };
        self.steps.sum_over_messages(&count)
    }

    fn part(&self, word: u64) -> Part {
        Endpoint::part(word)
    }

    fn hears_of_departures(&self) -> bool {
        self.transport.hears_of_departures()
    }

    fn machine(&self, rank: u32) -> Box<dyn Machine> {
        Box::new(SteppingRank {
            program: self.clone(),
            rank,
            state: State::default(),
            step: Step::default(),
            done: Vec::new(),
        })
    }
}

/// A rank that goes through steps.
#[derive(Debug)]
struct SteppingRank {
    program: SteppingProgram,
    rank: u32,
    state: State,
    /// Memory for what is asked of the program, and for what is done.
    step: Step,
    done: Vec<Done>,
}

/// What changes of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    endpoint: Endpoint,
    /// How many steps have begun.
    begun: u32,
    /// The last of them that are not complete, or stand behind one that is not.
    under_way: VecDeque<UnderWay>,
    /// How many phases are over.
    phases_reached: u32,
}

/// A step that is under way: what is not done of it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct UnderWay {
    computes: bool,
    sends: u32,
    receives: u32,
}

impl UnderWay {
    fn is_complete(self) -> bool {
        !self.computes && self.sends == 0 && self.receives == 0
    }
}

impl SteppingRank {
    /// Begins what may begin, until something has to be waited for.
    fn go_on(&mut self, actions: &mut Vec<Action>) {
        let steps = self.program.steps.steps(self.rank);
        loop {
            while self.state.under_way.front().is_some_and(|step| step.is_complete()) {
                self.state.under_way.pop_front();
            }
            self.tell_phases(steps, actions);
            let is_full = self.state.under_way.len() >= self.program.steps.window() as usize;
            if self.state.begun == steps || is_full {
                return;
            }
            self.begin(actions);
        }
    }

    /// Begins the next step.
    fn begin(&mut self, actions: &mut Vec<Action>) {
        let number = self.state.begun;
        self.state.begun += 1;
        self.state.under_way.push_back(UnderWay::default());
        read(self.program.steps.as_ref(), self.rank, number, &mut self.step);
        let mut under_way = UnderWay { computes: self.step.compute_cycles > 0, ..UnderWay::default() };
        for receive in &self.step.receives {
            let source = Source { from: Some(receive.from), tag: Some(receive.tag) };
            let done = self.state.endpoint.receive(source, number, &self.program.transport, actions);
            under_way.receives += u32::from(!done);
        }
        if under_way.computes {
            // More than all time there is lasts for all time there is.
            let ticks = self.step.compute_cycles.saturating_mul(self.program.ticks_per_cycle.into());
            actions.push(Action::Wait { ticks, token: number });
        } else {
            under_way.sends = self.send(number, actions);
        }
        *self.under_way(number) = under_way;
    }

    /// Sends what the step that was read has to send; returns how much of it is not done.
    fn send(&mut self, number: u32, actions: &mut Vec<Action>) -> u32 {
        let mut waiting = 0;
        for send in &self.step.sends {
            let message = Message { to: send.to, tag: send.tag, flits: send.flits, send: number };
            waiting += u32::from(!self.state.endpoint.send(message, &self.program.transport, actions));
        }
        waiting
    }

    fn under_way(&mut self, number: u32) -> &mut UnderWay {
        let first = self.state.begun - self.state.under_way.len() as u32;
        &mut self.state.under_way[(number - first) as usize]
    }

    /// Notes what is done, and goes on.
    fn note(&mut self, actions: &mut Vec<Action>) {
        let mut done = std::mem::take(&mut self.done);
        for done in done.drain(..) {
            match done {
                Done::Send(number) => self.under_way(number).sends -= 1,
                Done::Receive(number) => self.under_way(number).receives -= 1,
            }
        }
        self.done = done;
        self.go_on(actions);
    }

    /// Tells that phases are over: those before that of the first step that is not complete.
    fn tell_phases(&mut self, steps: u32, actions: &mut Vec<Action>) {
        let complete = self.state.begun - self.state.under_way.len() as u32;
        let reached =
            if complete == steps { self.program.phases } else { self.program.steps.phase(self.rank, complete) };
        while self.state.phases_reached < reached {
            actions.push(Action::Reached { phase: self.state.phases_reached as u16 });
            self.state.phases_reached += 1;
        }
    }
}

/// Reads a step.
fn read(steps: &dyn Steps, rank: u32, number: u32, step: &mut Step) {
    step.clear();
    steps.step(rank, number, step);
}

impl Machine for SteppingRank {
    fn start(&mut self, actions: &mut Vec<Action>) {
        self.go_on(actions);
    }

    fn sent(&mut self, to: u32, word: u64, actions: &mut Vec<Action>) {
        self.state.endpoint.sent(to, word, &mut self.done);
        self.note(actions);
    }

    fn received(&mut self, from: u32, word: u64, actions: &mut Vec<Action>) {
        self.state.endpoint.received(from, word, &self.program.transport, actions, &mut self.done);
        self.note(actions);
    }

    fn elapsed(&mut self, number: u32, actions: &mut Vec<Action>) {
        read(self.program.steps.as_ref(), self.rank, number, &mut self.step);
        let sends = self.send(number, actions);
        let under_way = self.under_way(number);
        (under_way.computes, under_way.sends) = (false, sends);
        self.go_on(actions);
    }

    fn wants(&self) -> Vec<Want> {
        let computes = self.state.under_way.iter().any(|step| step.computes);
        let computing = computes.then(|| Want { of: None, what: "its own computing".to_owned() });
        self.state.endpoint.wants().into_iter().chain(computing).collect()
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.state, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.state = remember(bytes)?;
        Some(())
    }
}
