//! The fingerprint of a result.
//!
//! Everything that goes in is written in one canonical form first: numbers as eight bytes (sixteen for sums), least
//! significant first, texts and lists with their length before them. Of a histogram only the buckets that hold
//! something count, of a timeline only the points up to the last that does, so the fingerprint tells what was
//! recorded and not how it was put together.

use sha2::{Digest as _, Sha256};

use crate::{CompletionRecord, FlowRecord, Histogram, Intervals, Point, Record, Timeline};

/// Takes in what belongs to a result, and tells its SHA-256.
///
/// The order in which things are given matters.
#[derive(Clone, Debug)]
pub struct Digest(Sha256);

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

impl Digest {
    /// A digest of nothing.
    #[must_use]
    pub fn new() -> Self {
        // A change of the canonical form changes this line, so that digests of two forms never agree.
        Self(Sha256::new()).text("tailback result 2")
    }

    /// Takes in a text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.put(text.len() as u64);
        self.0.update(text.as_bytes());
        self
    }

    /// Takes in a number.
    #[must_use]
    pub fn number(mut self, number: u64) -> Self {
        self.put(number);
        self
    }

    /// Takes in everything that was recorded.
    #[must_use]
    pub fn record(mut self, record: &Record) -> Self {
        let window = record.plan().window;
        self.put_all(&[window.from, window.until, record.flows().len() as u64]);
        record.flows().iter().for_each(|flow| self.put_flow(flow));
        self.put(record.plan().counters.len() as u64);
        record.counters().fold(self, |digest, (name, count)| digest.text(name).number(count))
    }

    /// The digest of everything taken in, as 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn put(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn put_all(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|&number| self.put(number));
    }

    fn put_flow(&mut self, flow: &FlowRecord) {
        let (offered, delivered) = (flow.offered, flow.delivered);
        self.put_all(&[offered.messages, offered.flits, offered.lost_messages, offered.lost_flits]);
        self.put_all(&[delivered.messages, delivered.message_flits, delivered.packets, delivered.flits]);
        self.put(delivered.nonminimal);
        // Nothing where it is not counted, so that what was a result before it could be is still the same.
        self.put_all(&flow.by_source);
        self.put_histogram(&flow.message_latency);
        self.put_histogram(&flow.network_latency);
        self.put_histogram(&flow.hops);
        // Nothing where packets are not put in order, for the same reason.
        if flow.resequencing.count() > 0 {
            self.put_histogram(&flow.resequencing);
        }
        self.put_timeline(&flow.batches);
        self.put(flow.series.is_some().into());
        if let Some(series) = &flow.series {
            self.put_timeline(series);
        }
        // Nothing of interventions: they tell why what is taken in came about, and what was a result before they were counted
        // is still the same.
        // Nothing of flows that do not end, so that what was a result before there were others is still the same.
        if let Some(completions) = &flow.completions {
            self.put_completions(completions);
        }
        if let Some(program) = &flow.program {
            self.put(program.ranks.into());
            program.phases.iter().for_each(|reached| self.put_histogram(reached));
        }
    }

    fn put_completions(&mut self, completions: &CompletionRecord) {
        let CompletionRecord { count, lost, first, last, all, by_size, rates, .. } = completions;
        self.put_all(&[*count, *lost, first.map_or(0, |first| first + 1), last.map_or(0, |last| last + 1)]);
        for (size, durations) in std::iter::once((u8::MAX, all)).chain(by_size.iter().map(|(&size, of)| (size, of))) {
            self.put(size.into());
            self.put_histogram(&durations.latency);
            self.put_histogram(&durations.slowdown);
        }
        [rates.0, rates.1].iter().for_each(|sum| self.0.update(sum.to_le_bytes()));
    }

    fn put_histogram(&mut self, histogram: &Histogram) {
        self.put(histogram.count());
        self.0.update(histogram.sum().to_le_bytes());
        self.put_all(&[histogram.min().unwrap_or(0), histogram.max().unwrap_or(0)]);
        self.put(histogram.buckets().count() as u64);
        for bucket in histogram.buckets() {
            self.put_all(&[bucket.low, bucket.count]);
        }
    }

    fn put_timeline(&mut self, timeline: &Timeline) {
        let intervals: Intervals = timeline.intervals();
        self.put_all(&[intervals.origin(), intervals.width(), intervals.count_max().into()]);
        let used = timeline.points().iter().rposition(|point| *point != Point::default()).map_or(0, |last| last + 1);
        self.put(used as u64);
        // Nothing of maxima, so that what was a result before there were any is still the same.
        for point in &timeline.points()[..used] {
            self.put_all(&[point.offered_flits, point.delivered_flits]);
            self.put_all(&[point.delivered_messages, point.message_latency_ticks]);
            self.put_all(&[point.delivered_packets, point.network_latency_ticks, point.nonminimal_packets]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArrivedPacket, Interventions, RecordPlan, Window};

    fn record(latency: u64) -> Record {
        let mut plan = RecordPlan::new(1, Window { from: 0, until: 100 });
        plan.series = Some(Intervals::new(0, 10, 10));
        plan.counters.push("dropped".to_owned());
        let mut record = Record::new(plan);
        record.offered(0, 5, 4, false);
        record.packet_delivered(
            0,
            50,
            ArrivedPacket { source: 0, created: 5, network_latency: 30, hops: 3, flits: 4, nonminimal: false },
        );
        record.message_delivered(0, 50, latency, 4);
        record.count(0, 60, 2);
        record
    }

    #[test]
    fn the_canonical_form_stays_as_it_is() {
        assert_eq!(Digest::new().hex(), "23be0e33b8c639afda7ddfd9a5f498b3fa0011f9720e1790cca5225d710a3df5");
        assert_eq!(
            Digest::new().number(1).record(&record(45)).hex(),
            "942b029b87b48f070ebe97bc89cbe73e6da38d869eef0ac58b84f20403abc956"
        );
    }

    #[test]
    fn why_something_came_about_is_not_taken_in() {
        let mut marked = record(45);
        let done = Interventions { marked_packets: 1, held_packets: 2, held_ticks: 30, ..Interventions::default() };
        marked.intervened(0, 60, &done);
        marked.intervened(0, 100, &done); // after the window
        assert_eq!(marked.total().interventions, done);
        assert_eq!(Digest::new().record(&marked).hex(), Digest::new().record(&record(45)).hex());
        marked.merge(&record(45));
        assert_eq!(marked.total().interventions, done);
    }

    #[test]
    fn every_difference_shows() {
        let mut other = record(45);
        other.count(0, 61, 1);
        let mut digests = vec![
            Digest::new().record(&record(45)).hex(),
            Digest::new().record(&record(46)).hex(),
            Digest::new().record(&other).hex(),
            Digest::new().number(1).record(&record(45)).hex(),
            Digest::new().text("1").record(&record(45)).hex(),
        ];
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), 5);
    }
}
