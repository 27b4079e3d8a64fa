//! The word that somebody may have meant.

/// The one of `words` that differs least from `word`, if it differs little.
#[must_use]
pub fn nearest<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1) + 1;
    let distance = |candidate: &'a str| distance(&word.to_lowercase(), &candidate.to_lowercase());
    let near = words.into_iter().map(|candidate| (distance(candidate), candidate));
    // Of a short word in which every letter is another one nothing is left.
    let near = near.filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count());
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out, exchanged for another, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cost = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(rows[i - 2][j - 2] + 1);
            }
            row.push(cost);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_recognised_and_other_words_are_not() {
        let words = ["threshold", "latency", "load"];
        assert_eq!(nearest("treshold", words), Some("threshold"));
        assert_eq!(nearest("latnecy", words), Some("latency"));
        assert_eq!(nearest("Load", words), Some("load"));
        assert_eq!(nearest("colour", words), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!(nearest("-1", ["at", "load"]), None);
        assert_eq!(nearest("ta", ["at"]), Some("at"));
    }
}
