//! PHOLD on the tailback engine.
//!
//! PHOLD (Fujimoto, 1990) is the standard benchmark of parallel discrete-event kernels: a number of
//! logical processes keep a fixed population of jobs; each job, when it arrives, is sent on to a random
//! process after a random delay. It does nothing else, so it measures the kernel alone.
//!
//! **What this crate must never know:** anything but the engine. It is the proof that the engine stands
//! by itself.
//!
//! **The invariant it keeps:** the [`Phold::digest`] does not depend on the number of regions or threads.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tailback_engine::{
    Channel, ChannelMap, NEVER, Outbox, Region, Scheduled, Simulation, Snapshot, SnapshotError, Stream, Tick, Wheel,
    read_value, write_value,
};

/// What to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Phold {
    /// Logical processes.
    pub processes: u32,
    /// Jobs that each process starts with.
    pub jobs_per_process: u32,
    /// The least delay of a job, which is also the lookahead.
    pub delay_ticks_min: Tick,
    /// The mean of the exponential delay added to it.
    pub delay_ticks_mean: f64,
    /// The chance that a job goes to a random process instead of staying where it is.
    pub remote: f64,
    /// The seed of all random streams.
    pub seed: u64,
}

impl Default for Phold {
    fn default() -> Self {
        Self {
            processes: 1024,
            jobs_per_process: 4,
            delay_ticks_min: 100,
            delay_ticks_mean: 900.0,
            remote: 0.25,
            seed: 1,
        }
    }
}

impl Phold {
    /// The simulation of this model, its processes dealt out to `regions` regions in equal runs.
    ///
    /// # Panics
    /// When there are no regions, more regions than processes, or no minimum delay.
    #[must_use]
    pub fn simulation(&self, regions: u32) -> Simulation<PholdRegion> {
        self.part(regions, 0..regions as usize)
    }

    /// The same of which only some regions are held, as by a rank.
    ///
    /// # Panics
    /// When there are no such regions.
    #[must_use]
    pub fn part(&self, regions: u32, held: Range<usize>) -> Simulation<PholdRegion> {
        assert!(regions > 0 && regions <= self.processes, "between one region and one per process");
        let all = 0..regions;
        let channels =
            all.clone().flat_map(|from| all.clone().map(move |to| Channel { from, to, delay: self.delay_ticks_min }));
        let channels = ChannelMap::new(regions, channels).expect("all channels join known regions with a delay");
        let (first, held) = (held.start, held.start as u32..held.end as u32);
        Simulation::part(held.map(|index| PholdRegion::new(self, index, regions)).collect(), first, channels)
    }

    /// How many jobs have arrived so far: the events of this model.
    #[must_use]
    pub fn arrivals(simulation: &Simulation<PholdRegion>) -> u64 {
        simulation.regions().map(|region| region.state.arrivals).sum()
    }

    /// How many jobs there are: all are on their way to a process, inside a region or between two.
    #[must_use]
    pub fn population(simulation: &Simulation<PholdRegion>) -> usize {
        let regions = simulation.held().zip(simulation.regions());
        regions
            .map(|(index, region)| {
                let between: usize = simulation.in_transit(index).map(Vec::len).sum();
                region.state.wheel.len() + between
            })
            .sum()
    }

    /// How many jobs have arrived so far, and a checksum over where and when.
    #[must_use]
    pub fn digest(simulation: &Simulation<PholdRegion>) -> (u64, u64) {
        let checksum = simulation.regions().flat_map(|region| &region.state.processes);
        let checksum = checksum.fold(0, |sum: u64, process| sum.wrapping_mul(31).wrapping_add(process.checksum));
        (Self::arrivals(simulation), checksum)
    }

    fn first_process(&self, region: u32, regions: u32) -> u32 {
        (u64::from(region) * u64::from(self.processes)).div_ceil(u64::from(regions)) as u32
    }

    fn delay(&self, stream: &mut Stream) -> Tick {
        self.delay_ticks_min + (-libm::log(stream.unit()) * self.delay_ticks_mean) as Tick
    }
}

/// The arrival of a job. Its order in a tick is by receiver, then sender, then the sender's serial number,
/// none of which depends on regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Arrival {
    process: u32,
    sender: u32,
    serial: u32,
}

impl Scheduled for Arrival {}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Process {
    stream: Stream,
    sent: u32,
    checksum: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    processes: Vec<Process>,
    wheel: Wheel<Arrival>,
    arrivals: u64,
}

/// A run of processes and the jobs on their way to them.
#[derive(Clone, Debug)]
pub struct PholdRegion {
    model: Phold,
    index: u32,
    regions: u32,
    first: u32,
    state: State,
    arriving: Vec<Arrival>,
}

impl PholdRegion {
    fn new(model: &Phold, index: u32, regions: u32) -> Self {
        let first = model.first_process(index, regions);
        let last = model.first_process(index + 1, regions);
        let horizon = model.delay_ticks_min + (2.0 * model.delay_ticks_mean) as Tick;
        let mut wheel = Wheel::new(horizon);
        let mut processes = Vec::new();
        for process in first..last {
            let mut stream = Stream::new(model.seed, u64::from(process), 0);
            for serial in 0..model.jobs_per_process {
                wheel.schedule(model.delay(&mut stream), Arrival { process, sender: process, serial });
            }
            processes.push(Process { stream, sent: model.jobs_per_process, checksum: 0 });
        }
        let state = State { processes, wheel, arrivals: 0 };
        Self { model: model.clone(), index, regions, first, state, arriving: Vec::new() }
    }

    /// Sends the job that arrived at `now` on.
    fn handle(&mut self, now: Tick, arrival: Arrival, outbox: &mut Outbox<Vec<(Tick, Arrival)>>) {
        let model = &self.model;
        let process = &mut self.state.processes[(arrival.process - self.first) as usize];
        process.checksum = process.checksum.wrapping_mul(0x100_0000_01b3) ^ now ^ u64::from(arrival.sender) << 32;
        self.state.arrivals += 1;
        let tick = now + model.delay(&mut process.stream);
        let remote = process.stream.unit() <= model.remote;
        let to = if remote { process.stream.below(model.processes) } else { arrival.process };
        let next = Arrival { process: to, sender: arrival.process, serial: process.sent };
        process.sent += 1;
        let region = (u64::from(to) * u64::from(self.regions) / u64::from(model.processes)) as u32;
        if region == self.index {
            self.state.wheel.schedule(tick, next);
        } else {
            // All other regions are receivers.
            outbox.mail(region - u32::from(region > self.index), tick).push((tick, next));
        }
    }
}

impl Region for PholdRegion {
    type Mail = Vec<(Tick, Arrival)>;

    fn next_tick(&self) -> Tick {
        self.state.wheel.next_tick()
    }

    fn receive(&mut self, mail: &Self::Mail) {
        for &(tick, arrival) in mail {
            self.state.wheel.schedule(tick, arrival);
        }
    }

    fn advance(&mut self, until: Tick, outbox: &mut Outbox<Vec<(Tick, Arrival)>>) {
        let mut arriving = std::mem::take(&mut self.arriving);
        loop {
            let now = self.state.wheel.next_tick();
            if now == NEVER || now >= until {
                break;
            }
            self.state.wheel.take_ordered(now, &mut arriving);
            for &arrival in &arriving {
                self.handle(now, arrival, outbox);
            }
        }
        self.arriving = arriving;
    }

    fn events(&self) -> u64 {
        self.state.arrivals
    }
}

impl Snapshot for PholdRegion {
    fn save(&self, bytes: &mut Vec<u8>) -> Result<(), SnapshotError> {
        write_value(&self.state, bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), SnapshotError> {
        self.state = read_value(bytes)?;
        Ok(())
    }
}
