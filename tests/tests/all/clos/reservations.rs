//! Nothing ever waits for room behind the last switch of its way: what is held back is held back at its source.

use super::{finished, network, numbers};

/// The last links between switches, those from spines to leaves, at all times at which it was looked.
#[derive(Clone, Copy, Debug, Default)]
struct LastHop {
    /// Packets that waited for such a link, and those of them for which there was no room at its end.
    blocked: f64,
    stalled: f64,
    /// The most flits that a crosspoint at the end of a link had, those on the link and those whose credits were on their way among them.
    fullest: f64,
}

/// Looks at the last links between switches of a network of `m` switches in each stage every so many cycles. Crosspoints between switches hold `buffer` flits.
fn last_hop(protocol: &str, buffer: u32, (m, hot, every, cycles): (u32, u32, u32, u32)) -> LastHop {
    let network = network(m)
        .replace("level1 = { latency = 8, buffer = 96 }", &format!("level1 = {{ latency = 8, buffer = {buffer} }}"));
    let traffic = format!(
        "[[traffic]]\nname = \"others\"\nsize = 8\ndestination_load = 0.4\npattern.uniform = {{ among = {{ outside = [3] }}, with_self = true }}\n\
         [[traffic]]\nname = \"hot\"\nsize = 8\ndestination_load = {hot}\npattern.uniform = {{ among = [3], with_self = true }}\nsaturates = true\n"
    );
    let look =
        format!("[measure]\nwarmup = 0\ncycles = {cycles}\nlinks = {{ every = {every}, select = \"level1\" }}\n");
    let (scenario, findings) = finished(&format!("protocol = {protocol}\n{network}{traffic}{look}"));
    let table = findings.links(&scenario).expect("it was looked at links");
    let column = |name: &str| {
        numbers(&table, name).into_iter().map(|number| number.expect("each link has it")).collect::<Vec<_>>()
    };
    let (from, to) = (column("router"), column("to_router"));
    let down = |row: &usize| from[*row] >= f64::from(m) && to[*row] < f64::from(m);
    let rows: Vec<usize> = (0..from.len()).filter(down).collect();
    assert_eq!(rows.len() as u32, m * m * (cycles / every), "one link of each spine to each leaf");
    let [blocked, stalled] = ["blocked_heads", "stalled_heads"].map(|name| {
        let heads = column(name);
        rows.iter().map(|&row| heads[row]).sum()
    });
    let most = |vc: u32| {
        let taken = column(&format!("occupied_vc{vc}"));
        rows.iter().map(|&row| taken[row]).fold(0.0, f64::max)
    };
    LastHop { blocked, stalled, fullest: (0..m).map(most).fold(0.0, f64::max) }
}

/// Networks by the switches in each of their stages, how many packets come for output 3 for each that it takes, and every how many of so many cycles it is looked: about as
/// many packets as 16 inputs can offer beside others, and 30 for one from 64 inputs.
const INCASTS: [(u32, u32, u32, u32); 2] = [(4, 9, 1, 4000), (8, 30, 5, 8000)];

const SCHEDULERS: [&str; 2] = ["central-scheduler", "distributed-scheduler"];

#[test]
fn no_packet_lacks_room_behind_the_last_link_between_switches() {
    for incast in INCASTS {
        for scheduler in SCHEDULERS {
            let seen = last_hop(&format!("\"{scheduler}\""), 96, incast);
            assert!(seen.blocked > 0.0 && seen.fullest > 0.0, "packets take these links: {seen:?}");
            assert_eq!(seen.stalled, 0.0, "{scheduler}, {incast:?}: {seen:?}");
        }
        let without = last_hop("\"baseline\"", 96, incast);
        assert!(without.stalled > 0.0, "{incast:?}: {without:?}");
    }
}

/// It is not that there is no more room: crosspoints here have room for 60 packets.
#[test]
fn no_crosspoint_before_an_output_has_more_packets_than_places_are_given_out() {
    for incast in INCASTS {
        for (scheduler, places) in SCHEDULERS.iter().flat_map(|scheduler| [1, 2, 12].map(|places| (scheduler, places)))
        {
            let seen = last_hop(&format!("{{ {scheduler} = {{ buffer = {places} }} }}"), 480, incast);
            assert!(
                seen.fullest > 0.0 && seen.fullest <= 8.0 * f64::from(places),
                "{scheduler}, {places} places, {incast:?}: {seen:?}"
            );
        }
        let without = last_hop("\"baseline\"", 480, incast);
        assert!(without.fullest > 96.0, "{incast:?}: {without:?}");
    }
}
