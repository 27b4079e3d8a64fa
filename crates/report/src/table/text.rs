//! Tables as aligned text.

use super::{Cell, Kind, Table};

impl Table {
    /// The table as text in aligned columns: texts to the left, numbers to the right, with about five digits.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut lines = vec![String::new(); self.rows.len() + 1];
        for (place, column) in self.columns.iter().enumerate() {
            let decimals = decimals(self.rows.iter().filter_map(|row| row[place].number()));
            let cells = self.rows.iter().map(|row| shown(&row[place], decimals));
            let fields: Vec<String> = std::iter::once(column.name.clone()).chain(cells).collect();
            let width = fields.iter().map(|field| field.chars().count()).max().unwrap_or(0);
            for (line, field) in lines.iter_mut().zip(&fields) {
                if place > 0 {
                    line.push_str("  ");
                }
                line.push_str(&match column.kind {
                    Kind::Text => format!("{field:<width$}"),
                    Kind::Integer | Kind::Number => format!("{field:>width$}"),
                });
            }
        }
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

fn shown(cell: &Cell, decimals: usize) -> String {
    match cell {
        Cell::Empty => "-".to_owned(),
        // Each row is a line: no text of somebody's makes rows of its own.
        Cell::Text(text) => text.replace(['\n', '\r'], " "),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => format!("{number:.decimals$}"),
    }
}

/// How many decimals a column of numbers is shown with: the same for all, so that they can be compared.
fn decimals(numbers: impl Iterator<Item = f64>) -> usize {
    let largest = numbers.fold(0.0, |largest: f64, number| largest.max(number.abs()));
    match order(largest) {
        order @ 0.. => 4_usize.saturating_sub(order as usize),
        -2 | -1 => 4,
        order => (3 - order).min(12) as usize,
    }
}

/// The power of ten of the first digit of a number; 0 for zero.
fn order(number: f64) -> i32 {
    let text = format!("{number:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// A number with so many significant digits, or with all of its whole part if that has more.
#[must_use]
pub fn significant(number: f64, digits: i32) -> String {
    let decimals = (digits - 1 - order(number)).clamp(0, 12) as usize;
    format!("{number:.decimals$}")
}

/// A number with half the width of its interval behind `±`: 0 where that is only what adding up in another order makes.
#[must_use]
pub fn with_half_width(number: f64, half_width: f64) -> String {
    let half_width = if half_width < number.abs() * 1e-9 { 0.0 } else { half_width };
    format!("{} ± {}", significant(number, 4), significant(half_width, 2))
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let expected = "\
name             count    mean  nothing
first, \"quoted\"      3     0.1  -
-                    -       -  -
größer           12000  2500.0  -
";
        assert_eq!(example().to_text(), expected);
    }

    #[test]
    fn numbers_have_as_many_digits_as_are_worth_reading() {
        let shown = [0.0, 0.012_345, 1.234_56, 12.345_6, 12_345.6].map(|number| significant(number, 3));
        assert_eq!(shown, ["0.00", "0.0123", "1.23", "12.3", "12346"]);
        assert_eq!([0.5, 4.0, 123.0, 54_321.0, 0.000_1].map(|number| decimals([number].into_iter())), [4, 4, 2, 0, 7]);
    }

    #[test]
    fn intervals_have_two_digits_unless_they_are_nothing() {
        assert_eq!(with_half_width(0.027_8, 0.001_44), "0.02780 ± 0.0014");
        assert_eq!(with_half_width(0.027_8, 1e-17), "0.02780 ± 0.0");
        assert_eq!(with_half_width(0.0, 0.0), "0.000 ± 0.0");
    }
}
