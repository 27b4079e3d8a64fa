//! What a scenario asks for that its author may not have meant.

use tailback_scenario::Scenario;
use tailback_topology::LinkClass;
use tailback_workload::Traffic;

/// What is worth a second look, in whole sentences without a full stop.
#[must_use]
pub fn cautions(scenario: &Scenario) -> Vec<String> {
    let classes = scenario.topology.built.graph().link_classes().len();
    let buffers = (1..classes).filter_map(|class| short_buffer(scenario, class));
    let of_flow = |flow: &Traffic| {
        let cautions = flow.job.as_ref().map_or_else(Vec::new, |job| job.program.cautions());
        let name = flow.name.clone();
        cautions.into_iter().map(move |caution| format!("program `{name}`: {caution}"))
    };
    buffers.chain(scenario.workload.flows.iter().flat_map(of_flow)).collect()
}

/// A link can be busy only if the buffers at its end hold what is sent until credits for it have come back.
fn short_buffer(scenario: &Scenario, class: usize) -> Option<String> {
    let spec = &scenario.network;
    let link = &spec.links[class];
    let vcs = u32::from(spec.classes[0].vcs[class]);
    let (buffer, under_way) =
        (u32::from(spec.input_buffers[class]), (2 * link.latency).div_ceil(link.flit_ticks.into()));
    if vcs == 0 || vcs * buffer >= under_way {
        return None;
    }
    let name = scenario.topology.built.graph().link_classes()[LinkClass(class as u8).index()];
    let share = 100.0 * f64::from(vcs * buffer) / f64::from(under_way);
    Some(format!(
        "links.{name} can carry {share:.0} % of their rate at most: {under_way} flits are sent before credits for the first come \
         back, and the buffers at an end hold {}; `buffer = {}` would do",
        vcs * buffer,
        under_way.div_ceil(vcs)
    ))
}

#[cfg(test)]
mod tests {
    use tailback_scenario::Document;

    use super::*;

    fn cautions_with(buffer: u32) -> Vec<String> {
        let text = format!(
            "routing = \"minimal\"\n[topology.dragonfly]\np = 2\na = 4\nh = 2\ng = 9\n[[traffic]]\nload = 0.1\n\
             [links.global]\nlatency = 100\nbuffer = {buffer}\n"
        );
        cautions(&Document::read("test.toml", &text).resolve().expect("it has no mistakes"))
    }

    #[test]
    fn schedules_with_several_interfaces_are_told_what_that_means_here() {
        let with_nic = |nic: u32| {
            let text = format!(
                "routing = \"direct\"\n[topology.single-switch]\nnodes = 4\n[clock]\nflit = \"64 B\"\ncycle = \"2 ns\"\n\
                 [[program]]\ngoal.text = \"\"\"\nnum_ranks 2\nrank 0 {{\na: send 8b to 1 nic {nic}\n}}\nrank 1 {{\n\
                 a: recv 8b from 0 nic {nic}\n}}\n\"\"\"\n"
            );
            cautions(&Document::read("test.toml", &text).resolve().expect("it has no mistakes"))
        };
        assert_eq!(with_nic(0), [""; 0]);
        let expected = "program `program`: the schedule names network interfaces up to `nic 3`, and a node has one, which those of its ranks share";
        assert_eq!(with_nic(3), [expected]);
    }

    #[test]
    fn buffers_shorter_than_the_round_trip_of_their_links_are_told_with_what_would_do() {
        assert_eq!(cautions_with(200), [""; 0]);
        let expected = "links.global can carry 75 % of their rate at most: 200 flits are sent before credits for the first come back, and the \
                        buffers at an end hold 150; `buffer = 200` would do";
        assert_eq!(cautions_with(150), [expected]);
    }
}
