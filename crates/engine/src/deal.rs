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
    /// By thread: where its regions end.
    ends: Vec<usize>,
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
        // A region that has done nothing is some work to look at.
        let weight = |region: usize| u128::from(work[region]) + 1;
        let total: u128 = (0..work.len()).map(weight).sum();
        let mut before = 0;
        self.ends = vec![0; members];
        for region in 0..work.len() {
            // The thread in whose share the middle of this region lies.
            let thread = ((2 * before + weight(region)) * members as u128 / (2 * total)) as usize;
            self.ends[thread] = region + 1;
            before += weight(region);
        }
        for thread in 1..members {
            self.ends[thread] = self.ends[thread].max(self.ends[thread - 1]);
        }
        self.order = (0..work.len() as u32).collect();
        self.members = members;
        self.batches_left = BATCHES;
        for thread in 0..members {
            // Heavy ones first, as what is begun last should be short; neighbours of about the same weight stay together.
            let range = self.range(thread);
            self.order[range].sort_by_key(|&region| Reverse(weight(region as usize).ilog2()));
        }
    }

    fn range(&self, thread: usize) -> Range<usize> {
        let start = if thread == 0 { 0 } else { self.ends[thread - 1] };
        start..self.ends[thread]
    }

    /// The regions of a thread, those first that should be begun first.
    pub fn regions(&self, thread: usize) -> &[u32] {
        &self.order[self.range(thread)]
    }
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
}
