//! Which packets switches mark: thresholds, bits, and full buffers.

use tailback_protocol::{
    Arrival, Fill, Here, Moment, PacketKind, PacketRef, Passing, PortVc, Protocol, SinkAction, Station, SwitchAction,
    View,
};

use super::node::{PACKET, STATION};
use super::{H, U, X, build};
use crate::{MVCM, PFISTER, RENATO};

/// A router with one input buffer and one output queue.
#[derive(Clone, Copy)]
struct Buffers {
    input: Fill,
    output: Fill,
}

impl View for Buffers {
    fn input(&self, _: PortVc) -> Fill {
        self.input
    }

    fn output(&self, _: PortVc) -> Fill {
        self.output
    }

    fn downstream(&self, _: PortVc) -> Fill {
        Fill::default()
    }

    fn waiting_for_node(&self, _: u8) -> u32 {
        0
    }

    fn sent(&self, _: u8) -> u64 {
        0
    }
}

/// What a packet is marked with after a router, and what the router wants done. `inputs` are the flits of an input buffer with the
/// packet, `outputs` those of an output queue before it.
fn pass(
    protocol: &dyn Protocol,
    (marks, flits): (u8, u16),
    (inputs, outputs, capacity): (u32, u32, u32),
) -> (u8, Vec<SwitchAction>) {
    let view = Buffers { input: Fill { flits: inputs, capacity }, output: Fill { flits: outputs, capacity } };
    let mut switch = protocol.switch(&Station { packet_flits_max: flits, ..STATION }).unwrap();
    let (mut marks, mut actions) = (marks, Vec::new());
    for watch in protocol.watches() {
        let mut packet = Passing {
            kind: PacketKind::DATA,
            source: 0,
            destination: 1,
            packet: PacketRef { message: 0, index: 0 },
            flits,
            marks: &mut marks,
            control: None,
            payload: &mut [],
        };
        let at = |port| PortVc { port, vc: 0 };
        let output = (watch.moment == Moment::Crosses).then_some(at(2));
        let mut here = Here { now: 5, input: at(1), output, view: &view, actions: &mut actions, stream: None };
        let foretold = switch.foretell(watch.moment, &packet, &here, tailback_protocol::Clock { ticks_per_cycle: 1 });
        let (before, wanted) = (*packet.marks, here.actions.len());
        let _ = switch.ask(watch.moment, &mut packet, &mut here);
        let marked = before != *packet.marks || wanted != here.actions.len();
        assert!(!marked || foretold.is_some(), "what happens is foretold");
    }
    (marks, actions)
}

/// A packet of 278 flits through buffers of 1024.
fn marked(protocol: &dyn Protocol, marks: u8, inputs: u32, outputs: u32) -> u8 {
    pass(protocol, (marks, PACKET), (inputs, outputs, 1024)).0
}

/// Section 7.3: the third packet of an input buffer is marked, the second and third of an output queue are validated.
#[test]
fn thresholds_count_the_packet_itself() {
    let mvcm = build(&MVCM, &[]);
    for (flits, capacity) in [(278u16, 1024), (534, 2048), (1046, 4096)] {
        let of = |packets: u32| packets * u32::from(flits);
        let input = [1, 2, 3].map(|packets| pass(mvcm.as_ref(), (U, flits), (of(packets), 0, capacity)).0);
        assert_eq!(input, [U, U, X], "{flits} of {capacity}");
        let output = [0, 1, 2].map(|before| pass(mvcm.as_ref(), (X, flits), (flits.into(), of(before), capacity)).0);
        assert_eq!(output, [X, H, H], "{flits} of {capacity}");
        let unmarked = [0, 1, 2].map(|before| pass(mvcm.as_ref(), (U, flits), (flits.into(), of(before), capacity)).0);
        assert_eq!(unmarked, [U, U, U], "only marked packets are validated");
    }
    // Exactly the threshold is not above it: two thirds of 3 are 2.
    let even = build(&MVCM, &[("input_threshold", "0.5"), ("output_threshold", "0.5")]);
    assert_eq!([512, 513].map(|flits| marked(even.as_ref(), U, flits, 0)), [U, X]);
}

/// Section 7.4: the four flows of Fig. 3, and what later routers add.
#[test]
fn marks_are_set_in_any_router_and_never_taken_away() {
    let (free, full) = ((278, 0), (3 * 278, 2 * 278));
    let mvcm = build(&MVCM, &[]);
    let through = |routers: &[(u32, u32)]| {
        routers.iter().fold(U, |marks, &(inputs, outputs)| marked(mvcm.as_ref(), marks, inputs, outputs))
    };
    assert_eq!(through(&[free]), U, "w");
    assert_eq!(through(&[(free.0, full.1)]), U, "x");
    assert_eq!(through(&[full]), H, "y");
    assert_eq!(through(&[(full.0, free.1)]), X, "z");
    assert_eq!(through(&[(full.0, free.1), free, (free.0, full.1)]), H, "full input, then full output");
    assert_eq!(through(&[(free.0, full.1), free, (full.0, free.1)]), X, "full output, then full input");
    assert_eq!(through(&[full, free, free]), H);
    // Queues at inputs and outputs alone would mark y and z, and x and y.
    let [input, output] = ["input", "output"].map(|marking| build(&MVCM, &[("marking", marking)]));
    let flows = [free, (free.0, full.1), full, (full.0, free.1)];
    assert_eq!(flows.map(|(i, o)| marked(input.as_ref(), U, i, o)), [U, U, X, X]);
    assert_eq!(flows.map(|(i, o)| marked(output.as_ref(), U, i, o)), [U, X, X, U]);
}

#[test]
fn sinks_send_all_marks_back() {
    for marks in [U, X, H] {
        let mut actions = Vec::new();
        let arrival = Arrival {
            kind: PacketKind::DATA,
            from: 3,
            to: 4,
            packet: PacketRef { message: 1, index: 2 },
            flits: PACKET,
            marks,
            entropy: 0,
            sent_at: 0,
            hops: 1,
            payload: &[],
        };
        let mvcm = build(&MVCM, &[("acknowledgement", "22")]);
        mvcm.sink(&STATION).unwrap().on_data(&arrival, 0, &mut actions);
        let [SinkAction::Control(control)] = actions.as_slice() else { panic!("{actions:?}") };
        assert_eq!((control.to, control.from, control.marks), (3, 4, marks));
        assert_eq!(mvcm.kinds()[control.kind.index()].flits, 22);
        let says = mvcm.describe_control(control, &STATION, tailback_protocol::Clock { ticks_per_cycle: 1 });
        assert_eq!(says, ["unmarked", "marked", "", "marked and validated"][usize::from(marks)]);
    }
}

/// Section 7.8: 12 to 15 any packet, 8 to 11 the second, 3 to 7 the third, 1, 2 and 0 none.
#[test]
fn weights_are_thresholds_of_whole_packets() {
    let first_marked = |weight: u32| {
        let pfister = build(&PFISTER, &[("weight", &weight.to_string())]);
        (0..3).position(|before| marked(pfister.as_ref(), U, 278, before * 278) != U)
    };
    let by_weight: Vec<Option<usize>> = (0..16).map(first_marked).collect();
    let expected = [vec![None; 3], vec![Some(2); 5], vec![Some(1); 4], vec![Some(0); 4]].concat();
    assert_eq!(by_weight, expected);
    // With validation packets also have to meet a full input buffer: Fig. 12.
    let validated = build(&PFISTER, &[("marking", "validated")]);
    assert_eq!([278, 834].map(|inputs| marked(validated.as_ref(), U, inputs, 278)), [U, H]);
}

/// A queue without a limit is never too full.
#[test]
fn unlimited_queues_mark_nothing() {
    let pfister = build(&PFISTER, &[("weight", "15")]);
    assert_eq!(pass(pfister.as_ref(), (U, PACKET), (278, 0, 0)).0, U);
}

/// Section 7.7, as far as a switch knows it: what a router marks is tried in `crates/network/tests/network/renato.rs`, with the
/// same example.
#[test]
fn a_buffer_is_full_without_room_for_a_packet() {
    let renato = build(&RENATO, &[]);
    let triggers = |packets: u32| pass(renato.as_ref(), (U, PACKET), (packets * 278, 0, 1024));
    for packets in [1, 2] {
        assert_eq!(triggers(packets), (U, vec![]));
    }
    let (marks, actions) = triggers(3);
    let at = PortVc { port: 1, vc: 0 };
    // The packet that has come waits like the others, and is marked as they are, by the router.
    assert_eq!((marks, actions), (U, vec![SwitchAction::MarkQueued { like: at, marks: X }]));
}
