//! What flows get of outputs and inputs is max-min fair (section 6.6 of the paper): compared with an allocation that is filled like water.

use proptest::prelude::*;

use super::central;
use super::distributed;
use super::world::{Scheduler, World};

/// A flow, what it wants of a link, and its weight.
#[derive(Clone, Copy, Debug)]
struct Flow {
    from: u32,
    to: u32,
    demand: f64,
    weight: u32,
}

/// The weighted max-min fair allocation of inputs and outputs that each pass a packet in a packet time: all flows rise alike by their weights, until each has what it
/// wants or a link of it is full.
fn filled_like_water(flows: &[Flow]) -> Vec<f64> {
    let mut rates = vec![0.0; flows.len()];
    let mut rising: Vec<bool> = flows.iter().map(|flow| flow.demand > 0.0).collect();
    let links = || flows.iter().flat_map(|flow| [(flow.from, true), (flow.to, false)]);
    let passes = |flow: &Flow, (node, is_input): (u32, bool)| node == if is_input { flow.from } else { flow.to };
    while rising.contains(&true) {
        let active = || flows.iter().enumerate().filter(|(index, _)| rising[*index]);
        let own = active().map(|(index, flow)| (flow.demand - rates[index]) / f64::from(flow.weight));
        let shared = links().filter_map(|link| {
            let weights: u32 = active().filter(|(_, flow)| passes(flow, link)).map(|(_, flow)| flow.weight).sum();
            let used: f64 = flows.iter().zip(&rates).filter(|(flow, _)| passes(flow, link)).map(|(_, rate)| rate).sum();
            (weights > 0).then(|| (1.0 - used) / f64::from(weights))
        });
        let step = own.chain(shared).fold(f64::INFINITY, f64::min);
        for (index, flow) in flows.iter().enumerate().filter(|(index, _)| rising[*index]) {
            rates[index] += step * f64::from(flow.weight);
        }
        let is_full = |link| {
            let used =
                flows.iter().zip(&rates).filter(|(flow, _)| passes(flow, link)).map(|(_, rate)| rate).sum::<f64>();
            used > 1.0 - 1e-9
        };
        let full: Vec<bool> =
            flows.iter().map(|flow| is_full((flow.from, true)) || is_full((flow.to, false))).collect();
        for (index, flow) in flows.iter().enumerate() {
            rising[index] &= rates[index] < flow.demand - 1e-9 && !full[index];
        }
    }
    rates
}

#[test]
fn water_fills_as_by_hand() {
    let flow = |from, to, demand, weight| Flow { from, to, demand, weight };
    let rates = |flows: &[Flow]| {
        filled_like_water(flows).into_iter().map(|rate| (1e6 * rate).round() / 1e6).collect::<Vec<_>>()
    };
    assert_eq!(rates(&[flow(0, 3, 1.0, 1), flow(1, 3, 0.2, 1), flow(2, 3, 1.0, 1)]), [0.4, 0.2, 0.4]);
    assert_eq!(rates(&[flow(1, 0, 0.5, 20), flow(2, 0, 0.5, 9), flow(3, 0, 0.5, 1)]), [0.5, 0.45, 0.05]);
    // The first flow has half of its input, so the other at output 3 has more than half of that.
    let both = [flow(0, 1, 1.0, 1), flow(0, 2, 1.0, 1), flow(0, 3, 1.0, 1), flow(2, 3, 1.0, 1)];
    assert_eq!(rates(&both), [0.333_333, 0.333_333, 0.333_333, 0.666_667]);
}

/// What flows get of their outputs while they offer what they want, after a while.
fn rates<S: Scheduler>(mut world: World<S>, flows: &[Flow]) -> Vec<f64> {
    let (mut since, mut owed) = (0, vec![0.0; flows.len()]);
    for slot in 0..2500 {
        for (flow, owed) in flows.iter().zip(&mut owed) {
            *owed += flow.demand;
            if *owed >= 1.0 {
                *owed -= 1.0;
                world.offer(flow.from, flow.to, 1);
            }
        }
        world.pass(1);
        if slot == 500 {
            since = world.now;
        }
    }
    flows.iter().map(|flow| world.rate(flow.from, flow.to, since)).collect()
}

/// How far some flow is from what it should have at most.
fn unfairness(found: &[f64], flows: &[Flow]) -> f64 {
    let fair = filled_like_water(flows);
    found.iter().zip(fair).map(|(found, fair)| (found - fair).abs()).fold(0.0, f64::max)
}

fn weights_of(flows: &[Flow]) -> String {
    let weights = flows.iter().map(|flow| format!("{}, {}, {}", flow.from, flow.to, flow.weight));
    format!("[{}]", weights.collect::<Vec<_>>().join(", "))
}

/// Some flows of a network of nine nodes, no two alike, each of which wants a tenth of a link or more.
fn flows(weights: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = Vec<Flow>> {
    let flow = (0..9u32, 6..9u32, 1..=10u32, weights);
    prop::collection::btree_map((0..9u32, 6..9u32), flow, 2..9).prop_map(|flows| {
        let flow = |((from, to), (_, _, demand, weight)): ((u32, u32), (u32, u32, u32, u32))| Flow {
            from,
            to,
            demand: f64::from(demand) / 10.0,
            weight,
        };
        flows.into_iter().map(flow).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Of one output: its arbiter goes round its flows, or by what they have had. Buffers hold more than the loop of their credits needs, 12 packets on three routes.
    #[test]
    fn an_output_is_shared_fairly(all in flows(1..=9), buffer in 6..13u32) {
        let mut flows: Vec<Flow> = all.iter().map(|flow| Flow { to: 8, ..*flow }).collect();
        flows.sort_by_key(|flow| flow.from);
        flows.dedup_by_key(|flow| flow.from);
        let (weights, buffer) = (weights_of(&flows), buffer.to_string());
        let equal: Vec<Flow> = flows.iter().map(|flow| Flow { weight: 1, ..*flow }).collect();
        for (arbiter, weights, flows) in
            [("round-robin", "[]", &equal), ("max-min", "[]", &equal), ("max-min", weights.as_str(), &flows)]
        {
            let given = [("arbiter", arbiter), ("weights", weights), ("buffer", &buffer)];
            for found in [rates(central::world(3, &given), flows), rates(distributed::world(3, &given), flows)] {
                let apart = unfairness(&found, flows);
                prop_assert!(apart < 0.015, "{arbiter}, {weights}: {found:?} is {apart} from fair for {flows:#?}");
            }
        }
    }

    /// Of all inputs and outputs together.
    #[test]
    fn inputs_and_outputs_are_shared_fairly(flows in flows(1..=1)) {
        for arbiter in ["round-robin", "max-min"] {
            let found = rates(central::world(3, &[("arbiter", arbiter)]), &flows);
            let apart = unfairness(&found, &flows);
            prop_assert!(apart < 0.03, "{arbiter}: {found:?} is {apart} from fair for {flows:#?}");
        }
    }
}

fn full(from: u32, to: u32, weight: u32) -> Flow {
    Flow { from, to, demand: 1.0, weight }
}

/// What a flow of weight 20 leaves of an output, half of it, is shared by weights of 2 and 1. With smooth weighted round robin both get the same: whose turn comes
/// while the heavy flow asks, pays for its weight as well.
#[test]
fn weighted_round_robin_is_not_max_min_fair() {
    let flows = [Flow { demand: 0.5, ..full(0, 8, 20) }, full(1, 8, 2), full(2, 8, 1)];
    let weights = weights_of(&flows);
    let rates = |arbiter| rates(central::world(3, &[("arbiter", arbiter), ("weights", &weights)]), &flows);
    let [weighted, max_min] = [rates("weighted"), rates("max-min")];
    assert!(unfairness(&max_min, &flows) < 0.005, "{max_min:?}");
    assert!(unfairness(&weighted, &flows) > 0.05, "{weighted:?}");
}
