//! The receiving side: everything is acknowledged, and reservations are granted where the schedule is here.

use tailback_protocol::{Arrival, Clock, Control, Sink, SinkAction, remember, write_down};

use crate::kind;
use crate::schedule::{Charge, Schedule};

/// The sink of all reservation protocols.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub charge: Charge,
    pub schedule: Schedule,
}

impl Sink for Destination {
    fn on_data(&mut self, arrival: &Arrival<'_>, _now: u64, actions: &mut Vec<SinkAction>) {
        actions.push(SinkAction::Control(arrival.acknowledgement(kind::ACKNOWLEDGEMENT)));
    }

    fn on_request(&mut self, request: &Control, now: u64, actions: &mut Vec<SinkAction>) {
        actions.push(SinkAction::Control(grant(request, &mut self.schedule, self.charge, now)));
    }

    fn foretell(&self, request: &Control, now: u64, clock: Clock) -> Option<String> {
        Some(self.charge.foretell(request.flits, self.schedule, now, clock))
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.schedule, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.schedule = remember(bytes)?;
        Some(())
    }
}

/// The answer to a reservation.
pub(crate) fn grant(reservation: &Control, schedule: &mut Schedule, charge: Charge, now: u64) -> Control {
    let time = charge.reserve(reservation.flits, schedule, now);
    let &Control { from, to, about, .. } = reservation;
    Control::new(kind::GRANT, to, from, about).time(time)
}

#[cfg(test)]
mod tests {
    use tailback_protocol::PacketRef;

    use super::*;

    #[test]
    fn reservations_that_come_together_are_granted_one_after_the_other() {
        let charge = Charge { flit_ticks: 2, overhead: 0.0, control_overhead: 0, minimum_grant_delay: 0 };
        let mut sink = Destination { charge, schedule: Schedule::default() };
        let mut actions = Vec::new();
        for source in 0..3 {
            let about = PacketRef { message: source, index: 0 };
            let ask = Control::new(kind::RESERVATION, source, 9, about).flits(4);
            sink.on_request(&ask, 100, &mut actions);
        }
        let granted = actions.iter().map(|action| match action {
            SinkAction::Control(grant) => (grant.kind, grant.from, grant.to, grant.time),
            other => panic!("{other:?}"),
        });
        let granted: Vec<_> = granted.collect();
        let grant = |to, time| (kind::GRANT, 9, to, Some(time));
        assert_eq!(granted, [grant(0, 100), grant(1, 108), grant(2, 116)]);
    }
}
