//! UGAL-L: at its source router a packet compares the minimal way with one random detour by what this router
//! knows of the two queues, each weighted with the length of its way (Singh; Kim et al.).

use std::sync::Arc;

use tailback_parameters::{Choice, Kind, Parameter};
use tailback_random::Stream;
use tailback_topology::{AnyTopology, Dragonfly, RouterId, Topology};

use super::compass::Compass;
use super::valiant::{DETOUR_PARAMETERS, Detours, STRAIGHT};
use crate::registry::{RoutingModel, needs};
use crate::{Agent, ChannelKind, Header, Lane, Routing, Step, View};

/// The entry in the list of algorithms.
pub(crate) const UGAL_LOCAL: RoutingModel = RoutingModel {
    name: "ugal-l",
    topology: "dragonfly",
    summary: "UGAL-L: minimal or by way of a random router, whichever promises the shorter wait at the source router",
    parameters: &[
        Parameter {
            name: "threshold",
            kind: Kind::Integer { min: 0, max: 1 << 20 },
            default: Some("0"),
            help: "flits by which the weighted minimal queue must exceed the other before a packet detours",
        },
        Parameter {
            name: "occupancy",
            kind: Kind::Choice(&[
                Choice { word: "channel", help: "flits on the virtual channel that the packet would use" },
                Choice { word: "port", help: "flits on all virtual channels of the port" },
            ]),
            default: Some("\"channel\""),
            help: "what stands for the length of a queue",
        },
        DETOUR_PARAMETERS[0],
        DETOUR_PARAMETERS[1],
        DETOUR_PARAMETERS[2],
    ],
    build: |topology, values| {
        let AnyTopology::Dragonfly(topology) = topology else { return Err(needs(&UGAL_LOCAL, topology)) };
        Ok(Arc::new(UgalLocal {
            detours: Detours::build(topology, values)?,
            rule: Rule { threshold: values.integer("threshold"), whole_port: values.text("occupancy") == "port" },
        }))
    },
};

/// How the two ways are compared.
#[derive(Clone, Copy, Debug)]
struct Rule {
    threshold: u32,
    whole_port: bool,
}

impl Rule {
    fn queue(self, view: &dyn View, step: Step) -> u32 {
        if self.whole_port { view.port_occupancy(step.port) } else { view.occupancy(step.port, step.vc) }
    }
}

/// UGAL-L.
#[derive(Debug)]
pub struct UgalLocal {
    detours: Detours,
    rule: Rule,
}

impl Routing for UgalLocal {
    fn topology(&self) -> Arc<dyn Topology> {
        Arc::clone(&self.detours.chart.topology) as _
    }

    fn virtual_channels(&self) -> Vec<u8> {
        self.detours.chart.virtual_channels()
    }

    fn agent(&self, router: RouterId) -> Box<dyn Agent> {
        let compass = self.detours.chart.compass(router);
        Box::new(UgalAgent { compass, detours: self.detours.clone(), rule: self.rule })
    }

    fn moves(&self) -> Vec<(ChannelKind, ChannelKind)> {
        self.detours.moves()
    }

    fn possible(&self, router: RouterId, entry: Lane, header: Header, steps: &mut Vec<Step>) {
        // Minimal ways are among those with detours: to where the packet already is.
        self.detours.possible(router, entry, header, steps);
    }

    fn describe(&self) -> String {
        let queue = if self.rule.whole_port { "port" } else { "channel" };
        format!(
            "UGAL-L on the occupancy of the {queue}, threshold {} flits, by {}",
            self.rule.threshold,
            self.detours.describe()
        )
    }
}

struct UgalAgent {
    compass: Compass,
    detours: Detours,
    rule: Rule,
}

impl UgalAgent {
    /// The header with which a packet leaves its source router.
    fn decide(&self, entry: Lane, header: Header, view: &dyn View, random: &mut Stream) -> Header {
        let straight = Header { leg: STRAIGHT, ..header };
        let (group, place, _) = Dragonfly::locate(header.destination());
        if (group, place) == (self.compass.group, self.compass.place) {
            return straight;
        }
        let via = self.detours.draw(&self.compass, &header, random);
        let detour = self.detours.set_out(header, via);
        let minimal_step = self.compass.minimal_step(entry, straight, random);
        let detour_step = self.detours.follow(&self.compass, entry, detour, random);
        let minimal = self.rule.queue(view, minimal_step) * self.compass.distance(group, place);
        let other = self.rule.queue(view, detour_step) * self.detours.length(&self.compass, via, (group, place));
        if minimal > other + self.rule.threshold { detour } else { straight }
    }
}

impl Agent for UgalAgent {
    fn route(&mut self, entry: Lane, header: &Header, view: &dyn View, random: &mut Stream) -> Step {
        let header = if header.leg == 0 { self.decide(entry, *header, view, random) } else { *header };
        self.detours.follow(&self.compass, entry, header, random)
    }
}
