//! Where data goes: messages carry along whose contributions are in the blocks that they stand for.

use proptest::prelude::*;

use crate::collectives::exchange::{Bruck, Gathering, Pairwise};
use crate::collectives::folded::{Exchange, Folded};
use crate::collectives::layout::Carried;
use crate::collectives::ring::{self, AllGather, ReduceScatter};
use crate::collectives::rounds::{InRounds, Rounds, Then};
use crate::collectives::tree::{Broadcast, Dissemination, Reduction, Tree};
use crate::interpreter::{Empty, Flow, Order, Totals, run};
use crate::{Receive, Send};

/// How often each rank has contributed to a block.
type Contributions = Vec<u8>;

/// What the ranks have of a vector, by rank and block.
struct Vectors<'a, A> {
    steps: &'a InRounds<A>,
    have: Vec<Vec<Contributions>>,
}

impl<A: Rounds> Flow for Vectors<'_, A> {
    type Payload = Vec<(u32, Contributions)>;

    fn leave(&mut self, rank: u32, step: u32, send: &Send) -> Self::Payload {
        let carried = self.steps.algorithm.carried(rank, step);
        let blocks = carried.of_vector(self.steps.layout.blocks);
        assert_eq!(u64::from(send.flits), flits_of(&self.steps.layout_sizes(), blocks.iter().copied()));
        blocks.into_iter().map(|block| (block, self.have[rank as usize][block as usize].clone())).collect()
    }

    fn arrive(&mut self, rank: u32, step: u32, _receive: &Receive, payload: Self::Payload) {
        for (block, contributions) in payload {
            let have = &mut self.have[rank as usize][block as usize];
            if self.steps.algorithm.combines(step) {
                have.iter_mut().zip(contributions).for_each(|(have, more)| *have += more);
            } else {
                *have = contributions;
            }
        }
    }
}

impl<A> InRounds<A> {
    /// The size of each block, told by hand.
    fn layout_sizes(&self) -> Vec<u64> {
        let (flits, blocks) = (self.layout.flits, u64::from(self.layout.blocks));
        (0..blocks).map(|block| flits / blocks + u64::from(block < flits % blocks)).collect()
    }
}

fn flits_of(sizes: &[u64], blocks: impl Iterator<Item = u32>) -> u64 {
    blocks.map(|block| sizes[block as usize]).sum::<u64>().max(1)
}

/// Runs an algorithm whose ranks have at first what `at_first` says of each rank and block, and compares what they
/// have at the end with `at_last`, where that wants anything: each time, whether a rank has contributed once.
fn check<A: Rounds>(
    algorithm: A,
    flits: u64,
    order: Order,
    at_first: impl Fn(u32, u32, u32) -> bool,
    at_last: impl Fn(u32, u32) -> Option<Box<dyn Fn(u32) -> bool>>,
) -> Totals {
    let steps = InRounds::new(algorithm, flits, "bytes").unwrap();
    let (ranks, blocks) = (steps.algorithm.ranks(), steps.layout.blocks);
    let contributions = |rank, block| (0..ranks).map(|by| u8::from(at_first(rank, block, by))).collect();
    let of_rank = |rank| (0..blocks).map(|block| contributions(rank, block)).collect();
    let mut vectors = Vectors { steps: &steps, have: (0..ranks).map(of_rank).collect() };
    let totals = run(&steps, &mut vectors, order);
    for (rank, block) in (0..ranks).flat_map(|rank| (0..blocks).map(move |block| (rank, block))) {
        if let Some(wanted) = at_last(rank, block) {
            let wanted: Contributions = (0..ranks).map(|by| u8::from(wanted(by))).collect();
            let found = &vectors.have[rank as usize][block as usize];
            assert_eq!(*found, wanted, "block {block} of rank {rank} after {:?}", steps.algorithm);
        }
    }
    totals
}

fn check_all_reduce(algorithm: impl Rounds, flits: u64, order: Order) -> Totals {
    check(algorithm, flits, order, |rank, _, by| by == rank, |_, _| Some(Box::new(|_| true)))
}

fn check_reduce_scatter(algorithm: impl Rounds, flits: u64, order: Order) -> Totals {
    let own = |rank, block| (rank == block).then(|| Box::new(|_| true) as Box<dyn Fn(u32) -> bool>);
    check(algorithm, flits, order, |rank, _, by| by == rank, own)
}

fn check_all_gather(algorithm: impl Rounds, flits: u64, order: Order) -> Totals {
    let own = |rank, block, by| rank == block && by == rank;
    check(algorithm, flits, order, own, |_, block| Some(Box::new(move |by| by == block)))
}

/// Who has which block for whom.
struct Blocks<'a, A> {
    steps: &'a InRounds<A>,
    have: Vec<Vec<(u32, u32)>>,
}

impl<A: Rounds> Flow for Blocks<'_, A> {
    type Payload = Vec<(u32, u32)>;

    fn leave(&mut self, rank: u32, step: u32, send: &Send) -> Self::Payload {
        let blocks = self.steps.algorithm.carried(rank, step).of_exchange(rank, self.steps.layout.blocks);
        assert_eq!(u64::from(send.flits), flits_of(&self.steps.layout_sizes(), blocks.iter().map(|&(_, to)| to)));
        let have = &mut self.have[rank as usize];
        for block in &blocks {
            let place = have.iter().position(|other| other == block);
            have.swap_remove(place.unwrap_or_else(|| panic!("{rank} sends {block:?} in {step}, which it has not")));
        }
        blocks
    }

    fn arrive(&mut self, rank: u32, _step: u32, _receive: &Receive, payload: Self::Payload) {
        self.have[rank as usize].extend(payload);
    }
}

fn check_all_to_all(algorithm: impl Rounds, flits: u64, window: u32, order: Order) {
    let steps = InRounds::new(algorithm, flits, "bytes").unwrap().window(window);
    let ranks = steps.algorithm.ranks();
    let all = |rank: u32| (0..ranks).map(move |to| (rank, to)).collect();
    let mut blocks = Blocks { steps: &steps, have: (0..ranks).map(all).collect() };
    run(&steps, &mut blocks, order);
    for (mut have, rank) in blocks.have.into_iter().zip(0..) {
        have.sort_unstable();
        assert_eq!(have, (0..ranks).map(|from| (from, rank)).collect::<Vec<_>>(), "blocks of {rank}");
    }
}

/// Whom each rank knows to have come.
struct Rumours(Vec<Vec<bool>>);

impl Flow for Rumours {
    type Payload = Vec<bool>;

    fn leave(&mut self, rank: u32, _step: u32, _send: &Send) -> Vec<bool> {
        self.0[rank as usize].clone()
    }

    fn arrive(&mut self, rank: u32, _step: u32, _receive: &Receive, payload: Vec<bool>) {
        self.0[rank as usize].iter_mut().zip(payload).for_each(|(known, told)| *known |= told);
    }
}

fn ranks() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 1_u32..=40, 1 => Just(64), 1 => Just(100), 1 => Just(128)]
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Eager), Just(Order::InTurn)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_reduces_leave_the_sum_with_all(ranks in ranks(), flits in 1_u64..5000, order in order()) {
        let ring = check_all_reduce(ring::all_reduce(ranks), flits, order);
        if flits >= ranks.into() {
            prop_assert_eq!(ring.flits, 2 * u64::from(ranks - 1) * flits);
        }
        for exchange in [Exchange::Whole, Exchange::HalvesAndBack] {
            check_all_reduce(Folded::new(ranks, exchange), flits, order);
        }
        let tree = Tree { ranks, root: 0 };
        let tree = check_all_reduce(Then(Reduction(tree), Broadcast(tree)), flits, order);
        prop_assert_eq!(tree.flits, 2 * u64::from(ranks - 1) * flits);
    }

    #[test]
    fn reduce_scatters_leave_each_its_block(ranks in ranks(), flits in 1_u64..5000, order in order()) {
        check_reduce_scatter(ReduceScatter { ranks }, flits, order);
        check_reduce_scatter(Folded::new(ranks, Exchange::Halves), flits, order);
    }

    #[test]
    fn all_gathers_leave_all_blocks_with_all(ranks in ranks(), flits in 1_u64..5000, order in order()) {
        let least = u64::from(ranks - 1) * flits;
        let ring = check_all_gather(AllGather { ranks }, flits, order);
        let bruck = check_all_gather(Gathering { ranks }, flits, order);
        if flits >= ranks.into() {
            prop_assert_eq!((ring.flits, bruck.flits), (least, least));
        }
        check_all_gather(Folded::new(ranks, Exchange::Gathered), flits, order);
    }

    #[test]
    fn roots_give_to_all_and_get_from_all(ranks in ranks(), root in 0_u32..128, flits in 1_u64..5000, order in order()) {
        let tree = Tree { ranks, root: root % ranks };
        let root = tree.root;
        let of_root = move |by| by == root;
        check(Broadcast(tree), flits, order, |rank, _, by| rank == root && by == root, |_, _| Some(Box::new(of_root)));
        let at_root = |rank, _| (rank == root).then(|| Box::new(|_| true) as Box<dyn Fn(u32) -> bool>);
        check(Reduction(tree), flits, order, |rank, _, by| by == rank, at_root);
    }

    #[test]
    fn exchanges_leave_each_the_blocks_for_it(
        ranks in ranks(),
        flits in 1_u64..5000,
        window in 1_u32..200,
        order in order(),
    ) {
        check_all_to_all(Pairwise { ranks }, flits, window, order);
        check_all_to_all(Bruck { ranks }, flits, 1, order);
    }

    #[test]
    fn after_a_barrier_each_has_heard_of_all(ranks in ranks(), order in order()) {
        let steps = InRounds::new(Dissemination { ranks }, 1, "bytes").unwrap();
        let mut rumours = Rumours((0..ranks).map(|rank| (0..ranks).map(|by| by == rank).collect()).collect());
        run(&steps, &mut rumours, order);
        prop_assert!(rumours.0.iter().flatten().all(|&known| known));
    }
}

#[test]
fn algorithms_differ_in_rounds_and_flits() {
    let shape = |algorithm: Folded| {
        let rounds = algorithm.rounds();
        (rounds, run(&InRounds::new(algorithm, 1600, "bytes").unwrap(), &mut Empty, Order::Eager).flits)
    };
    let all = [Exchange::Whole, Exchange::HalvesAndBack, Exchange::Halves, Exchange::Gathered];
    let of = |ranks| all.map(|exchange| shape(Folded::new(ranks, exchange)));
    // A rank sends the vector 4 times; 15/16 of it twice; once.
    assert_eq!(of(16), [(4, 16 * 4 * 1600), (8, 16 * 2 * 1500), (4, 16 * 1500), (4, 16 * 1500)]);
    // 4 surplus ranks send a vector, or a block of 80 flits, and get one.
    let folds = [4 * 2 * 1600, 4 * 2 * 1600, 4 * (1600 + 80), 4 * (80 + 1600)];
    let [(rounds, whole), (rounds_there_and_back, halves_and_back), (rounds_there, _), (rounds_back, _)] = of(20);
    assert_eq!([rounds, rounds_there_and_back, rounds_there, rounds_back], [6, 10, 6, 6]);
    assert_eq!(whole, 16 * 4 * 1600 + folds[0]);
    assert_eq!(halves_and_back, 16 * 2 * 1500 + folds[1]);
    // What is sent for a place with two ranks is twice as large, but each block makes the same way.
    assert_eq!(of(20)[2].1, 15 * 1600 + folds[2]);
    assert_eq!(of(20)[3].1, 15 * 1600 + folds[3]);
}

#[test]
fn a_block_of_an_exchange_is_told_by_both_its_ends() {
    assert_eq!(Carried::Run { first: 2, count: 1 }.of_exchange(5, 6), [(5, 2)]);
    // Ways of 2 and 3 ranks: rank 0 has its own block for rank 2, and that of rank 5 for rank 2.
    assert_eq!(Carried::Hops { at: 0, bit: 1 }.of_exchange(0, 6), [(0, 2), (5, 2)]);
}
