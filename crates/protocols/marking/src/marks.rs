//! Which packets switches mark, and what the marks tell a source.

use tailback_protocol::{
    Clock, Fate, Fill, Here, MarkDeclaration, Moment, PacketKind, Passing, Ports, Switch, SwitchAction, SwitchNeeds,
    Watch,
};

/// The packet has met an input buffer, or where nothing validates any buffer, that is too full: the paper's MB.
pub(crate) const MARKED: u8 = 1;
/// A marked packet has met an output queue that is too full, in the same router or a later one: the paper's VB.
pub(crate) const VALIDATED: u8 = 2;

/// Which packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// All that wait for the outputs that packets in an input buffer wait for which has become full.
    FullBuffer,
    /// Those that come to an input buffer which is too full then.
    Input,
    /// Those that enter an output queue which is too full then.
    Output,
    /// Those of [`Rule::Input`]; and they are validated where they enter an output queue that is too full.
    Validated,
}

impl Rule {
    fn looks_at_inputs(self) -> bool {
        self != Self::Output
    }

    fn looks_at_outputs(self) -> bool {
        matches!(self, Self::Output | Self::Validated)
    }

    /// What switches are asked about.
    pub fn watches(self) -> Vec<Watch> {
        let watch = |moment| Watch::new(moment, PacketKind::DATA, Ports::All);
        let arrives = self.looks_at_inputs().then(|| watch(Moment::Arrives));
        let crosses = self.looks_at_outputs().then(|| watch(Moment::Crosses));
        arrives.into_iter().chain(crosses).collect()
    }

    /// What they look at.
    pub fn needs(self) -> SwitchNeeds {
        SwitchNeeds {
            input_buffers: self.looks_at_inputs(),
            output_queues: self.looks_at_outputs(),
            ..SwitchNeeds::default()
        }
    }

    /// What packets can be marked with, by name.
    pub fn marks(self) -> Vec<MarkDeclaration> {
        let mark = |name, marks| MarkDeclaration { name, marks };
        let mut all = vec![mark("unmarked_packets", 0), mark("marked_packets", MARKED)];
        if self == Self::Validated {
            all.push(mark("validated_packets", MARKED | VALIDATED));
        }
        all
    }

    /// What marks tell.
    pub fn signal(self, marks: u8) -> Signal {
        match (marks & MARKED != 0, marks & VALIDATED != 0) {
            (false, _) => Signal::Unmarked,
            (true, false) if self == Self::Validated => Signal::Warm,
            (true, _) => Signal::Hot,
        }
    }
}

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The packet has met no congestion.
    Unmarked,
    /// It has suffered from congestion that it was no cause of: marked, and not validated.
    Warm,
    /// It is one of those that cause it.
    Hot,
}

/// From what on buffers are too full, as shares of what they hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thresholds {
    /// Input buffers with more than this.
    pub input: f64,
    /// Output queues with more than this; without it none is.
    pub output: Option<f64>,
}

/// A switch: it marks, and remembers nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marker {
    pub rule: Rule,
    pub thresholds: Thresholds,
    /// Flits of the largest packet: a buffer without room for it is full.
    pub packet_flits: u32,
}

impl Marker {
    /// Whether an input buffer is too full, the packet that has just come included.
    fn is_input_full(self, fill: Fill) -> bool {
        match self.rule {
            Rule::FullBuffer => fill.capacity.saturating_sub(fill.flits) < self.packet_flits,
            _ => f64::from(fill.flits) > self.thresholds.input * f64::from(fill.capacity),
        }
    }

    /// Whether an output queue is too full as soon as a packet of so many flits is in it. One without a limit never is.
    fn is_output_full(self, before: Fill, flits: u16) -> bool {
        let flits = f64::from(before.flits + u32::from(flits));
        before.capacity > 0 && self.thresholds.output.is_some_and(|share| flits > share * f64::from(before.capacity))
    }

    /// What a packet is marked with as it enters an output queue.
    fn mark_at_output(self, marks: u8) -> u8 {
        match self.rule {
            Rule::Output => MARKED,
            _ if marks & MARKED != 0 => VALIDATED,
            _ => 0,
        }
    }
}

impl Switch for Marker {
    #[inline]
    fn arrives(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) -> Fate {
        if self.is_input_full(here.view.input(here.input)) {
            if self.rule == Rule::FullBuffer {
                here.actions.push(SwitchAction::MarkQueued { like: here.input, marks: MARKED });
            } else {
                *packet.marks |= MARKED;
            }
        }
        Fate::Forward
    }

    #[inline]
    fn crosses(&mut self, packet: &mut Passing<'_>, here: &mut Here<'_>) {
        let output = here.output.expect("a packet that crosses has an output");
        if self.is_output_full(here.view.output(output), packet.flits) {
            *packet.marks |= self.mark_at_output(*packet.marks);
        }
    }

    fn foretell(&self, moment: Moment, packet: &Passing<'_>, here: &Here<'_>, _: Clock) -> Option<String> {
        let full = |fill: Fill| format!("{} of {} flits", fill.flits, fill.capacity);
        if moment == Moment::Arrives {
            let fill = here.view.input(here.input);
            let consequence = match self.rule {
                Rule::FullBuffer => "all that waits for the same outputs is marked",
                _ => "the packet is marked",
            };
            return self.is_input_full(fill).then(|| format!("the buffer holds {}: {consequence}", full(fill)));
        }
        let before = here.view.output(here.output?);
        let consequence = match self.mark_at_output(*packet.marks) {
            MARKED => "is marked",
            VALIDATED => "is validated",
            _ => "was not marked and is not validated",
        };
        let after = Fill { flits: before.flits + u32::from(packet.flits), ..before };
        self.is_output_full(before, packet.flits)
            .then(|| format!("the output queue holds {} with the packet, which {consequence}", full(after)))
    }
}
