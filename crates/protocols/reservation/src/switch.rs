//! Routers: dropping, and the schedules of the nodes that hang on them.

use tailback_protocol::{Control, Passing, Switch, remember, write_down};

use crate::schedule::{Charge, Schedule};
use crate::sink::grant;
use crate::{RESERVED, class};

/// A router that drops what has waited for too long, and knows nothing else: SRP and SMSRP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impatient;

impl Switch for Impatient {
    fn give_up(&mut self, packet: &Passing, _now: u64) -> Control {
        packet.refusal(class::ANSWERS)
    }
}

/// A router that watches over the queues of its nodes: LHRP.
#[derive(Clone, Debug)]
pub(crate) struct LastHop {
    charge: Charge,
    /// From how many flits on that wait for a node speculative packets for it are dropped.
    threshold: u32,
    /// By node.
    schedules: Vec<Schedule>,
}

impl LastHop {
    pub fn new(charge: Charge, threshold: u32, endpoints: u32) -> Self {
        Self { charge, threshold, schedules: vec![Schedule::default(); endpoints as usize] }
    }
}

impl Switch for LastHop {
    fn give_up(&mut self, packet: &Passing, _now: u64) -> Control {
        packet.refusal(class::ANSWERS)
    }

    fn drops(&mut self, packet: &Passing, endpoint: u32, queued: u32, now: u64) -> Option<Control> {
        if queued < self.threshold {
            return None;
        }
        let refusal = packet.refusal(class::ANSWERS);
        if packet.marks & RESERVED != 0 {
            return Some(refusal); // its message has a time, or will get one
        }
        let schedule = &mut self.schedules[endpoint as usize];
        Some(refusal.time(self.charge.reserve(packet.flits.into(), schedule, now)))
    }

    fn takes(&mut self, control: &Control, endpoint: u32, now: u64) -> Option<Control> {
        Some(grant(control, &mut self.schedules[endpoint as usize], self.charge, now))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.schedules, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.schedules = remember(bytes)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use tailback_protocol::{PacketKind, PacketRef};

    use super::*;

    fn passing(marks: u8) -> Passing {
        let packet = PacketRef { message: 1, index: 2 };
        Passing { kind: PacketKind::SpeculativeData, source: 5, destination: 6, packet, flits: 4, marks }
    }

    #[test]
    fn drops_begin_at_the_threshold_and_carry_the_next_free_time() {
        let mut switch = LastHop::new(Charge { flit_ticks: 2, overhead: 0.0, toll: 0, notice: 0 }, 1000, 2);
        assert_eq!(switch.drops(&passing(0), 1, 999, 50), None);
        let times: Vec<_> =
            [50, 51, 200].map(|now| switch.drops(&passing(0), 1, 1000, now).unwrap().time).into_iter().collect();
        assert_eq!(times, [Some(50), Some(58), Some(200)]);
        // Another node has a schedule of its own.
        assert_eq!(switch.drops(&passing(0), 0, 2000, 51).unwrap().time, Some(51));
    }

    #[test]
    fn messages_with_a_reservation_get_no_second_time_and_share_the_schedule() {
        let mut switch = LastHop::new(Charge { flit_ticks: 1, overhead: 0.0, toll: 0, notice: 0 }, 10, 1);
        let refusal = switch.drops(&passing(RESERVED), 0, 10, 50).unwrap();
        assert_eq!((refusal.time, refusal.to, refusal.flits), (None, 5, 4));
        let ask = Control::new(PacketKind::Reservation, 3, 5, 6, PacketRef { message: 1, index: 0 }).flits(512);
        assert_eq!(switch.takes(&ask, 0, 60).unwrap().time, Some(60));
        assert_eq!(switch.drops(&passing(0), 0, 10, 70).unwrap().time, Some(572));
    }
}
