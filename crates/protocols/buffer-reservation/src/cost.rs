//! What schedulers cost (section 7 of the paper): transistors of counters and queues, and bits of messages per packet.
//!
//! Counters are counted as the paper does, by the logarithm of their largest value. Those of 0 to a power of two need one bit more.

/// Transistors of a bit in flip-flops, as the paper counts them.
pub const TRANSISTORS_OF_REGISTER: f64 = 20.0;
/// Transistors of a bit in memory.
pub const TRANSISTORS_OF_MEMORY: f64 = 6.0;

/// A three-stage network, and how many requests of a flow it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Nodes.
    pub nodes: u32,
    /// Switches of a stage, and ports of one: about the root of the nodes.
    pub switches: u32,
    /// Requests of a flow that may be unanswered.
    pub requests: u32,
}

impl Size {
    /// Of so many nodes: a switch has the root of that many ports, rounded.
    #[must_use]
    pub fn of(nodes: u32, requests: u32) -> Self {
        Self { nodes, switches: f64::from(nodes).sqrt().round() as u32, requests }
    }

    /// Bits of the central scheduler: a request counter and a grant counter for each pair of nodes, and a pointer to its route.
    #[must_use]
    pub fn central_bits(&self) -> f64 {
        let pairs = f64::from(self.nodes) * f64::from(self.nodes);
        pairs * (2.0 * bits(self.requests) + bits(self.switches))
    }

    /// Bits of counters in a switch of the last stage, with the distributed scheduler: a request counter and a pointer for each input and each
    /// of its outputs.
    #[must_use]
    pub fn last_switch_bits(&self) -> f64 {
        let pairs = f64::from(self.nodes) * f64::from(self.switches);
        pairs * (bits(self.requests) + bits(self.switches))
    }

    /// Bits of queues in a switch of the first or second stage, with the distributed scheduler: those of requests and those of grants, each with
    /// `places` for each switch that sends there.
    #[must_use]
    pub fn queue_bits(&self, places: u32) -> f64 {
        2.0 * f64::from(self.nodes) * f64::from(places) * self.message_bits()
    }

    /// Bits of a request or a grant: a node, and a port.
    #[must_use]
    pub fn message_bits(&self) -> f64 {
        1.5 * bits(self.nodes)
    }

    /// Bits that are told for each packet: a request, a grant, and a credit for each.
    #[must_use]
    pub fn bits_per_packet(&self) -> f64 {
        2.0 * self.message_bits() + 2.0 * 0.5 * bits(self.nodes)
    }
}

fn bits(values: u32) -> f64 {
    f64::from(values).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [(u32, u32, f64, f64, f64, f64); 5] = [
        // Nodes, switches, and in millions of transistors: central with 128 and 32 requests, counters, queues of 16; 0 where there is no number.
        (64, 8, 1.4, 1.1, 0.10, 0.37),
        (256, 16, 23.6, 18.4, 0.90, 2.0),
        (1024, 32, 398.0, 315.0, 7.9, 9.8),
        (4096, 64, 6.7e3, 5.4e3, 68.0, 47.0),
        (32_768, 181, 462e3, 0.0, 1720.0, 472.0),
    ];

    #[test]
    fn the_table_of_the_sheet() {
        for (nodes, switches, central, small, counters, queues) in ROWS {
            let [size, few] = [128, 32].map(|requests| Size { nodes, switches, requests });
            let millions = |bits: f64| TRANSISTORS_OF_REGISTER * bits / 1e6;
            let found =
                [size.central_bits(), few.central_bits(), size.last_switch_bits(), size.queue_bits(16)].map(millions);
            for (found, expected) in found.into_iter().zip([central, small, counters, queues]) {
                assert!(
                    expected == 0.0 || (found / expected - 1.0).abs() < 0.06,
                    "{nodes} nodes: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn counts_are_exact() {
        let size = Size { nodes: 4096, switches: 64, requests: 128 };
        assert_eq!(size.bits_per_packet(), 48.0);
        assert_eq!(size.bits_per_packet() / (64.0 * 8.0), 0.09375);
        assert_eq!(size.last_switch_bits() * TRANSISTORS_OF_REGISTER, 68_157_440.0);
        let size = Size { nodes: 1024, switches: 32, requests: 128 };
        assert_eq!(size.central_bits() * TRANSISTORS_OF_REGISTER, 398_458_880.0);
        let small = Size { nodes: 64, switches: 8, requests: 128 };
        assert_eq!(small.last_switch_bits() * TRANSISTORS_OF_MEMORY, 30_720.0);
    }
}
