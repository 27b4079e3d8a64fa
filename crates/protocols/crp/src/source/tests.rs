//! What a source asks about its messages, and what it makes of the answers.

use super::*;

const ASKING: Asking = Asking {
    smallest: 20,
    largest: 40,
    when: AskWhen::AtOnce,
    eager: 1,
    more_eager_after: None,
    retry_after: 30,
    retry_spread: 0,
    lead: Lead::Latency,
};
const GRID: Grid = Grid { cells: 32, cell_flits: 100, flit_ticks: 1 };

fn sender(asking: Asking) -> Sender {
    Sender::new(asking, GRID, 10)
}

/// Asks about packet `index` of a message of so many flits from node 1 to node 2.
fn turn(sender: &mut Sender, index: u32, message_flits: u32, now: u64) -> (Verdict, Vec<SourceAction>) {
    let mut actions = Vec::new();
    (sender.may_send(&outgoing(index, message_flits), now, &mut actions), actions)
}

fn outgoing(index: u32, message_flits: u32) -> Outgoing {
    let packet = PacketRef { message: 7, index };
    Outgoing { packet, source: 1, destination: 2, flits: 10, message_flits }
}

fn hear(sender: &mut Sender, kind: PacketKind, index: u32, time: Option<u64>, now: u64) -> Vec<SourceAction> {
    let mut actions = Vec::new();
    let control = Control { time, ..Control::new(kind, 2, 1, PacketRef { message: 7, index }) };
    sender.on_control(&control, 50, now, &mut actions);
    actions
}

const SPECULATIVE: Verdict = Verdict::Send { kind: kind::SPECULATIVE, marks: 0 };
const LOSSLESS: Verdict = Verdict::Send { kind: PacketKind::DATA, marks: 0 };
const OPEN: SourceAction = SourceAction::Open { destination: 2 };

fn asked(actions: &[SourceAction]) -> Option<(u32, u8)> {
    actions.iter().find_map(|action| match action {
        SourceAction::Control(ask) if ask.kind == kind::REQUEST => Some((ask.flits, ask.marks)),
        _ => None,
    })
}

#[test]
fn a_segment_asks_once_and_what_is_left_leaves_at_its_time() {
    let mut sender = sender(ASKING);
    let (verdict, actions) = turn(&mut sender, 0, 40, 5);
    assert_eq!((verdict, asked(&actions)), (SPECULATIVE, Some((40, 1))));
    assert_eq!(turn(&mut sender, 1, 40, 6), (SPECULATIVE, Vec::new()));
    // Granted for 400, of which word was in flight for 50 ticks.
    assert_eq!(hear(&mut sender, kind::GRANT, 0, Some(400), 100), [OPEN]);
    assert_eq!(turn(&mut sender, 2, 40, 100).0, Verdict::NotBefore(350));
    assert_eq!(turn(&mut sender, 2, 40, 350).0, LOSSLESS);
    assert_eq!(hear(&mut sender, kind::NACK, 1, None, 200), [resend(PacketRef { message: 7, index: 1 }, 350)]);
    assert!(!sender.is_idle());
}

#[test]
fn a_drop_holds_a_segment_until_its_grant() {
    let mut sender = sender(ASKING);
    turn(&mut sender, 0, 40, 5);
    assert_eq!(hear(&mut sender, kind::NACK, 0, None, 90), []);
    assert_eq!(turn(&mut sender, 1, 40, 91).0, Verdict::Hold);
    let again = resend(PacketRef { message: 7, index: 0 }, 120);
    assert_eq!(hear(&mut sender, kind::GRANT, 0, Some(130), 120), [again, OPEN]);
}

#[test]
fn a_retry_is_followed_by_a_request_after_a_pause_or_so_that_it_comes_at_a_tick() {
    let mut sender = sender(Asking { more_eager_after: Some(1), ..ASKING });
    turn(&mut sender, 0, 40, 5);
    let timer = |at| SourceAction::Timer { at, token: 2 };
    assert_eq!(hear(&mut sender, kind::RETRY, 0, None, 100), [timer(130)]);
    let mut requests = Vec::new();
    sender.on_timer(2, 129, &mut requests);
    assert_eq!(requests, []);
    sender.on_timer(2, 130, &mut requests);
    assert_eq!(asked(&requests), Some((40, 1)));
    // The table of the node is full until 3200, and the way there takes 50. From now on one slot more is reserved.
    assert_eq!(hear(&mut sender, kind::RETRY, 0, Some(3200), 200), [timer(3150)]);
    requests.clear();
    sender.on_timer(2, 3150, &mut requests);
    assert_eq!(asked(&requests), Some((40, 2)));
    // It speculates meanwhile, as nothing has been dropped.
    assert_eq!(turn(&mut sender, 1, 40, 3151).0, SPECULATIVE);
}

#[test]
fn a_segment_that_gets_through_waits_for_nobody() {
    let mut sender = sender(ASKING);
    for index in 0..4 {
        turn(&mut sender, index, 40, 5);
    }
    for index in 0..3 {
        let forget = SourceAction::Forget(PacketRef { message: 7, index });
        assert_eq!(hear(&mut sender, kind::ACKNOWLEDGEMENT, index, None, 90), [forget]);
    }
    let forget = SourceAction::Forget(PacketRef { message: 7, index: 3 });
    assert_eq!(hear(&mut sender, kind::ACKNOWLEDGEMENT, 3, None, 90), [forget, OPEN]);
    assert!(sender.is_idle());
    assert_eq!(hear(&mut sender, kind::GRANT, 0, Some(130), 120), []);
}

#[test]
fn large_messages_have_segments_and_small_ones_and_small_rests_take_no_part() {
    let mut sender = sender(ASKING);
    let small = Verdict::Send { kind: PacketKind::DATA, marks: SMALL };
    assert_eq!(turn(&mut sender, 0, 19, 0), (small, Vec::new()));
    assert_eq!(asked(&turn(&mut sender, 0, 95, 0).1), Some((40, 1)));
    // The second segment waits for the first.
    assert_eq!(turn(&mut sender, 4, 95, 10).0, Verdict::Hold);
    let mut actions = Vec::new();
    hear(&mut sender, kind::GRANT, 0, Some(10), 60);
    (0..4).for_each(|index| sender.gone(&outgoing(index, 95), 70, &mut actions));
    assert_eq!((actions.as_slice(), sender.is_idle()), ([OPEN].as_slice(), true));
    assert_eq!(asked(&turn(&mut sender, 4, 95, 80).1), Some((40, 1)));
    hear(&mut sender, kind::GRANT, 4, Some(10), 160);
    (4..8).for_each(|index| sender.gone(&outgoing(index, 95), 170, &mut actions));
    assert_eq!(turn(&mut sender, 8, 95, 180), (small, Vec::new()));
}

/// What is granted to one destination is sent as a whole; packets to others wait for its end, and requests do not.
#[test]
fn nothing_speculative_leaves_while_a_granted_segment_sends() {
    let mut sender = sender(ASKING);
    let to = |destination, index| Outgoing { destination, ..outgoing(index, 40) };
    let mut actions = Vec::new();
    turn(&mut sender, 0, 40, 5);
    sender.sent(&to(2, 0), 5);
    hear(&mut sender, kind::GRANT, 0, Some(150), 60);
    // Its time begins at 100.
    assert_eq!(sender.may_send(&to(3, 0), 99, &mut actions), SPECULATIVE);
    sender.sent(&to(3, 0), 99);
    assert_eq!(sender.may_send(&to(3, 1), 100, &mut actions), Verdict::Hold);
    actions.clear();
    assert_eq!(sender.may_send(&to(4, 0), 100, &mut actions), Verdict::Hold);
    assert_eq!(asked(&actions), Some((40, 1)));
    actions.clear();
    for index in 1..4 {
        assert_eq!((sender.may_send(&to(2, index), 110, &mut actions), actions.as_slice()), (LOSSLESS, [].as_slice()));
        sender.sent(&to(2, index), 110);
        sender.gone(&to(2, index), 110, &mut actions);
    }
    assert_eq!(actions, [3, 4].map(|destination| SourceAction::Open { destination }));
    assert_eq!(sender.may_send(&to(3, 1), 140, &mut actions), SPECULATIVE);
}

/// With slots of 100 ticks a request whose answer took 250 leaves out the two that are over when the next answer is back.
#[test]
fn a_request_that_comes_again_leaves_out_what_is_over_when_it_is_answered() {
    let free = |answered: u64| {
        let mut sender = sender(ASKING);
        turn(&mut sender, 0, 40, 0);
        hear(&mut sender, kind::RETRY, 0, None, answered);
        let mut actions = Vec::new();
        sender.on_timer(2, answered + 30, &mut actions);
        let SourceAction::Control(ask) = &actions[0] else { panic!("it asks") };
        Slots::from_words(&ask.payload).free
    };
    assert_eq!([99, 100, 250].map(free), [u32::MAX, u32::MAX << 1, u32::MAX << 3]);
}

#[test]
fn a_segment_may_ask_only_when_a_packet_has_been_dropped() {
    let mut sender = sender(Asking { when: AskWhen::OnNack, ..ASKING });
    assert_eq!(turn(&mut sender, 0, 40, 5), (SPECULATIVE, Vec::new()));
    assert_eq!(asked(&hear(&mut sender, kind::NACK, 0, None, 90)), Some((40, 1)));
    assert_eq!(asked(&hear(&mut sender, kind::NACK, 1, None, 91)), None);
}

#[test]
fn lossless_data_takes_the_channel_of_its_request() {
    let mut sender = sender(ASKING);
    let (_, actions) = turn(&mut sender, 0, 40, 5);
    let SourceAction::Control(ask) = &actions[0] else { panic!("it asks") };
    assert_eq!(sender.entropy(&outgoing(0, 40), 5), 0);
    hear(&mut sender, kind::GRANT, 0, Some(0), 60);
    assert!(ask.entropy != 0);
    assert_eq!(sender.entropy(&outgoing(1, 40), 70), ask.entropy);
}
