//! What links have sent, by class; and by node, of the links that lead to nodes.
//!
//! **The invariant it keeps:** it takes memory by node and not by link, and what ranks have noted on their own adds up to what
//! one process notes.

use serde::{Deserialize, Serialize};
use tailback_topology::{LinkClass, NodeId};

/// What links have sent while they were measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkUse {
    /// By class.
    pub classes: Vec<ClassUse>,
    /// The flits that nodes were sent, in no particular order.
    pub nodes: Vec<(NodeId, u32)>,
}

/// How busy the links of a class were, in flits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassUse {
    pub links: u64,
    pub total: u64,
    pub max: u32,
}

impl LinkUse {
    /// Notes what a link has sent, perhaps to a node.
    pub fn note(&mut self, class: LinkClass, node: Option<NodeId>, flits: u32) {
        self.class(class.index()).merge(ClassUse { links: 1, total: flits.into(), max: flits });
        self.nodes.extend(node.map(|node| (node, flits)));
    }

    /// Adds what other links have sent.
    pub fn merge(&mut self, other: Self) {
        for (class, &used) in other.classes.iter().enumerate() {
            self.class(class).merge(used);
        }
        self.nodes.extend(other.nodes);
    }

    fn class(&mut self, class: usize) -> &mut ClassUse {
        if self.classes.len() <= class {
            self.classes.resize(class + 1, ClassUse::default());
        }
        &mut self.classes[class]
    }
}

impl ClassUse {
    fn merge(&mut self, other: Self) {
        self.links += other.links;
        self.total += other.total;
        self.max = self.max.max(other.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_whole() {
        let links = [(0, Some(3), 7), (2, None, 5), (0, Some(1), 9), (1, None, 0)];
        let note = |links: &[(u8, Option<NodeId>, u32)]| {
            let mut noted = LinkUse::default();
            links.iter().for_each(|&(class, node, flits)| noted.note(LinkClass(class), node, flits));
            noted
        };
        let whole = note(&links);
        assert_eq!(whole.classes[0], ClassUse { links: 2, total: 16, max: 9 });
        assert_eq!(whole.nodes, [(3, 7), (1, 9)]);
        for cut in 0..=links.len() {
            let mut part = note(&links[..cut]);
            part.merge(note(&links[cut..]));
            assert_eq!(part, whole, "cut before link {cut}");
        }
    }
}
