//! The central scheduler: one bank of arbiters for the whole network.

use std::sync::Arc;

use tailback_parameters::{BuildError, Values};
use tailback_protocol::{
    ControlNetwork, Controller, Hooks, KindDeclaration, Protocol, ProtocolModel, Sink, Source, Station, TrafficClass,
};

use crate::adapter::{Adapter, Asking, Way};
use crate::bank::Bank;
use crate::egress::{Egress, Returns};
use crate::explain;
use crate::parameters::{self as shared, Terms, packet_ticks, time};

/// The central scheduler.
pub const CENTRAL_SCHEDULER: ProtocolModel = ProtocolModel {
    name: "central-scheduler",
    summary: "one scheduler for the whole network grants each packet of a source when there is room for it in front of its node, on \
              the route that it will take",
    parameters: &[
        shared::BUFFER,
        shared::REQUESTS,
        shared::REQUEST_PACKETS,
        time("request_delay", "24", "what a request takes to the scheduler (derived: 3 packet times of 8 cycles)"),
        time("grant_delay", "24", "what a grant takes from there (derived: 3 packet times of 8 cycles)"),
        shared::CREDIT_DELAY,
        shared::ORDER,
        shared::ARBITER,
        shared::WEIGHTS,
        shared::RESEQUENCING,
    ],
    control_kinds: &[],
    build: |values| Ok(Arc::new(Central::of(values)?)),
};

/// The central scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Central {
    terms: Terms,
    request_delay: u64,
    grant_delay: u64,
}

impl Central {
    pub fn of(values: &Values) -> Result<Self, BuildError> {
        Ok(Self {
            terms: Terms::of(values)?,
            request_delay: shared::delay(values, "request_delay")?,
            grant_delay: shared::delay(values, "grant_delay")?,
        })
    }

    /// What all messages take at least.
    fn latency(&self) -> u64 {
        self.request_delay.min(self.grant_delay).min(self.terms.credit_delay)
    }

    pub fn bank(&self, station: &Station) -> Bank {
        let outputs = (0..station.nodes).map(|output| self.terms.output(output, u32::MAX, station));
        Bank::new(outputs.collect(), packet_ticks(station), self.grant_delay - self.latency())
    }

    pub fn adapter(&self, station: &Station) -> Adapter {
        let asking = Asking {
            requests: self.terms.requests,
            request_packets: self.terms.request_packets,
            packet_flits: station.packet_flits_max.into(),
            packet_ticks: packet_ticks(station),
            after: self.request_delay - self.latency(),
            way: Way::Bank,
        };
        Adapter::new(asking, station.nodes)
    }
}

impl Protocol for Central {
    fn classes(&self) -> Vec<TrafficClass> {
        shared::classes()
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        shared::kinds()
    }

    fn hooks(&self) -> Hooks {
        self.terms.hooks()
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(self.adapter(station)))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        let after = self.terms.credit_delay - self.latency();
        Some(Box::new(Egress::new(Returns::ToBank, after, station.nodes, station.routes, packet_ticks(station))))
    }

    fn control_network(&self, _: &Station) -> Option<ControlNetwork> {
        Some(ControlNetwork { latency: self.latency(), controllers: 1 })
    }

    fn controller(&self, _: u32, station: &Station) -> Option<Box<dyn Controller>> {
        Some(Box::new(self.bank(station)))
    }

    fn fits(&self, station: &Station) -> Result<(), BuildError> {
        self.terms.fits(station)
    }

    fn describe(&self) -> String {
        format!("central scheduler: {}", self.terms.describe())
    }

    fn explain(&self, station: &Station) -> Vec<String> {
        let mut lines = explain::loops(&self.terms, (self.request_delay, self.grant_delay), station);
        lines.extend(explain::costs(&self.terms, shared::QUEUE_PLACES, station));
        lines
    }
}
