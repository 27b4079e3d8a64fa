//! How many connections there may be, or bytes of answers, or files that are sent: all together, and from one place.
//!
//! **The invariant it keeps:** a connection is counted from when it is accepted until it is closed, and once only.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::api_error::ApiError;

/// Where a peer is, as far as it matters: one who has an IPv6 address has all of its network of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin(IpAddr);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address => address,
        })
    }
}

/// What there may be.
#[derive(Debug)]
pub(crate) struct Places {
    max: u32,
    per_peer_max: u32,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: u32,
    by_origin: HashMap<Origin, u32>,
}

/// One of them, or several, given back when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    count: u32,
    origin: Origin,
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// There are as many as there may be.
    All,
    /// There are as many from one peer as there may be.
    OfPeer,
}

impl Places {
    /// So many, and so many of one peer, but no more than leaves a quarter to others.
    pub(crate) fn new(max: u32, per_peer_max: u32) -> Arc<Self> {
        let per_peer_max = per_peer_max.min((max - max / 4).max(1));
        Arc::new(Self { max, per_peer_max, taken: Mutex::default() })
    }

    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Result<Place, NoPlace> {
        self.take_many(address, 1)
    }

    /// So many of them, or none.
    pub(crate) fn take_many(self: &Arc<Self>, address: IpAddr, count: u32) -> Result<Place, NoPlace> {
        let origin = Origin::from(address);
        let mut taken = self.taken();
        let all = taken.all.saturating_add(count);
        if all > self.max {
            return Err(NoPlace::All);
        }
        let of_peer = taken.by_origin.get(&origin).copied().unwrap_or(0).saturating_add(count);
        if of_peer > self.per_peer_max {
            return Err(NoPlace::OfPeer);
        }
        taken.by_origin.insert(origin, of_peer);
        taken.all = all;
        Ok(Place { places: self.clone(), count, origin })
    }

    /// What is said where there is none: what there is too much of, of all or of one peer, and how many there may be.
    pub(crate) fn refusal(&self, why: NoPlace, [of_all, of_peer]: [&'static str; 2], limit: &'static str) -> ApiError {
        let (what, allowed) = match why {
            NoPlace::All => (of_all, self.max),
            NoPlace::OfPeer => (of_peer, self.per_peer_max),
        };
        ApiError::TooManyStreams { what, limit, allowed: allowed.into() }
    }

    /// How many are taken.
    pub(crate) fn count(&self) -> u32 {
        self.taken().all
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all -= self.count;
        if let Some(of_peer) = taken.by_origin.get_mut(&self.origin) {
            *of_peer -= self.count;
            if *of_peer == 0 {
                taken.by_origin.remove(&self.origin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn one_peer_does_not_take_them_all() {
        let places = Places::new(3, 2);
        let [first, second, other] = ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"].map(|text| places.take(address(text)));
        assert!(first.is_ok() && second.is_ok() && other.is_ok());
        assert_eq!(places.take(address("10.0.0.3")).err(), Some(NoPlace::All));
        drop(other);
        assert_eq!(places.take(address("10.0.0.1")).err(), Some(NoPlace::OfPeer));
        drop(first);
        let again = places.take(address("10.0.0.1"));
        assert!(again.is_ok());
        drop((second, again));
        assert_eq!(places.count(), 0);
        assert!(places.taken().by_origin.is_empty(), "who has gone costs nothing");
    }

    #[test]
    fn where_there_are_few_one_peer_leaves_a_quarter_of_them() {
        let places = Places::new(64, 512);
        let taken: Vec<_> = (0..64).filter_map(|_| places.take(address("10.0.0.1")).ok()).collect();
        assert_eq!(taken.len(), 48);
        let why = places.take(address("10.0.0.1")).expect_err("the others are left");
        let said = |why| places.refusal(why, ["places", "places of one"], "places_max").to_string();
        assert_eq!(why, NoPlace::OfPeer);
        assert!(said(why).contains("48 places of one") && said(NoPlace::All).contains("64 places"), "{}", said(why));
        assert!(places.take(address("10.0.0.2")).is_ok());
        assert!(Places::new(1, 512).take(address("10.0.0.1")).is_ok());
    }

    #[test]
    fn several_are_taken_at_once_or_none() {
        let places = Places::new(100, 100);
        let one = places.take_many(address("10.0.0.1"), 60).expect("they are free");
        assert_eq!(places.take_many(address("10.0.0.1"), 16).err(), Some(NoPlace::OfPeer));
        assert_eq!(places.take_many(address("10.0.0.2"), 41).err(), Some(NoPlace::All));
        let other = places.take_many(address("10.0.0.2"), 40).expect("they are free");
        drop((one, other));
        assert_eq!(places.count(), 0);
    }

    #[test]
    fn neighbours_in_a_network_of_64_bits_are_one_peer() {
        assert_eq!(Origin::from(address("2001:db8::1")), Origin::from(address("2001:db8::ffff:2")));
        assert_ne!(Origin::from(address("2001:db8::1")), Origin::from(address("2001:db8:0:1::1")));
        assert_ne!(Origin::from(address("10.0.0.1")), Origin::from(address("10.0.0.2")));
    }
}
