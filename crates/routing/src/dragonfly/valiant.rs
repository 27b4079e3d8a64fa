//! Valiant routing: every packet goes minimally to a random intermediate router, then minimally to its destination.

use std::sync::Arc;

use tailback_random::Stream;
use tailback_topology::{AnyTopology, RouterId, Topology};

use super::local_routes::LocalRoutes;
use super::nonminimal::{NonminimalPaths, PARAMETERS, START};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, Causes, ChannelKind, Header, PortVc, Routing, Step, View};

/// The entry in the list of algorithms.
pub(crate) const VALIANT: RoutingModel = RoutingModel {
    name: "valiant",
    topology: "dragonfly",
    summary: "VAL: always through a random group, router or node",
    parameters: &PARAMETERS,
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&VALIANT, topology)) };
        Ok(Arc::new(Valiant { paths: NonminimalPaths::build(topology, values)? }))
    },
};

#[derive(Debug)]
struct Valiant {
    paths: NonminimalPaths,
}

impl Routing for Valiant {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.paths.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.paths.tables.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(ValiantAgent { routes: self.paths.tables.routes(router), paths: self.paths.clone() })
    }

    fn is_oblivious(&self) -> bool {
        true
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.paths.moves()
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        self.paths.possible(router, entry, header, steps);
    }

    fn describe(&self) -> String {
        format!("Valiant, by {}", self.paths.describe())
    }
}

struct ValiantAgent {
    routes: LocalRoutes,
    paths: NonminimalPaths,
}

impl Agent for ValiantAgent {
    fn route(&mut self, entry: PortVc, header: &Header, _view: &dyn View, random: &mut Stream) -> Step {
        let mut header = *header;
        if header.leg == START {
            let via = self.paths.choice.draw(&self.routes, entry, &header, random);
            header = self.paths.set_out(header, via, Causes::DRAWN);
        }
        self.paths.follow(&self.routes, entry, header, random)
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        self.paths.ejects(&self.routes, header)
    }
}
