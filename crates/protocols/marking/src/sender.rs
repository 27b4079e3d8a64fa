//! The source: it counts what is unacknowledged, and holds a flow back as its response says.
//!
//! ```text
//!                    acknowledged, and the window has room
//!          ┌───────────────────────────────────────────────┐
//!          ▼                                               │
//!   may a packet leave? ──── the window is full ───────► held
//!      │   ▲   ▲  │ too early                              ▲
//!      │   │   │  ├── something is unacknowledged ──► held, with a timer
//!      │   │   │  └── nothing is ──► not before that tick
//!      │   └───┴──────────────────────┘ (its time has come)
//!      ▼
//!    leaves
//! ```
//!
//! While something is unacknowledged, what is heard of it may shorten the wait: so such a flow is held, and opened by whatever comes
//! first, the acknowledgement or the timer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tailback_protocol::{
    Clock, Control, InjectionTime, Offered, Outgoing, PacketKind, Source, SourceAction, Verdict, remember, write_down,
};

use crate::marks::Rule;
use crate::response::Response;

/// What is one flow, with a window and waits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What a source sends to one destination.
    Destination,
    /// All that a source sends.
    Source,
}

/// When a message that is offered makes its flow begin anew: when the flow is empty, which means this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// Nothing waits, and all that left is acknowledged.
    Acknowledged,
    /// Nothing waits.
    Sent,
    /// Never.
    Never,
}

/// A flow that has sent something, or heard something that it has not recovered from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Flow<S> {
    state: S,
    /// Packets that have left and are not acknowledged.
    unacknowledged: u32,
    /// Flits that are offered and have not left, where offers are told.
    waiting: u64,
    /// The tick of the timer that opens it, if one is set.
    opens: Option<u64>,
}

/// The source of a node.
#[derive(Clone, Debug)]
pub(crate) struct Sender<R: Response> {
    response: R,
    rule: Rule,
    scope: Scope,
    reset: Reset,
    injection: InjectionTime,
    /// By destination, or one for all.
    flows: BTreeMap<u32, Flow<R::State>>,
}

impl<R: Response> Sender<R> {
    pub fn new(response: R, rule: Rule, scope: Scope, reset: Reset, injection: InjectionTime) -> Self {
        Self { response, rule, scope, reset, injection, flows: BTreeMap::new() }
    }

    /// The flow of what goes to a node.
    fn key(&self, destination: u32) -> u32 {
        match self.scope {
            Scope::Destination => destination,
            Scope::Source => 0,
        }
    }

    fn flow(&mut self, key: u32) -> (&R, &mut Flow<R::State>) {
        let response = &self.response;
        let begin = || Flow { state: response.begin(), unacknowledged: 0, waiting: 0, opens: None };
        (response, self.flows.entry(key).or_insert_with(begin))
    }

    /// What lets those be asked about again that are held.
    fn open(&self, key: u32) -> SourceAction {
        match self.scope {
            Scope::Destination => SourceAction::Open { destination: key },
            Scope::Source => SourceAction::OpenAll,
        }
    }
}

impl<R: Response> Source for Sender<R> {
    fn offered(&mut self, message: &Offered, _now: u64, _actions: &mut Vec<SourceAction>) {
        let &Offered { destination, flits, .. } = message;
        let reset = self.reset;
        let (response, flow) = self.flow(self.key(destination));
        let empty = match reset {
            Reset::Acknowledged => flow.waiting == 0 && flow.unacknowledged == 0,
            Reset::Sent => flow.waiting == 0,
            Reset::Never => false,
        };
        if empty {
            flow.state = response.begin();
        }
        flow.waiting += u64::from(flits);
    }

    // Asked again if there is no room for the packet now, so the packet is counted when it has left.
    fn may_send(&mut self, packet: &Outgoing, now: u64, actions: &mut Vec<SourceAction>) -> Verdict {
        let key = self.key(packet.destination);
        let Some(flow) = self.flows.get_mut(&key) else { return SEND };
        if self.response.window(&flow.state).is_some_and(|window| flow.unacknowledged >= window) {
            return Verdict::Hold;
        }
        let open_at = self.response.open_at(&flow.state, now);
        if open_at <= now {
            return SEND;
        }
        if flow.unacknowledged == 0 {
            return Verdict::NotBefore(open_at); // nothing is on its way that could shorten it
        }
        if flow.opens.is_none_or(|set| set > open_at) {
            flow.opens = Some(open_at);
            actions.push(SourceAction::Timer { at: open_at, token: key });
        }
        Verdict::Hold
    }

    fn sent(&mut self, packet: &Outgoing, now: u64) {
        let end = now + self.injection.of(packet.flits);
        let (response, flow) = self.flow(self.key(packet.destination));
        flow.unacknowledged += 1;
        flow.waiting = flow.waiting.saturating_sub(packet.flits.into());
        response.left(&mut flow.state, now, end);
    }

    fn on_control(&mut self, control: &Control, _latency: u64, now: u64, actions: &mut Vec<SourceAction>) {
        let (key, signal) = (self.key(control.from), self.rule.signal(control.marks));
        let flow = self.flows.get_mut(&key).expect("acknowledgements answer packets");
        flow.unacknowledged -= 1;
        self.response.heard(&mut flow.state, signal, now);
        let unacknowledged = flow.unacknowledged;
        let has_room = self.response.window(&flow.state).is_none_or(|window| unacknowledged < window);
        if unacknowledged == 0 && flow.waiting == 0 && self.response.is_recovered(&flow.state, now) {
            self.flows.remove(&key);
        }
        if has_room {
            actions.push(self.open(key));
        }
    }

    fn on_timer(&mut self, token: u32, now: u64, actions: &mut Vec<SourceAction>) {
        // One that was set before a sooner one finds nothing to do.
        if let Some(flow) = self.flows.get_mut(&token).filter(|flow| flow.opens.is_some_and(|at| at <= now)) {
            flow.opens = None;
            actions.push(self.open(token));
        }
    }

    fn foretell(&self, control: &Control, now: u64, clock: Clock) -> Option<String> {
        let flow = self.flows.get(&self.key(control.from))?;
        let mut state = flow.state.clone();
        self.response.heard(&mut state, self.rule.signal(control.marks), now);
        let [before, after] = [&flow.state, &state].map(|state| self.response.tell(state, now, clock));
        let flow = match self.scope {
            Scope::Destination => format!("the flow to node {}", control.from),
            Scope::Source => "the node".to_owned(),
        };
        (before != after).then(|| format!("{flow} had {before}, and has {after} now"))
    }

    fn is_idle(&self) -> bool {
        self.flows.values().all(|flow| flow.unacknowledged == 0)
    }

    fn save(&self, bytes: &mut Vec<u8>) {
        write_down(&self.flows, bytes);
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Option<()> {
        self.flows = remember(bytes)?;
        Some(())
    }
}

const SEND: Verdict = Verdict::Send { kind: PacketKind::DATA, marks: 0 };
