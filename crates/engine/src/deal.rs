//! Which thread has which regions.

use std::cmp::Reverse;
use std::ops::Range;

/// How often regions are dealt out anew, in batches of windows.
const BATCHES: u32 = 32;

/// A deal of regions to threads: runs of neighbours of about equal work. It cannot change results.
#[derive(Debug, Default)]
pub(crate) struct Deal {
    members: usize,
    batches_left: u32,
    /// Regions, by thread.
    order: Vec<u32>,
    /// By thread: where its regions are in that order.
    shares: Vec<Range<usize>>,
}

impl Deal {
    /// Whether regions should be dealt out anew, as so many threads come for the next batch.
    pub fn is_over(&mut self, members: usize) -> bool {
        let over = self.members != members || self.batches_left == 0;
        self.batches_left = self.batches_left.saturating_sub(1);
        over
    }

    /// Deals out regions by the work that each has been.
    pub fn renew(&mut self, members: usize, work: &[u64]) {
        self.order = (0..work.len() as u32).collect();
        self.shares = deal_out(work, members);
        self.members = members;
        self.batches_left = BATCHES;
        for share in &self.shares {
            // Heavy ones first, as what is begun last should be short; neighbours of about the same weight stay together.
            self.order[share.clone()].sort_by_key(|&region| Reverse(weight(work[region as usize]).ilog2()));
        }
    }

    /// The regions of a thread, those first that should be begun first.
    pub fn regions(&self, thread: usize) -> &[u32] {
        &self.order[self.shares[thread].clone()]
    }
}

/// Deals out regions to threads or ranks, in runs of neighbours of about equal work: gives those of each.
#[must_use]
pub fn deal_out(work: &[u64], members: usize) -> Vec<Range<usize>> {
    let total: u128 = work.iter().copied().map(weight).sum();
    let (mut before, mut ends) = (0, vec![0; members]);
    for (region, &work) in work.iter().enumerate() {
        // The one in whose share the middle of this region lies.
        let owner = (2 * before + weight(work)) * members as u128 / (2 * total);
        ends[owner as usize] = region + 1;
        before += weight(work);
    }
    let mut start = 0;
    let share = |end: usize| {
        let share = start..end.max(start);
        start = share.end;
        share
    };
    ends.into_iter().map(share).collect()
}

/// A region that has done nothing is some work to look at.
fn weight(work: u64) -> u128 {
    u128::from(work) + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each region has one thread, regions of a thread are neighbours, and no thread has more than its share but for
        /// the region at each end.
        #[test]
        fn regions_are_dealt_out_evenly(work in prop::collection::vec(0u64..1000, 1..60), members in 1usize..9) {
            let mut deal = Deal::default();
            prop_assert!(deal.is_over(members));
            deal.renew(members, &work);
            let share = work.iter().map(|&work| work + 1).sum::<u64>() / members as u64;
            let heaviest = 1 + work.iter().max().unwrap();
            let mut next = 0;
            for thread in 0..members {
                let mut regions = deal.regions(thread).to_vec();
                let weight: u64 = regions.iter().map(|&region| work[region as usize] + 1).sum();
                prop_assert!(weight <= share + heaviest + 1);
                regions.sort_unstable();
                for region in regions {
                    prop_assert_eq!(region, next);
                    next += 1;
                }
            }
            prop_assert_eq!(next as usize, work.len());
        }
    }

    #[test]
    fn regions_are_dealt_out_in_runs_of_equal_work() {
        assert_eq!(deal_out(&[1, 1, 1, 1], 2), [0..2, 2..4]);
        assert_eq!(deal_out(&[90, 10, 10, 10, 10, 10, 10, 10, 10, 10], 2), [0..1, 1..10]);
        // More ranks than regions: some have none.
        assert_eq!(deal_out(&[5, 5], 4), [0..0, 0..1, 1..1, 1..2]);
        assert_eq!(deal_out(&[], 2), [0..0, 0..0]);
    }
}
