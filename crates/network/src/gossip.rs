//! What routers of a domain tell each other, as far as a region has to do with it.
//!
//! A notice takes as long as a link does. It reaches all other regions that simulate routers of the same domain by mail,
//! and is put on a board there at the same tick as here: so what a router reads does not depend on the partition.

use serde::{Deserialize, Serialize};
use tailback_engine::{Outbox, Tick};
use tailback_routing::{Board, Notice};
use tailback_topology::RouterId;

use crate::event::{Event, EventKind};
use crate::fabric::Fabric;
use crate::partition::Partition;
use crate::region::NetworkMail;

/// A notice on its way to a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Posting {
    class: u8,
    domain: u32,
    /// The place of the router that tells it, in its domain.
    place: u16,
    notice: Notice,
}

/// Where a router belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seat {
    domain: u32,
    place: u16,
}

/// What a region has to do with notices. Empty where agents tell each other nothing.
#[derive(Debug, Default)]
pub(crate) struct Gossip {
    /// How long a notice takes.
    delay: Tick,
    /// By router of the region.
    seats: Vec<Seat>,
    /// The domains that the region has routers of, in ascending order, each with the other regions that have some, too.
    domains: Vec<(u32, Vec<u32>)>,
    pub state: GossipState,
}

/// The part of it that changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct GossipState {
    /// By traffic class, then by domain of the region. One for all if nothing is told.
    boards: Vec<Board>,
    /// Notices on their way, by the payload of their event, and the payloads that are free.
    postings: Vec<Option<Posting>>,
    free: Vec<u32>,
    /// Set of routers at whose outputs something has changed since they looked.
    changed: Vec<u64>,
    /// Whether there is any.
    pub look_due: bool,
}

impl Gossip {
    /// What region `index` of `partition` has to do with it, which has `routers`.
    pub fn new(fabric: &Fabric, partition: &Partition, index: u32, routers: &[RouterId]) -> Self {
        let changed = vec![0; routers.len().div_ceil(64)];
        let state = GossipState { boards: vec![Board::default()], changed, ..GossipState::default() };
        let Some(link) = fabric.interests().notices else {
            return Self { state, ..Self::default() };
        };
        let topology = fabric.topology.as_ref();
        let (mut sizes, mut all_seats) = (vec![0; topology.domains() as usize], Vec::new());
        let mut regions: Vec<Vec<u32>> = vec![Vec::new(); topology.domains() as usize];
        for router in 0..topology.routers() {
            let domain = topology.domain(router);
            all_seats.push(Seat { domain, place: sizes[domain as usize] });
            sizes[domain as usize] += 1;
            regions[domain as usize].push(partition.region_of(router));
        }
        let seats: Vec<Seat> = routers.iter().map(|&router| all_seats[router as usize]).collect();
        let mut own: Vec<u32> = seats.iter().map(|seat| seat.domain).collect();
        own.sort_unstable();
        own.dedup();
        let others = |domain: u32| {
            let mut others = regions[domain as usize].clone();
            others.sort_unstable();
            others.dedup();
            others.retain(|&region| region != index);
            (domain, others)
        };
        let boards = (0..fabric.spec.classes.len())
            .flat_map(|_| own.iter().map(|&domain| Board::new(sizes[domain as usize].into())))
            .collect();
        let delay = fabric.spec.links[link.index()].latency.into();
        Self { delay, seats, domains: own.into_iter().map(others).collect(), state: GossipState { boards, ..state } }
    }

    /// The board that a router reads for a traffic class.
    #[inline]
    pub fn board(&self, class: u8, router: u32) -> &Board {
        match self.seats.get(router as usize) {
            Some(seat) => &self.state.boards[self.board_index(class, seat.domain)],
            None => &self.state.boards[0],
        }
    }

    fn board_index(&self, class: u8, domain: u32) -> usize {
        let own =
            self.domains.binary_search_by_key(&domain, |(domain, _)| *domain).expect("it is one of this region's");
        usize::from(class) * self.domains.len() + own
    }

    /// Something has changed at an output of a router.
    #[inline]
    pub fn note_change(&mut self, router: u32) {
        self.state.changed[router as usize / 64] |= 1 << (router % 64);
        self.state.look_due = true;
    }

    /// The routers that have not looked since something changed, which then have.
    pub fn take_changed(&mut self) -> Vec<u32> {
        self.state.look_due = false;
        let mut routers = Vec::new();
        for (word, changed) in self.state.changed.iter_mut().enumerate() {
            while *changed != 0 {
                routers.push(word as u32 * 64 + changed.trailing_zeros());
                *changed &= *changed - 1;
            }
        }
        routers
    }

    /// Sends what a router tells to all boards of its domain. Returns the event that puts it on the one of this region, and
    /// when.
    pub fn tell(
        &mut self,
        class: u8,
        router: u32,
        notice: Notice,
        now: Tick,
        outbox: &mut Outbox<NetworkMail>,
    ) -> (Tick, Event) {
        let tick = now + self.delay;
        let Seat { domain, place } = self.seats[router as usize];
        let posting = Posting { class, domain, place, notice };
        let (_, others) = self.domains.iter().find(|(own, _)| *own == domain).expect("it is one of this region's");
        for &region in others {
            outbox.mail(region, tick).postings.push((tick, posting.clone()));
        }
        (tick, self.expect(posting))
    }

    /// The event that puts a notice on its board.
    pub fn expect(&mut self, posting: Posting) -> Event {
        let slot = self.state.free.pop().unwrap_or_else(|| {
            self.state.postings.push(None);
            self.state.postings.len() as u32 - 1
        });
        self.state.postings[slot as usize] = Some(posting);
        Event::at_node(EventKind::Notice, 0, slot)
    }

    /// Puts a notice on its board.
    pub fn post(&mut self, slot: u32) {
        let posting = self.state.postings[slot as usize].take().expect("an event stands for a notice");
        self.state.free.push(slot);
        let board = self.board_index(posting.class, posting.domain);
        self.state.boards[board].post(posting.place.into(), posting.notice);
    }
}
