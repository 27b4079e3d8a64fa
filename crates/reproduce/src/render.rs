//! Claims with their verdicts, as they are shown and written down.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use tailback_report::significant;

use crate::claim::{Claim, Finding, Verdict};
use crate::experiment::Scale;

/// A claim with its verdict, as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The paper.
    pub paper: String,
    /// The figure.
    pub figure: String,
    /// What is claimed.
    pub claim: String,
    /// What the paper has.
    pub paper_value: String,
    /// What has been found, as a mean over all seeds.
    pub measured: Option<f64>,
    /// The ends of its 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// What it has to be.
    pub tolerance: String,
    /// Whether it is.
    pub verdict: Verdict,
}

/// Claims as they are written down.
#[must_use]
pub fn rows(paper: &str, figure: &str, scale: Scale, findings: &[(&Claim, Finding)]) -> Vec<Row> {
    let row = |(claim, found): &(&Claim, Finding)| Row {
        paper: paper.to_owned(),
        figure: figure.to_owned(),
        claim: claim.says.clone(),
        paper_value: claim.paper.clone(),
        measured: found.measured,
        interval: found.measured.zip(found.half_width).map(|(mean, half)| [mean - half, mean + half]),
        tolerance: claim.judgement(scale).map_or_else(String::new, |judgement| judgement.expect.to_string()),
        verdict: found.verdict,
    };
    findings.iter().map(row).collect()
}

/// The claims about a figure, for people.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// What the figure shows.
    pub title: &'a str,
    /// Where in the paper it is.
    pub source: &'a str,
    /// How large it was reproduced.
    pub scale: Scale,
    /// The claims with what has been found.
    pub findings: &'a [(&'a Claim, Finding)],
}

impl Table<'_> {
    /// As text for a terminal: a line for each claim and what it was judged by below it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{} ({}, {})\n", self.title, self.source, self.scale.name());
        for (claim, found) in self.findings {
            let _ = writeln!(text, "  {:<8}{}", found.verdict, claim.says);
            let _ =
                writeln!(text, "          {}, expected {}; paper: {}", shown(found), self.expected(claim), claim.paper);
            if let Some(tried) = self.tried(claim, found) {
                let _ = writeln!(text, "          tried: {tried}");
            }
        }
        if self.findings.is_empty() {
            text += "  nothing is claimed at this scale\n";
        }
        text
    }

    /// As Markdown: a table, and below it why each tolerance is what it is.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}, reproduced at scale `{}`.\n\n", self.title, self.source, self.scale.name());
        text += "| verdict | claim | paper | measured | expected |\n| --- | --- | --- | --- | --- |\n";
        for (claim, found) in self.findings {
            let cells = [&found.verdict.to_string(), &claim.says, &claim.paper, &shown(found), &self.expected(claim)];
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text += "\n## Why these tolerances\n\n";
        for (claim, found) in self.findings {
            let why = claim.judgement(self.scale).map_or("", |judgement| judgement.why.as_str());
            let tried = self.tried(claim, found).map_or_else(String::new, |tried| format!(" Tried: {tried}"));
            let _ = writeln!(text, "* {}: {why}{tried}", claim.name);
        }
        text
    }

    fn expected(&self, claim: &Claim) -> String {
        claim.judgement(self.scale).map_or_else(String::new, |judgement| judgement.expect.to_string())
    }

    /// What was tried for a claim that does not hold.
    fn tried(&self, claim: &'_ Claim, found: &Finding) -> Option<String> {
        let tried = claim.judgement(self.scale)?.tried.clone()?;
        (found.verdict == Verdict::Fail).then_some(tried)
    }
}

/// What has been found, for people.
fn shown(found: &Finding) -> String {
    let number = |value: f64| significant(value, 4);
    match (found.measured, found.half_width) {
        (Some(mean), Some(half)) => format!("measured {} ± {}", number(mean), significant(half, 2)),
        (Some(mean), None) => format!("measured {}", number(mean)),
        (None, _) => found.note.clone().unwrap_or_default(),
    }
}
