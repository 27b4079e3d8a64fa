//! What scenario files can name.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use tailback_parameters::{Kind, NodeSet, Parameter, Value, Values};
use tailback_workload::{Action, Program};

use crate::collectives::{Built, COLLECTIVES, CollectiveModel, Setting};
use crate::interpreter::{Empty, Flow, Order, Totals, run};
use crate::{Receive, Repeated, Send, Step, SteppingProgram, Steps, Transport};

fn model(name: &str) -> &'static CollectiveModel {
    COLLECTIVES.iter().find(|model| model.name == name).unwrap()
}

fn setting(ranks: u32) -> Setting {
    Setting { ranks, flit_bytes: Some(16.0), ticks_per_cycle: 4 }
}

/// The default of a parameter; something small where it has none.
fn default_value(parameter: &Parameter, ranks: u32) -> Value {
    let text = parameter.default.unwrap_or("8");
    match parameter.kind {
        Kind::Integer { .. } | Kind::Flits { .. } => Value::Integer(text.parse().unwrap()),
        Kind::Number { .. } => Value::Number(text.parse().unwrap()),
        Kind::Flag => Value::Flag(text.parse().unwrap()),
        Kind::Time => Value::Ticks(text.parse().unwrap()),
        Kind::Integers { .. } if text == "[]" => Value::Integers(Vec::new()),
        Kind::IntegerOr { word, .. } if text == format!("\"{word}\"") => Value::IntegerOr(None),
        Kind::Nodes => Value::Nodes(NodeSet::all(ranks)),
        other => panic!("{other:?} of {} is not expected here", parameter.name),
    }
}

fn build(name: &str, setting: &Setting, given: &[(&'static str, Value)]) -> Built {
    let model = model(name);
    let mut values = Values::default();
    for parameter in model.parameters {
        values.set(parameter.name, default_value(parameter, setting.ranks));
    }
    for (name, value) in given {
        assert!(model.parameters.iter().any(|parameter| parameter.name == *name), "{name} is a parameter");
        values.set(name, value.clone());
    }
    (model.build)(&values, setting)
}

fn run_both_ways(program: &dyn Steps) -> Totals {
    let totals = run(program, &mut Empty, Order::Eager);
    assert_eq!(totals, run(program, &mut Empty, Order::InTurn));
    totals
}

/// All models but the training step, which wants a product of ranks.
fn sized() -> impl Iterator<Item = &'static CollectiveModel> {
    COLLECTIVES.iter().filter(|model| model.parameters.iter().any(|parameter| parameter.name == "bytes"))
}

fn reducing() -> impl Iterator<Item = &'static CollectiveModel> {
    sized().filter(|model| model.parameters.iter().any(|parameter| parameter.name == "reduce"))
}

/// All that a program does, by rank.
fn all_steps(program: &dyn Steps) -> Vec<Vec<Step>> {
    let step = |rank, number| {
        let mut step = Step::default();
        program.step(rank, number, &mut step);
        step
    };
    (0..program.ranks()).map(|rank| (0..program.steps(rank)).map(|number| step(rank, number)).collect()).collect()
}

#[test]
fn names_differ_and_examples_name_them() {
    let names: BTreeSet<_> = COLLECTIVES.iter().map(|model| model.name).collect();
    assert_eq!(names.len(), COLLECTIVES.len());
    for model in COLLECTIVES {
        assert!(model.example.contains(model.name), "{}", model.example);
        assert_eq!(model.parameters[0].name, "nodes");
        let parameters: BTreeSet<_> = model.parameters.iter().map(|parameter| parameter.name).collect();
        assert_eq!(parameters.len(), model.parameters.len(), "{}", model.name);
    }
}

#[test]
fn one_rank_has_nobody_to_send_to() {
    for model in COLLECTIVES {
        let program = build(model.name, &setting(1), &[]).unwrap();
        assert_eq!(run_both_ways(&*program).messages, 0, "{}", model.name);
    }
}

#[test]
fn combining_takes_time_after_each_receipt_and_changes_nothing_else() {
    for model in reducing() {
        for ranks in [2, 3, 8, 13] {
            let size = ("bytes", Value::Integer(260));
            let at_once = build(model.name, &setting(ranks), std::slice::from_ref(&size)).unwrap();
            let slow = build(model.name, &setting(ranks), &[size, ("reduce", Value::Number(0.5))]).unwrap();
            run_both_ways(&*slow);
            for (at_once, slow) in all_steps(&*at_once).iter().zip(all_steps(&*slow)) {
                let sends = |steps: &[Step]| steps.iter().flat_map(|step| step.sends.clone()).collect::<Vec<_>>();
                assert_eq!(sends(at_once), sends(&slow), "{}", model.name);
                assert!(at_once.iter().all(|step| step.compute_cycles == 0));
                assert!(
                    slow[1..]
                        .iter()
                        .zip(&slow)
                        .all(|(step, before)| { step.compute_cycles == 0 || !before.receives.is_empty() })
                );
            }
            let cycles: u64 = run_both_ways(&*slow).compute_cycles.iter().sum();
            assert!(cycles >= 2 * 260 * u64::from(ranks - 1), "{} combines {cycles} cycles", model.name);
        }
    }
}

#[test]
fn a_root_combines_what_arrives_last_in_a_step_of_its_own() {
    let given = [("bytes", Value::Integer(10)), ("reduce", Value::Number(4.0))];
    let program = build("reduce", &setting(4), &given).unwrap();
    let steps = all_steps(&*program);
    assert_eq!(steps.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 2, 2]);
    assert_eq!(steps[0].iter().map(|step| step.compute_cycles).collect::<Vec<_>>(), [0, 3, 3]);
    assert!(steps[0][2].sends.is_empty() && steps[0][2].receives.is_empty());
}

#[test]
fn what_does_not_fit_is_refused() {
    let message = |name, ranks, given: &[(&'static str, Value)]| {
        let error = build(name, &setting(ranks), given).unwrap_err();
        format!("{}: {error}; {}", error.parameter.unwrap_or("-"), error.help.clone().unwrap_or_default())
    };
    let large = ("bytes", Value::Integer(1 << 40));
    assert_eq!(
        message("allreduce-ring", 64, std::slice::from_ref(&large)),
        "bytes: a message would have 17179869184 flits, the largest allowed has 268435456; \
         17179869184 flits in all are possible"
    );
    let fitting = build("allreduce-ring", &setting(64), &[("bytes", Value::Integer(17_179_869_184))]);
    assert!(fitting.is_ok());
    for model in sized() {
        assert!(build(model.name, &setting(8), std::slice::from_ref(&large)).is_err(), "{}", model.name);
    }
    assert_eq!(
        message("broadcast", 8, &[("root", Value::Integer(8))]),
        "root: rank 8 does not exist: there are ranks 0..=7; take one of these, or more nodes"
    );
}

#[test]
fn pairwise_exchanges_have_their_window() {
    let program = build("alltoall-pairwise", &setting(8), &[("window", Value::Integer(3))]).unwrap();
    assert_eq!(program.window(), 3);
}

#[test]
fn halo_exchanges_have_their_grid_and_their_time() {
    let grid = ("grid", Value::Integers(vec![3, 4, 5]));
    let given = [grid, ("compute", Value::Ticks(41)), ("iterations", Value::Integer(7))];
    let program = build("halo-3d", &setting(60), &given).unwrap();
    let totals = run_both_ways(&*program);
    assert_eq!(totals.messages, 60 * 6 * 7);
    assert!(totals.pairs.values().all(|&pair| pair == (7, 7 * 8)), "each pair exchanges a face in each iteration");
    assert!(totals.compute_cycles.iter().all(|&cycles| cycles == 7 * 11), "a cycle that has begun counts");
    assert!(build("halo-2d", &setting(60), &[("grid", Value::Integers(vec![7, 8]))]).is_err());
}

const TRAINING: [(&str, Value); 8] = [
    ("pipeline", Value::Integer(3)),
    ("tensor", Value::Integer(4)),
    ("layers", Value::Integer(6)),
    ("microbatches", Value::Integer(5)),
    ("parameters", Value::Integer(120_000)),
    ("hidden", Value::Integer(64)),
    ("sequence", Value::Integer(10)),
    ("forward", Value::Ticks(36)),
];

#[test]
fn a_training_step_sends_what_its_model_needs() {
    let program = build("training-step", &setting(24), &TRAINING).unwrap();
    let totals = run_both_ways(&*program);
    // 640 values of 2 bytes are 80 flits: a ring of 4 takes 6 messages of 20.
    let all_reduces = 2 * 2 * 2 * 5;
    assert_eq!(totals.pairs[&(0, 1)], (all_reduces * 6, all_reduces * 6 * 20));
    // The next stage begins after 2 replicas of 4 shards, and gets each microbatch whole; so it does on the way back.
    assert_eq!((totals.pairs[&(0, 8)], totals.pairs[&(8, 0)]), ((5, 400), (5, 400)));
    assert!(!totals.pairs.contains_key(&(0, 16)));
    // A rank has 10,000 parameters, which are 1250 flits, in 2 halves for 2 replicas.
    assert_eq!((totals.pairs[&(0, 4)], totals.pairs[&(4, 0)]), ((2, 1250), (2, 1250)));
    assert!(totals.compute_cycles.iter().all(|&cycles| cycles == 5 * 2 * 9), "9 cycles a layer and microbatch");
    assert_eq!(program.phases(), ["forward", "backward", "gradients"]);
    assert_eq!(program.phase(0, program.steps(0) - 1), 2);
}

/// The stages and passes that each rank has taken part in or heard of, in the order of hearing.
struct Passes {
    program: Box<dyn Steps>,
    pass_steps: u32,
    heard: Vec<BTreeSet<(u32, u32)>>,
}

impl Flow for Passes {
    type Payload = BTreeSet<(u32, u32)>;

    fn leave(&mut self, rank: u32, step: u32, send: &Send) -> Self::Payload {
        let (stage, pass) = (rank / 8, step / self.pass_steps);
        let to = send.to / 8;
        if to != stage {
            // Whatever comes before a stage in a pass has sent it on before: forward up from 0, backward down from 2.
            let before: Vec<u32> = if to > stage { (0..stage).collect() } else { (stage + 1..3).collect() };
            assert!(before.iter().all(|&stage| self.heard[rank as usize].contains(&(stage, pass))), "{rank} in {step}");
            assert_eq!(to > stage, self.program.phase(rank, step) == 0);
        }
        self.heard[rank as usize].insert((stage, pass));
        self.heard[rank as usize].clone()
    }

    fn arrive(&mut self, rank: u32, _step: u32, _receive: &Receive, payload: Self::Payload) {
        self.heard[rank as usize].extend(payload);
    }
}

#[test]
fn microbatches_go_through_all_stages_and_back() {
    let build = || build("training-step", &setting(24), &TRAINING).unwrap();
    // A layer of 2 halves of rings of 6 rounds; 2 layers a stage; 2 steps for the neighbours.
    let pass_steps = 2 * 2 * 6 + 2;
    let program = build();
    assert_eq!(program.steps(0), 10 * pass_steps + 2);
    let mut passes = Passes { program: build(), pass_steps, heard: vec![BTreeSet::new(); 24] };
    run(&*program, &mut passes, Order::InTurn);
    for (heard, rank) in passes.heard.iter().zip(0_u32..) {
        for pass in 0..10 {
            let stages = if pass < 5 { 0..=rank / 8 } else { rank / 8..=2 };
            assert!(stages.clone().all(|stage| heard.contains(&(stage, pass))), "{rank} of {pass}");
        }
    }
}

#[test]
fn a_training_step_that_does_not_add_up_is_refused() {
    let message = |ranks, changed: (&'static str, Value)| {
        let mut given = TRAINING.to_vec();
        given.push(changed);
        build("training-step", &setting(ranks), &given).unwrap_err().to_string()
    };
    assert_eq!(
        message(24, ("data", Value::IntegerOr(Some(3)))),
        "3 replicas of 3 stages of 4 ranks are 36 ranks, and there are 24"
    );
    assert_eq!(
        message(25, ("data", Value::IntegerOr(None))),
        "2 replicas of 3 stages of 4 ranks are 24 ranks, and there are 25"
    );
    assert_eq!(message(24, ("layers", Value::Integer(7))), "7 layers are no multiple of 3 stages");
    let many = [("layers", Value::Integer(3 << 18)), ("microbatches", Value::Integer(1 << 20))];
    let given: Vec<_> = TRAINING.into_iter().chain(many).collect();
    assert!(build("training-step", &setting(24), &given).unwrap_err().to_string().contains("steps, more than"));
    let unknown = Setting { flit_bytes: None, ..setting(24) };
    let error = build("training-step", &unknown, &TRAINING).unwrap_err();
    assert_eq!(error.to_string(), "the sizes of a training step are in bytes, and nobody says how large a flit is");
}

/// Computing that takes more ticks than can be told is waited for, and not over at once.
#[test]
fn computing_for_ever_takes_all_time_there_is() {
    for flits_per_cycle in [1e-18, 1e-300] {
        let given = [("bytes", Value::Integer(8)), ("reduce", Value::Number(flits_per_cycle))];
        let steps: Arc<dyn Steps> = build("reduce", &setting(2), &given).unwrap().into();
        let program = SteppingProgram::new(steps, Transport::EAGER, setting(2).ticks_per_cycle);
        let (mut root, mut actions) = (program.machine(0), Vec::new());
        program.machine(1).start(&mut actions);
        let sent = actions.drain(..).find_map(|action| match action {
            Action::Send { to: 0, word, .. } => Some(word),
            _ => None,
        });
        let word = sent.expect("rank 1 sends to the root");
        root.start(&mut actions);
        assert_eq!(actions, [], "the root waits for what it is sent");
        root.received(1, word, &mut actions);
        assert_eq!(actions, [Action::Wait { ticks: u64::MAX, token: 1 }], "{flits_per_cycle} flits per cycle");
    }
}

#[test]
fn repetitions_have_tags_and_phases_of_their_own() {
    let tree = || build("allreduce-tree", &setting(9), &[("reduce", Value::Number(1.0))]).unwrap();
    let once = run_both_ways(&*tree());
    let program = Repeated::new(tree(), 3).unwrap();
    assert_eq!(run_both_ways(&program).flits, 3 * once.flits);
    assert_eq!(program.phases(), ["reduce 1", "broadcast 1", "reduce 2", "broadcast 2", "reduce 3", "broadcast 3"]);
    let many = Repeated::new(tree(), 1000).unwrap();
    assert_eq!(many.phases(), ["all"]);
    assert_eq!(many.messages(), 1000 * once.messages);
    let ring = Repeated::new(build("allgather-ring", &setting(9), &[]).unwrap(), 2).unwrap();
    assert_eq!(ring.phases(), ["all-gather"]);
    let error = Repeated::new(tree(), u32::MAX / 2).unwrap_err();
    assert_eq!(error.help.unwrap(), format!("repeat it {} times at most", u32::MAX / 8));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn all_programs_hang_together(ranks in 1_u32..=40, flits in 1_u64..500, root in 0_u32..40, times in 0_u32..4) {
        for model in sized() {
            let mut given = vec![("bytes", Value::Integer(flits))];
            for parameter in model.parameters {
                given.extend(match parameter.name {
                    "root" => Some(("root", Value::Integer((root % ranks).into()))),
                    "reduce" => Some(("reduce", Value::Number(f64::from(root)))),
                    "window" => Some(("window", Value::Integer(u64::from(root) + 1))),
                    "periodic" => Some(("periodic", Value::Flag(root % 2 == 0))),
                    "iterations" => Some(("iterations", Value::Integer(u64::from(root % 3) + 1))),
                    _ => None,
                });
            }
            let program = build(model.name, &setting(ranks), &given).unwrap();
            let once = run_both_ways(&*program);
            let repeated = run_both_ways(&Repeated::new(program, times).unwrap());
            prop_assert_eq!(repeated.messages, once.messages * u64::from(times));
        }
    }

    #[test]
    fn training_steps_hang_together(
        (data, pipeline, tensor) in (1_u32..5, 1_u32..5, 1_u32..5),
        (layers, microbatches) in (1_u64..3, 1_u64..4),
        reduce in 0_u32..3,
    ) {
        let given = [
            ("pipeline", Value::Integer(pipeline.into())),
            ("tensor", Value::Integer(tensor.into())),
            ("layers", Value::Integer(layers * u64::from(pipeline))),
            ("microbatches", Value::Integer(microbatches)),
            ("backward", Value::Ticks(9)),
            ("reduce", Value::Number(reduce.into())),
        ];
        run_both_ways(&*build("training-step", &setting(data * pipeline * tensor), &given).unwrap());
    }
}
