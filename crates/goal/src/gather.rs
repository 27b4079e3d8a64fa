//! The operations of one rank while its text is read.

use crate::layout::{Node, SEND, Span};
use crate::{RANKS_MAX, TextReason, circle};

/// How much a rank may have.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Ranks.
    pub ranks: u32,
    /// Operations.
    pub operations: u32,
    /// Requirements.
    pub requirements: u32,
}

impl Limits {
    /// What the numbers of the binary form can hold.
    pub const FORMAT: Self = Self { ranks: RANKS_MAX, operations: u32::MAX, requirements: u32::MAX };
}

/// An operation, and one that waits for it.
type Edge = [u32; 2];

/// The operations of one rank, and what they wait for.
#[derive(Debug)]
pub struct Gathered {
    limits: Limits,
    /// The operations. Their spans have counts; [`Self::arrange`] adds where they begin.
    pub nodes: Vec<Node>,
    requires: Vec<Edge>,
    irequires: Vec<Edge>,
    /// What waits, in the order of the binary form, once arranged.
    pub edges: Vec<u32>,
    /// Whether an operation waits for itself or one behind it: only then can there be a circle.
    backward: bool,
}

impl Gathered {
    /// Nothing yet.
    pub fn new(limits: Limits) -> Self {
        let (requires, irequires) = (Vec::new(), Vec::new());
        Self { limits, nodes: Vec::new(), requires, irequires, edges: Vec::new(), backward: false }
    }

    /// Makes room for the next rank.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.requires.clear();
        self.irequires.clear();
        self.edges.clear();
        self.backward = false;
    }

    /// Adds an operation and gives its number.
    pub fn add(&mut self, node: Node) -> Result<u32, TextReason> {
        let limit = self.limits.operations;
        let number = u32::try_from(self.nodes.len()).ok().filter(|&number| number < limit);
        let number = number.ok_or(TextReason::TooManyOperations(limit))?;
        self.nodes.push(node);
        Ok(number)
    }

    /// Has `operation` wait for the end of `first`.
    pub fn require(&mut self, operation: u32, first: u32) -> Result<(), TextReason> {
        self.wait(operation, first)?;
        self.nodes[first as usize].requires.count += 1;
        self.requires.push([first, operation]);
        Ok(())
    }

    /// Has `operation` wait for the start of `first`.
    pub fn irequire(&mut self, operation: u32, first: u32) -> Result<(), TextReason> {
        self.wait(operation, first)?;
        self.nodes[first as usize].irequires.count += 1;
        self.irequires.push([first, operation]);
        Ok(())
    }

    fn wait(&mut self, operation: u32, first: u32) -> Result<(), TextReason> {
        let limit = self.limits.requirements;
        if self.requires.len() + self.irequires.len() >= limit as usize {
            return Err(TextReason::TooManyRequirements(limit));
        }
        self.nodes[operation as usize].open += 1;
        self.backward |= operation <= first;
        Ok(())
    }

    /// Puts the edges in the order of the binary form: for each operation what waits for its end, then what waits for
    /// its start, each in the order of the text.
    pub fn arrange(&mut self) {
        let mut next = 0;
        for node in &mut self.nodes {
            for span in [&mut node.requires, &mut node.irequires] {
                span.first = next;
                next += span.count;
            }
        }
        self.edges.resize(next as usize, 0);
        // While edges are put down, the beginning of a span is the place of its next edge.
        let mut place = |span: &mut Span, operation| {
            self.edges[span.first as usize] = operation;
            span.first += 1;
        };
        for &[first, operation] in &self.requires {
            place(&mut self.nodes[first as usize].requires, operation);
        }
        for &[first, operation] in &self.irequires {
            place(&mut self.nodes[first as usize].irequires, operation);
        }
        for node in &mut self.nodes {
            node.requires.first -= node.requires.count;
            node.irequires.first -= node.irequires.count;
        }
    }

    /// An operation that waits for itself, once arranged.
    pub fn circle(&self) -> Option<u32> {
        if !self.backward {
            return None;
        }
        let open = self.nodes.iter().map(|node| node.open).collect();
        let waiting = |operation: u32| {
            let node = &self.nodes[operation as usize];
            node.requires.first as usize..node.irequires.end() as usize
        };
        circle::find(open, waiting, &self.edges)
    }

    /// How many operations wait for nothing.
    pub fn roots(&self) -> u32 {
        count(&self.nodes, |node| node.open == 0)
    }

    /// How many operations send.
    pub fn sends(&self) -> u32 {
        count(&self.nodes, |node| node.kind == SEND)
    }
}

fn count(nodes: &[Node], is_one: impl Fn(&Node) -> bool) -> u32 {
    let count = nodes.iter().filter(|node| is_one(node)).count();
    u32::try_from(count).expect("operations have 32-bit numbers")
}
