//! What one could do after a run.

use std::path::Path;

use tailback_scenario::Scenario;
use toml::Value;

use crate::arguments::ScenarioArguments;
use crate::input;
use crate::output::tell_line;

/// A sweep that one could make.
struct Suggestion {
    /// What is said behind the file, and what comes of it.
    varied: String,
    what: &'static str,
    /// How it is drawn, if not as others are.
    drawn: &'static str,
}

/// Tells it of the scenario of a file.
pub fn tell(file: &Path, scenario: &Scenario) {
    let Suggestion { varied, what, drawn } = if has_sweep(file) {
        Suggestion { varied: String::new(), what: "the sweep of the file", drawn: "" }
    } else {
        suggestion(scenario)
    };
    let (name, file) = (input::stem(file), file.display());
    tell_line!("\ntry next:");
    tell_line!("  tailback sweep {file}{varied}   {what}");
    tell_line!("  tailback plot results/{name}{drawn}   the curves as pictures");
    tell_line!("  tailback explain {file}   where each cycle of latency comes from");
}

/// Whether a file says what is to be varied.
fn has_sweep(file: &Path) -> bool {
    let document = input::document(&ScenarioArguments { file: file.to_owned(), set: Vec::new() });
    let sweep = document.ok().and_then(|document| document.sweep().ok());
    sweep.is_some_and(|sweep| !sweep.axes.is_empty() || !sweep.variants.is_empty() || sweep.seeds.len() > 1)
}

/// A sweep of a file that has none.
fn suggestion(scenario: &Scenario) -> Suggestion {
    let flows = || scenario.workload.flows.iter().enumerate();
    let over = |varied: String, what| Suggestion { varied: format!(" --over {varied}"), what, drawn: "" };
    if let Some((place, _)) = flows().find(|(_, flow)| flow.is_timed()) {
        let varied = path(scenario, place, "size") + "=8,64,512";
        return over(varied, "completion times over the size of messages");
    }
    if flows().any(|(_, flow)| flow.job.is_some()) {
        // A path that leaves out which one means all programs: one that has no name cannot be named.
        let maps = over("program.map=linear,random".to_owned(), "where the ranks are best placed");
        return Suggestion { drawn: " --x program.map --y program_cycles", ..maps };
    }
    // A hot spot is there to be too much.
    let Some((place, flow)) = flows().find(|(_, flow)| !flow.saturates).or_else(|| flows().next()) else {
        return seeds();
    };
    let what = "latency and throughput over load";
    if written(scenario, place).is_some_and(|flow| flow.get("destination_load").is_none()) {
        return over(path(scenario, place, "load") + "=0.1..0.9/0.1", what);
    }
    // Sources send one flit per cycle at most.
    let destinations = flow.phases().first().and_then(|phase| phase.pattern.destinations());
    match destinations.map(|set| f64::from(set.len()) / f64::from(flow.sources.len())) {
        Some(per_source) if 0.9 * per_source <= 1.0 => {
            over(path(scenario, place, "destination_load") + "=0.1..0.9/0.1", what)
        }
        _ => seeds(),
    }
}

fn seeds() -> Suggestion {
    Suggestion { varied: " --seeds 5".to_owned(), what: "how much runs differ", drawn: "" }
}

/// A flow as it is written in the resolved scenario, where flows stand before the messages of programs.
fn written(scenario: &Scenario, place: usize) -> Option<Value> {
    let resolved: Value = toml::from_str(&scenario.text).ok()?;
    resolved.get("traffic")?.get(place).cloned()
}

/// The path of what a flow says. One that is alone need not be named, and one without a name of its own has a number.
fn path(scenario: &Scenario, place: usize, key: &str) -> String {
    let flows = &scenario.workload.flows;
    let is_alone = flows.iter().filter(|flow| flow.job.is_none()).count() == 1;
    match &flows[place].name {
        _ if is_alone => format!("traffic.{key}"),
        name if *name == format!("traffic{place}") => format!("traffic.{place}.{key}"),
        name => format!("traffic.{name}.{key}"),
    }
}
