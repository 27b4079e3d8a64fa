//! Figures of papers, reproduced.
//!
//! A [`Figure`] is read from a file that says which runs it needs, what is drawn, and what the paper claims about it.
//! At a [`Scale`] it becomes an [`Experiment`]: a sweep over the scenario that it names, or over a formula. Whoever makes the runs puts them
//! into [`Results`], and so what [formulas](Computation) give; from those come the [drawings](Panel::draw), the [tables](Sheet::fill) and, [claim](Claim) by claim, a [`Finding`] with a
//! [`Verdict`].
//!
//! **What this crate must never know:** files, clocks, terminals, and how anything is simulated.
//!
//! **The invariant it keeps:** a verdict follows from reports, time series and the figure file alone, and a claim whose
//! runs are not all there has none.

mod claim;
mod experiment;
mod figure;
mod measure;
mod measured;
mod panel;
mod quantity;
mod read;
mod render;
mod results;
mod scoreboard;
mod series;
mod sheet;
mod signal;

pub use claim::{Claim, Expectation, Finding, Judgement, Refutation, Verdict};
pub use experiment::{Experiment, Scale};
pub use figure::{Basis, Computation, Figure};
pub use measure::{Along, Apart, At, Measure, Order, Timed, Trace};
pub use measured::{Bound, Measured};
pub use panel::{Line, Panel, Part, Shown};
pub use quantity::{Quantity, SeriesColumn};
pub use read::MEASURES;
pub use render::{Row, Table, rows};
pub use results::{Absent, Found, Outcome, Results};
pub use scoreboard::{Count, Record, RecordedClaim, RecordedFigure, RecordedRuns, count, digest_of_scenarios};
pub use series::{Sample, Series, Together};
pub use sheet::{Filled, Heading, Sheet};
pub use signal::Extreme;
