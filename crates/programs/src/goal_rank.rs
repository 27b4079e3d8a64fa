//! A rank of a GOAL schedule.
//!
//! Each of its processors does one thing at a time, in the order in which they could begin: it computes, or hands a message over, or takes one
//! in. What a receive waits for takes no processor.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tailback_goal::{BinaryError, Front, Kind, Operation};
use tailback_workload::{Action, Machine, Want};

use crate::endpoint::{Done, Endpoint, Message, Transport};
use crate::goal_program::GoalProgram;
use crate::matching::{ANY_TAG, Source};
use crate::snapshot::{remember, write_down};

/// A rank of a GOAL schedule.
#[derive(Debug)]
pub(crate) struct GoalRank {
    program: GoalProgram,
    rank: u32,
    state: State,
    /// Operations that may begin, and what is done: both are empty between events.
    ready: Vec<(u32, Operation)>,
    done: Vec<Done>,
}

/// What changes of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    front: Front,
    endpoint: Endpoint,
    processors: Vec<Processor>,
    is_done: bool,
}

/// A processor of a rank.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Processor {
    /// What it does.
    busy: Option<Task>,
    waiting: VecDeque<Task>,
}

/// What a processor does.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Task {
    /// Computes.
    Calc { operation: u32, ticks: u64 },
    /// Hands a message over.
    Send { operation: u32, to: u32, tag: u32, flits: u32 },
    /// Takes a message in.
    TakeIn { from: u32, word: u64 },
}

impl GoalRank {
    pub fn new(program: GoalProgram, rank: u32) -> Self {
        let front = Front::new(&program.schedule, rank);
        let processors = vec![Processor::default(); usize::from(program.schedule.largest_cpu()) + 1];
        let state = State { front, endpoint: Endpoint::default(), processors, is_done: false };
        Self { program, rank, state, ready: Vec::new(), done: Vec::new() }
    }

    /// Begins what may begin and notes what is done, until something has to be waited for.
    fn settle(&mut self, actions: &mut Vec<Action>) {
        while !(self.ready.is_empty() && self.done.is_empty()) {
            let mut ready = std::mem::take(&mut self.ready);
            ready.drain(..).for_each(|(number, operation)| self.begin(number, operation, actions));
            // What has become ready meanwhile is in the list that took its place.
            ready.append(&mut self.ready);
            self.ready = ready;
            for done in std::mem::take(&mut self.done) {
                let (Done::Send(operation) | Done::Receive(operation)) = done;
                legible(self.state.front.finished(operation, &self.program.schedule, &mut self.ready));
            }
        }
        if self.state.front.is_done() && !self.state.is_done {
            self.state.is_done = true;
            actions.push(Action::Reached { phase: 0 });
        }
    }

    fn begin(&mut self, number: u32, operation: Operation, actions: &mut Vec<Action>) {
        match operation.kind {
            Kind::Receive { from, tag, .. } => {
                self.tell_start(number);
                let transport = self.program.transport;
                if self.state.endpoint.receive(Source { from, tag }, number, &transport, actions) {
                    self.done.push(Done::Receive(number));
                }
            }
            Kind::Calc { nanoseconds } => {
                let ticks = self.program.scale.ticks(nanoseconds);
                self.line_up(operation.cpu, Task::Calc { operation: number, ticks }, actions);
            }
            Kind::Send { to, size, tag } => {
                let flits = self.program.scale.flits(size) as u32;
                let tag = tag.unwrap_or(ANY_TAG);
                self.line_up(operation.cpu, Task::Send { operation: number, to, tag, flits }, actions);
            }
        }
    }

    fn tell_start(&mut self, operation: u32) {
        legible(self.state.front.started(operation, &self.program.schedule, &mut self.ready));
    }

    /// Gives a processor something to do.
    fn line_up(&mut self, cpu: u8, task: Task, actions: &mut Vec<Action>) {
        self.state.processors[usize::from(cpu)].waiting.push_back(task);
        self.go_on(cpu, actions);
    }

    /// Lets a processor that has nothing to do begin what waits for it.
    fn go_on(&mut self, cpu: u8, actions: &mut Vec<Action>) {
        while self.state.processors[usize::from(cpu)].busy.is_none() {
            let Some(task) = self.state.processors[usize::from(cpu)].waiting.pop_front() else { return };
            let ticks = match task {
                Task::Calc { operation, ticks } => {
                    self.tell_start(operation);
                    ticks
                }
                Task::Send { operation, .. } => {
                    self.tell_start(operation);
                    self.program.overhead_ticks
                }
                Task::TakeIn { .. } => self.program.overhead_ticks,
            };
            if ticks == 0 {
                self.complete(task, actions);
            } else {
                self.state.processors[usize::from(cpu)].busy = Some(task);
                actions.push(Action::Wait { ticks, token: cpu.into() });
            }
        }
    }

    /// A processor is done with something.
    fn complete(&mut self, task: Task, actions: &mut Vec<Action>) {
        match task {
            Task::Calc { operation, .. } => self.done.push(Done::Send(operation)),
            Task::Send { operation, to, tag, flits } if to == self.rank => self.send_to_itself(operation, tag, flits),
            Task::Send { operation, to, tag, flits } => {
                let message = Message { to, tag, flits, send: operation };
                if self.state.endpoint.send(message, &self.program.transport, actions) {
                    self.done.push(Done::Send(operation));
                }
            }
            Task::TakeIn { from, word } => {
                self.state.endpoint.received(from, word, &self.program.transport, actions, &mut self.done);
            }
        }
    }

    /// What a rank sends to itself is there at once.
    fn send_to_itself(&mut self, operation: u32, tag: u32, flits: u32) {
        let mut actions = Vec::new();
        let message = Message { to: self.rank, tag, flits, send: operation };
        self.state.endpoint.send(message, &Transport::EAGER, &mut actions);
        for action in std::mem::take(&mut actions) {
            let Action::Send { word, .. } = action else { unreachable!("an endpoint only sends") };
            self.state.endpoint.received(self.rank, word, &Transport::EAGER, &mut actions, &mut self.done);
        }
        self.done.push(Done::Send(operation));
    }
}

/// What was read from the schedule, which does not change while it is open.
pub(crate) fn legible<T>(read: Result<T, BinaryError>) -> T {
    read.unwrap_or_else(|error| panic!("the schedule could be read when the program was made: {error}"))
}

impl Machine for GoalRank {
    fn start(&mut self, actions: &mut Vec<Action>) {
        legible(self.state.front.begin(&self.program.schedule, &mut self.ready));
        self.settle(actions);
    }

    fn sent(&mut self, to: u32, word: u64, actions: &mut Vec<Action>) {
        self.state.endpoint.sent(to, word, &mut self.done);
        self.settle(actions);
    }

    fn received(&mut self, from: u32, word: u64, actions: &mut Vec<Action>) {
        if self.program.overhead_ticks > 0 && Endpoint::is_data(word) {
            self.line_up(0, Task::TakeIn { from, word }, actions);
        } else {
            self.complete(Task::TakeIn { from, word }, actions);
        }
        self.settle(actions);
    }

    fn elapsed(&mut self, token: u32, actions: &mut Vec<Action>) {
        let cpu = token as u8;
        let task = self.state.processors[usize::from(cpu)].busy.take().expect("it was busy until now");
        self.complete(task, actions);
        self.go_on(cpu, actions);
        self.settle(actions);
    }

    fn wants(&self) -> Vec<Want> {
        let computes = self.state.processors.iter().any(|processor| processor.busy.is_some());
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
