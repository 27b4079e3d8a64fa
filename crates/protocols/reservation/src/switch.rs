//! Routers: dropping, and the schedules of the nodes that hang on them.

use tailback_protocol::{Clock, Fate, Here, Moment, Passing, Switch, remember, write_down};

use crate::schedule::{Charge, Schedule};
use crate::sink::grant;
use crate::{RESERVED, kind};

/// Drops what has waited for too long, and knows nothing else: SRP and SMSRP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expiry;

impl Switch for Expiry {
    fn expires(&mut self, packet: &mut Passing<'_>, _here: &mut Here<'_>) -> Fate {
        Fate::Drop(packet.nack(kind::NACK))
    }
}

/// Watches over the queues of the nodes of its router: LHRP.
#[derive(Clone, Debug)]
pub(crate) struct LastHop {
    charge: Charge,
    /// From how many flits on that wait for a node speculative packets for it are dropped.
    threshold: u32,
    /// By port of a node.
    schedules: Vec<Schedule>,
}

impl LastHop {
    pub fn new(charge: Charge, threshold: u32, ports: u32) -> Self {
        Self { charge, threshold, schedules: vec![Schedule::default(); ports as usize] }
    }
}

impl LastHop {
    /// Drops a speculative packet if too much waits for its node already.
    fn judge(&mut self, packet: &Passing<'_>, here: &Here<'_>) -> Fate {
        let port = here.node_port();
        if here.view.waiting_for_node(port) < self.threshold {
            return Fate::Forward;
        }
        let nack = packet.nack(kind::NACK);
        if *packet.marks & RESERVED != 0 {
            return Fate::Drop(nack); // its message has a time, or will get one
        }
        let schedule = &mut self.schedules[usize::from(port)];
        Fate::Drop(nack.time(self.charge.reserve(packet.flits.into(), schedule, here.now)))
    }
}

impl Switch for LastHop {
    fn arrives(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        let Some(reservation) = &packet.control else { return self.judge(packet, here) };
        let schedule = &mut self.schedules[usize::from(here.node_port())];
        Fate::Absorb(Some(grant(reservation, schedule, self.charge, here.now)))
    }

    fn requests(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        self.judge(packet, here)
    }

    fn expires(&mut self, packet: &mut Passing<'_>, _here: &mut Here<'_>) -> Fate {
        Fate::Drop(packet.nack(kind::NACK))
    }

    fn foretell(&self, moment: Moment, packet: &Passing<'_>, here: &Here<'_>, clock: Clock) -> Option<String> {
        if moment == Moment::Expires {
            return None;
        }
        let port = here.node_port();
        let time = |flits| self.charge.foretell(flits, self.schedules[usize::from(port)], here.now, clock);
        if let Some(reservation) = &packet.control {
            return Some(time(reservation.flits));
        }
        let (waiting, threshold) = (here.view.waiting_for_node(port), self.threshold);
        let judged = format!("{waiting} flits wait for the node at port {port}");
        Some(if waiting < threshold {
            format!("{judged}, fewer than the threshold of {threshold}")
        } else if *packet.marks & RESERVED != 0 {
            format!("{judged}, the threshold is {threshold}; the message has a reservation of its own")
        } else {
            format!("{judged}, the threshold is {threshold}; {}", time(packet.flits.into()))
        })
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
    use tailback_protocol::{Control, Fill, PacketKind, PacketRef, PortVc, View};

    use super::*;

    /// A router in which some flits wait for each node.
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

        fn sent(&self, _port: u8) -> u64 {
            0
        }

        fn waiting_for_node(&self, _port: u8) -> u32 {
            self.0
        }
    }

    /// The fate of a packet from node 5 to node 6, at port `port` of its last router.
    fn fate(switch: &mut LastHop, mut marks: u8, ask: Option<Control>, port: u8, waiting: u32, now: u64) -> Fate {
        let (kind, packet) =
            (ask.as_ref().map_or(kind::SPECULATIVE, |ask| ask.kind), PacketRef { message: 1, index: 2 });
        let mut passing = Passing {
            kind,
            source: 5,
            destination: 6,
            packet,
            flits: 4,
            marks: &mut marks,
            control: ask,
            payload: &mut [],
        };
        let (input, output) = (PortVc { port: 7, vc: 0 }, Some(PortVc { port, vc: 0 }));
        let mut here = Here { now, input, output, view: &Waiting(waiting), actions: &mut Vec::new(), stream: None };
        switch.arrives(&mut passing, &mut here)
    }

    fn answer(fate: Fate) -> Control {
        match fate {
            Fate::Drop(control) | Fate::Absorb(Some(control)) => control,
            _ => panic!("nothing is answered: {fate:?}"),
        }
    }

    const CHARGE: Charge = Charge { flit_ticks: 2, overhead: 0.0, control_overhead: 0, minimum_grant_delay: 0 };

    #[test]
    fn drops_begin_at_the_threshold_and_carry_the_next_free_time() {
        let mut switch = LastHop::new(CHARGE, 1000, 2);
        assert_eq!(fate(&mut switch, 0, None, 1, 999, 50), Fate::Forward);
        let times = [50, 51, 200].map(|now| answer(fate(&mut switch, 0, None, 1, 1000, now)).time);
        assert_eq!(times, [Some(50), Some(58), Some(200)]);
        // Another node has a schedule of its own.
        assert_eq!(answer(fate(&mut switch, 0, None, 0, 2000, 51)).time, Some(51));
    }

    #[test]
    fn messages_with_a_reservation_get_no_second_time_and_share_the_schedule() {
        let mut switch = LastHop::new(Charge { flit_ticks: 1, ..CHARGE }, 10, 1);
        let nack = answer(fate(&mut switch, RESERVED, None, 0, 10, 50));
        assert_eq!((nack.kind, nack.time, nack.to, nack.flits), (kind::NACK, None, 5, 4));
        let ask = |kind: PacketKind| Control::new(kind, 5, 6, PacketRef { message: 1, index: 0 }).flits(512);
        assert_eq!(answer(fate(&mut switch, 0, Some(ask(kind::RESERVATION)), 0, 0, 60)).time, Some(60));
        assert_eq!(answer(fate(&mut switch, 0, None, 0, 10, 70)).time, Some(572));
    }
}
