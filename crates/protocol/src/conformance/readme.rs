//! What the README of a family of protocols says of parameters.

use tailback_parameters::Parameter;

use crate::ProtocolModel;

/// The parameters of models, as `model.parameter`, that a README does not list with their defaults: in a row of a table whose first cell
/// names them, and whose last cell but one is the default. A row whose first cell is empty goes on with the one before it.
#[must_use]
pub fn undocumented(readme: &str, models: &[ProtocolModel]) -> Vec<String> {
    let rows = rows(readme);
    let lacks = |parameter: &&Parameter| {
        let name = format!("`{}`", parameter.name);
        !rows.iter().any(|(names, default)| names.contains(&name) && has_words(default, parameter.default))
    };
    let of_model = |model: &ProtocolModel| {
        let model_name = model.name;
        let missing = model.parameters.iter().filter(lacks);
        missing.map(|parameter| format!("{model_name}.{}", parameter.name)).collect::<Vec<_>>()
    };
    models.iter().flat_map(of_model).collect()
}

/// The first cell and the last but one of each row of a table.
fn rows(readme: &str) -> Vec<(&str, &str)> {
    let mut rows: Vec<(&str, &str)> = Vec::new();
    for line in readme.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if let [first, .., default, _] = cells[..] {
            let names = if first.is_empty() { rows.last().map_or("", |row| row.0) } else { first };
            rows.push((names, default));
        }
    }
    rows
}

/// Whether a cell has all words of a default. An empty list has none.
fn has_words(cell: &str, default: Option<&str>) -> bool {
    let in_cell = words(cell);
    words(default.unwrap_or_default()).iter().all(|word| in_cell.contains(word))
}

/// Words and numbers, without what marks them up and without separators of thousands.
fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).replace(',', "");
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BASELINE;

    #[test]
    fn parameters_without_a_row_or_with_another_default_are_told() {
        let undocumented = |rows: &str| undocumented(&format!("`acknowledge`\n|---|---|---|\n{rows}"), &[BASELINE]);
        let routing = "| `control_routing`, `other` | `as-data`, 71,168 cycles | |";
        assert_eq!(undocumented(routing), ["baseline.acknowledge"]);
        assert_eq!(
            undocumented(&format!("{routing}\n| `acknowledge` | all | true | false |")),
            ["baseline.acknowledge"]
        );
        let several = format!("| `acknowledge` | some | true | |\n| | others | false: none | |\n{routing}");
        assert!(undocumented(&several).is_empty());
    }
}
