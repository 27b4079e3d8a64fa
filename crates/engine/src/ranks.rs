//! Which rank has which regions, and what ranks agree on.

use std::fmt;
use std::ops::Range;

use crate::deal::deal_out;
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
    #[must_use]
    pub fn owner(&self, region: u32) -> usize {
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

    /// Gives each rank what the others have for it, by rank; what is for this one stays. All ranks have to call it.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn post(&mut self, mut letters: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, ExchangeError> {
        std::mem::swap(&mut self.letters, &mut letters);
        self.swap(Notice::default())?;
        std::mem::swap(&mut self.letters, &mut letters);
        Ok(letters)
    }

    /// Shows `take`, on the first rank, what all ranks have, one after the other: with which rank has it. All ranks have to
    /// call it.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn gather(&mut self, bytes: Vec<u8>, mut take: impl FnMut(usize, Vec<u8>)) -> Result<(), ExchangeError> {
        let mut gathered = (0, Vec::new());
        let mut own = Some(bytes);
        self.show_first(|| Ok::<_, ExchangeError>(own.take()), &mut |rank, piece| {
            if rank != gathered.0 {
                take(gathered.0, std::mem::take(&mut gathered.1));
                gathered.0 = rank;
            }
            gathered.1.extend_from_slice(piece);
        })?;
        if self.is_first() {
            take(gathered.0, gathered.1);
        }
        Ok(())
    }

    /// Shows `take`, on the first rank, all that `next` gives on each, one rank after the other, in pieces. A rank makes its
    /// next one while the first rank looks at the one before. All ranks have to call it.
    ///
    /// # Errors
    /// When a rank is gone, or `next` fails: the other ranks then wait for this one.
    pub fn show_first<E: From<ExchangeError>>(
        &mut self,
        next: impl FnMut() -> Result<Option<Vec<u8>>, E>,
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), E> {
        self.show_first_in_pieces(next, take, PIECE_BYTES)
    }

    fn show_first_in_pieces<E: From<ExchangeError>>(
        &mut self,
        mut next: impl FnMut() -> Result<Option<Vec<u8>>, E>,
        take: &mut dyn FnMut(usize, &[u8]),
        piece: usize,
    ) -> Result<(), E> {
        let own = self.rank();
        if own == 0 {
            while let Some(bytes) = next()? {
                take(0, &bytes);
            }
        }
        let mut left = if own == 0 { None } else { next()? };
        for rank in 1..self.ranks() {
            loop {
                self.letters.iter_mut().for_each(Vec::clear);
                if rank == own
                    && let Some(mut now) = left.take()
                {
                    let later = now.split_off(now.len().min(piece));
                    self.letters[0] = now;
                    left = if later.is_empty() { next()? } else { Some(later) };
                }
                let more = rank == own && left.is_some();
                let told = self.tell([more.into(), 0, 0, 0])?;
                if own == 0 {
                    take(rank, &self.letters[rank]);
                }
                if told[rank][0] == 0 {
                    break;
                }
            }
        }
        self.letters.iter_mut().for_each(|letter| *letter = Vec::new());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::InProcess;

    #[test]
    fn what_is_gathered_arrives_as_a_whole_however_it_is_cut() {
        let what = |rank: usize| (0..rank * 100).map(|byte| byte as u8).collect::<Vec<_>>();
        let gather = |exchange: InProcess| {
            let mut ranks = Ranks::new(Box::new(exchange), &[1; 3]);
            let mut own = vec![what(ranks.rank()), what(5)].into_iter();
            let mut gathered = vec![Vec::new(); 3];
            let mut take = |rank: usize, piece: &[u8]| gathered[rank].extend_from_slice(piece);
            let next = || Ok::<_, ExchangeError>(own.next());
            ranks.show_first_in_pieces(next, &mut take, 64).expect("all ranks are there");
            let mut whole = Vec::new();
            let own = what(ranks.rank());
            ranks.gather(own, |rank, bytes| whole.push((rank, bytes))).expect("all ranks are there");
            (ranks.rank(), gathered, whole)
        };
        std::thread::scope(|scope| {
            let ranks: Vec<_> =
                InProcess::ranks(3).into_iter().map(|exchange| scope.spawn(move || gather(exchange))).collect();
            for rank in ranks {
                let (rank, gathered, whole) = rank.join().expect("it does not panic");
                if rank == 0 {
                    assert_eq!(gathered, [0, 1, 2].map(|rank| [what(rank), what(5)].concat()));
                    assert_eq!(whole, [(0, what(0)), (1, what(1)), (2, what(2))]);
                } else {
                    assert!(gathered.iter().all(Vec::is_empty) && whole.is_empty());
                }
            }
        });
    }

    #[test]
    fn each_rank_gets_what_is_for_it() {
        let letter = |from: usize, to: usize| vec![from as u8; to + 1];
        let post = |exchange: InProcess| {
            let mut ranks = Ranks::new(Box::new(exchange), &[1; 3]);
            let own = ranks.rank();
            let got = ranks.post((0..3).map(|to| letter(own, to)).collect()).expect("all ranks are there");
            assert_eq!(got, (0..3).map(|from| letter(from, own)).collect::<Vec<_>>());
        };
        std::thread::scope(|scope| {
            InProcess::ranks(3).into_iter().for_each(|exchange| drop(scope.spawn(move || post(exchange))));
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
