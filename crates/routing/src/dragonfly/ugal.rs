//! UGAL-L: at its source router a packet compares the minimal path with one random non-minimal path by what this router
//! knows of the two queues, each weighted with the length of its path (Singh; Kim et al.).

use std::sync::Arc;

use tailback_parameters::{Parameter, Values};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, RouterId, Topology};

use super::local_routes::LocalRoutes;
use super::nonminimal::{self, Candidate, NonminimalPaths, START, Undecided, straight_on};
use super::occupancy::{self, Occupancy};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, Causes, ChannelKind, Header, PortVc, Routing, Step, View};

/// The parameters of all UGALs.
pub(super) const PARAMETERS: &[Parameter] = &[
    occupancy::threshold("0"),
    occupancy::parameter("\"channel\""),
    nonminimal::PARAMETERS[0],
    nonminimal::PARAMETERS[1],
    nonminimal::PARAMETERS[2],
];

/// The entry in the list of algorithms.
pub(crate) const UGAL_LOCAL: RoutingModel = RoutingModel {
    name: "ugal-l",
    topology: "dragonfly",
    summary: "UGAL-L: minimal or through a random router, whichever promises the shorter wait at the source router",
    parameters: PARAMETERS,
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&UGAL_LOCAL, topology)) };
        Ok(Arc::new(UgalLocal { paths: NonminimalPaths::build(topology, values)?, rule: Rule::build(values) }))
    },
};

/// How the two paths are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) threshold: u32,
    pub(super) occupancy: Occupancy,
}

impl Rule {
    /// As [`PARAMETERS`] say.
    pub(super) fn build(values: &Values) -> Self {
        Self { threshold: values.integer("threshold"), occupancy: Occupancy::build(values) }
    }

    /// How it is called.
    pub(super) fn describe(self) -> String {
        format!("on the occupancy of the {}, threshold {} flits", self.occupancy.describe(), self.threshold)
    }
}

/// The queues of the paths of a packet, as an agent knows them.
pub(super) trait Queues {
    /// The length of the queue of a path.
    fn length(&self, candidate: &Candidate) -> u32;

    /// What tells of the queue of the minimal path.
    fn cause(&self, minimal: &Candidate) -> Causes;
}

/// What agents of all UGALs decide by at their router.
pub(super) struct UgalState {
    pub(super) routes: LocalRoutes,
    pub(super) paths: NonminimalPaths,
    pub(super) rule: Rule,
}

impl UgalState {
    pub(super) fn new(router: RouterId, paths: &NonminimalPaths, rule: Rule) -> Self {
        Self { routes: paths.tables.routes(router), paths: paths.clone(), rule }
    }

    /// Where a packet goes next.
    pub(super) fn route(&self, entry: PortVc, header: Header, queues: &impl Queues, random: &mut Stream) -> Step {
        if header.leg == START {
            return self.decide(entry, header, queues, random);
        }
        self.paths.follow(&self.routes, entry, header, random)
    }

    /// As [`Agent::ejects`].
    pub(super) fn ejects(&self, header: &Header) -> bool {
        self.routes.is_last(header) && (header.leg == START || self.paths.ejects(&self.routes, header))
    }

    /// The step by which a packet leaves its source router: that whose queue has decided it.
    fn decide(&self, entry: PortVc, header: Header, queues: &impl Queues, random: &mut Stream) -> Step {
        if self.routes.is_last(&header) {
            return self.paths.follow(&self.routes, entry, straight_on(header), random);
        }
        let via = self.paths.choice.draw(&self.routes, entry, &header, random);
        let packet = Undecided { routes: &self.routes, entry, header, via };
        let minimal = self.paths.minimal(&packet, random);
        let length = |candidate: &Candidate| queues.length(candidate);
        match self.paths.other_if_worth_it(&packet, &minimal, self.rule.threshold, length, random) {
            Some(other) => other.because(queues.cause(&minimal)).step,
            None => minimal.step,
        }
    }
}

#[derive(Debug)]
struct UgalLocal {
    paths: NonminimalPaths,
    rule: Rule,
}

impl Routing for UgalLocal {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.paths.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.paths.tables.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(UgalLocalAgent(UgalState::new(router, &self.paths, self.rule)))
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.paths.moves()
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        // Minimal paths are among the non-minimal ones: by way of where the packet already is.
        self.paths.possible(router, entry, header, steps);
    }

    fn describe(&self) -> String {
        format!("UGAL-L {}, by {}", self.rule.describe(), self.paths.describe())
    }
}

struct UgalLocalAgent(UgalState);

/// Those of this router.
struct OwnQueues<'a> {
    view: &'a dyn View,
    occupancy: Occupancy,
}

impl Queues for OwnQueues<'_> {
    fn length(&self, candidate: &Candidate) -> u32 {
        self.occupancy.of(self.view, &candidate.step)
    }

    fn cause(&self, _minimal: &Candidate) -> Causes {
        Causes::QUEUES
    }
}

impl Agent for UgalLocalAgent {
    fn route(&mut self, entry: PortVc, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        let queues = OwnQueues { view, occupancy: self.0.rule.occupancy };
        self.0.route(entry, *header, &queues, random)
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        self.0.ejects(header)
    }
}
