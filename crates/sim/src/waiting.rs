//! Who waits for whom in programs that are not done.

use serde::{Deserialize, Serialize};
use tailback_workload::{Want, Workload};

/// A rank that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// The place of its program's messages among the flows.
    pub program: u16,
    pub rank: u32,
    /// What it waits for: at least one thing.
    pub wants: Vec<Want>,
}

/// The most ranks that a sentence names.
const NAMED_MAX: usize = 4;

/// A sentence for each program of which some rank waits, `for_ever` if nothing goes on any more. The ranks are in order.
pub(crate) fn describe(waiting: &[Waiting], workload: &Workload, for_ever: bool) -> Vec<String> {
    let of_one_program = waiting.chunk_by(|one, other| one.program == other.program);
    let sentence = |ranks: &[Waiting]| {
        let name = &workload.flows[usize::from(ranks[0].program)].name;
        let (what, chain) = if for_ever { (" never ends", chain(ranks)) } else { ("", first_want(&ranks[0]).0) };
        format!("program `{name}`{what}: {chain}")
    };
    of_one_program.map(sentence).collect()
}

/// What a rank waits for: of several things the first that another has to do; and that other.
fn first_want(waiting: &Waiting) -> (String, Option<u32>) {
    let want = waiting.wants.iter().find(|want| want.of.is_some()).unwrap_or(&waiting.wants[0]);
    (waits_for(waiting, want), want.of)
}

/// The same where it tells why nothing goes on: what no single rank has to do comes first. What others have to do may well follow it,
/// as of a rank whose time to compute is longer than any run. Its own time comes last of those.
fn last_cause(waiting: &Waiting) -> (String, Option<u32>) {
    let own = waiting.wants.iter().rfind(|want| want.of.is_none());
    own.map_or_else(|| first_want(waiting), |want| (waits_for(waiting, want), None))
}

fn waits_for(waiting: &Waiting, want: &Want) -> String {
    format!("rank {} waits for {}", waiting.rank, want.what)
}

/// From the first rank that waits to the one that it waits for, and so on, where nothing is under way any more.
fn chain(ranks: &[Waiting]) -> String {
    let mut sentence = String::new();
    let mut seen: Vec<u32> = Vec::new();
    let mut next = Some(ranks[0].rank);
    while let Some(rank) = next {
        if seen.contains(&rank) {
            return format!("{sentence}, rank {rank} waits already: they wait in a circle");
        }
        let Ok(place) = ranks.binary_search_by_key(&rank, |waiting| waiting.rank) else {
            return format!("{sentence}, rank {rank} is done");
        };
        if seen.len() == NAMED_MAX {
            return sentence + ", and so on";
        }
        seen.push(rank);
        sentence += if seen.len() > 1 { ", " } else { "" };
        let (waits, of) = last_cause(&ranks[place]);
        sentence += &waits;
        next = of;
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(rank: u32, of: Option<u32>) -> Waiting {
        let what = of.map_or("its own computing".to_owned(), |of| format!("a message with tag 7 from rank {of}"));
        Waiting { program: 0, rank, wants: vec![Want { of, what }] }
    }

    #[test]
    fn circles_and_ends_are_named() {
        let circle = [waits(0, Some(2)), waits(2, Some(0))];
        let expected = "rank 0 waits for a message with tag 7 from rank 2, rank 2 waits for a message with tag 7 from rank 0, \
                        rank 0 waits already: they wait in a circle";
        assert_eq!(chain(&circle), expected);
        let done = "rank 0 waits for a message with tag 7 from rank 1, rank 1 is done";
        assert_eq!(chain(&[waits(0, Some(1))]), done);
        assert_eq!(chain(&[waits(3, None)]), "rank 3 waits for its own computing");
        let long: Vec<Waiting> = (0..9).map(|rank| waits(rank, Some(rank + 1))).collect();
        assert!(chain(&long).ends_with("rank 3 waits for a message with tag 7 from rank 4, and so on"));
    }

    /// As in a halo exchange whose ranks compute for longer than any run: they have told each other nothing yet.
    #[test]
    fn ranks_that_compute_are_in_no_circle() {
        let also_computes = |rank, of| {
            let mut waiting = waits(rank, Some(of));
            waiting.wants.extend(waits(rank, None).wants);
            waiting
        };
        assert_eq!(chain(&[also_computes(0, 1), also_computes(1, 0)]), "rank 0 waits for its own computing");
        let behind = "rank 0 waits for a message with tag 7 from rank 1, rank 1 waits for its own computing";
        assert_eq!(chain(&[waits(0, Some(1)), also_computes(1, 0)]), behind);
    }
}
