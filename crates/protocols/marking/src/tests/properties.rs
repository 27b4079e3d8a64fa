//! What holds whatever the network does: windows are kept, nothing is held for ever, flows recover, and a source that is written
//! down and read again goes on as it would have.

use proptest::prelude::*;
use tailback_protocol::{Protocol, ProtocolModel};

use super::node::{Answer, Node};
use super::{H, U, X, build, values};
use crate::marks::Signal;
use crate::mvcm::Mvcm;
use crate::pfister::Pfister;
use crate::renato::Renato;
use crate::response::Response;
use crate::{MVCM, PFISTER, RENATO};

/// A choice of parameters.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub model: &'static ProtocolModel,
    pub given: Vec<(&'static str, String)>,
}

impl Chosen {
    pub fn build(&self) -> std::sync::Arc<dyn Protocol> {
        let given: Vec<(&str, &str)> = self.given.iter().map(|(name, text)| (*name, text.as_str())).collect();
        build(self.model, &given)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, text)| text.as_str())
    }

    fn window(&self) -> Option<u32> {
        self.text("window").and_then(|text| text.parse().ok())
    }
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

fn count(most: u64) -> impl Strategy<Value = String> {
    (0..=most).prop_map(|count| count.to_string())
}

fn window() -> impl Strategy<Value = String> {
    prop_oneof![4 => (1u32..6).prop_map(|window| window.to_string()), 1 => Just("unlimited".to_owned())]
}

/// Any of the three, with any parameters that matter here.
pub fn any_protocol() -> impl Strategy<Value = Chosen> {
    let shared = (
        word(&["full-buffer", "input", "output", "validated"]),
        word(&["destination", "source"]),
        word(&["acknowledgement", "departure"]),
    );
    let renato = (word(&["lipd", "aimd", "fimd", "none"]), window(), count(900), count(20), (1u64..3000));
    let pfister = (count(9), count(20), count(600), (1u64..3000), word(&["since-mark", "freely"]));
    let mvcm = (
        (window(), count(900), count(5), count(70)),
        word(&["act", "as-unmarked", "ignore"]),
        word(&["acknowledged", "sent", "never"]),
    );
    (shared, 0..3, renato, pfister, mvcm).prop_map(|(shared, which, renato, pfister, mvcm)| {
        let (marking, scope, wait_from) = shared;
        let mut given = vec![("marking", marking), ("scope", scope)];
        let model = match which {
            0 => {
                let (response, window, slot, slots_most, recovery) = renato;
                given.extend([("response", response), ("window", window), ("slot", slot), ("slots_most", slots_most)]);
                given.extend([("recovery", recovery.to_string()), ("wait_from", wait_from)]);
                &RENATO
            }
            1 => {
                let (increment, limit, step, timer, timer_runs) = pfister;
                given.extend([("increment", increment), ("limit", limit), ("step", step)]);
                given.extend([("timer", timer.to_string()), ("timer_runs", timer_runs)]);
                &PFISTER
            }
            _ => {
                let ((window, slot, factor, slots_most), warm, reset) = mvcm;
                let factor = factor.parse::<u64>().unwrap().max(1).to_string();
                given.extend([("window", window), ("slot", slot), ("factor", factor), ("slots_most", slots_most)]);
                given.extend([("warm", warm), ("reset", reset), ("wait_from", wait_from)]);
                &MVCM
            }
        };
        Chosen { model, given }
    })
}

/// Messages of a node, and what becomes of its packets: gaps and destinations, times and marks.
type Story = (Vec<(u64, u32)>, Vec<(u64, u8)>);

fn any_story() -> impl Strategy<Value = Story> {
    let marks = prop::sample::select(vec![U, X, H]);
    (prop::collection::vec((0u64..900, 0u32..3), 1..60), prop::collection::vec((20u64..2000, marks), 60))
}

fn node<'a>(protocol: &'a dyn Protocol, (offers, _): &Story) -> Node<'a> {
    let mut node = Node::new(protocol);
    let mut at = 0;
    node.offer(offers.iter().map(|&(gap, to)| {
        at += gap;
        (at, to)
    }));
    node
}

fn answer((_, answers): &Story) -> impl FnMut(usize, u32) -> Answer {
    |number, _| Answer { after: answers[number].0, marks: answers[number].1 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn windows_are_kept_and_nothing_is_held_for_ever(chosen in any_protocol(), story in any_story()) {
        let protocol = chosen.build();
        let mut node = node(protocol.as_ref(), &story);
        node.run(answer(&story));
        prop_assert_eq!(node.departures.len(), story.0.len());
        if let Some(window) = chosen.window() {
            let most = if chosen.text("scope") == Some("source") { node.most.1 } else { node.most.0 };
            prop_assert!(most <= window, "{most} of {window}");
        }
    }

    #[test]
    fn a_source_goes_on_from_what_it_has_written_down(chosen in any_protocol(), story in any_story(), often in 1usize..9) {
        let protocol = chosen.build();
        let mut expected = node(protocol.as_ref(), &story);
        expected.run(answer(&story));
        let mut node = node(protocol.as_ref(), &story);
        let mut answers = answer(&story);
        for step in 0.. {
            if step % often == 0 {
                node.replace_source();
            }
            if !node.step(&mut answers) {
                break;
            }
        }
        node.assert_done();
        prop_assert_eq!(&node.departures, &expected.departures);
        prop_assert_eq!(node.now, expected.now);
    }

    /// The last packets of a flow are as far apart as those of one that has met no congestion.
    #[test]
    fn whoever_gets_no_marks_recovers(chosen in any_protocol(), marks in prop::collection::vec(any::<bool>(), 1..40)) {
        prop_assume!(chosen.text("reset") != Some("sent"));
        let protocol = chosen.build();
        let marked = marks.iter().map(|&marked| if marked { H } else { U }).collect::<Vec<_>>();
        let packets = marked.len() + 400; // AIMD needs an unmarked packet for each of 256 steps
        let mut node = Node::new(protocol.as_ref());
        node.offer(vec![(0, 7); packets]);
        node.run(|number, _| Answer { after: 600, marks: marked.get(number).copied().unwrap_or(U) });
        let calm = |packets: usize| {
            let mut node = Node::new(protocol.as_ref());
            node.offer(vec![(0, 7); packets]);
            node.run(|_, _| Answer { after: 600, marks: U });
            node.departures[packets - 1].0 - node.departures[packets - 11].0
        };
        prop_assert_eq!(node.departures[packets - 1].0 - node.departures[packets - 11].0, calm(20));
    }
}

/// After any marks, how long an idle or a busy flow takes to recover, as the parameters say.
mod within {
    use super::*;

    fn hear<R: Response>(response: &R, marks: &[(u64, bool)]) -> (R::State, u64) {
        let (mut state, mut now) = (response.begin(), 0);
        for &(gap, marked) in marks {
            now += gap;
            response.heard(&mut state, if marked { Signal::Hot } else { Signal::Unmarked }, now);
        }
        (state, now)
    }

    proptest! {
        #[test]
        fn pfister_falls_by_one_index_with_each_timer(
            marks in prop::collection::vec((0u64..9000, any::<bool>()), 1..60), freely in any::<bool>(), timer in 1u64..9000,
        ) {
            let timer_text = timer.to_string();
            let runs = if freely { "freely" } else { "since-mark" };
            let pfister = Pfister::of(&values(&PFISTER, &[("timer", &timer_text), ("timer_runs", runs)])).unwrap();
            let (state, now) = hear(&pfister, &marks);
            let index = pfister.index_at(&state, now);
            prop_assert!(index <= pfister.limit);
            prop_assert!(pfister.is_recovered(&state, now + index * timer));
            prop_assert!(index == 0 || !pfister.is_recovered(&state, now));
        }

        #[test]
        fn renatos_rates_recover_by_time_or_by_packets(marks in prop::collection::vec((0u64..9000, any::<bool>()), 1..60)) {
            let of = |response| Renato::of(&values(&RENATO, &[("response", response), ("recovery", "5000")])).unwrap();
            let fimd = of("fimd");
            let (state, now) = hear(&fimd, &marks);
            // The least rate is 1 / 256, and it doubles.
            prop_assert!(fimd.rate_at(&state, now) >= fimd.least && fimd.is_recovered(&state, now + 8 * 5000));
            let (aimd, lipd) = (of("aimd"), of("lipd"));
            let (mut state, now) = hear(&aimd, &marks);
            prop_assert!(state.rate >= aimd.least);
            (0..255).for_each(|_| aimd.heard(&mut state, Signal::Unmarked, now));
            prop_assert!(aimd.is_recovered(&state, now));
            let (mut state, now) = hear(&lipd, &marks);
            let slots = state.slots;
            prop_assert!(slots <= 255 && lipd.open_at(&state, now) == now + slots * 354);
            (0..slots).for_each(|_| lipd.heard(&mut state, Signal::Unmarked, now));
            prop_assert!(lipd.is_recovered(&state, now));
        }

        #[test]
        fn mvcm_needs_as_many_packets_as_its_window(marks in prop::collection::vec((0u64..9000, any::<bool>()), 1..60)) {
            let mvcm = Mvcm::of(&values(&MVCM, &[("window", "3")]));
            let (mut state, now) = hear(&mvcm, &marks);
            prop_assert!((1..=3).contains(&state.window) && mvcm.open_at(&state, now) <= now + 256 * 354);
            (0..3).for_each(|_| mvcm.heard(&mut state, Signal::Unmarked, now));
            prop_assert!(mvcm.is_recovered(&state, now));
        }
    }
}
