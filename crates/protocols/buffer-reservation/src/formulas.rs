//! What the paper computes, as formulas that figures can draw.

use tailback_parameters::{BuildError, Choice, Kind, Parameter, Values};
use tailback_protocol::{FormulaModel, FormulaResult};
use tailback_random::Stream;

use crate::cost::{Size, TRANSISTORS_OF_MEMORY, TRANSISTORS_OF_REGISTER};
use crate::parameters::count;
use crate::throughput::{analyse, bound, simulate};

/// Section 4 of the paper.
pub const SINGLE_STAGE_THROUGHPUT: FormulaModel = FormulaModel {
    name: "single-stage-throughput",
    summary: "packets that an output of a single stage of reservations sends in a packet time while all inputs have packets for all \
              outputs (section 4 of the paper on buffer reservations)",
    parameters: &[
        count("inputs", 4096, "8", "inputs, and as many outputs"),
        count("buffer", 64, "1", "packets that the buffer of an output holds"),
        Parameter {
            name: "by",
            kind: Kind::Choice(&[
                Choice { word: "analysis", help: "the occupancy of a buffer as a chain" },
                Choice { word: "bound", help: "as if all buffers were empty at the start of each packet time" },
                Choice {
                    word: "simulation",
                    help: "packet time by packet time, of which the first tenth does not count",
                },
            ]),
            default: Some("\"analysis\""),
            help: "how it is found",
        },
        count("slots", 1 << 24, "10000", "packet times that are simulated"),
    ],
    results: &[FormulaResult { name: "throughput", help: "packets of an output in a packet time" }],
    check: check_throughput,
    compute: compute_throughput,
};

/// The most grants that a simulation may draw: some minutes.
const GRANTS_MAX: u64 = 10_000_000_000;

fn check_throughput(values: &Values) -> Result<(), BuildError> {
    let [inputs, buffer, slots] = ["inputs", "buffer", "slots"].map(|name| values.amount(name));
    let grants = inputs * buffer.min(inputs) * slots;
    if values.text("by") == "simulation" && grants > GRANTS_MAX {
        let message = format!("up to {grants} grants would be drawn, the limit is {GRANTS_MAX}");
        return Err(BuildError::at("slots", message).help("simulate fewer slots"));
    }
    Ok(())
}

fn compute_throughput(values: &Values, seed: u64) -> Vec<f64> {
    let [inputs, buffer, slots] = ["inputs", "buffer", "slots"].map(|name| values.integer(name));
    vec![match values.text("by") {
        "bound" => bound(inputs, buffer),
        "simulation" => simulate(inputs, buffer, slots, &mut Stream::new(seed, inputs.into(), buffer.into())),
        _ => analyse(inputs, buffer).packets,
    }]
}

/// Section 7 of the paper.
pub const SCHEDULER_COST: FormulaModel = FormulaModel {
    name: "scheduler-cost",
    summary: "what a scheduler of a three-stage Clos network needs in transistors, and what its messages take of the bandwidth (section 7 of \
              the paper on buffer reservations)",
    parameters: &[
        count("nodes", 1 << 20, "64", "nodes; a switch has as many ports as the root of that, rounded"),
        count("requests", 1 << 20, "128", "requests of a flow that are counted: 7 bits in the paper"),
        count(
            "queue",
            1 << 16,
            "16",
            "places for each sender in a queue of requests or grants (not given in the paper)",
        ),
        Parameter {
            name: "part",
            kind: Kind::Choice(&[
                Choice { word: "central", help: "the central scheduler: its counters" },
                Choice {
                    word: "last-switch",
                    help: "a switch of the last stage, with the distributed scheduler: its counters",
                },
                Choice { word: "other-switch", help: "a switch of another stage: its queues of requests and grants" },
            ]),
            default: Some("\"last-switch\""),
            help: "what is counted",
        },
        Parameter {
            name: "storage",
            kind: Kind::Choice(&[
                Choice { word: "registers", help: "20 transistors for a bit" },
                Choice { word: "memory", help: "6 transistors for a bit" },
            ]),
            default: Some("\"registers\""),
            help: "what bits are kept in",
        },
        count("packet_bytes", 1 << 16, "64", "bytes of a packet, which the share of messages is of"),
    ],
    results: &[
        FormulaResult { name: "transistors", help: "transistors of the part" },
        FormulaResult { name: "message_bits", help: "bits of requests, grants and their credits for each packet" },
        FormulaResult { name: "message_share", help: "the same by the bits of a packet" },
    ],
    check: |_| Ok(()),
    compute: compute_cost,
};

fn compute_cost(values: &Values, _: u64) -> Vec<f64> {
    let size = Size::of(values.integer("nodes"), values.integer("requests"));
    let bits = match values.text("part") {
        "central" => size.central_bits(),
        "other-switch" => size.queue_bits(values.integer("queue")),
        _ => size.last_switch_bits(),
    };
    let each = if values.text("storage") == "memory" { TRANSISTORS_OF_MEMORY } else { TRANSISTORS_OF_REGISTER };
    let messages = size.bits_per_packet();
    vec![bits * each, messages, messages / (8.0 * f64::from(values.integer("packet_bytes")))]
}

#[cfg(test)]
mod tests {
    use tailback_parameters::Value;

    use super::*;

    fn throughput(inputs: u64, buffer: u64, by: &str, slots: u64) -> Values {
        let mut values = Values::default();
        for (name, number) in [("inputs", inputs), ("buffer", buffer), ("slots", slots)] {
            values.set(name, Value::Integer(number));
        }
        values.set("by", Value::Text(by.to_owned()));
        values
    }

    fn cost(nodes: u64, part: &str, storage: &str) -> Values {
        let mut values = Values::default();
        for (name, number) in [("nodes", nodes), ("requests", 128), ("queue", 16), ("packet_bytes", 64)] {
            values.set(name, Value::Integer(number));
        }
        values.set("part", Value::Text(part.to_owned()));
        values.set("storage", Value::Text(storage.to_owned()));
        values
    }

    #[test]
    fn throughput_is_that_of_each_way_to_find_it() {
        let of = |by: &str, seed: u64| (SINGLE_STAGE_THROUGHPUT.compute)(&throughput(8, 2, by, 5000), seed)[0];
        assert_eq!([of("analysis", 1), of("bound", 1)], [analyse(8, 2).packets, bound(8, 2)]);
        assert_eq!(of("simulation", 1), of("simulation", 1));
        assert_ne!(of("simulation", 1), of("simulation", 2), "the seed makes a difference");
        assert!((of("simulation", 1) - of("analysis", 1)).abs() < 0.01);
    }

    #[test]
    fn a_simulation_that_nobody_waits_for_is_refused() {
        let check = SINGLE_STAGE_THROUGHPUT.check;
        // Each of 10 outputs grants each of 10 inputs at most, whatever it has room for.
        assert_eq!(check(&throughput(10, 64, "simulation", 100_000_000)), Ok(()));
        let refused = check(&throughput(10, 64, "simulation", 100_000_001)).expect_err("it is too long");
        assert_eq!(refused.parameter, Some("slots"));
        assert_eq!(check(&throughput(10, 64, "analysis", 100_000_001)), Ok(()), "nothing is drawn");
    }

    #[test]
    fn costs_are_those_of_the_part_that_is_asked_for() {
        let of = |nodes, part, storage| (SCHEDULER_COST.compute)(&cost(nodes, part, storage), 1);
        assert_eq!(of(4096, "last-switch", "registers"), [68_157_440.0, 48.0, 0.093_75]);
        assert_eq!(of(1024, "central", "registers")[0], 398_458_880.0);
        assert_eq!(of(64, "other-switch", "memory")[0], 2.0 * 64.0 * 16.0 * 9.0 * 6.0);
        // 181² is 32,761: the nearest there is.
        assert_eq!(Size::of(32_768, 128).switches, 181);
    }
}
