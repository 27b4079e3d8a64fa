//! A control network: a list of what is due, in order.

use std::collections::BTreeMap;

use crate::{Controller, ControllerAction, Party, Protocol, Station, Words};

/// What somebody tells somebody.
pub(super) type Told = (Party, Party, Words);

enum Due {
    Message(Party, Words),
    Timer(u32),
}

pub(super) struct ControlNetwork {
    /// None if there is no control network.
    latency: Option<u64>,
    controllers: Vec<Box<dyn Controller>>,
    /// By time, receiver, sender (timers come last), and number.
    due: BTreeMap<(u64, Party, bool, Option<Party>, u64), Due>,
    serial: u64,
}

impl ControlNetwork {
    pub fn new(protocol: &dyn Protocol, station: &Station) -> Result<Self, String> {
        let declared = protocol.control_network(station);
        if declared.is_some_and(|network| network.latency == 0) {
            return Err("the control network takes no time".to_owned());
        }
        let build = |number| protocol.controller(number, station).ok_or(format!("there is no controller {number}"));
        Ok(Self {
            latency: declared.map(|network| network.latency),
            controllers: (0..declared.map_or(0, |network| network.controllers)).map(build).collect::<Result<_, _>>()?,
            due: BTreeMap::new(),
            serial: 0,
        })
    }

    /// Sends what takes `after` ticks more than the latency.
    pub fn send(&mut self, (from, to, words): Told, after: u64, now: u64) -> Result<(), String> {
        let latency =
            self.latency.ok_or_else(|| format!("{from:?} tells {to:?} something without a control network"))?;
        if matches!(to, Party::Controller(number) if number as usize >= self.controllers.len()) {
            return Err(format!("{from:?} tells {to:?} something, which is not there"));
        }
        self.due.insert((now + latency + after, to, false, Some(from), self.serial), Due::Message(from, words));
        self.serial += 1;
        Ok(())
    }

    /// When something is due next.
    pub fn next(&self) -> Option<u64> {
        self.due.keys().map(|key| key.0).next()
    }

    /// Takes what is due: a message for a part of a node, or nothing more if there is none.
    pub fn take(&mut self, now: u64) -> Result<Option<Told>, String> {
        while self.next().is_some_and(|at| at <= now) {
            let Some(((_, to, ..), due)) = self.due.pop_first() else { break };
            let mut actions = Vec::new();
            match (to, due) {
                (Party::Controller(number), Due::Message(from, words)) => {
                    self.controllers[number as usize].on_message(from, &words, now, &mut actions);
                }
                (Party::Controller(number), Due::Timer(token)) => {
                    self.controllers[number as usize].on_timer(token, now, &mut actions);
                }
                (_, Due::Message(from, words)) => return Ok(Some((from, to, words))),
                (_, Due::Timer(_)) => return Err(format!("{to:?} is no controller and has a timer of one")),
            }
            for action in actions {
                match action {
                    ControllerAction::Tell { to: other, words, after } => self.send((to, other, words), after, now)?,
                    ControllerAction::Timer { at, token } if at > now => {
                        self.due.insert((at, to, true, None, self.serial), Due::Timer(token));
                        self.serial += 1;
                    }
                    ControllerAction::Timer { .. } => return Err(format!("{to:?} sets a timer for the past")),
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ControlNetwork as Declared, InjectionTime, KindDeclaration, Routes, TrafficClass};

    /// It adds up what it is told, and tells the first who spoke two ticks later.
    #[derive(Debug)]
    struct Sums;

    impl Protocol for Sums {
        fn classes(&self) -> Vec<TrafficClass> {
            vec![TrafficClass::data(0)]
        }

        fn kinds(&self) -> Vec<KindDeclaration> {
            vec![KindDeclaration::DATA]
        }

        fn control_network(&self, _: &Station) -> Option<Declared> {
            Some(Declared { latency: 10, controllers: 1 })
        }

        fn controller(&self, _: u32, _: &Station) -> Option<Box<dyn Controller>> {
            Some(Box::new(Sum::default()))
        }

        fn describe(&self) -> String {
            "sums".to_owned()
        }
    }

    #[derive(Default)]
    struct Sum {
        to: Option<Party>,
        sum: u64,
    }

    impl Controller for Sum {
        fn on_message(&mut self, from: Party, words: &[u64], now: u64, actions: &mut Vec<ControllerAction>) {
            if self.to.is_none() {
                self.to = Some(from);
                actions.push(ControllerAction::Timer { at: now + 2, token: 0 });
            }
            self.sum = self.sum * 10 + words[0];
        }

        fn on_timer(&mut self, _: u32, _: u64, actions: &mut Vec<ControllerAction>) {
            let to = self.to.take().expect("somebody has spoken");
            actions.push(ControllerAction::Tell { to, words: [self.sum].into(), after: 0 });
        }
    }

    fn network() -> ControlNetwork {
        let station = Station {
            flit_ticks: 1,
            injection: InjectionTime::of_link(1),
            packet_flits_max: 1,
            ports: 1,
            routers: 1,
            nodes_per_router: 2,
            nodes: 2,
            routes: Routes::ONE,
        };
        ControlNetwork::new(&Sums, &station).expect("it is declared as it should be")
    }

    #[test]
    fn what_comes_at_once_is_received_in_order_of_senders() {
        let (mut network, controller) = (network(), Party::Controller(0));
        for (from, word) in [(Party::Sink(0), 4), (Party::Source(1), 2), (Party::Source(0), 1), (Party::Source(1), 3)] {
            network.send((from, controller, [word].into()), 0, 5).expect("it is there");
        }
        // Timers come behind all messages of their tick.
        network.send((Party::Sink(1), controller, [5].into()), 2, 5).expect("it is there");
        assert_eq!((network.next(), network.take(14)), (Some(15), Ok(None)));
        assert_eq!((network.take(15), network.take(17), network.next()), (Ok(None), Ok(None), Some(27)));
        assert_eq!(network.take(27), Ok(Some((controller, Party::Source(0), [12_345].into()))));
    }

    #[test]
    fn nobody_is_told_anything_who_is_not_there() {
        let refused = network().send((Party::Source(0), Party::Controller(1), Words::default()), 0, 0);
        assert_eq!(refused, Err("Source(0) tells Controller(1) something, which is not there".to_owned()));
    }
}
