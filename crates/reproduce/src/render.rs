//! Claims with their verdicts, as they are shown and written down.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use tailback_report::{significant, with_half_width};

use crate::claim::{Claim, Finding, Refutation, Verdict};
use crate::experiment::Scale;
use crate::measured::Bound;

/// A claim with its verdict, as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The paper.
    pub paper: String,
    /// The figure.
    pub figure: String,
    /// The short name of the claim; none in files of before it was written down.
    #[serde(default)]
    pub name: String,
    /// What is claimed.
    pub claim: String,
    /// What the paper has.
    pub paper_value: String,
    /// What has been found, as a mean over all seeds.
    pub measured: Option<f64>,
    /// The ends of its 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// Whether it is the number itself or only an end of where that lies.
    #[serde(default, skip_serializing_if = "Bound::is_exact")]
    pub bound: Bound,
    /// What it has to be.
    pub tolerance: String,
    /// Whether it is.
    pub verdict: Verdict,
    /// What the authors' program gives instead, where that refutes the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authors_program: Option<f64>,
    /// The digest of the scenarios of the runs that it was found in, as records have it; none where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenarios: String,
    /// Whether it was found in other runs than those that the figure is made of now.
    #[serde(default)]
    pub outdated: bool,
}

/// Claims as they are written down.
#[must_use]
pub fn rows(paper: &str, figure: &str, scale: Scale, findings: &[(&Claim, Finding)]) -> Vec<Row> {
    let row = |(claim, found): &(&Claim, Finding)| Row {
        paper: paper.to_owned(),
        figure: figure.to_owned(),
        name: claim.name.clone(),
        claim: claim.says.clone(),
        paper_value: claim.paper.clone(),
        measured: found.measured,
        interval: found.measured.zip(found.half_width).map(|(mean, half)| [mean - half, mean + half]),
        bound: found.bound,
        tolerance: claim.judgement(scale).map_or_else(String::new, |judgement| judgement.expect.to_string()),
        verdict: found.verdict,
        authors_program: refutation(claim, found).map(|refutation| refutation.gives),
        scenarios: String::new(),
        outdated: false,
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
            let _ = writeln!(text, "  {:<10}{}", found.verdict, claim.says);
            let _ = writeln!(
                text,
                "            {}, expected {}; paper: {}",
                shown(found),
                self.expected(claim),
                claim.paper
            );
            for remark in self.remarks(claim, found) {
                let _ = writeln!(text, "            {remark}");
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
            let remarks: String = self.remarks(claim, found).iter().map(|remark| format!("; {remark}")).collect();
            let _ = writeln!(text, "* {}: {why}{remarks}", claim.name);
        }
        text
    }

    fn expected(&self, claim: &Claim) -> String {
        claim.judgement(self.scale).map_or_else(String::new, |judgement| judgement.expect.to_string())
    }

    /// What is known about a claim that does not hold.
    fn remarks(&self, claim: &Claim, found: &Finding) -> Vec<String> {
        let refuted = refutation(claim, found).map(|Refutation { gives, at, evidence }| {
            let ours = found.measured.map_or_else(String::new, |ours| format!(", ours {}", significant(ours, 4)));
            format!("the authors' program gives {} ({at}){ours}; see {evidence}", significant(*gives, 4))
        });
        let tried = claim.judgement(self.scale).and_then(|judgement| judgement.tried.as_ref());
        let tried = tried.filter(|_| found.verdict != Verdict::Pass).map(|tried| format!("tried: {tried}"));
        refuted.into_iter().chain(tried).collect()
    }
}

/// What refutes a claim that has been found refuted.
fn refutation<'a>(claim: &'a Claim, found: &Finding) -> Option<&'a Refutation> {
    claim.refutation.as_ref().filter(|_| found.verdict == Verdict::Refuted)
}

/// What has been found, for people.
fn shown(found: &Finding) -> String {
    let bound = found.bound.words();
    match (found.measured, found.half_width) {
        (Some(mean), Some(half)) => format!("measured {bound}{}", with_half_width(mean, half)),
        (Some(mean), None) => format!("measured {bound}{}", significant(mean, 4)),
        (None, _) => found.note.clone().unwrap_or_default(),
    }
}
