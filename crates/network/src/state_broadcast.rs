//! What routers of a domain tell each other, as far as a region has to do with it.
//!
//! A notice takes as long as a link does. It reaches all other regions that simulate routers of the same domain by mail,
//! and is put on a board there at the same tick as here: so what a router reads does not depend on the partition.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tailback_engine::{Channel, Outbox, Tick};
use tailback_routing::{Board, Notice};
use tailback_topology::RouterId;

use crate::event::{ARRIVED, Event, EventKind};
use crate::fabric::Fabric;
use crate::partition::Partition;
use crate::region::{NetworkMail, OutOfBand};

/// A notice on its way to a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Posting {
    class: u8,
    domain: u32,
    /// The number of the router that tells it, in its domain.
    member: u16,
    notice: Notice,
}

/// Where a router belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Member {
    domain: u32,
    member: u16,
}

/// The domains of a network whose routers tell each other something: found once, for all regions.
pub(crate) struct Domains {
    /// How long a notice takes.
    delay: Tick,
    /// By router of the network.
    members: Vec<Member>,
    /// By domain: its routers, and the regions that have some of them, in ascending order.
    sizes: Vec<u16>,
    regions: Vec<BTreeSet<u32>>,
}

impl Domains {
    /// Those of a network dealt out by `partition`; none if nobody tells anybody anything.
    pub fn new(fabric: &Fabric, partition: &Partition) -> Option<Self> {
        let link = fabric.interests().notices?;
        let topology = fabric.topology.as_ref();
        let count = topology.domains() as usize;
        let (mut members, mut sizes, mut regions) = (Vec::new(), vec![0; count], vec![BTreeSet::new(); count]);
        for router in 0..topology.routers() {
            let domain = topology.domain(router);
            let size = &mut sizes[domain as usize];
            members.push(Member { domain, member: *size });
            *size += 1;
            regions[domain as usize].insert(partition.region_of(router));
        }
        Some(Self { delay: fabric.spec.links[link.index()].latency.into(), members, sizes, regions })
    }

    /// The channels that notices need between regions.
    pub fn channels(&self) -> Vec<Channel> {
        let delay = self.delay;
        let pairs = |regions: &BTreeSet<u32>| {
            let others = |from: u32| regions.iter().copied().filter(move |&to| to != from);
            let channels = |&from: &u32| others(from).map(move |to| Channel { from, to, delay });
            regions.iter().flat_map(channels).collect::<Vec<_>>()
        };
        self.regions.iter().flat_map(pairs).collect()
    }
}

/// What a region has to do with notices. Empty where agents tell each other nothing.
#[derive(Debug, Default)]
pub(crate) struct StateBroadcast {
    /// How long a notice takes.
    delay: Tick,
    /// By router of the region: where its domain is in `domains`, and its number in it.
    members: Vec<(u32, u16)>,
    /// The domains that the region has routers of, in ascending order, each with the other regions that have some, too, by
    /// where they stand among the receivers of this one.
    domains: Vec<(u32, Vec<u32>)>,
    /// By domain of the region: whether something new is on its boards since [`StateBroadcast::take_heard`].
    heard: Vec<bool>,
    pub state: BroadcastState,
}

/// The part of it that changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BroadcastState {
    /// By traffic class, then by domain of the region. One for all if nothing is told.
    boards: Vec<Board>,
    /// Notices on their way, by the payload of their event, and the payloads that are free.
    postings: Vec<Option<Posting>>,
    free: Vec<u32>,
    /// Set of routers at whose outputs something has changed since they looked.
    changed: Vec<u64>,
    /// Whether there is any.
    pub look_due: bool,
    /// Whether it is time for all agents to broadcast.
    pub broadcast_due: bool,
}

impl StateBroadcast {
    /// What region `index` has to do with it, which has `routers` and knows other regions by `receiver`.
    pub fn new(
        domains: Option<&Domains>,
        classes: usize,
        index: u32,
        receiver: &dyn Fn(u32) -> u32,
        routers: &[RouterId],
    ) -> Self {
        let changed = vec![0; routers.len().div_ceil(64)];
        let state = BroadcastState { boards: vec![Board::default()], changed, ..BroadcastState::default() };
        let Some(all) = domains else { return Self { state, ..Self::default() } };
        let members = || routers.iter().map(|&router| all.members[router as usize]);
        let own: BTreeSet<u32> = members().map(|member| member.domain).collect();
        let board = |domain: &u32| Board::new(all.sizes[*domain as usize].into());
        let boards = (0..classes).flat_map(|_| own.iter().map(board)).collect();
        let others = |domain: u32| all.regions[domain as usize].iter().copied().filter(|&region| region != index);
        let domains: Vec<_> = own.iter().map(|&domain| (domain, others(domain).map(receiver).collect())).collect();
        let members = members().map(|Member { domain, member }| (place(&domains, domain) as u32, member)).collect();
        let heard = vec![false; domains.len()];
        Self { delay: all.delay, members, domains, heard, state: BroadcastState { boards, ..state } }
    }

    /// The board that a router reads for a traffic class.
    #[inline]
    pub fn board(&self, class: u8, router: u32) -> &Board {
        match self.members.get(router as usize) {
            Some(&(place, _)) => &self.state.boards[self.board_index(class, place as usize)],
            None => &self.state.boards[0],
        }
    }

    /// Where the board is that the routers of a domain read for a traffic class.
    #[inline]
    fn board_index(&self, class: u8, place: usize) -> usize {
        usize::from(class) * self.domains.len() + place
    }

    /// Something has changed at an output of a router.
    #[inline]
    pub fn note_change(&mut self, router: u32) {
        self.state.changed[router as usize / 64] |= 1 << (router % 64);
        self.state.look_due = true;
    }

    /// A router that has not looked since something changed, which then has; none if all have.
    pub fn next_changed(&mut self) -> Option<u32> {
        let word = self.state.changed.iter().position(|&changed| changed != 0);
        self.state.look_due = word.is_some();
        let word = word?;
        let changed = &mut self.state.changed[word];
        let router = word as u32 * 64 + changed.trailing_zeros();
        *changed &= *changed - 1;
        Some(router)
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
        let (place, member) = self.members[router as usize];
        let (domain, others) = &self.domains[place as usize];
        let posting = Posting { class, domain: *domain, member, notice };
        for &receiver in others {
            outbox.mail(receiver, tick).out_of_band.push((tick, OutOfBand::Notice(posting.clone())));
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
        Event::at(EventKind::Notice, ARRIVED, slot)
    }

    /// Puts a notice on its board.
    pub fn post(&mut self, slot: u32) {
        let posting = self.state.postings[slot as usize].take().expect("an event stands for a notice");
        self.state.free.push(slot);
        let place = place(&self.domains, posting.domain);
        let board = self.board_index(posting.class, place);
        self.state.boards[board].post(posting.member.into(), posting.notice);
        self.heard[place] = true;
    }

    /// The routers of the region on whose boards something new is since this was called last.
    pub fn take_heard(&mut self) -> Vec<u32> {
        let heard = |&(_, &(place, _)): &(u32, &(u32, u16))| self.heard[place as usize];
        let routers = (0..).zip(&self.members).filter(heard).map(|(router, _)| router).collect();
        self.heard.fill(false);
        routers
    }
}

/// Where a domain is among those of a region.
fn place(domains: &[(u32, Vec<u32>)], domain: u32) -> usize {
    domains.binary_search_by_key(&domain, |(domain, _)| *domain).expect("it is one of this region's")
}
