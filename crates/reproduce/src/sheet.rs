//! What is tabulated of a figure: a row for each of several curves, a column for each measure.

use std::fmt::Write as _;

use tailback_report::{Cell, Column, Kind, Table, significant, with_half_width};

use crate::experiment::Scale;
use crate::measure::Measure;
use crate::measured::{Bound, Measured};
use crate::results::{Absent, Results};

/// Stands for the name of the row wherever a measure names a curve.
const ROW: char = '*';

/// A table of measures.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Its name, which its files have.
    pub name: String,
    /// What stands above it.
    pub title: String,
    /// What rows are called: what `*` stands for in the names of curves.
    pub rows: Vec<String>,
    /// The columns.
    pub columns: Vec<Heading>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Heading {
    /// What stands above it.
    pub title: String,
    /// The unit of its numbers, if they have one.
    pub unit: String,
    /// What values are multiplied by, as 100 for percent.
    pub factor: f64,
    /// How its numbers are computed, by scale, with `*` in place of the row.
    pub measures: [Measure; 2],
}

/// A table with the numbers that there are.
#[derive(Clone, Debug)]
pub struct Filled<'a> {
    /// Whose numbers they are.
    pub sheet: &'a Sheet,
    /// By row, then by column: the mean over all seeds, or why there is none.
    pub cells: Vec<Vec<Result<Measured, Absent>>>,
}

impl Sheet {
    /// The table of what there is.
    #[must_use]
    pub fn fill(&self, scale: Scale, results: &Results) -> Filled<'_> {
        let cell = |row: &String, column: &Heading| {
            let measure = Heading::in_row(&column.measures[scale as usize], row);
            let number = measure.over_seeds(results)?.times(column.factor);
            if number.bound.is_exact() { Ok(number) } else { Err(Absent::Incomplete(ended_too_early(number))) }
        };
        let row = |row| self.columns.iter().map(|column| cell(row, column)).collect();
        Filled { sheet: self, cells: self.rows.iter().map(row).collect() }
    }
}

impl Heading {
    /// The measure of a row.
    pub(crate) fn in_row(measure: &Measure, row: &str) -> Measure {
        measure.renamed(&|curve| curve.replace(ROW, row))
    }

    /// The title with the unit.
    fn words(&self) -> String {
        if self.unit.is_empty() { self.title.clone() } else { format!("{} ({})", self.title, self.unit) }
    }
}

impl Filled<'_> {
    /// A line for each cell, for programs; what has no number has an empty one.
    #[must_use]
    pub fn to_table(&self) -> Table {
        let texts = ["row", "column", "unit"].map(Column::text);
        let numbers = ["value", "ci95"].map(|name| Column::new(name, Kind::Number));
        let mut table = Table::new(texts.into_iter().chain(numbers).collect());
        for (row, cells) in self.sheet.rows.iter().zip(&self.cells) {
            for (column, cell) in self.sheet.columns.iter().zip(cells) {
                let (value, half_width) =
                    cell.as_ref().map_or((None, None), |cell| (Some(cell.value), cell.half_width));
                let texts = [row, &column.title, &column.unit].map(|text| Cell::from(text.as_str()));
                table.push(texts.into_iter().chain([value.into(), half_width.into()]).collect());
            }
        }
        table
    }

    /// For a terminal: columns side by side, and why cells are empty below.
    #[must_use]
    pub fn to_text(&self) -> String {
        let lines = self.lines();
        let width = |place: usize| lines.iter().map(|line| line[place].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=self.sheet.columns.len()).map(width).collect();
        let mut text = if self.sheet.title.is_empty() { String::new() } else { format!("{}\n", self.sheet.title) };
        // A heading is above a column of its own; together they would be wider than any terminal.
        for (place, column) in self.sheet.columns.iter().enumerate() {
            let _ = writeln!(text, "  [{}] {}", place + 1, column.words());
        }
        for line in &lines {
            let cells: Vec<String> = line
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(place, (cell, &width))| aligned(place, cell, width))
                .collect();
            let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
        }
        for gap in self.gaps() {
            let _ = writeln!(text, "  {gap}");
        }
        text
    }

    /// As Markdown, with intervals, and why cells are empty below.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let escaped = |text: &str| text.replace('|', "\\|");
        let mut text = if self.sheet.title.is_empty() { String::new() } else { format!("# {}\n\n", self.sheet.title) };
        let headings: Vec<String> = self.sheet.columns.iter().map(|column| escaped(&column.words())).collect();
        let _ = writeln!(text, "| | {} |\n| --- |{}", headings.join(" | "), " ---: |".repeat(headings.len()));
        for (row, cells) in self.sheet.rows.iter().zip(&self.cells) {
            let cells: Vec<String> = cells.iter().map(shown).collect();
            let _ = writeln!(text, "| {} | {} |", escaped(row), cells.join(" | "));
        }
        let gaps = self.gaps();
        if !gaps.is_empty() {
            text.push('\n');
        }
        for gap in gaps {
            let _ = writeln!(text, "* {gap}");
        }
        text
    }

    /// The numbers of columns, and the rows below them.
    fn lines(&self) -> Vec<Vec<String>> {
        let numbers = (1..=self.sheet.columns.len()).map(|number| format!("[{number}]"));
        let mut lines = vec![std::iter::once(String::new()).chain(numbers).collect::<Vec<_>>()];
        for (row, cells) in self.sheet.rows.iter().zip(&self.cells) {
            lines.push(std::iter::once(row.clone()).chain(cells.iter().map(shown)).collect());
        }
        lines
    }

    /// Why a number is not there though its runs are, and how many are not there for want of runs.
    fn gaps(&self) -> Vec<String> {
        let mut gaps = Vec::new();
        let mut not_run = 0;
        for (row, cells) in self.sheet.rows.iter().zip(&self.cells) {
            for (column, cell) in self.sheet.columns.iter().zip(cells) {
                match cell {
                    Ok(_) => {}
                    Err(Absent::NotRun(_)) => not_run += 1,
                    Err(Absent::Undefined(why) | Absent::Incomplete(why)) => {
                        gaps.push(format!("{row}, {}: {why}", column.title));
                    }
                }
            }
        }
        if not_run > 0 {
            gaps.push(format!("empty for want of runs: {not_run}"));
        }
        gaps
    }
}

/// What is known of a number that is none for a table.
fn ended_too_early(Measured { value, bound, .. }: Measured) -> String {
    let known =
        if bound == Bound::Unknown { String::new() } else { format!("{}{}: ", bound.words(), significant(value, 4)) };
    format!("{known}runs ended before all that was created had arrived")
}

/// A number for people, with its interval; nothing if it is not there.
fn shown(cell: &Result<Measured, Absent>) -> String {
    match cell {
        Ok(Measured { value, half_width: Some(half), .. }) => with_half_width(*value, *half),
        Ok(Measured { value, .. }) => significant(*value, 4),
        Err(_) => String::new(),
    }
}

/// Names to the left, numbers to the right.
fn aligned(place: usize, cell: &str, width: usize) -> String {
    if place == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}
