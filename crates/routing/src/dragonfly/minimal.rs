//! Minimal routing: to the destination's group by at most one local and one global link, then to its router
//! by at most one local link.

use std::sync::Arc;

use tailback_parameters::{BuildError, Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, Port, RouterId, Topology};

use super::local_routes::{LocalRoutes, RouteTables};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, Hop, PortVc, Routing, Step, VcSequence, View};

const PATHS: &[&str] = &["l", "l?gl?"];

/// The order of channels, unless something else is said, as in a file.
const CHANNELS: &str = "\"l0 g0 l1\"";

/// The entry in the list of algorithms.
pub(crate) const MINIMAL: RoutingModel = RoutingModel {
    name: "minimal",
    topology: "dragonfly",
    summary: "MIN: the one path with at most one global link",
    parameters: &[Parameter {
        name: "vcs",
        kind: Kind::Text,
        default: Some(CHANNELS),
        help: "the order in which packets use virtual channels of local (l) and global (g) links",
    }],
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&MINIMAL, topology)) };
        let sequence = VcSequence::parse(values.text("vcs"), PATHS)
            .map_err(|error| BuildError::at("vcs", error.to_string()).help("the default is `l0 g0 l1`"))?;
        Ok(Arc::new(Minimal::new(Arc::clone(topology), sequence)))
    },
};

/// Minimal routing.
#[derive(Debug)]
pub struct Minimal {
    tables: Arc<RouteTables>,
}

impl Minimal {
    /// On `topology`, with channels in the order of `sequence`.
    #[must_use]
    pub fn new(topology: Arc<Dragonfly>, sequence: VcSequence) -> Self {
        Self { tables: Arc::new(RouteTables::new(topology, sequence)) }
    }

    /// On `topology`, with the channels that are the default.
    #[must_use]
    pub fn with_default_channels(topology: Arc<Dragonfly>) -> Self {
        let sequence = VcSequence::parse(CHANNELS.trim_matches('"'), PATHS).expect("the default suits all paths");
        Self::new(topology, sequence)
    }
}

impl Routing for Minimal {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.tables.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.tables.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        Box::new(MinimalAgent { routes: self.tables.routes(router) })
    }

    fn is_oblivious(&self) -> bool {
        true
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.tables.sequence.moves(PATHS)
    }

    fn possible(&self, router: RouterId, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let routes = self.tables.routes(router);
        for header in self.tables.headers(header) {
            routes.minimal_steps(entry, header, steps);
        }
    }

    fn describe(&self) -> String {
        format!("minimal, virtual channels {}", self.tables.sequence)
    }
}

struct MinimalAgent {
    routes: LocalRoutes,
}

impl Agent for MinimalAgent {
    #[inline(always)]
    fn route(&mut self, entry: PortVc, header: &Header, _view: &dyn View, random: &mut Stream) -> Step {
        self.routes.minimal_step(entry, *header, random)
    }

    fn ejects(&self, _entry: PortVc, header: &Header) -> bool {
        self.routes.is_last(header)
    }

    fn only_port(&self, _entry: PortVc, header: &Header) -> Option<Port> {
        let (group, in_group, port) = Dragonfly::locate(header.destination());
        match self.routes.all_towards(group, in_group)[..] {
            [] => Some(port),
            [_, _, ..] if header.entropy != 0 => Some(self.routes.named_towards_group(group, header.entropy).1),
            [(_, port)] => Some(port),
            _ => None,
        }
    }
}

impl LocalRoutes {
    /// The next step of a minimal path to the destination. Of several links to its group the packet takes the one that its entropy
    /// value names, if its protocol gives it one: what has been reserved there is for packets of that value.
    // A call would cost a seventh of what it does.
    #[inline(always)]
    pub(super) fn minimal_step(&self, entry: PortVc, header: Header, random: &mut Stream) -> Step {
        let (group, in_group, port) = Dragonfly::locate(header.destination());
        if group == self.group {
            return if in_group == self.in_group {
                self.eject(port, header)
            } else {
                self.step(entry, Hop::Local, self.local_port(in_group), header)
            };
        }
        match self.only_towards_group(group) {
            Some((hop, port)) => self.step(entry, hop, port, header),
            None => self.step_by_one_of_several(entry, header, random),
        }
    }

    /// The same where several links lead to the group of the destination. Nothing is done after it, so that those with one
    /// link save no registers for it.
    #[cold]
    #[inline(never)]
    fn step_by_one_of_several(&self, entry: PortVc, header: Header, random: &mut Stream) -> Step {
        let (group, ..) = Dragonfly::locate(header.destination());
        let (hop, port) = match header.entropy {
            0 => self.towards_group(group, random),
            entropy => self.named_towards_group(group, entropy),
        };
        self.step(entry, hop, port, header)
    }

    /// All steps that [`LocalRoutes::minimal_step`] may choose.
    pub(super) fn minimal_steps(&self, entry: PortVc, header: Header, steps: &mut Vec<Step>) {
        let (group, in_group, port) = Dragonfly::locate(header.destination());
        if self.is_last(&header) {
            steps.push(self.eject(port, header));
        }
        let hops = self.all_towards(group, in_group);
        steps.extend(hops.into_iter().map(|(hop, port)| self.step(entry, hop, port, header)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tailback_topology::Arrangement;

    use super::*;

    #[test]
    fn entropy_values_name_one_of_several_links_between_groups() {
        // Four links between any two of three groups, on routers of their own.
        let topology = Arc::new(Dragonfly::new(1, 8, 1, 3, Arrangement::Absolute).unwrap());
        let tables = Minimal::with_default_channels(Arc::clone(&topology)).tables;
        let far = Header::new(topology.locator(8)); // the first node of the next group
        let entry = PortVc { port: 0, vc: 0 };
        let has_none = |&router: &RouterId| tables.routes(router).all_towards(1, 0).len() > 1;
        let without = (0..8).find(has_none).expect("half of them have no link there");
        let agent = MinimalAgent { routes: tables.routes(without) };
        let mut taken = BTreeMap::<Port, u32>::new();
        for value in 1..2001 {
            let header = far.with_entropy(value);
            let mut steps = (0..2).map(|seed| agent.routes.minimal_step(entry, header, &mut Stream::new(seed, 0, 0)));
            let port = steps.next().unwrap().port;
            assert_eq!(steps.next().unwrap().port, port, "it is not drawn");
            assert_eq!(agent.only_port(entry, &header), Some(port));
            *taken.entry(port).or_default() += 1;
        }
        assert!(taken.len() == 4 && taken.values().all(|count| (400..600).contains(count)), "{taken:?}");
        assert_eq!(agent.only_port(entry, &far), None);
    }
}
