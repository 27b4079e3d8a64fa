//! temporary
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;
use tailback_engine::*;
use tailback_network::*;
use tailback_routing::*;
use tailback_topology::*;
use tailback_workload::*;

#[derive(Default)]
struct Count {
    n: u64,
    sum: u64,
    net: u64,
    hops: u64,
    flits: u64,
    from: u64,
}
impl Observer for Count {
    fn packet_delivered(&mut self, p: &Packet, t: Tick) {
        if t >= self.from {
            self.n += 1;
            self.sum += t - p.created();
            self.net += t - p.injected();
            self.hops += p.hops as u64;
            self.flits += p.flits as u64;
        }
    }
}

fn main() {
    let arg: Vec<String> = std::env::args().collect();
    let h: u32 = arg[1].parse().unwrap();
    let load: f64 = arg[2].parse().unwrap();
    let threads: usize = arg[3].parse().unwrap();
    let cycles: u64 = arg[4].parse().unwrap();
    let (p, a) = (h, 2 * h);
    let topology = Arc::new(Dragonfly::new(p, a, h, a * h + 1, Arrangement::Palmtree).unwrap());
    let seq = VcSequence::parse("l0 g0 l1", &["l", "l?gl?"]).unwrap();
    let routing = Arc::new(Minimal::new(topology.clone(), seq));
    let spec = NetworkSpec {
        ticks_per_cycle: 2,
        links: vec![
            LinkSpec { latency: 2, flit_ticks: 2 },
            LinkSpec { latency: 20, flit_ticks: 2 },
            LinkSpec { latency: 200, flit_ticks: 2 },
        ],
        injection: LinkSpec { latency: 2, flit_ticks: 2 },
        input_buffers: vec![256, 32, 256],
        classes: vec![ClassSpec { priority: 0, first_vc: vec![0, 0, 0], vcs: vec![3, 3, 2] }],
        acknowledgement_class: None,
        packet_flits_max: 8,
        packet_flits_min: 8,
        router: RouterSpec {
            head_delay: 0,
            crossbar_delay: 10,
            allocation_period: 2,
            iterations: 1,
            order: AllocationOrder::InputFirst,
            input_arbiter: Arbiter::RoundRobin,
            output_arbiter: Arbiter::RoundRobin,
            transit_first: true,
            vc_allocation: false,
            crossbar_inputs: CrossbarPorts::PerPort,
            crossbar_outputs: CrossbarPorts::PerPort,
            virtual_output_queues: false,
            output_queues: OutputQueueSpec {
                flits: Some(32),
                per: QueuePer::Port,
                release: Release::Start,
                link_arbiter: LinkArbiter::Oldest,
            },
            credits: CreditCheck::Crossbar,
        },
        nic: NicSpec { queues: SourceQueues::Fifo, vc_choice: InjectionVc::RoundRobin, queue_limit: None },
    };
    let n = topology.nodes();
    let phase = Phase { from_cycle: 0, pattern: Pattern::uniform(NodeSet::all(n), false).unwrap(), load };
    let traffic = Traffic::new("un".into(), NodeSet::all(n), MessageSize::Fixed(8), Arrival::Bernoulli, vec![phase]);
    let plan = NetworkPlan {
        partition: Partition::by_domain(topology.as_ref(), u32::MAX),
        topology: topology.clone(),
        routings: vec![routing],
        spec,
        workload: Workload { traffics: vec![traffic] },
        seed: 1,
    };
    let t = Instant::now();
    let warm = cycles / 5 * 2;
    let mut sim = plan.build::<_, Plain>(|_| Count { from: warm, ..Count::default() });
    println!("build {:.2}s", t.elapsed().as_secs_f64());
    let t = Instant::now();
    if threads == 0 {
        sim.run_until(cycles * 2, &Sequential, |_| ControlFlow::Continue(()));
    } else {
        sim.run_until(cycles * 2, &Rayon::new(threads).unwrap(), |_| ControlFlow::Continue(()));
    }
    let s = t.elapsed().as_secs_f64();
    let hops: u64 = sim.regions().map(|r| r.packet_hops()).sum();
    let mut c = Count::default();
    for r in sim.regions() {
        let o = r.observer();
        c.n += o.n;
        c.sum += o.sum;
        c.net += o.net;
        c.hops += o.hops;
        c.flits += o.flits;
    }
    let meas = (cycles * 2 - warm) as f64 / 2.0;
    println!(
        "{hops} hops {s:.2}s {:.3} M/s  accepted {:.4} lat {:.3} net {:.3} hops {:.3}",
        hops as f64 / s / 1e6,
        c.flits as f64 / n as f64 / meas,
        c.sum as f64 / c.n as f64 / 2.0,
        c.net as f64 / c.n as f64 / 2.0,
        c.hops as f64 / c.n as f64
    );
    let rss = std::fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .find(|l| l.starts_with("VmHWM"))
        .unwrap()
        .to_string();
    println!("{rss}");
}
