//! Figures of simulation runs: how they are kept, merged, judged, written and drawn.
//!
//! While a run goes on, each of its parts writes a [`Record`]: counters, [`Histogram`]s and [`Timeline`]s. At the end
//! the records are merged, and from the whole come a [`Digest`], a [`Report`], [`Table`]s and [`Figure`]s.
//!
//! **What this crate must never know:** how figures were obtained. There is no network in here, and no file, clock,
//! socket or environment: what is written goes to a [`std::io::Write`] of the caller's, what is read comes from a
//! [`std::io::Read`].
//!
//! **The invariant it keeps:** everything recorded is an integer, so records merged in any order are the same bits.
//! Floating-point numbers appear only when figures are taken from a merged record, and are computed in a fixed order:
//! equal records give equal reports.

mod completion;
mod digest;
mod figures;
mod histogram;
mod histograms;
mod interventions;
mod messages;
mod metric;
mod named;
mod pairs;
mod plot;
mod program;
mod record;
mod record_plan;
mod report;
mod series;
mod statistics;
mod summary;
mod sweep;
mod sweep_details;
mod table;
mod timeline;
mod trees;

use completion::SLOWDOWN_ONE;
pub use completion::{CompletedMessage, CompletionRecord, Completions, Durations, OfSize};
pub use digest::Digest;
pub use figures::{Amounts, Distribution, Figures, Hops, Latencies, SATURATION_THRESHOLD};
pub use histogram::{Bucket, Histogram};
pub use histograms::histogram_table;
pub use interventions::{Interventions, NonminimalPackets};
pub use messages::{ListedCompletion, messages_table};
pub use metric::{METRICS, Metric, MetricOf};
pub use named::Named;
pub use plot::{Cells, Counted, CountedOf, Curve, Figure, HeatMap, Size, Style};
pub use program::{PhaseFigures, ProgramFigures, ProgramPlan, ProgramRecord};
pub use record::{ArrivedPacket, Delivered, FlowRecord, Offered, Record};
pub use record_plan::{RecordPlan, Window};
pub use report::{
    Cycles, FlowFigures, FlowInput, HotNode, Interruption, LinkUtilisation, LoadCourse, Measured, Performance, Report,
};
pub use series::series_table;
pub use statistics::{BATCHES, Estimate, WarmUpHint, batch_means, student_t_975, warm_up_hint};
pub use sweep::{CI95_OVER, SweepPoint, sweep_table};
pub use sweep_details::{sweep_histogram_table, sweep_series_table};
pub use table::{Cell, Column, CsvRows, Kind, Table, TableError, significant, with_half_width};
pub use timeline::{Intervals, Point, Timeline};
pub use trees::{LargestTree, TreeFigures};
