//! The timing wheel: events are taken and scheduled anew, at random times up to some horizon. An element is an event.
//!
//! Short horizons stay in the slots of single ticks, a million ticks need the slots of many, and 64 million the heap.

use criterion::{Criterion, criterion_group, criterion_main};
use tailback_benches::per_element;
use tailback_engine::{Tick, Wheel};
use tailback_random::Stream;

/// Events in the wheel at any time, about as many as a busy region has.
const EVENTS: u64 = 4096;

struct Hold {
    wheel: Wheel<u64>,
    horizon: u32,
    stream: Stream,
    taken: Vec<u64>,
}

impl Hold {
    fn new(horizon: u32) -> Self {
        let mut hold =
            Self { wheel: Wheel::new(horizon.into()), horizon, stream: Stream::new(1, 2, 3), taken: Vec::new() };
        for event in 0..EVENTS {
            let tick = hold.later(0);
            hold.wheel.schedule(tick, event);
        }
        hold
    }

    fn later(&mut self, now: Tick) -> Tick {
        now + 1 + Tick::from(self.stream.below(self.horizon))
    }

    /// Takes as many events as there are, and schedules each anew.
    fn turn(&mut self, take: impl Fn(&mut Wheel<u64>, Tick, &mut Vec<u64>)) -> u64 {
        let mut done = 0;
        while done < EVENTS {
            let now = self.wheel.next_tick();
            let mut taken = std::mem::take(&mut self.taken);
            take(&mut self.wheel, now, &mut taken);
            for &event in &taken {
                let tick = self.later(now);
                self.wheel.schedule(tick, event);
            }
            done += taken.len() as u64;
            self.taken = taken;
        }
        done
    }
}

/// In no order, as the network takes them.
fn take(wheel: &mut Wheel<u64>, now: Tick, taken: &mut Vec<u64>) {
    taken.clear();
    wheel.take(now, |event| taken.push(event));
}

fn wheel(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wheel");
    for horizon in [64, 1 << 10, 1 << 14, 1 << 20, 1 << 26] {
        let mut hold = Hold::new(horizon);
        per_element(&mut group, format!("horizon-{horizon}"), || hold.turn(take));
    }
    let mut hold = Hold::new(1 << 10);
    per_element(&mut group, "horizon-1024-ordered", || hold.turn(Wheel::take_ordered));
}

criterion_group! { name = benches; config = tailback_benches::criterion(); targets = wheel }
criterion_main!(benches);
