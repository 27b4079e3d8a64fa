//! How routers are dealt out to regions.

use tailback_topology::{RouterId, Topology};

/// A deal of the routers of a network to regions. It cannot change results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    region_of: Vec<u32>,
    regions: u32,
}

impl Partition {
    /// All routers in one region.
    #[must_use]
    pub fn single(topology: &dyn Topology) -> Self {
        Self { region_of: vec![0; topology.routers() as usize], regions: 1 }
    }

    /// A region for each domain of the topology, but at most `regions_max`: then runs of domains share one.
    #[must_use]
    pub fn by_domain(topology: &dyn Topology, regions_max: u32) -> Self {
        let domains = topology.domains();
        let regions = domains.min(regions_max.max(1));
        let region = |router| (u64::from(topology.domain(router)) * u64::from(regions) / u64::from(domains)) as u32;
        Self { region_of: (0..topology.routers()).map(region).collect(), regions }
    }

    /// A region for each router.
    #[must_use]
    pub fn by_router(topology: &dyn Topology) -> Self {
        Self { region_of: (0..topology.routers()).collect(), regions: topology.routers() }
    }

    /// Any deal: the region of each router. Regions are numbered anew in order of their first router.
    #[must_use]
    pub fn custom(region_of: &[u32]) -> Self {
        let mut numbers = std::collections::BTreeMap::new();
        let mut regions = 0;
        let renumber = |&region: &u32| {
            *numbers.entry(region).or_insert_with(|| {
                regions += 1;
                regions - 1
            })
        };
        let region_of = region_of.iter().map(renumber).collect();
        Self { region_of, regions }
    }

    /// How many regions there are.
    #[must_use]
    pub fn regions(&self) -> u32 {
        self.regions
    }

    /// The region of a router.
    #[must_use]
    pub fn region_of(&self, router: RouterId) -> u32 {
        self.region_of[router as usize]
    }

    /// How many routers are dealt out.
    #[must_use]
    pub fn routers(&self) -> u32 {
        self.region_of.len() as u32
    }
}
