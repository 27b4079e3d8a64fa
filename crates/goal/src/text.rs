//! Reads the text of a schedule.

use std::io::{BufRead, Read, Seek, Write};

use crate::gather::{Gathered, Limits};
use crate::labels::Labels;
use crate::line::Line;
use crate::statement::Body;
use crate::write_binary::BinaryWriter;
use crate::{RANKS_MAX, TextError, TextReason};

/// The most bytes of a line.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// What a text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Its ranks.
    pub ranks: u32,
    /// The operations of all ranks.
    pub operations: u64,
    /// How many of them send.
    pub sends: u64,
    /// How often an operation waits for another.
    pub requirements: u64,
    /// The bytes of the binary form.
    pub bytes: u64,
    /// The largest number of a processor.
    pub largest_cpu: u8,
    /// The largest number of an adapter.
    pub largest_nic: u8,
}

/// Reads a schedule as text and writes its binary form, from where `binary` stands.
///
/// One rank is in memory at a time. Reading ends with the last rank: what follows is ignored. Numbers that do not fit their
/// field are refused, which the program that defined the format does not do.
///
/// # Errors
/// When the text is no schedule, or cannot be read, or the binary form not written. What was written until then is of no use.
pub fn text_to_binary(text: impl BufRead, binary: &mut (impl Write + Seek)) -> Result<Summary, TextError> {
    convert(text, binary, Limits::FORMAT)
}

/// The same of a schedule that may have no more than `ranks_max` ranks: room for all of them is made when their number is read.
///
/// # Errors
/// As those of [`text_to_binary`], and when it has more.
pub fn text_to_binary_within(
    text: impl BufRead,
    binary: &mut (impl Write + Seek),
    ranks_max: u32,
) -> Result<Summary, TextError> {
    convert(text, binary, Limits { ranks: ranks_max.min(RANKS_MAX), ..Limits::FORMAT })
}

/// The same with other limits.
pub fn convert(text: impl BufRead, binary: &mut (impl Write + Seek), limits: Limits) -> Result<Summary, TextError> {
    let mut lines = Lines { text, line: Vec::new(), number: 0 };
    let mut reader = Reader::new(binary, limits);
    let done = read(&mut lines, &mut reader);
    done.map_err(|reason| {
        let reason = explain(reason, &mut lines);
        TextError { line: reason.1, rank: reader.inside.then_some(reader.next), reason: reason.0 }
    })?;
    let mut summary = reader.summary;
    let finished = reader.writer.expect("there was a last rank").finish();
    let failed = |error| TextError { line: lines.place(), rank: None, reason: TextReason::Write(error) };
    (summary.bytes, summary.largest_cpu, summary.largest_nic) = finished.map_err(failed)?;
    Ok(summary)
}

fn read<T: BufRead, W: Write + Seek>(lines: &mut Lines<T>, reader: &mut Reader<'_, W>) -> Result<(), TextReason> {
    while lines.advance()? {
        if reader.line(&mut Line::new(&lines.line))? {
            return Ok(());
        }
    }
    Err(reader.end())
}

/// Looks for a label that is unknown in the rest of its rank. Gives the line of the error, too.
fn explain(reason: TextReason, lines: &mut Lines<impl BufRead>) -> (TextReason, u64) {
    let line = lines.place();
    let TextReason::UnknownLabel { label } = reason else { return (reason, line) };
    let mut in_comment = false;
    while lines.advance().unwrap_or(false) {
        let mut rest = Line::new(&lines.line);
        while skip_comments(&mut rest, &mut in_comment) {}
        if rest.word(b"}") {
            break;
        }
        let is_label = rest.identifier() == Some(label.as_bytes());
        rest.skip_blanks();
        if is_label && rest.word(b":") {
            return (TextReason::UsedBeforeDefinition { label, defined: lines.place() }, line);
        }
    }
    (TextReason::UnknownLabel { label }, line)
}

/// Lines with their numbers.
struct Lines<T> {
    text: T,
    line: Vec<u8>,
    number: u64,
}

impl<T> Lines<T> {
    /// The number of the line that was read last. An empty text ends in its first line, which nobody reads.
    fn place(&self) -> u64 {
        self.number.max(1)
    }
}

impl<T: BufRead> Lines<T> {
    /// Reads the next line, and tells whether there is one.
    fn advance(&mut self) -> Result<bool, TextReason> {
        self.line.clear();
        let most = LINE_BYTES_MAX as u64 + 1;
        let read = self.text.by_ref().take(most).read_until(b'\n', &mut self.line).map_err(TextReason::Read)?;
        self.number += u64::from(read > 0);
        if read > LINE_BYTES_MAX {
            return Err(TextReason::LineTooLong);
        }
        Ok(read > 0)
    }
}

/// What was read so far.
struct Reader<'a, W> {
    /// Where to write, until the number of ranks is known.
    to: Option<&'a mut W>,
    writer: Option<BinaryWriter<'a, W>>,
    body: Body,
    /// The rank that is next, or that is being read.
    next: u32,
    inside: bool,
    in_comment: bool,
    summary: Summary,
    ranks_max: u32,
}

impl<'a, W: Write + Seek> Reader<'a, W> {
    fn new(to: &'a mut W, limits: Limits) -> Self {
        let body = Body { gathered: Gathered::new(limits), labels: Labels::default(), ranks: 0 };
        let summary = Summary::default();
        let ranks_max = limits.ranks;
        Self { to: Some(to), writer: None, body, next: 0, inside: false, in_comment: false, summary, ranks_max }
    }

    /// Takes a line, and tells whether it ends the last rank.
    fn line(&mut self, line: &mut Line<'_>) -> Result<bool, TextReason> {
        loop {
            while skip_comments(line, &mut self.in_comment) {}
            if line.is_over() {
                return Ok(false);
            }
            if !self.inside {
                self.outside(line)?;
            } else if line.word(b"}") {
                if self.close()? {
                    return Ok(true);
                }
            } else {
                // A statement takes its line to the end.
                self.body.statement(line)?;
                return Ok(false);
            }
        }
    }

    /// Takes what stands outside of ranks.
    fn outside(&mut self, line: &mut Line<'_>) -> Result<(), TextReason> {
        let mut rest = *line;
        match rest.identifier() {
            Some(b"num_ranks") => {
                *line = rest;
                self.declare(line.number("the number of ranks", u64::MAX)?)
            }
            Some(b"rank") => {
                *line = rest;
                self.open(line)
            }
            _ if self.body.ranks == 0 => Err(line.expected("`num_ranks`")),
            _ => Err(line.expected("`rank`")),
        }
    }

    fn declare(&mut self, number: u64) -> Result<(), TextReason> {
        let to = self.to.take().ok_or(TextReason::RanksTwice)?;
        let ranks = u32::try_from(number).ok().filter(|ranks| (1..=self.ranks_max).contains(ranks));
        let ranks = ranks.ok_or(TextReason::Ranks { declared: number, most: self.ranks_max })?;
        (self.body.ranks, self.summary.ranks) = (ranks, ranks);
        self.writer = Some(BinaryWriter::new(to, ranks).map_err(TextReason::Write)?);
        Ok(())
    }

    fn open(&mut self, line: &mut Line<'_>) -> Result<(), TextReason> {
        let found = line.number("the number of the rank", u64::MAX)?;
        if self.body.ranks == 0 {
            return Err(TextReason::NoRanks);
        }
        if found != u64::from(self.next) {
            return Err(TextReason::RankOutOfOrder { expected: self.next, found });
        }
        line.skip_blanks();
        if !line.word(b"{") {
            return Err(line.expected("`{`"));
        }
        self.inside = true;
        Ok(())
    }

    /// Closes a rank, and tells whether it was the last.
    fn close(&mut self) -> Result<bool, TextReason> {
        self.body.close()?;
        let gathered = &self.body.gathered;
        self.writer.as_mut().expect("ranks were declared").rank(gathered).map_err(TextReason::Write)?;
        self.summary.operations += gathered.nodes.len() as u64;
        self.summary.sends += u64::from(gathered.sends());
        self.summary.requirements += gathered.edges.len() as u64;
        self.body.gathered.clear();
        self.body.labels.clear();
        self.inside = false;
        self.next += 1;
        Ok(self.next == self.body.ranks)
    }

    /// Why the text may not end here.
    fn end(&self) -> TextReason {
        if self.in_comment {
            TextReason::EndsInComment
        } else if self.inside {
            TextReason::EndsInRank
        } else if self.body.ranks == 0 {
            TextReason::NoRanks
        } else {
            TextReason::EndsEarly { next: self.next, ranks: self.body.ranks }
        }
    }
}

/// Skips blanks and part of a comment, and tells whether there may be more.
fn skip_comments(line: &mut Line<'_>, in_comment: &mut bool) -> bool {
    if !*in_comment {
        line.skip_blanks();
        if line.word(b"//") {
            *line = Line::new(&[]);
            return false;
        }
        *in_comment = line.word(b"/*");
        return *in_comment;
    }
    *in_comment = !line.skip_comment();
    !*in_comment
}
