//! Comparing what is said with what was said before.

use std::fmt::Write as _;
use std::path::Path;

/// The environment variable that has golden files written instead of compared.
pub const UPDATE: &str = "TAILBACK_UPDATE_GOLDEN";

/// Whether golden files are to be written.
#[must_use]
pub fn updating() -> bool {
    std::env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Compares a text with the golden file at `path`, or writes that file.
///
/// # Panics
/// When they differ, with the lines that do; when the file cannot be read or written.
pub fn compare(path: &Path, actual: &str) {
    let shown = path.display();
    if updating() {
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).unwrap_or_else(|error| panic!("cannot make {}: {error}", folder.display()));
        std::fs::write(path, actual).unwrap_or_else(|error| panic!("cannot write {shown}: {error}"));
        return;
    }
    let expected = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {shown}: {error}\n{UPDATE}=1 writes it; it would hold:\n{actual}"));
    assert!(
        expected == actual,
        "{shown} says something else (- golden, + now):\n{}if that is on purpose, {UPDATE}=1 writes the file anew",
        difference(&expected, actual)
    );
}

/// The lines that differ, with a few that do not around them.
fn difference(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let common = longest_common(&old, &new);
    let (mut text, mut at_old, mut at_new) = (String::new(), 0, 0);
    for &(next_old, next_new) in common.iter().chain([&(old.len(), new.len())]) {
        for line in &old[at_old..next_old] {
            let _ = writeln!(text, "- {line}");
        }
        for line in &new[at_new..next_new] {
            let _ = writeln!(text, "+ {line}");
        }
        if let Some(line) = old.get(next_old) {
            let _ = writeln!(text, "  {line}");
        }
        (at_old, at_new) = (next_old + 1, next_new + 1);
    }
    if text.lines().all(|line| line.starts_with(' ')) {
        text.push_str("(the lines are the same; only line ends differ)\n");
    }
    abridged(&text)
}

/// Pairs of places of equal lines, as many as there can be in order. Golden files are short enough for the plain table.
fn longest_common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut longest = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for (i, line) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            longest[i][j] =
                if line == other { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let (mut pairs, mut i, mut j) = (Vec::new(), 0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Only the lines near a difference.
fn abridged(text: &str) -> String {
    const AROUND: usize = 2;
    let lines: Vec<&str> = text.lines().collect();
    let differs = |at: usize| !lines[at].starts_with("  ");
    let is_near = |at: usize| (at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len())).any(differs);
    let (mut kept, mut skipped) = (String::new(), false);
    for (at, line) in lines.iter().enumerate() {
        if is_near(at) {
            let _ = writeln!(kept, "{}{line}", if skipped { "  …\n" } else { "" });
        }
        skipped = !is_near(at);
    }
    kept
}
