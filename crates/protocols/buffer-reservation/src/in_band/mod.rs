//! Reservations over the data network itself: nodes grant room in front of them, and in their memory for packets that come early.

mod asker;
mod granter;

use std::sync::Arc;

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_protocol::{
    ClassRouting, Clock, Control, Direction, Hooks, KindDeclaration, PacketKind, PacketRef, Protocol, ProtocolModel,
    Sink, Source, Station, TrafficClass, control_routing, control_routing_parameter,
};

pub(crate) use asker::Asker;
pub(crate) use granter::{Granter, Room, RoomReturns};

use crate::parameters::count;

/// Reservations over the data network.
pub const IN_BAND_RESERVATION: ProtocolModel = ProtocolModel {
    name: "in-band-reservation",
    summary: "a node grants those that send to it room for several packets at once; requests and grants are packets of the data network",
    parameters: &[
        count("requests", 1 << 20, "20", "packets of a flow that may be requested and not granted at most (6.5)"),
        count("grant", 1 << 20, "20", "packets that are granted at once at most (6.5)"),
        count(
            "grant_min",
            1 << 20,
            "1",
            "packets that there is room for before any are granted, if so many are wanted (chosen: at once)",
        ),
        count("output_buffer", 1 << 20, "150", "packets that an output buffer of the last switch has room for (6.5)"),
        count("reorder_buffer", 1 << 20, "200", "packets that a node has room for until they are in order (6.5)"),
        Parameter {
            name: "output_returns",
            kind: Kind::Choice(&[
                Choice { word: "arrival", help: "when it has left that buffer" },
                Choice { word: "in-order", help: "when it is in order at its node, as room there is" },
            ]),
            default: Some("\"arrival\""),
            help: "when room for a packet in the output buffer is free for another (chosen: the paper does not say)",
        },
        count("request_flits", 1 << 10, "1", "flits of a request (6.5: 8 bytes)"),
        count("grant_flits", 1 << 10, "1", "flits of a grant (6.5: 8 bytes)"),
        control_routing_parameter("\"minimal\""),
    ],
    control_kinds: &[RESERVATIONS, GRANTS],
    build: |values| Ok(Arc::new(InBand::of(values)?)),
};

// The names that other protocols have for the like, so that reports have one.
const RESERVATIONS: &str = "reservations";
const GRANTS: &str = "grants";

/// A request, whose payload is the number of packets.
pub(crate) const REQUEST: PacketKind = PacketKind::new(1);
/// A grant, the same.
pub(crate) const GRANT: PacketKind = PacketKind::new(2);

/// Requests and grants are about as many packets as they say, of whatever messages.
const NO_PACKET: PacketRef = PacketRef { message: u32::MAX, index: 0 };

/// The class of requests and grants. One is enough, as nodes take all of them at once.
const CONTROL: u8 = 1;

/// Reservations over the data network.
#[derive(Clone, Debug)]
pub(crate) struct InBand {
    requests: u32,
    room: Room,
    request_flits: u16,
    grant_flits: u16,
    routing: ClassRouting,
}

impl InBand {
    pub fn of(values: &Values) -> Result<Self, BuildError> {
        let room = Room {
            grant: values.integer("grant"),
            grant_min: values.integer("grant_min"),
            output: values.integer("output_buffer"),
            reorder: values.integer("reorder_buffer"),
            output_returns: match values.text("output_returns") {
                "in-order" => RoomReturns::InOrder,
                _ => RoomReturns::Arrival,
            },
        };
        let limits = [("grant", room.grant), ("output_buffer", room.output), ("reorder_buffer", room.reorder)];
        if let Some((name, limit)) = limits.into_iter().find(|(_, limit)| *limit < room.grant_min) {
            let message = format!("grants are of {} packets or more, and {name} is {limit}", room.grant_min);
            return Err(BuildError::at("grant_min", message).help(format!("make it {limit} at most, or raise {name}")));
        }
        Ok(Self {
            requests: values.integer("requests"),
            room,
            request_flits: values.integer("request_flits") as u16,
            grant_flits: values.integer("grant_flits") as u16,
            routing: control_routing(values),
        })
    }

    pub fn asker(&self, station: &Station) -> Asker {
        Asker::new(self.requests, station.packet_flits_max, station.nodes)
    }

    pub fn granter(&self, station: &Station) -> Granter {
        Granter::new(self.room, station.nodes)
    }
}

impl Protocol for InBand {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![TrafficClass::data(0), TrafficClass::control("control", CONTROL, self.routing)]
    }

    fn kinds(&self) -> Vec<KindDeclaration> {
        let kind =
            |name, direction, flits| KindDeclaration::control(name, direction, CONTROL).of_flits(flits).with_payload(1);
        vec![
            KindDeclaration::DATA,
            kind(RESERVATIONS, Direction::Request, self.request_flits),
            kind(GRANTS, Direction::Feedback, self.grant_flits),
        ]
    }

    fn hooks(&self) -> Hooks {
        Hooks { departures: true, offers: true, resequencing: Some(self.room.reorder), ..Hooks::default() }
    }

    fn source(&self, station: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(self.asker(station)))
    }

    fn sink(&self, station: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(self.granter(station)))
    }

    fn describe(&self) -> String {
        let Room { grant, grant_min, output, reorder, output_returns } = self.room;
        let until = if output_returns == RoomReturns::InOrder { ", both until packets are in order" } else { "" };
        let least = if grant_min > 1 { format!("{grant_min} to ") } else { "up to ".to_owned() };
        format!(
            "reservations over the data network: {} packets of a flow requested, {least}{grant} granted at once, room for {output} before \
             a node and {reorder} in it{until}",
            self.requests
        )
    }

    fn describe_control(&self, control: &Control, _: &Station, _: Clock) -> String {
        format!("for {}", several(packets(control), "packet"))
    }

    fn explain(&self, station: &Station) -> Vec<String> {
        let Room { grant_min, output, reorder, output_returns, .. } = self.room;
        // Where both rooms come back in order, the smaller one bounds what is granted and not in order.
        let granted = if output_returns == RoomReturns::InOrder { output.min(reorder) } else { reorder };
        let data = f64::from(grant_min) * f64::from(station.packet_flits_max);
        vec![
            format!(
                "at most {granted} packets are granted to a node and not in order there, {} of them not arrived",
                output.min(reorder)
            ),
            format!(
                "a node that always has somebody to grant gets {:.3} of its link in data if a request of {} comes for each {}",
                data / (data + f64::from(self.request_flits)),
                several(self.request_flits.into(), "flit"),
                several(grant_min, "packet")
            ),
        ]
    }
}

/// How many packets a request or grant is for.
pub(crate) fn packets(control: &Control) -> u32 {
    let &[packets] = control.payload.as_slice() else { panic!("{control:?} does not say for how many packets it is") };
    packets as u32
}

/// So many of something, for people.
fn several(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
