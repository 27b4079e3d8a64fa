//! What is known of routers when they are compiled.
//!
//! **The invariant it keeps:** a network is built with a microarchitecture only if that suits its description, so what a
//! microarchitecture takes for absent is absent.

use super::state::PLAIN_VCS;
use crate::fabric::Shape;
use crate::rules::Rules;

/// What is known of all routers of a network when they are compiled.
pub trait Microarchitecture: sealed::Sealed + Send + 'static {}

/// Everything the description of a router can say.
#[derive(Clone, Copy, Debug)]
pub struct General;

/// Routers with one queue per virtual channel, one connection of each port to and from the crossbar, one output queue per
/// port that packets leave in order, with credits for the next buffer, and at most 64 ports. Arbiters serve by turns, packets
/// ask for the crossbar as soon as they are heads, and no protocol watches them.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Routers with a queue per output for each virtual channel (VOQs) and one connection of each port to and from the crossbar.
/// Arbiters serve by turns, and packets ask for the crossbar as soon as they are heads. There may be any number of output
/// queues, and protocols.
#[derive(Clone, Copy, Debug)]
pub struct Sorting;

/// Routers with one queue per virtual channel and one connection of each port to and from the crossbar. Arbiters serve by turns, and packets ask
/// for the crossbar as soon as they are heads. There may be any number of output queues, and protocols.
#[derive(Clone, Copy, Debug)]
pub struct Basic;

/// Routers like plain ones, but each virtual channel of an input has a connection to the crossbar of its own, as the queues at the
/// crosspoints of a buffered crossbar have. There may be any number of channels.
#[derive(Clone, Copy, Debug)]
pub struct Crosspoints;

/// Everything the description can say, and what happens to the packets of a message is noted.
#[derive(Clone, Copy, Debug)]
pub struct Traced;

impl Microarchitecture for General {}
impl Microarchitecture for Plain {}
impl Microarchitecture for Sorting {}
impl Microarchitecture for Basic {}
impl Microarchitecture for Crosspoints {}
impl Microarchitecture for Traced {}

/// Whether routers with these rules and this shape are plain: see [`Plain`].
fn is_plain(shape: &Shape, rules: &Rules) -> bool {
    is_basic(shape, rules) && is_plain_inside(shape, rules) && shape.vcs <= PLAIN_VCS && shape.words == 1
}

/// Whether they are plain but for their crosspoints: see [`Crosspoints`].
fn has_crosspoints(shape: &Shape, rules: &Rules) -> bool {
    rules.wakes_next && has_basic_crossbar(shape, rules) && is_plain_inside(shape, rules)
}

fn is_plain_inside(shape: &Shape, rules: &Rules) -> bool {
    (shape.voqs, shape.output_queues) == (1, 1)
        && rules.departs_at_once
        && rules.one_priority
        && rules.ejection_vcs == 1
        && !(rules.routes_on_arrival
            || rules.has_internal_port
            || rules.records_paths
            || rules.watches_arrivals
            || rules.watches_heads
            || rules.watches_crossings
            || rules.frees_outputs_early)
        && !(rules.counts_inputs || rules.counts_for_nodes.is_some())
}

/// Whether routers with these rules and this shape are basic, and the channels of an input share a connection to the crossbar.
fn is_basic(shape: &Shape, rules: &Rules) -> bool {
    shape.inputs == 1 && has_basic_crossbar(shape, rules)
}

/// Whether they are basic: see [`sealed::Sealed::BASIC`].
fn has_basic_crossbar(shape: &Shape, rules: &Rules) -> bool {
    shape.outputs == 1
        && (rules.head_delay, rules.credit_interval) == (0, 0)
        && rules.serves_by_turns()
        && !(rules.outputs_first || rules.first_round_turns || rules.turns_by_priority)
        && !(rules.vc_allocation || rules.ejects_when_idle)
}

pub(crate) mod sealed {
    use super::{
        Basic, Crosspoints, General, Plain, Rules, Shape, Sorting, Traced, has_crosspoints, is_basic, is_plain,
    };

    /// Only this crate can add one.
    pub trait Sealed {
        /// Whether routers are plain, but perhaps for their inputs' connections to the crossbar and their number of channels.
        const PLAIN: bool = false;
        /// Whether they have one connection to each port from the crossbar, arbiters that serve by turns, inputs that
        /// choose first, and heads that ask at once, for nothing but the crossbar.
        const BASIC: bool = false;
        /// Whether each virtual channel of an input has a connection to the crossbar of its own, if that is known: it is if they are basic.
        const CROSSPOINTS: bool = false;
        /// Whether inputs have VOQs, if that is known.
        const VOQS: Option<bool> = None;
        /// Whether outputs may be free before what crosses to them has arrived as a whole.
        const FREES_OUTPUTS_EARLY: bool = false;
        /// Whether it is noted what happens to the packets of a message: where not, the code for that is not there.
        const TRACES: bool = false;

        /// Whether it can do what the description says.
        fn suits(shape: &Shape, rules: &Rules) -> bool;
    }

    impl Sealed for General {
        const FREES_OUTPUTS_EARLY: bool = true;

        fn suits(_: &Shape, _: &Rules) -> bool {
            true
        }
    }

    impl Sealed for Traced {
        const TRACES: bool = true;
        const FREES_OUTPUTS_EARLY: bool = true;

        fn suits(_: &Shape, _: &Rules) -> bool {
            true
        }
    }

    impl Sealed for Plain {
        const PLAIN: bool = true;
        const BASIC: bool = true;
        const VOQS: Option<bool> = Some(false);

        fn suits(shape: &Shape, rules: &Rules) -> bool {
            is_plain(shape, rules)
        }
    }

    impl Sealed for Crosspoints {
        const PLAIN: bool = true;
        const BASIC: bool = true;
        const CROSSPOINTS: bool = true;
        const VOQS: Option<bool> = Some(false);

        fn suits(shape: &Shape, rules: &Rules) -> bool {
            has_crosspoints(shape, rules)
        }
    }

    impl Sealed for Sorting {
        const BASIC: bool = true;
        const VOQS: Option<bool> = Some(true);

        fn suits(shape: &Shape, rules: &Rules) -> bool {
            is_basic(shape, rules) && rules.routes_on_arrival && shape.voqs > 1 && !rules.frees_outputs_early
        }
    }

    impl Sealed for Basic {
        const BASIC: bool = true;
        const VOQS: Option<bool> = Some(false);
        const FREES_OUTPUTS_EARLY: bool = true;

        fn suits(shape: &Shape, rules: &Rules) -> bool {
            is_basic(shape, rules) && !rules.routes_on_arrival && shape.voqs == 1
        }
    }
}
