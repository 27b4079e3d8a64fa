//! Parameters under the names that they had in the version before this one.

use tailback_scenario::{Document, Scenario};

use crate::SMALL;
use crate::good::resolve;

fn with(section: &str, overrides: &[&str]) -> Scenario {
    resolve(&format!("{SMALL}{section}\n"), overrides)
}

#[test]
fn old_names_give_the_same_scenario_and_a_note_each() {
    let old = with("[protocol.srp]\ntoll = 3\nnotice = 7\nstart = \"on-time\"", &[]);
    let new = with("[protocol.srp]\ncontrol_overhead = 3\nminimum_grant_delay = 7\nsend_at = \"on-time\"", &[]);
    assert_eq!((&old.text, &old.digest), (&new.text, &new.digest));
    assert!(new.notes.list.is_empty(), "{}", new.notes);
    let expected = "\
test.toml:11:1: `protocol.srp.toll` is called `control_overhead` now
  help: write `control_overhead`: the old name goes with the next version
test.toml:12:1: `protocol.srp.notice` is called `minimum_grant_delay` now
  help: write `minimum_grant_delay`: the old name goes with the next version
test.toml:13:1: `protocol.srp.start` is called `send_at` now
  help: write `send_at`: the old name goes with the next version";
    assert_eq!(old.notes.to_string(), expected);
    // The value is read as under its own name.
    assert_ne!(new.digest, with("[protocol.srp]\ncontrol_overhead = 4\nnotice = 7\nstart = \"on-time\"", &[]).digest);
    let text = format!("{SMALL}[protocol.lhrp]\nfabric_drop = true\nrefusals = 0\n");
    let mistakes = Document::read("test.toml", &text).resolve().expect_err("0 is out of range").to_string();
    assert!(mistakes.starts_with("test.toml:12:12: `protocol.lhrp.nacks` = 0 is outside 1 to 65536"), "{mistakes}");
}

#[test]
fn overrides_go_before_what_they_are_laid_over_whichever_names_they_use() {
    let wanted = with("", &["protocol.lhrp.nacks=5"]).digest;
    for overrides in [&["protocol.lhrp.refusals=5"][..], &["protocol=lhrp", "protocol.refusals=5"]] {
        let scenario = with("", overrides);
        assert_eq!((&scenario.digest, scenario.notes.list.len()), (&wanted, 1), "{overrides:?}");
        assert!(scenario.notes.to_string().starts_with("--set protocol."), "{}", scenario.notes);
    }
    for (below, above) in [("nacks", "refusals"), ("refusals", "nacks"), ("refusals", "refusals")] {
        let above = format!("protocol.lhrp.{above}=5");
        let scenario = with(&format!("[protocol.lhrp]\n{below} = 9"), &[&above]);
        assert_eq!((&scenario.digest, scenario.notes.list.len()), (&wanted, 1), "{below}, {above}");
    }
    let text = format!("{SMALL}[sweep.over]\n\"protocol.lhrp.refusals\" = [4, 5]\n");
    let document = Document::read("test.toml", &text);
    let sweep = document.sweep().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let runs: Vec<_> = sweep.runs(&document).collect();
    assert_eq!(runs[1].document.resolve().unwrap_or_else(|mistakes| panic!("{mistakes}")).digest, wanted);
}

#[test]
fn both_names_in_one_text_contradict_each_other() {
    let text = format!("{SMALL}[protocol.srp]\ntoll = 3\ncontrol_overhead = 3\n");
    let mistakes = Document::read("test.toml", &text).resolve().expect_err("one is too many").to_string();
    let expected = "test.toml:11:1: `protocol.srp.toll` and `control_overhead` are the same parameter
  help: keep `control_overhead`: it was called `toll` before";
    assert_eq!(mistakes, expected);
}

#[test]
fn a_key_of_the_same_name_elsewhere_is_another() {
    let elsewhere = with("", &["traffic.start=100"]);
    assert!(elsewhere.notes.list.is_empty() && elsewhere.text.contains("start = 100"), "{}", elsewhere.notes);
    let ecn = Document::read("test.toml", &format!("{SMALL}[protocol.ecn]\nnotice = 3\n")).resolve();
    assert!(ecn.expect_err("there is none").to_string().contains("unknown key `notice` in [protocol.ecn]"));
}
