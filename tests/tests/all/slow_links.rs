//! Links that take far longer for what waits for them than times of 32 bits can tell.

use crate::scenarios::{report_of, resolve_text};

/// How many messages of so many flits come by a link that takes 1,024 cycles for a flit, while all that others send crosses to its output queue.
fn delivered(output_queue: &str, speedup: u32, packet_flits: u32, cycles: u32) -> u64 {
    let text = format!(
        "routing = \"direct\"\n[topology.single-switch]\nnodes = 8\n[links.ejection]\ncycles_per_flit = 1024\n\
         [router]\nspeedup = {speedup}\noutput_queue = {output_queue}\n[nic]\npacket_flits = {packet_flits}\nqueue_limit = 4\n\
         [[traffic]]\nfrom = {{ outside = [0] }}\npattern.hot-spot.to = [0]\nsize = {packet_flits}\nload = 1.0\nsaturates = true\n\
         [measure]\nwarmup = 0\ncycles = {cycles}\n"
    );
    report_of(&resolve_text(&text), 1).total.messages.delivered
}

#[test]
fn a_slow_link_sends_no_more_than_it_can_whatever_waits_for_it() {
    for (output_queue, speedup, flits, cycles) in
        [("\"unlimited\"", 2, 8, 2_500_000), ("1048576", 16, 64, 400_000), ("65536", 1, 1, 100_000)]
    {
        let found = delivered(output_queue, speedup, flits, cycles);
        let most = u64::from(cycles / (1024 * flits));
        assert!(
            (most - 1..=most + 1).contains(&found),
            "an output queue of {output_queue}: {found} messages, not {most}"
        );
    }
}
