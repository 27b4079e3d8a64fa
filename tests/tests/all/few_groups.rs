//! Dragonflies of few groups: several links lead from one to another, or ports have no link.

use tailback_report::Report;

use crate::scenarios::{report_of, resolve_text};

fn report(topology: &str, further: &str) -> Report {
    let text = format!("routing = \"minimal\"\n[topology.dragonfly]\n{topology}\n{further}");
    report_of(&resolve_text(&text), 1)
}

/// Minimal paths by several links have two or three links, and no message is faster than by the shortest.
#[test]
fn no_message_is_faster_than_in_an_empty_network() {
    let report = report(
        "p = 2\na = 6\nh = 1\ng = 3",
        "[[traffic]]\nload = 0.0005\ncount = 10\n[measure]\nwarmup = 0\ncycles = 200000\nuntil = \"drained\"\n",
    );
    let found = report.flow("traffic").and_then(|flow| flow.completions.as_ref()).expect("the flow ends");
    assert_eq!(found.slowdown.min, Some(1.0));
    assert!(found.slowdown.max > Some(1.0), "some are sent by a longer one");
}

/// Of the three ports for global links of a group two have one.
#[test]
fn ports_without_a_link_are_not_links_that_are_idle() {
    let report = report(
        "p = 2\na = 3\nh = 1\ng = 3",
        "[[traffic]]\nload = 1.0\npattern.adversarial.offset = 1\n[measure]\nwarmup = 2000\ncycles = 2000\n",
    );
    let global = report.links.iter().find(|links| links.class == "global").expect("there are some");
    assert!(global.max > 0.95 && global.mean > 0.45, "{global:?}");
    // Every other link is full, as all traffic goes to the next group.
    assert!((global.mean - global.max / 2.0).abs() < 0.1, "{global:?}");
}
