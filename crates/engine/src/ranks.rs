//! Which rank has which regions, and what ranks agree on.

use std::fmt;
use std::ops::Range;

use crate::exchange::{Exchange, ExchangeError, FIGURES, Notice};
use crate::{NEVER, Tick};

/// What is gathered is sent in pieces of so many bytes: some ways of sending count them with 31 bits.
const PIECE_BYTES: usize = 1 << 28;

/// The ranks of a simulation, as one of them sees them: each has a run of neighbouring regions.
pub struct Ranks {
    exchange: Box<dyn Exchange>,
    /// By region.
    owners: Vec<u32>,
    mine: Range<usize>,
    /// By rank: what is for it, or from it.
    pub(crate) letters: Vec<Vec<u8>>,
    notices: Vec<Notice>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranks").field("rank", &self.rank()).field("ranks", &self.ranks()).finish_non_exhaustive()
    }
}

impl Ranks {
    /// Deals out regions of which so much work is expected each.
    #[must_use]
    pub fn new(exchange: Box<dyn Exchange>, work: &[u64]) -> Self {
        let ranks = exchange.ranks();
        let notices = vec![Notice::default(); ranks];
        let mut ranks = Self { letters: vec![Vec::new(); ranks], exchange, owners: Vec::new(), mine: 0..0, notices };
        ranks.deal_anew(work);
        ranks
    }

    /// Deals out other regions in place of those before. All ranks have to do so.
    pub fn deal_anew(&mut self, work: &[u64]) {
        let shares = deal_out(work, self.ranks());
        self.owners = shares.iter().zip(0..).flat_map(|(share, rank)| share.clone().map(move |_| rank)).collect();
        self.mine = shares[self.rank()].clone();
    }

    /// The number of this rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.exchange.rank()
    }

    /// How many ranks there are.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.exchange.ranks()
    }

    /// Whether this is the rank that gathers, and tells what was found.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The regions of this rank.
    #[must_use]
    pub fn mine(&self) -> Range<usize> {
        self.mine.clone()
    }

    /// The rank that has a region.
    pub(crate) fn owner(&self, region: u32) -> usize {
        self.owners[region as usize] as usize
    }

    /// Swaps letters and notices.
    pub(crate) fn swap(&mut self, notice: Notice) -> Result<(), ExchangeError> {
        let rank = self.rank();
        self.notices[rank] = notice;
        self.exchange.swap(&mut self.letters, &mut self.notices)
    }

    /// When the first of all regions has something to do, by what all ranks have said last.
    #[must_use]
    pub fn next(&self) -> Tick {
        self.notices.iter().map(|notice| notice.next).min().unwrap_or(NEVER)
    }

    /// Whether a rank has asked all to stop.
    pub(crate) fn are_to_stop(&self) -> bool {
        self.notices.iter().any(|notice| notice.stop)
    }

    /// What all ranks have said last.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Tells all ranks some figures, and gives what they have told, by rank. All ranks have to call it.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn tell(&mut self, figures: [u64; FIGURES]) -> Result<Vec<[u64; FIGURES]>, ExchangeError> {
        self.swap(Notice { figures, ..Notice::default() })?;
        Ok(self.notices.iter().map(|notice| notice.figures).collect())
    }

    /// Gives the first rank what all ranks have, by rank, and the others nothing. All ranks have to call it.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn gather(&mut self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, ExchangeError> {
        self.gather_in_pieces(bytes, PIECE_BYTES)
    }

    fn gather_in_pieces(&mut self, bytes: Vec<u8>, piece: usize) -> Result<Vec<Vec<u8>>, ExchangeError> {
        let mut left: &[u8] = if self.is_first() { &[] } else { &bytes };
        let mut gathered = vec![Vec::new(); self.ranks()];
        loop {
            let (now, later) = left.split_at(left.len().min(piece));
            self.letters[0].clear();
            self.letters[0].extend_from_slice(now);
            left = later;
            let all = self.tell([left.len() as u64, 0, 0, 0])?;
            if self.is_first() {
                for (gathered, letter) in gathered.iter_mut().zip(&mut self.letters) {
                    gathered.append(letter);
                }
            }
            if all.iter().all(|figures| figures[0] == 0) {
                break;
            }
        }
        self.letters.iter_mut().for_each(Vec::clear);
        if self.is_first() {
            gathered[0] = bytes;
        }
        Ok(gathered)
    }
}

/// Deals out regions to ranks, in runs of neighbours of about equal work: gives those of each.
#[must_use]
pub fn deal_out(work: &[u64], ranks: usize) -> Vec<Range<usize>> {
    let weight = |region: usize| u128::from(work[region]) + 1;
    let total: u128 = (0..work.len()).map(weight).sum();
    let (mut before, mut ends) = (0, vec![0; ranks]);
    for region in 0..work.len() {
        // The rank in whose share the middle of this region lies.
        let owner = (2 * before + weight(region)) * ranks as u128 / (2 * total);
        ends[owner as usize] = region + 1;
        before += weight(region);
    }
    let mut start = 0;
    let share = |end: usize| {
        let share = start..end.max(start);
        start = share.end;
        share
    };
    ends.into_iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::InProcess;

    #[test]
    fn regions_are_dealt_out_in_runs_of_equal_work() {
        assert_eq!(deal_out(&[1, 1, 1, 1], 2), [0..2, 2..4]);
        assert_eq!(deal_out(&[90, 10, 10, 10, 10, 10, 10, 10, 10, 10], 2), [0..1, 1..10]);
        // More ranks than regions: some have none.
        assert_eq!(deal_out(&[5, 5], 4), [0..0, 0..1, 1..1, 1..2]);
        assert_eq!(deal_out(&[], 2), [0..0, 0..0]);
    }

    #[test]
    fn what_is_gathered_arrives_as_a_whole_however_it_is_cut() {
        let what = |rank: usize| (0..rank * 100).map(|byte| byte as u8).collect::<Vec<_>>();
        let gather = |exchange: InProcess| {
            let mut ranks = Ranks::new(Box::new(exchange), &[1; 3]);
            let rank = ranks.rank();
            (rank, ranks.gather_in_pieces(what(rank), 64).expect("all ranks are there"))
        };
        std::thread::scope(|scope| {
            let ranks: Vec<_> =
                InProcess::ranks(3).into_iter().map(|exchange| scope.spawn(move || gather(exchange))).collect();
            for rank in ranks {
                match rank.join().expect("it does not panic") {
                    (0, gathered) => assert_eq!(gathered, [what(0), what(1), what(2)]),
                    (_, gathered) => assert!(gathered.iter().all(Vec::is_empty)),
                }
            }
        });
    }

    #[test]
    fn a_rank_that_is_gone_is_noticed() {
        let mut exchanges = InProcess::ranks(2);
        drop(exchanges.pop());
        let mut ranks = Ranks::new(Box::new(exchanges.remove(0)), &[1, 1]);
        assert_eq!(ranks.tell([0; FIGURES]), Err(ExchangeError::Gone(1)));
    }
}
