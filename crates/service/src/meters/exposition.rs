//! The text format of Prometheus. Names have units, times are in seconds, and what only grows ends in `_total`.

use std::fmt::{Display, Write as _};

use super::histogram::Counted;

/// Metrics as they are written one after the other.
#[derive(Default)]
pub(super) struct Exposition(String);

impl Exposition {
    /// A metric without labels.
    pub(super) fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.family(name, kind, help, [(String::new(), value)]);
    }

    /// A metric with a value for each set of labels, as in `{state="failed"}`.
    pub(super) fn family(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        values: impl IntoIterator<Item = (impl Display, f64)>,
    ) {
        self.heading(name, kind, help);
        for (labels, value) in values {
            let _ = writeln!(self.0, "tailback_{name}{labels} {value}");
        }
    }

    pub(super) fn histogram(&mut self, name: &str, help: &str, counted: &Counted) {
        self.heading(name, "histogram", help);
        let Counted { up_to, count, sum } = counted;
        for (bound, count) in up_to {
            let _ = writeln!(self.0, "tailback_{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(self.0, "tailback_{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(self.0, "tailback_{name}_sum {sum}\ntailback_{name}_count {count}");
    }

    fn heading(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP tailback_{name} {help}\n# TYPE tailback_{name} {kind}");
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

/// Labels with their values, as in `{state="failed"}`. A value may be any text: what would end it, or the line, is escaped.
pub(super) fn labels(values: &[(&str, &str)]) -> String {
    let escaped = |value: &str| value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let labels: Vec<String> = values.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", labels.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_a_label_ends_before_its_end() {
        assert_eq!(labels(&[("port", "admin"), ("state", "")]), r#"{port="admin",state=""}"#);
        assert_eq!(labels(&[("a", "1\"} 2\n#\\")]), r#"{a="1\"} 2\n#\\"}"#);
    }
}
