//! That the suite lets through what is right, and finds out what is wrong.

use proptest::prelude::*;

use super::{Fate, Script, Step, run};
use crate::{
    Baseline, Control, Hooks, Lossy, Outgoing, PacketKind, Passing, Protocol, Sink, Source, SourceAction, Station,
    Switch, TrafficClass, Verdict, Way, acknowledgement,
};

/// A protocol that may be broken in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Nothing,
    /// It sends data that may be lost where nothing is lost.
    WrongClass,
    /// It does not send again what was dropped.
    Forgetful,
    /// It sends again what was not dropped.
    Nervous,
    /// It waits until a tick that has passed.
    Backward,
    /// It forgets nothing.
    Hoarder,
}

impl Protocol for Broken {
    fn classes(&self) -> Vec<TrafficClass> {
        let speculative = TrafficClass { lossy: Lossy::After(5), ..TrafficClass::data(0) };
        vec![TrafficClass::data(1), speculative, TrafficClass::control("control", 2, Way::Chosen)]
    }

    fn kinds(&self) -> Vec<PacketKind> {
        vec![PacketKind::SpeculativeData, PacketKind::Acknowledgement, PacketKind::Refusal]
    }

    fn hooks(&self) -> Hooks {
        Hooks { copies: true, ..Hooks::default() }
    }

    fn source(&self, _: &Station) -> Option<Box<dyn Source>> {
        Some(Box::new(*self))
    }

    fn sink(&self, _: &Station) -> Option<Box<dyn Sink>> {
        Some(Box::new(*self))
    }

    fn switch(&self, _: &Station) -> Option<Box<dyn Switch>> {
        Some(Box::new(*self))
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

impl Source for Broken {
    fn turn(&mut self, _: &Outgoing, now: u64, _: &mut Vec<SourceAction>) -> Verdict {
        match self {
            Self::Backward => Verdict::NotBefore(now),
            Self::WrongClass => Verdict::Send { kind: PacketKind::SpeculativeData, class: 0, marks: 0 },
            _ => Verdict::Send { kind: PacketKind::SpeculativeData, class: 1, marks: 0 },
        }
    }

    fn hear(&mut self, control: &Control, _: u64, now: u64, actions: &mut Vec<SourceAction>) {
        let packet = control.about;
        let again = SourceAction::Resend { packet, kind: PacketKind::Data, class: 0, at: now };
        match (self, control.kind) {
            (Self::Nervous, PacketKind::Acknowledgement) | (Self::Nothing, PacketKind::Refusal) => actions.push(again),
            (Self::Nothing | Self::Forgetful, PacketKind::Acknowledgement) => {
                actions.push(SourceAction::Forget(packet));
            }
            _ => {}
        }
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn save(&self, _: &mut Vec<u8>) {}

    fn load(&mut self, _: &mut &[u8]) -> Option<()> {
        Some(())
    }
}

impl Sink for Broken {
    fn take(&mut self, arrival: &crate::Arrival, _: u64, replies: &mut Vec<Control>) {
        replies.push(acknowledgement(arrival, 2));
    }
}

impl Switch for Broken {
    fn give_up(&mut self, packet: &Passing, _: u64) -> Control {
        packet.refusal(2)
    }
}

fn verdict(broken: Broken, fates: &[Fate]) -> Result<(), String> {
    let mut steps = vec![Step::Offer { node: 0, destination: 1, flits: 3 }];
    for &fate in fates {
        steps.extend([Step::Transmit { node: 0 }, Step::Arrive { which: 0, fate }]);
    }
    run(&broken, &Script { nodes: 2, packet_flits_max: 2, steps }).map(|_| ())
}

#[test]
fn what_is_wrong_is_found_out() {
    let dropped = [Fate::Impatience, Fate::Queued(0)];
    assert_eq!(verdict(Broken::Nothing, &dropped), Ok(()));
    let complaint = |broken| verdict(broken, &dropped).unwrap_err();
    assert!(complaint(Broken::WrongClass).contains("not lossy"));
    assert!(complaint(Broken::Forgetful).contains("not idle"));
    assert!(complaint(Broken::Nervous).contains("was not dropped"));
    assert!(complaint(Broken::Backward).contains("is to wait until"));
    assert!(complaint(Broken::Hoarder).contains("not idle"));
}

proptest! {
    #[test]
    fn the_baseline_and_a_simple_protocol_conform(numbers in prop::collection::vec(any::<u64>(), 1..300)) {
        let script = Script::from_numbers(&numbers);
        for acknowledge in [false, true] {
            let protocol = Baseline { acknowledge, control_way: Way::Minimal };
            prop_assert_eq!(run(&protocol, &script).err(), None);
        }
        prop_assert_eq!(run(&Broken::Nothing, &script).err(), None);
    }
}
