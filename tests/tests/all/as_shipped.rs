//! What reservation protocols charge with their defaults, which no figure sets: a twentieth more than the flits, in whole flits,
//! and with SRP and SMSRP five flits for the control packets of each reservation.

use std::sync::Arc;

use tailback_protocol::{
    Control, Fate, Fill, Here, InjectionTime, PacketKind, PacketRef, Passing, PortVc, Protocol, Routes, SinkAction,
    Station, View,
};

use crate::scenarios::resolve_text;

const STATION: Station = Station {
    flit_ticks: 2,
    injection: InjectionTime::of_link(2),
    packet_flits_max: 24,
    ports: 4,
    routers: 1,
    nodes_per_router: 4,
    nodes: 4,
    routes: Routes::ONE,
};

/// The tick at which everything is asked.
const NOW: u64 = 100;

/// A protocol as whoever names it gets it.
fn shipped(name: &str) -> Arc<dyn Protocol> {
    let text = format!(
        "routing = \"direct\"\nprotocol = \"{name}\"\n[topology.single-switch]\nnodes = 4\n[[traffic]]\nload = 0.1\n\
         [measure]\ncycles = 10\n"
    );
    resolve_text(&text).protocol.built
}

/// The kind of its packets that has this name in reports.
fn kind(protocol: &dyn Protocol, name: &str) -> PacketKind {
    let position = protocol.kinds().iter().position(|kind| kind.name == name);
    PacketKind::new(u8::try_from(position.expect("the protocol has it")).expect("there are few"))
}

fn packet(message: u32) -> PacketRef {
    PacketRef { message, index: 0 }
}

fn reservation(protocol: &dyn Protocol, message: u32, flits: u32) -> Control {
    Control::new(kind(protocol, "reservations"), 1, 0, packet(message)).flits(flits)
}

/// The times that the sink of a node grants to two reservations for `flits` flits that come together.
fn granted_by_sink(name: &str, flits: u32) -> [Option<u64>; 2] {
    let protocol = shipped(name);
    let mut sink = protocol.sink(&STATION).expect("it answers");
    [1, 2].map(|message| {
        let mut actions = Vec::new();
        sink.on_request(&reservation(&*protocol, message, flits), NOW, &mut actions);
        match actions.as_slice() {
            [SinkAction::Control(grant)] => grant.time,
            other => panic!("{other:?}"),
        }
    })
}

/// A router in which this many flits wait for each node.
struct Waiting(u32);

impl View for Waiting {
    fn input(&self, _: PortVc) -> Fill {
        Fill::default()
    }

    fn output(&self, _: PortVc) -> Fill {
        Fill::default()
    }

    fn downstream(&self, _: PortVc) -> Fill {
        Fill::default()
    }

    fn waiting_for_node(&self, _: u8) -> u32 {
        self.0
    }

    fn sent(&self, _: u8) -> u64 {
        0
    }
}

/// What the last router makes of two speculative packets of `flits` flits that come together while `waiting` flits wait: the
/// times of their NACKs, or nothing if they go on.
fn answered_by_switch(name: &str, flits: u16, waiting: u32) -> [Option<u64>; 2] {
    let protocol = shipped(name);
    let mut switch = protocol.switch(&STATION).expect("it watches over nodes");
    [1, 2].map(|message| {
        let mut passing = Passing {
            kind: kind(&*protocol, "speculative_data"),
            source: 1,
            destination: 0,
            packet: packet(message),
            flits,
            marks: &mut 0,
            control: None,
            payload: &mut [],
        };
        let (input, output) = (PortVc { port: 1, vc: 0 }, Some(PortVc { port: 0, vc: 0 }));
        let mut here =
            Here { now: NOW, input, output, view: &Waiting(waiting), actions: &mut Vec::new(), stream: None };
        match switch.arrives(&mut passing, &mut here) {
            Fate::Drop(nack) => nack.time,
            Fate::Forward => None,
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn srp_and_smsrp_charge_ten_flits_for_four() {
    // 4 and a twentieth are 5 whole flits, and 5 for control packets; 512 are 538 and 5.
    for name in ["srp", "smsrp"] {
        assert_eq!(granted_by_sink(name, 4), [Some(NOW), Some(NOW + 20)], "{name}");
        assert_eq!(granted_by_sink(name, 512), [Some(NOW), Some(NOW + 2 * (538 + 5))], "{name}");
    }
}

#[test]
fn lhrp_and_comprehensive_charge_five_flits_for_four() {
    for name in ["lhrp", "comprehensive"] {
        assert_eq!(answered_by_switch(name, 4, 1000), [Some(NOW), Some(NOW + 10)], "{name}");
        assert_eq!(answered_by_switch(name, 24, 1000), [Some(NOW), Some(NOW + 2 * 26)], "{name}");
        assert_eq!(answered_by_switch(name, 4, 999), [None, None], "{name} drops nothing below 1,000 flits");
    }
}
