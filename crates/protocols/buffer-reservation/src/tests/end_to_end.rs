//! End-to-end acknowledgements.

use tailback_protocol::{Outgoing, PacketKind, PacketRef, Party, SourceAction, Verdict};

use super::{PACKET, station, values};
use crate::END_TO_END_ACKNOWLEDGEMENT;
use crate::words::Word;

#[test]
fn the_seventeenth_packet_waits_for_the_first_to_be_in_order() {
    let protocol = (END_TO_END_ACKNOWLEDGEMENT.build)(&values(&END_TO_END_ACKNOWLEDGEMENT, &[])).unwrap();
    let station = station(2);
    let (mut source, mut actions) = (protocol.source(&station).unwrap(), Vec::new());
    let outgoing = |destination| Outgoing {
        packet: PacketRef { message: 0, index: 0 },
        source: 0,
        destination,
        flits: PACKET as u16,
        message_flits: PACKET as u32,
    };
    let go = Verdict::Send { kind: PacketKind::DATA, marks: 0 };
    for _ in 0..16 {
        assert_eq!(source.may_send(&outgoing(3), 0, &mut actions), go);
        source.sent(&outgoing(3), 0);
    }
    assert_eq!(source.may_send(&outgoing(3), 0, &mut actions), Verdict::Hold);
    assert_eq!(source.may_send(&outgoing(2), 0, &mut actions), go, "other flows have windows of their own");
    assert!(actions.is_empty() && !source.is_idle());

    let mut bytes = Vec::new();
    source.save(&mut bytes);
    let mut source = protocol.source(&station).unwrap();
    source.load(&mut bytes.as_slice()).unwrap();
    source.on_message(Party::Sink(3), &Word::Acknowledgement.words(), 48, &mut actions);
    assert_eq!(actions, [SourceAction::Open { destination: 3 }]);
    assert_eq!(source.may_send(&outgoing(3), 48, &mut actions), go);
    (0..15).for_each(|_| source.on_message(Party::Sink(3), &Word::Acknowledgement.words(), 48, &mut actions));
    assert!(source.is_idle() && actions.len() == 1, "a flow that is not held is not opened");
}
