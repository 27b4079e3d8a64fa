//! The four protocols, put together from machines.

use std::fmt;

use tailback_protocol::{
    ClassRouting, Direction, Hooks, KindDeclaration, Moment, Ports, Protocol, QueueingTimeout, Sink, Source, Station,
    Switch, SwitchNeeds, TrafficClass, WaitsUntil, Watch,
};

use crate::schedule::{Charge, Lead, Schedule};
use crate::sink::Destination;
use crate::source::{ByMessage, ByPacket, BySize, Escalation, OnNack};
use crate::switch::{Expiry, LastHop};
use crate::{class, kind};

/// The terms on which all of them give out time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// How control packets are routed.
    pub routing: ClassRouting,
    /// When sources start to send what was granted.
    pub lead: Lead,
    /// What schedules charge beyond the flits themselves, as a share of them.
    pub overhead: f64,
    /// Flits that the schedule of a node charges for each reservation, which takes some of the link to the node too.
    pub control_overhead: u32,
    /// The least ticks from a request to the time that it is granted.
    pub minimum_grant_delay: u64,
}

impl Terms {
    /// What routers charge: no reservation goes on to the node from there.
    fn charge(&self, station: &Station) -> Charge {
        Charge {
            flit_ticks: station.flit_ticks,
            overhead: self.overhead,
            control_overhead: 0,
            minimum_grant_delay: self.minimum_grant_delay,
        }
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        let charge = Charge { control_overhead: self.control_overhead, ..self.charge(station) };
        Some(Box::new(Destination { charge, schedule: Schedule::default() }))
    }

    /// Data, speculative data, answers; reservations and grants where there are any.
    fn classes(&self, queueing_timeout: Option<QueueingTimeout>, handshake: bool) -> Vec<TrafficClass> {
        let speculative = TrafficClass { name: "speculative", queueing_timeout, ..TrafficClass::data(0) };
        let answers = TrafficClass::control("answers", 2, self.routing);
        let mut classes = vec![TrafficClass::data(1), speculative, answers];
        if handshake {
            classes.push(TrafficClass::control("reservations", 3, self.routing));
            classes.push(TrafficClass::control("grants", 4, self.routing));
        }
        classes
    }
}

/// The kinds of packets, in the order of [`kind`]: reservations and grants only where there are any.
fn kinds(handshake: bool) -> Vec<KindDeclaration> {
    let mut kinds = vec![
        KindDeclaration::DATA,
        KindDeclaration::lossy_data("speculative_data", class::SPECULATIVE),
        KindDeclaration::control(kind::ACKNOWLEDGEMENTS, Direction::Feedback, class::ANSWERS),
        KindDeclaration::control(kind::NACKS, Direction::Nack, class::ANSWERS),
    ];
    if handshake {
        kinds.push(KindDeclaration::control(kind::RESERVATIONS, Direction::Request, class::RESERVATIONS));
        kinds.push(KindDeclaration::control(kind::GRANTS, Direction::Feedback, class::GRANTS));
    }
    kinds
}

/// Interfaces keep messages, as packets may be dropped.
fn copies() -> Hooks {
    Hooks { copies: true, ..Hooks::default() }
}

/// What is dropped after too much waiting.
const EXPIRY: Watch = Watch::new(Moment::Expires, kind::SPECULATIVE, Ports::All);

/// What is dropped, and what is answered, in the last router.
const LAST_HOP: [Watch; 2] = [
    Watch::new(Moment::Arrives, kind::SPECULATIVE, Ports::LastHop),
    Watch::new(Moment::Requests, kind::SPECULATIVE, Ports::LastHop),
];
const RESERVATIONS_AT_LAST_HOP: Watch = Watch::new(Moment::Arrives, kind::RESERVATION, Ports::LastHop);

/// All switches send NACKs.
fn sends() -> SwitchNeeds {
    SwitchNeeds { sends: true, ..SwitchNeeds::default() }
}

/// What the switches of last routers need that count until then.
fn watches_nodes(counted_until: WaitsUntil) -> SwitchNeeds {
    SwitchNeeds { waiting_for_nodes: Some(counted_until), ..sends() }
}

/// When speculative packets are dropped in the last router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// From how many flits on that wait for their node.
    pub flits: u32,
    /// Until when flits wait.
    pub counted_until: WaitsUntil,
}

impl Threshold {
    /// So many flits, output queues included.
    #[must_use]
    pub const fn of_flits(flits: u32) -> Self {
        Self { flits, counted_until: WaitsUntil::Departure }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.counted_until == WaitsUntil::Crossing { " at its inputs" } else { "" };
        write!(f, "{} flits{at}", self.flits)
    }
}

/// The Speculative Reservation Protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Srp {
    /// The terms on which time is given out.
    pub terms: Terms,
    /// How long a speculative packet may wait, all in all.
    pub timeout: QueueingTimeout,
    /// Messages of fewer flits are sent as lossless data without a reservation.
    pub bypass_below: u32,
}

impl Protocol for Srp {
    fn classes(&self) -> Vec<TrafficClass> {
        self.terms.classes(Some(self.timeout), true)
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        kinds(true)
    }

    fn hooks(&self) -> Hooks {
        copies()
    }

    fn watches(&self) -> Vec<Watch> {
        vec![EXPIRY]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        sends()
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(ByMessage::new(self.terms.lead, self.bypass_below)))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        self.terms.sink(station)
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(Expiry))
    }

    fn describe(&self) -> String {
        "SRP: a reservation for each message, speculative packets meanwhile".to_owned()
    }
}

/// The Small-Message Speculative Reservation Protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smsrp {
    /// The terms on which time is given out.
    pub terms: Terms,
    /// How long a speculative packet may wait, all in all.
    pub timeout: QueueingTimeout,
}

impl Protocol for Smsrp {
    fn classes(&self) -> Vec<TrafficClass> {
        self.terms.classes(Some(self.timeout), true)
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        kinds(true)
    }

    fn hooks(&self) -> Hooks {
        copies()
    }

    fn watches(&self) -> Vec<Watch> {
        vec![EXPIRY]
    }

    fn switch_needs(&self) -> SwitchNeeds {
        sends()
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(ByPacket::new(self.terms.lead, OnNack::Reserve)))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        self.terms.sink(station)
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(Expiry))
    }

    fn describe(&self) -> String {
        "SMSRP: speculative packets first, a reservation for each one that is dropped".to_owned()
    }
}

/// Dropping in the fabric, as an option of LHRP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricDrop {
    /// How long a speculative packet may wait, all in all.
    pub timeout: QueueingTimeout,
    /// NACKs in a row after which a source asks for a time instead of speculating again.
    pub nacks: u32,
}

/// The Last-Hop Reservation Protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lhrp {
    /// The terms on which time is given out.
    pub terms: Terms,
    /// Flits that wait for a node in its router, from which on speculative packets for it are dropped.
    pub threshold: Threshold,
    /// Whether packets are dropped before the last router as well.
    pub fabric_drop: Option<FabricDrop>,
}

impl Protocol for Lhrp {
    fn classes(&self) -> Vec<TrafficClass> {
        self.terms.classes(self.fabric_drop.map(|fabric| fabric.timeout), self.fabric_drop.is_some())
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        kinds(self.fabric_drop.is_some())
    }

    fn hooks(&self) -> Hooks {
        copies()
    }

    fn watches(&self) -> Vec<Watch> {
        let mut watches = LAST_HOP.to_vec();
        if self.fabric_drop.is_some() {
            watches.extend([EXPIRY, RESERVATIONS_AT_LAST_HOP]);
        }
        watches
    }

    fn switch_needs(&self) -> SwitchNeeds {
        watches_nodes(self.threshold.counted_until)
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        let escalate = |fabric: FabricDrop| OnNack::Escalate(Escalation { nacks: fabric.nacks });
        let on_nack = self.fabric_drop.map_or(OnNack::NamesTime, escalate);
        Some(Box::new(ByPacket::new(self.terms.lead, on_nack)))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        self.terms.sink(station)
    }

    fn switch(&self, station: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(LastHop::new(self.terms.charge(station), self.threshold.flits, station.ports)))
    }

    fn describe(&self) -> String {
        let fabric = if self.fabric_drop.is_some() { ", and in the fabric after too much waiting" } else { "" };
        let threshold = self.threshold;
        format!("LHRP: speculative packets first, dropped in the last router above {threshold}{fabric}")
    }
}

/// LHRP for small messages and SRP for large ones, which share the schedules in the last routers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comprehensive {
    /// The terms on which time is given out.
    pub terms: Terms,
    /// Flits that wait for a node in its router, from which on speculative packets for it are dropped.
    pub threshold: Threshold,
    /// The flits of the smallest message that counts as large.
    pub large_from: u32,
}

impl Protocol for Comprehensive {
    fn classes(&self) -> Vec<TrafficClass> {
        self.terms.classes(None, true)
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        kinds(true)
    }

    fn hooks(&self) -> Hooks {
        copies()
    }

    fn watches(&self) -> Vec<Watch> {
        LAST_HOP.into_iter().chain([RESERVATIONS_AT_LAST_HOP]).collect()
    }

    fn switch_needs(&self) -> SwitchNeeds {
        watches_nodes(self.threshold.counted_until)
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(BySize {
            large_from: self.large_from,
            small: ByPacket::new(self.terms.lead, OnNack::NamesTime),
            large: ByMessage::new(self.terms.lead, 0),
        }))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        self.terms.sink(station)
    }

    fn switch(&self, station: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(LastHop::new(self.terms.charge(station), self.threshold.flits, station.ports)))
    }

    fn describe(&self) -> String {
        let (threshold, large_from) = (self.threshold, self.large_from);
        format!("LHRP below {large_from} flits, SRP from there on, dropped in the last router above {threshold}")
    }
}
