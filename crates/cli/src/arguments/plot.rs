//! What can be said to `plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tailback_report::Size;

#[derive(Args, Debug)]
pub struct PlotArguments {
    /// Directories with the results of runs or sweeps
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Where figures go; into the first directory by default
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What is drawn; by default curves of sweeps and time series of runs
    #[arg(long, value_enum)]
    pub kind: Option<PlotKind>,
    /// What runs to the right: what a sweep varies, or any other column of sweep.csv. By default the load
    #[arg(long, value_name = "NAME")]
    pub x: Option<String>,
    /// What runs upwards: a column of sweep.csv or, of time series, of series.csv; of distributions, a figure of histograms.csv, as
    /// `network_latency`
    #[arg(long, value_name = "NAME")]
    pub y: Option<String>,
    /// What curves are told apart by: columns of what is varied, or `flow`. By default all that varies and does not run to the
    /// right; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub by: Vec<String>,
    /// Draw only what has this value, as in `traffic.load=0.5`; may be repeated
    #[arg(long, value_parser = setting, value_name = "NAME=VALUE")]
    pub only: Vec<(String, String)>,
    /// Which axes are logarithmic
    #[arg(long, value_enum, value_name = "AXES")]
    pub log: Option<LogAxes>,
    /// How large a figure is: `single` or `double` for columns of a paper, or as in `760x500`, `90x60mm`, `3.5x2.4in`, `252x180pt`
    #[arg(long, value_parser = Size::parse, value_name = "SIZE")]
    pub size: Option<Size>,
    /// What stands above; nothing if it is empty
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// What the axes say; an empty one is as by default. It takes a single figure
    #[arg(long, value_parser = labels, value_name = "X,Y")]
    pub labels: Option<(String, String)>,
    /// Where the axes begin and end, as in `0..0.9,100..500`; an end that is left out fits the data. It takes a single figure
    #[arg(long, value_parser = range, value_name = "X0..X1,Y0..Y1", allow_hyphen_values = true)]
    pub range: Option<Range>,
    /// The kind of picture
    #[arg(long, value_enum, default_value_t = Picture::Svg)]
    pub picture: Picture,
    /// The same as `--picture pdf`
    #[arg(long, conflicts_with = "picture")]
    pub pdf: bool,
    /// Cut latencies off at this many cycles
    #[arg(long, value_name = "CYCLES", value_parser = height, allow_negative_numbers = true, conflicts_with_all = ["x", "y", "range", "kind"])]
    pub latency_max: Option<f64>,
}

/// What is drawn of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// What sweeps measure, over what they vary
    Curves,
    /// Loads and latencies over time; of sweeps with the mean and a band over seeds
    Series,
    /// The share of messages that took no longer, up to p99.99
    Cdf,
    /// How many messages took how long
    Histogram,
    /// Links of a run (`measure.links`) as colours: from group to group or, with `--by`, from `router` to `router` or `level` to
    /// `level`; with `--x time`, the busiest over time. `--y` is a column of links.csv, or `occupied` for the room that is taken
    /// in all channels; `--only cycle=CYCLE` is an instant, `--only kind=KIND` the links of a kind
    HeatMap,
    /// Congestion trees of runs (`measure.trees`) over time: the largest, how many, and the share of victims; `--y` draws one of
    /// `largest`, `count` and `victims`
    Trees,
}

/// Which axes are logarithmic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogAxes {
    /// The one to the right
    X,
    /// The one upwards
    Y,
    /// Both
    Both,
}

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    /// Scalable
    Svg,
    /// Pixels
    Png,
    /// Scalable, for papers
    Pdf,
}

/// From where to where an axis goes, as far as that is said.
pub type AxisRange = (Option<f64>, Option<f64>);

/// From where to where both axes go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub x: AxisRange,
    pub y: AxisRange,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a name and a value are needed, as in `variant=MIN`")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// The height of a figure.
fn height(text: &str) -> Result<f64, String> {
    let height = text.trim().parse().ok().filter(|height: &f64| height.is_finite() && *height > 0.0);
    height.ok_or_else(|| "a number above 0 is needed, as in `500`".to_owned())
}

fn labels(text: &str) -> Result<(String, String), String> {
    let (x, y) = text.split_once(',').ok_or("two labels are needed, as in `load,latency (ns)`; either may be empty")?;
    Ok((x.trim().to_owned(), y.trim().to_owned()))
}

fn range(text: &str) -> Result<Range, String> {
    let (x, y) = text.split_once(',').unwrap_or((text, ".."));
    Ok(Range { x: ends(x, "X")?, y: ends(y, "Y")? })
}

fn ends(text: &str, axis: &str) -> Result<AxisRange, String> {
    if text.trim().is_empty() {
        return Ok((None, None));
    }
    let usage = || format!("`{text}` is no range of {axis}; write it as in `0..0.9`, or `..0.9` for the end alone");
    let (from, to) = text.split_once("..").ok_or_else(usage)?;
    let end = |text: &str| match text.trim() {
        "" => Ok(None),
        number => number.parse().ok().filter(|number: &f64| number.is_finite()).map(Some).ok_or_else(usage),
    };
    let (from, to) = (end(from)?, end(to)?);
    match (from, to) {
        (Some(from), Some(to)) if from >= to => Err(format!("{axis} cannot end at {to} if it begins at {from}")),
        ends => Ok(ends),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_cut_off_above_nothing() {
        assert_eq!(height("1.5e3"), Ok(1500.0));
        for wrong in ["0", "-1", "nan", "inf", "high", ""] {
            assert!(height(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_may_leave_ends_out() {
        let of = |text| range(text).map(|range| (range.x, range.y));
        assert_eq!(of("0..0.9,-1..5"), Ok(((Some(0.0), Some(0.9)), (Some(-1.0), Some(5.0)))));
        assert_eq!(of(",..500"), Ok(((None, None), (None, Some(500.0)))));
        assert_eq!(of("0.2.."), Ok(((Some(0.2), None), (None, None))));
        for wrong in ["5", "a..b", "1..1", "2..1,0..1", "0..inf"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
