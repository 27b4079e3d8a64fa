//! What can be measured: figures of reports, and columns of time series.

use tailback_report::{METRICS, Metric, Report};
use tailback_scenario::reading::nearest;
use tailback_scenario::{control_kinds, formula_results};

use crate::results::Found;
use crate::series::Together;

/// A figure of a report, such as `latency_message_mean`, `victims.accepted_load`, `links.global.mean`,
/// `ejection.nacks` or `counters.dropped`, or a number that a formula gives, such as `formula.throughput`.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// One of the figures that reports are compared by, of all flows or of one.
    Metric {
        /// The flow, if it is about one.
        flow: Option<String>,
        /// The figure.
        metric: &'static Metric,
    },
    /// How busy the links of a class were.
    Links {
        /// The class.
        class: String,
        /// Whether it is about the busiest one, not the mean.
        busiest: bool,
    },
    /// The share of the links to nodes that packets of a kind took; all data is one kind.
    Ejection(&'static str),
    /// A counter.
    Counter(String),
    /// A number that a formula gives.
    Formula(&'static str),
}

impl Quantity {
    /// Reads its name.
    ///
    /// # Errors
    /// A sentence about what is wrong, and what to do about it.
    pub fn parse(name: &str) -> Result<Self, (String, String)> {
        if let Some(rest) = name.strip_prefix("links.") {
            return match rest.rsplit_once('.') {
                Some((class, "mean")) => Ok(Self::Links { class: class.to_owned(), busiest: false }),
                Some((class, "max")) => Ok(Self::Links { class: class.to_owned(), busiest: true }),
                _ => Err(unknown(name, "write `links.<class>.mean` or `links.<class>.max`".to_owned())),
            };
        }
        if let Some(word) = name.strip_prefix("ejection.") {
            return match ejected().find(|kind| *kind == word) {
                Some(kind) => Ok(Self::Ejection(kind)),
                None => Err(unknown(name, meant(word, ejected()))),
            };
        }
        if let Some(counter) = name.strip_prefix("counters.") {
            return Ok(Self::Counter(counter.to_owned()));
        }
        if let Some(word) = name.strip_prefix("formula.") {
            let mut names = formula_results().map(|result| result.name);
            return match names.clone().find(|name| *name == word) {
                Some(name) => Ok(Self::Formula(name)),
                None => Err(unknown(name, meant(word, names.by_ref().collect::<Vec<_>>()))),
            };
        }
        let (flow, word) = of_flow(name);
        match METRICS.iter().find(|metric| metric.name == word) {
            Some(metric) => Ok(Self::Metric { flow, metric }),
            None => Err(unknown(name, meant(word, METRICS.iter().map(|metric| metric.name)))),
        }
    }

    /// Its value, where there is one.
    #[must_use]
    pub fn of(&self, found: &Found) -> Option<f64> {
        match (self, found) {
            (Self::Formula(name), Found::Computed(numbers)) => {
                numbers.iter().find(|(known, _)| known == name).map(|(_, number)| *number)
            }
            (_, Found::Run(outcome)) => self.in_report(&outcome.report),
            (_, Found::Computed(_)) => None,
        }
    }

    fn in_report(&self, report: &Report) -> Option<f64> {
        match self {
            Self::Metric { flow: None, metric } => (metric.value)(&report.total),
            Self::Metric { flow: Some(flow), metric } => report.flow(flow).and_then(metric.value),
            Self::Links { class, busiest } => {
                let links = report.links.iter().find(|links| links.class == *class)?;
                Some(if *busiest { links.max } else { links.mean })
            }
            Self::Ejection(kind) => report.ejection.get(kind).copied(),
            Self::Counter(name) => report.counters.get(name).map(|&count| count as f64),
            Self::Formula(_) => None,
        }
    }

    /// Half the width of the confidence interval that a single report gives it.
    #[must_use]
    pub fn ci95_of(&self, found: &Found) -> Option<f64> {
        let report = &found.outcome()?.report;
        match self {
            Self::Metric { flow: None, metric } => (metric.ci95)(&report.total),
            Self::Metric { flow: Some(flow), metric } => report.flow(flow).and_then(metric.ci95),
            Self::Links { .. } | Self::Ejection(_) | Self::Counter(_) | Self::Formula(_) => None,
        }
    }
}

/// A column of a time series, of all flows or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesColumn {
    /// The flow, if it is about one.
    pub flow: Option<String>,
    /// The column.
    pub column: &'static str,
    /// The column that tells how much each of its values counts; none if all count the same.
    pub(crate) weight: Option<&'static str>,
    /// What several values are together.
    pub(crate) together: Together,
}

/// The columns of time series, what their values are over, and what several are together.
const COLUMNS: [(&str, Option<&str>, Together); 7] = [
    ("offered_load", None, Together::Mean),
    ("accepted_load", None, Together::Mean),
    ("latency_message_mean", Some("delivered_messages"), Together::Mean),
    ("latency_message_max", Some("delivered_messages"), Together::Largest),
    ("latency_network_mean", Some("delivered_packets"), Together::Mean),
    ("latency_network_max", Some("delivered_packets"), Together::Largest),
    ("nonminimal_share", Some("delivered_packets"), Together::Mean),
];

impl SeriesColumn {
    /// Whether it is a time that begins when something is created: what has not arrived has waited for as long as it is old. Latency in
    /// the network begins later.
    pub(crate) fn waits(&self) -> bool {
        self.column == "latency_message_mean"
    }

    /// Reads its name.
    ///
    /// # Errors
    /// A sentence about what is wrong, and what to do about it.
    pub fn parse(name: &str) -> Result<Self, (String, String)> {
        let (flow, word) = of_flow(name);
        match COLUMNS.into_iter().find(|(column, ..)| *column == word) {
            Some((column, weight, together)) => Ok(Self { flow, column, weight, together }),
            None => Err(unknown(name, meant(word, COLUMNS.map(|(column, ..)| column)))),
        }
    }
}

/// The kinds of packets that links to nodes are shared by.
fn ejected() -> impl Iterator<Item = &'static str> + Clone {
    ["data"].into_iter().chain(control_kinds())
}

/// The name of a flow before a dot, and the rest.
fn of_flow(name: &str) -> (Option<String>, &str) {
    match name.split_once('.') {
        Some((flow, word)) => (Some(flow.to_owned()), word),
        None => (None, name),
    }
}

fn unknown(name: &str, help: String) -> (String, String) {
    (format!("there is no figure called \"{name}\""), help)
}

fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("there is {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}
