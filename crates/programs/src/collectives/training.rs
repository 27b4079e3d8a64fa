//! A training step of a transformer, whose ranks split it by data, by layers and by tensors.

use tailback_parameters::BuildError;

use super::ring;
use super::rounds::InRounds;
use crate::{Receive, Send, Step, Steps};

/// How ranks split the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// Replicas, each of which trains on other data.
    pub data: u32,
    /// Stages of consecutive layers.
    pub pipeline: u32,
    /// Shards of each layer.
    pub tensor: u32,
}

/// A place in the split. Shards are ranks that follow each other, then come replicas, then stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub stage: u32,
    pub replica: u32,
    pub shard: u32,
}

/// A training step: all microbatches forward through the stages, all backward, then the gradients.
///
/// A pass of a microbatch through a stage is: a step that waits for the stage before; for each layer, twice, half the
/// computing and a ring all-reduce among the shards; a step that sends to the stage after.
#[derive(Debug)]
pub(crate) struct TrainingStep {
    pub split: Split,
    pub microbatches: u32,
    pub layers_of_stage: u32,
    /// The message from stage to stage.
    pub activation_flits: u32,
    /// Cycles that a layer computes for a microbatch forward.
    pub forward_cycles: u64,
    /// The same backward.
    pub backward_cycles: u64,
    /// Among the shards, of the activations.
    pub shards: InRounds<ring::AllReduce>,
    /// Among the replicas, of the gradients.
    pub replicas: InRounds<ring::AllReduce>,
}

/// All-reduces of a layer in one pass: one after attention, one after the multilayer perceptron.
const HALVES: u32 = 2;

impl Split {
    pub(crate) fn place(self, rank: u32) -> Place {
        Place {
            shard: rank % self.tensor,
            replica: rank / self.tensor % self.data,
            stage: rank / self.tensor / self.data,
        }
    }

    pub(crate) fn rank(self, place: Place) -> u32 {
        (place.stage * self.data + place.replica) * self.tensor + place.shard
    }
}

impl TrainingStep {
    /// Steps of one half of a layer. Without other shards one is left, for the computing.
    fn half_steps(&self) -> u32 {
        self.shards.steps(0).max(1)
    }

    /// Steps of one pass.
    fn pass_steps(&self) -> u32 {
        self.layers_of_stage * HALVES * self.half_steps() + 2
    }

    fn passes(&self) -> u32 {
        2 * self.microbatches
    }

    /// Refuses programs whose steps would not fit 32 bits.
    pub(crate) fn countable(self) -> Result<Self, BuildError> {
        let half_steps = 2 * u64::from(self.split.tensor);
        let passes = 2 * u128::from(self.microbatches);
        let pass_steps = u128::from(self.layers_of_stage) * u128::from(u64::from(HALVES) * half_steps) + 2;
        let steps = passes * pass_steps + 2 * u128::from(self.split.data);
        if steps > u128::from(u32::MAX) {
            let message = format!("a rank would go through {steps} steps, more than {}", u32::MAX);
            return Err(BuildError::at("microbatches", message).help("take fewer microbatches or layers"));
        }
        Ok(self)
    }

    /// A step of a pass. The tag of a message between stages is the step in which the pass begins.
    fn step_of_pass(&self, place: Place, pass: u32, step: u32, out: &mut Step) {
        let backward = pass >= self.microbatches;
        let tag = pass * self.pass_steps();
        let up = place.stage.checked_add(1).filter(|&stage| stage < self.split.pipeline);
        let down = place.stage.checked_sub(1);
        let (source, target) = if backward { (up, down) } else { (down, up) };
        let at_stage = |stage| self.split.rank(Place { stage, ..place });
        if step == 0 {
            out.receives.extend(source.map(|stage| Receive { from: at_stage(stage), tag }));
        } else if step + 1 == self.pass_steps() {
            let send = |stage| Send { to: at_stage(stage), tag, flits: self.activation_flits };
            out.sends.extend(target.map(send));
        } else {
            let cycles = if backward { self.backward_cycles } else { self.forward_cycles };
            self.step_of_layers(place, cycles, tag, step - 1, out);
        }
    }

    /// A step of the layers of a pass, each of which computes some cycles.
    fn step_of_layers(&self, place: Place, cycles: u64, pass_tag: u32, step: u32, out: &mut Step) {
        let (half, round) = (step / self.half_steps(), step % self.half_steps());
        if self.split.tensor > 1 {
            self.shards.step(place.shard, round, out);
            let at_shard = |shard| self.split.rank(Place { shard, ..place });
            relabel(out, pass_tag + step + 1, at_shard);
        }
        if round == 0 {
            out.compute_cycles += if half % HALVES == 0 { cycles / 2 } else { cycles - cycles / 2 };
        }
    }
}

/// Makes ranks of a group ranks of the program, and gives messages their tag.
fn relabel(step: &mut Step, tag: u32, rank: impl Fn(u32) -> u32) {
    for send in &mut step.sends {
        (send.to, send.tag) = (rank(send.to), tag);
    }
    for receive in &mut step.receives {
        (receive.from, receive.tag) = (rank(receive.from), tag);
    }
}

impl Steps for TrainingStep {
    fn ranks(&self) -> u32 {
        self.split.data * self.split.pipeline * self.split.tensor
    }

    fn steps(&self, _rank: u32) -> u32 {
        self.passes() * self.pass_steps() + self.replicas.steps(0)
    }

    fn step(&self, rank: u32, step: u32, out: &mut Step) {
        let place = self.split.place(rank);
        let pass = step / self.pass_steps();
        if pass < self.passes() {
            return self.step_of_pass(place, pass, step % self.pass_steps(), out);
        }
        self.replicas.step(place.replica, step - self.passes() * self.pass_steps(), out);
        relabel(out, step, |replica| self.split.rank(Place { replica, ..place }));
    }

    fn tags(&self) -> u32 {
        self.steps(0)
    }

    fn phases(&self) -> Vec<String> {
        ["forward", "backward", "gradients"].map(str::to_owned).to_vec()
    }

    fn phase(&self, _rank: u32, step: u32) -> u32 {
        (step / self.pass_steps() / self.microbatches).min(2)
    }

    fn messages(&self) -> u64 {
        let Split { data, pipeline, tensor } = self.split;
        let passes = u64::from(self.passes());
        let between_stages = u64::from(pipeline - 1) * u64::from(data * tensor) * passes;
        let all_reduces = u64::from(self.layers_of_stage * HALVES) * passes * u64::from(data * pipeline);
        between_stages
            + all_reduces * self.shards.messages()
            + self.replicas.messages() * u64::from(pipeline) * u64::from(tensor)
    }
}
