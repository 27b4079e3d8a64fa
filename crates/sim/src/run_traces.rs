//! What was traced while a run was simulated: a message, or packets.

use tailback_network::{TRACE_EVENTS_MAX, TraceEvent, Tracing};

use crate::chrome_trace::ChromeTrace;
use crate::message_trace::MessageTrace;
use crate::packet_trace::PacketTrace;
use crate::run::Run;

impl Run<'_> {
    /// What has happened to the message that is traced, if one is, since the run was built: a trace is no part of its state.
    #[must_use]
    pub fn trace(&self) -> Option<MessageTrace> {
        let Some(Tracing::Message(message)) = self.traced else { return None };
        Some(MessageTrace::new(self.scenario, &message, self.network.trace().into_iter()))
    }

    /// The same of the packets that are traced.
    #[must_use]
    pub fn packet_trace(&self) -> Option<PacketTrace> {
        let Some(Tracing::Packets(_)) = self.traced else { return None };
        let (regions, left_out) = (self.network.trace().into_iter(), self.network.left_out_of_trace());
        Some(PacketTrace::new(self.scenario, regions, left_out, self.seen().now()))
    }

    /// The trace of a message or of packets as Chrome's format has it; `about` says in words what is traced.
    #[must_use]
    pub fn chrome_trace(&self, about: &str) -> Option<ChromeTrace> {
        let most = match self.traced? {
            Tracing::Message(_) => TRACE_EVENTS_MAX,
            Tracing::Packets(_) => usize::MAX,
        };
        let (events, is_cut) = TraceEvent::in_order(self.network.trace().into_iter(), most);
        let is_cut = is_cut || self.network.left_out_of_trace() > 0;
        Some(ChromeTrace::new(self.scenario, &events, self.seen().now(), about.to_owned(), is_cut))
    }
}
