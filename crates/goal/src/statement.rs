//! A statement: an operation, or what an operation waits for.

use crate::TextReason;
use crate::gather::Gathered;
use crate::labels::Labels;
use crate::layout::{ANY, CALC, Node, RECEIVE, SEND};
use crate::line::{Line, shown};

/// A rank while it is read.
#[derive(Debug)]
pub struct Body {
    /// What it does.
    pub gathered: Gathered,
    /// What its operations are called.
    pub labels: Labels,
    /// How many ranks there are.
    pub ranks: u32,
}

impl Body {
    /// Takes a statement up to the end of its line.
    pub fn statement(&mut self, line: &mut Line<'_>) -> Result<(), TextReason> {
        let word = line.identifier().ok_or_else(|| line.expected("an operation, a label, a comment or `}`"))?;
        match word {
            b"send" => self.send(line, None),
            b"recv" => self.receive(line, None),
            b"calc" => self.calculate(line, None),
            b"rank" => Err(TextReason::MissingBrace),
            b"num_ranks" => Err(TextReason::RanksTwice),
            label => self.labelled(label, line),
        }
    }

    fn labelled(&mut self, label: &[u8], line: &mut Line<'_>) -> Result<(), TextReason> {
        line.skip_blanks();
        if line.word(b"requires") {
            let (operation, first) = self.pair(label, line)?;
            return self.gathered.require(operation, first);
        }
        if line.word(b"irequires") {
            let (operation, first) = self.pair(label, line)?;
            return self.gathered.irequire(operation, first);
        }
        if !line.word(b":") {
            return Err(line.expected("`:`, `requires` or `irequires` behind a label"));
        }
        line.skip_blanks();
        if line.word(b"send") {
            self.send(line, Some(label))
        } else if line.word(b"recv") {
            self.receive(line, Some(label))
        } else if line.word(b"calc") {
            self.calculate(line, Some(label))
        } else {
            Err(line.expected("`send`, `recv` or `calc`"))
        }
    }

    fn pair(&self, label: &[u8], line: &mut Line<'_>) -> Result<(u32, u32), TextReason> {
        line.skip_blanks();
        let first = line.identifier().ok_or_else(|| line.expected("the label of an operation"))?;
        line.end("the end of the line")?;
        let find = |label: &[u8]| {
            let unknown = || TextReason::UnknownLabel { label: String::from_utf8_lossy(label).into_owned() };
            self.labels.find(label).ok_or_else(unknown)
        };
        Ok((find(label)?, find(first)?))
    }

    fn calculate(&mut self, line: &mut Line<'_>, label: Option<&[u8]>) -> Result<(), TextReason> {
        let mut node =
            Node { kind: CALC, size: line.number("the number of nanoseconds", u64::MAX)?, ..Node::default() };
        line.skip_blanks();
        if line.word(b"cpu") {
            node.cpu = byte(line, "the number of the cpu")?;
            line.end("the end of the line")?;
        } else {
            line.end("`cpu` or the end of the line")?;
        }
        self.add(node, label)
    }

    fn send(&mut self, line: &mut Line<'_>, label: Option<&[u8]>) -> Result<(), TextReason> {
        let size = bytes_of(line, b"to", "`to`")?;
        let peer = self.peer(line)?;
        self.message(Node { kind: SEND, size, peer, ..Node::default() }, line, label)
    }

    fn receive(&mut self, line: &mut Line<'_>, label: Option<&[u8]>) -> Result<(), TextReason> {
        let size = bytes_of(line, b"from", "`from`")?;
        line.skip_blanks();
        let peer = if line.word(b"-1") { ANY } else { self.peer(line)? };
        self.message(Node { kind: RECEIVE, size, peer, ..Node::default() }, line, label)
    }

    fn peer(&self, line: &mut Line<'_>) -> Result<u32, TextReason> {
        let peer = word(line, "the number of the other rank")?;
        if peer >= self.ranks {
            return Err(TextReason::NoSuchPeer { peer, last: self.ranks - 1 });
        }
        Ok(peer)
    }

    /// Takes the options of a message, which have an order.
    fn message(&mut self, mut node: Node, line: &mut Line<'_>, label: Option<&[u8]>) -> Result<(), TextReason> {
        let mut next = "`tag`, `cpu`, `nic` or the end of the line";
        line.skip_blanks();
        if line.word(b"tag") {
            line.skip_blanks();
            node.tag = if line.word(b"-1") { ANY } else { word(line, "the tag")? };
            next = "`cpu`, `nic` or the end of the line";
            line.skip_blanks();
        }
        if line.word(b"cpu") {
            node.cpu = byte(line, "the number of the cpu")?;
            next = "`nic` or the end of the line";
            line.skip_blanks();
        }
        if line.word(b"nic") {
            node.nic = byte(line, "the number of the nic")?;
            next = "the end of the line";
        }
        line.end(next)?;
        self.add(node, label)
    }

    fn add(&mut self, node: Node, label: Option<&[u8]>) -> Result<(), TextReason> {
        let operation = self.gathered.add(node)?;
        if let Some(label) = label {
            self.labels.define(label, operation);
        }
        Ok(())
    }

    /// Closes the rank: everything is in place, and nothing waits for itself.
    pub fn close(&mut self) -> Result<(), TextReason> {
        self.gathered.arrange();
        let Some(operation) = self.gathered.circle() else { return Ok(()) };
        let label = self.labels.name_of(operation).map_or_else(|| operation.to_string(), shown);
        Err(TextReason::Circle { label })
    }
}

/// Takes `8b to`.
fn bytes_of(line: &mut Line<'_>, way: &[u8], expected: &'static str) -> Result<u64, TextReason> {
    let size = line.number("the number of bytes", u64::MAX)?;
    line.skip_blanks();
    if !line.word(b"b") {
        return Err(line.expected("`b` behind the number of bytes"));
    }
    line.skip_blanks();
    if !line.word(way) {
        return Err(line.expected(expected));
    }
    Ok(size)
}

fn word(line: &mut Line<'_>, field: &'static str) -> Result<u32, TextReason> {
    let number = line.number(field, u32::MAX.into())?;
    Ok(u32::try_from(number).expect("the largest was named"))
}

fn byte(line: &mut Line<'_>, field: &'static str) -> Result<u8, TextReason> {
    let number = line.number(field, u8::MAX.into())?;
    Ok(u8::try_from(number).expect("the largest was named"))
}
