//! What windows do and what they leave alone.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tailback_engine::{Channel, ChannelMap, NEVER, Outbox, Rayon, Region, Sequential, Simulation, Tick};

/// Acts at given ticks, and then sends each other region a letter.
#[derive(Default)]
struct Actor {
    acts: Vec<Tick>,
    delay: Tick,
    receivers: u32,
    /// The tick at which it panics.
    panics_at: Option<Tick>,
    received: Vec<(Tick, Tick)>,
    /// How often it was asked to advance.
    advanced: u64,
}

impl Region for Actor {
    type Mail = Vec<(Tick, Tick)>;

    fn next_tick(&self) -> Tick {
        self.acts.first().copied().unwrap_or(NEVER)
    }

    fn receive(&mut self, mail: &Self::Mail) {
        self.received.extend(mail);
    }

    fn advance(&mut self, until: Tick, outbox: &mut Outbox<Self::Mail>) {
        self.advanced += 1;
        while self.next_tick() < until {
            let now = self.acts.remove(0);
            assert!(self.panics_at != Some(now), "it panics as it was told");
            for receiver in 0..self.receivers {
                outbox.mail(receiver, now + self.delay).push((now + self.delay, now));
            }
        }
    }

    fn events(&self) -> u64 {
        self.advanced
    }
}

/// Regions that all send to each other with a delay; each acts at the ticks that are given for it.
fn simulation(delay: Tick, acts: &[&[Tick]]) -> Simulation<Actor> {
    let count = acts.len() as u32;
    let channels = (0..count).flat_map(|from| (0..count).map(move |to| Channel { from, to, delay }));
    let actor = |acts: &&[Tick]| Actor { acts: acts.to_vec(), delay, receivers: count - 1, ..Actor::default() };
    Simulation::new(acts.iter().map(actor).collect(), ChannelMap::new(count, channels).expect("channels have a delay"))
}

fn eager(threads: usize) -> Rayon {
    Rayon::new(threads).expect("threads start").eager()
}

#[test]
fn regions_without_events_are_left_alone_and_empty_time_is_jumped_over() {
    for delay in [1, 7, 1000] {
        let mut simulation = simulation(delay, &[&[5, 1_000_000_000, 2_000_000_000], &[], &[]]);
        let mut windows = 0;
        simulation.run_until(1 << 40, &Sequential, |_| {
            windows += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(simulation.now(), 1 << 40);
        assert!(windows <= 6, "{windows} windows for three events and their mail");
        let advanced: Vec<u64> = simulation.regions().map(|region| region.advanced).collect();
        assert_eq!(advanced, [3, 0, 0], "who has only mail receives it");
        let sent = [5, 1_000_000_000, 2_000_000_000].map(|tick| (tick + delay, tick));
        assert!(simulation.regions().skip(1).all(|region| region.received == sent));
    }
}

#[test]
fn many_windows_with_hardly_anything_to_do_end_on_more_threads_than_processors() {
    let acts: Vec<Tick> = (0..3000).map(|number| 3 * number).collect();
    let acts: Vec<&[Tick]> = vec![&acts; 5];
    let received = |simulation: &Simulation<Actor>| {
        let sorted = |region: &Actor| {
            let mut received = region.received.clone();
            received.sort_unstable();
            received
        };
        simulation.regions().map(sorted).collect::<Vec<_>>()
    };
    for delay in [1, 4, 500] {
        let mut alone = simulation(delay, &acts);
        alone.run_until(20_000, &Sequential, |_| ControlFlow::Continue(()));
        for pool in [Rayon::new(8).expect("threads start"), eager(2), eager(8)] {
            let mut shared = simulation(delay, &acts).with_observation_every(1000);
            shared.run_until(20_000, &pool, |_| ControlFlow::Continue(()));
            assert_eq!(received(&shared), received(&alone), "{pool:?}, delay {delay}");
        }
    }
}

#[test]
fn a_panic_in_a_region_ends_the_run_on_all_threads() {
    let acts: Vec<Tick> = (0..2000).collect();
    let pool = eager(3);
    for panicking in 0..6 {
        for delay in [1, 4, 100] {
            let mut simulation = simulation(delay, &[acts.as_slice(); 6]).with_observation_every(50);
            simulation.regions_mut().nth(panicking).expect("there are six").panics_at = Some(1500);
            let run = || simulation.run_until(2000, &pool, |_| ControlFlow::Continue(()));
            let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("a region panics");
            assert_eq!(payload.downcast_ref(), Some(&"it panics as it was told"));
        }
    }
    // The pool is as good as new.
    let mut simulation = simulation(4, &[acts.as_slice(); 6]);
    simulation.run_until(2000, &pool, |_| ControlFlow::Continue(()));
    assert!(simulation.regions().all(|region| region.next_tick() == NEVER));
}

#[test]
fn a_panic_of_the_observer_ends_the_run() {
    let acts: Vec<Tick> = (0..2000).collect();
    let mut simulation = simulation(4, &[acts.as_slice(); 6]);
    let run = || {
        simulation.run_until(2000, &eager(3), |simulation| {
            assert!(simulation.now() < 1000, "seen enough");
            ControlFlow::Continue(())
        })
    };
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("the observer panics");
    assert_eq!(payload.downcast_ref(), Some(&"seen enough"));
}

#[test]
fn observers_are_called_as_often_as_they_ask() {
    let acts: Vec<Tick> = (0..1000).collect();
    for (every, expected) in [(0, 500), (100, 10)] {
        for pool in [Rayon::new(1).expect("a thread starts"), eager(2)] {
            let mut simulation = simulation(2, &[&acts, &acts]).with_observation_every(every);
            let mut observed = 0;
            simulation.run_until(1000, &pool, |_| {
                observed += 1;
                ControlFlow::Continue(())
            });
            assert!(observed == expected || observed == expected + 1, "{observed} times, not {expected}");
        }
    }
}
