//! The central scheduler: the arbiters of all outputs, and behind them those of all inputs.

use serde::{Deserialize, Serialize};
use tailback_protocol::{Controller, ControllerAction, Party, remember, write_down};

use crate::output::{OutputArbiter, OutputState};
use crate::pace::Pace;
use crate::turns::Members;
use crate::words::Word;

/// The bank of all arbiters.
pub(crate) struct Bank {
    outputs: Vec<OutputArbiter>,
    inputs: Vec<InputArbiter>,
    /// Ticks that a grant takes beyond the latency of the control network.
    grant_after: u64,
}

/// The arbiter of an input: it serializes what outputs grant it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct InputArbiter {
    /// By output: grants that are not sent.
    grants: Vec<u32>,
    /// The outputs with such grants.
    waiting: Members,
    /// The output that comes first at the next turn.
    next: usize,
    pace: Pace,
}

impl Bank {
    pub fn new(outputs: Vec<OutputArbiter>, packet_ticks: u64, grant_after: u64) -> Self {
        let nodes = outputs.len();
        let input = InputArbiter {
            grants: vec![0; nodes],
            waiting: Members::below(nodes),
            next: 0,
            pace: Pace::every(packet_ticks),
        };
        Self { inputs: vec![input; nodes], outputs, grant_after }
    }

    #[cfg(test)]
    pub fn output(&self, output: u32) -> &OutputArbiter {
        &self.outputs[output as usize]
    }

    #[cfg(test)]
    pub fn nodes(&self) -> u32 {
        self.outputs.len() as u32
    }

    /// Grants that are not sent.
    #[cfg(test)]
    pub fn unsent(&self) -> usize {
        self.inputs.iter().flat_map(|arbiter| &arbiter.grants).map(|&grants| grants as usize).sum()
    }

    /// An output arbiter grants for as long as it is free and can.
    fn attend_output(&mut self, output: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        let arbiter = &mut self.outputs[output as usize];
        while arbiter.is_ready() {
            if !arbiter.pace().is_free(now) {
                let alarm = arbiter.pace().alarm();
                actions.extend(alarm.map(|at| ControllerAction::Timer { at, token: output }));
                return;
            }
            let Some((input, _)) = arbiter.grant() else { return };
            arbiter.pace().serve(now);
            self.inputs[input as usize].add(output);
            attend_input(&mut self.inputs, input, (now, self.grant_after), actions);
        }
    }
}

impl InputArbiter {
    fn add(&mut self, output: u32) {
        self.grants[output as usize] += 1;
        self.waiting.insert(output as usize);
    }

    fn take(&mut self, output: usize) {
        self.grants[output] -= 1;
        if self.grants[output] == 0 {
            self.waiting.remove(output);
        }
        self.next = output + 1;
    }
}

/// An input arbiter sends grants for as long as it is free and has any.
fn attend_input(
    inputs: &mut [InputArbiter],
    input: u32,
    (now, after): (u64, u64),
    actions: &mut Vec<ControllerAction>,
) {
    let count = inputs.len() as u32;
    let arbiter = &mut inputs[input as usize];
    while let Some(output) = arbiter.waiting.set().next_from(arbiter.next) {
        if !arbiter.pace.is_free(now) {
            let alarm = arbiter.pace.alarm();
            actions.extend(alarm.map(|at| ControllerAction::Timer { at, token: count + input }));
            return;
        }
        arbiter.pace.serve(now);
        arbiter.take(output);
        let words = Word::Grant { input, output: output as u32 }.words();
        actions.push(ControllerAction::Tell { to: Party::Source(input), words, after });
    }
}

impl Controller for Bank {
    fn on_message(&mut self, from: Party, words: &[u64], now: u64, actions: &mut Vec<ControllerAction>) {
        let output = match (Word::of(words), from) {
            (Word::Request { input, output, packets, .. }, Party::Source(_)) => {
                self.outputs[output as usize].request(input, packets);
                output
            }
            (Word::Credit { route }, Party::Sink(output)) => {
                self.outputs[output as usize].credit(route);
                output
            }
            (word, _) => panic!("{from:?} tells the central scheduler {word:?}"),
        };
        self.attend_output(output, now, actions);
    }

    fn on_timer(&mut self, token: u32, now: u64, actions: &mut Vec<ControllerAction>) {
        match token.checked_sub(self.outputs.len() as u32) {
            None => {
                self.outputs[token as usize].pace().alarmed();
                self.attend_output(token, now, actions);
            }
            Some(input) => {
                self.inputs[input as usize].pace.alarmed();
                attend_input(&mut self.inputs, input, (now, self.grant_after), actions);
            }
        }
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        let outputs: Vec<&OutputState> = self.outputs.iter().map(OutputArbiter::state).collect();
        write_down(&(outputs, &self.inputs), bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        let (outputs, inputs): (Vec<OutputState>, Vec<InputArbiter>) = remember(bytes)?;
        if outputs.len() != self.outputs.len() || inputs.len() != self.inputs.len() {
            return None;
        }
        self.outputs.iter_mut().zip(outputs).for_each(|(arbiter, state)| arbiter.set_state(state));
        self.inputs = inputs;
        Some(())
    }
}
