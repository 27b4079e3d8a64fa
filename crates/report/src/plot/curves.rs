//! Curves from the columns of a table.

use super::{Curve, Figure};
use crate::{Cell, Column, Kind, Table, TableError};

impl Curve {
    /// The curves of column `y` over column `x`, one for each combination of what the columns `by` hold.
    ///
    /// Rows in which a number is missing are left out. Error bars come from the column `<y>_ci95` if there is one.
    ///
    /// # Errors
    /// When there is no such column, or `x` or `y` holds text.
    pub fn from_table(table: &Table, x: &str, y: &str, by: &[&str]) -> Result<Vec<Self>, TableError> {
        let (x, half_width) = (numbers(table, x)?, table.column(&format!("{y}_ci95")).ok());
        let (y, name_without_by) = (numbers(table, y)?, y);
        let by = by.iter().map(|name| table.column(name)).collect::<Result<Vec<_>, _>>()?;
        let mut curves: Vec<(String, Vec<[f64; 3]>)> = Vec::new();
        for row in &table.rows {
            let (Some(x), Some(y)) = (row[x].number(), row[y].number()) else { continue };
            let half_width = half_width.and_then(|column| row[column].number()).unwrap_or(0.0);
            let name = if by.is_empty() { name_without_by.to_owned() } else { name(row, &by) };
            let place = curves.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                curves.push((name, Vec::new()));
                curves.len() - 1
            });
            curves[place].1.push([x, y, half_width]);
        }
        Ok(curves.into_iter().map(|(name, points)| Self::sorted(name, points)).collect())
    }

    fn sorted(name: String, mut points: Vec<[f64; 3]>) -> Self {
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let uncertain = points.iter().any(|point| point[2] > 0.0);
        Self {
            name,
            half_widths: uncertain.then(|| points.iter().map(|point| point[2]).collect()),
            points: points.iter().map(|point| (point[0], point[1])).collect(),
            ..Self::default()
        }
    }
}

impl Figure {
    /// The points of all curves as a table: curve, place or name to the right, height, half the height of the error bar, and
    /// `at_least` where the height is not known but the least that it can be.
    #[must_use]
    pub fn to_table(&self) -> Table {
        let number = |name| Column::new(name, Kind::Number);
        let x_column = if self.categories.is_empty() { number("x") } else { Column::text("x") };
        let columns = vec![Column::text("curve"), x_column, number("y"), number("y_ci95"), Column::text("bound")];
        let mut table = Table::new(columns);
        let name = |x: f64| self.categories.get(x as usize).map(|name| name.as_str().into());
        for curve in &self.curves {
            for (place, &(x, y)) in curve.points.iter().enumerate() {
                let half_width = curve.half_widths.as_ref().map(|widths| widths[place]).filter(|&width| width > 0.0);
                let bound = if curve.least_from.is_some_and(|from| x >= from) { "at_least" } else { "" };
                let x = name(x).unwrap_or_else(|| x.into());
                table.push(vec![curve.name.as_str().into(), x, y.into(), half_width.into(), bound.into()]);
            }
        }
        table
    }
}

/// The place of a column of numbers.
fn numbers(table: &Table, name: &str) -> Result<usize, TableError> {
    let place = table.column(name)?;
    let holds_text = table.rows.iter().any(|row| matches!(row[place], Cell::Text(_)));
    if holds_text { Err(TableError::NotNumbers(name.to_owned())) } else { Ok(place) }
}

/// What the columns `by` hold, as one name.
fn name(row: &[Cell], by: &[usize]) -> String {
    let parts = by.iter().map(|&column| row[column].to_string()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_curves() {
        let csv = "load,routing,vcs,latency,latency_ci95\n\
                   0.2,min,2,120.5,3\n0.1,min,2,100,\n0.1,val,2,200,\n0.3,min,2,,\n0.1,min,4,90,\n";
        let table = Table::read_csv(csv.as_bytes()).unwrap();
        let curves = Curve::from_table(&table, "load", "latency", &["routing", "vcs"]).unwrap();
        let names: Vec<_> = curves.iter().map(|curve| curve.name.as_str()).collect();
        assert_eq!(names, ["min, 2", "val, 2", "min, 4"]);
        assert_eq!(curves[0].points, [(0.1, 100.0), (0.2, 120.5)]);
        assert_eq!(curves[0].half_widths, Some(vec![0.0, 3.0]));
        assert_eq!(curves[1].half_widths, None);
        assert_eq!(Curve::from_table(&table, "load", "latency", &[]).unwrap()[0].name, "latency");
        let error = Curve::from_table(&table, "load", "routing", &[]).unwrap_err();
        assert_eq!(error.to_string(), "column `routing` does not hold numbers");
    }
}
