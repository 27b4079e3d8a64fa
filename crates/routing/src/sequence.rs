//! Virtual channels by position in a sequence of hops.
//!
//! A sequence such as `l0 g0 l1 g1 l2` says in which order packets may use channels: a packet that came in
//! by one of them takes the next later one of the kind of link it needs. Since positions only grow, packets
//! on a sequence without repetitions cannot wait for each other in a circle.

use std::fmt;

use crate::ChannelKind;

const VCS_MAX: usize = 16;
const KINDS: [char; 2] = ['l', 'g'];

/// A kind of link in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hop {
    /// A link inside a group, written `l`.
    Local,
    /// A link between groups, written `g`.
    Global,
}

impl Hop {
    fn index(self) -> usize {
        self as usize
    }

    /// The channel class, in the dragonfly's numbering.
    fn class(self) -> u8 {
        self as u8 + 1
    }
}

/// A sequence of channels, and what follows from it.
#[derive(Clone, PartialEq, Eq)]
pub struct VcSequence {
    entries: Vec<(Hop, u8)>,
    /// The next virtual channel: by how the packet came in (0 from a terminal, else 1 + kind · 16 + channel),
    /// then by the kind it needs. `NONE` where the sequence has none.
    next: [[u8; 2]; 1 + 2 * VCS_MAX],
}

const NONE: u8 = u8::MAX;

/// Why a text is no usable sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SequenceError {
    /// An entry is not of the form `l0` or `g0`.
    Malformed(String),
    /// A path that packets take does not fit into the sequence.
    TooShort {
        /// The path, such as `l g l`.
        path: String,
        /// The hop for which there is no channel left, counted from 1.
        hop: usize,
    },
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(entry) => {
                write!(f, "`{entry}` is not a channel: write `l` or `g` and a number below {VCS_MAX}, as in `l0 g0 l1`")
            }
            Self::TooShort { path, hop } => {
                write!(f, "packets take paths `{path}`, and the sequence has no channel left for hop {hop} of them")
            }
        }
    }
}

impl VcSequence {
    /// Reads a sequence such as `l0 g0 l1`, for packets that take `paths`.
    ///
    /// A path is written as the letters of its hops, each followed by `?` if packets may skip it: those inside
    /// one group and those between groups, by minimal routing, are `["l", "l?gl?"]`.
    ///
    /// # Errors
    /// When the text is malformed or a path does not fit.
    pub fn parse(text: &str, paths: &[&str]) -> Result<Self, SequenceError> {
        let entries = text.split_whitespace().map(parse_entry).collect::<Result<Vec<_>, _>>()?;
        let mut next = [[NONE; 2]; 1 + 2 * VCS_MAX];
        for (code, row) in next.iter_mut().enumerate() {
            let position = match code.checked_sub(1) {
                None => Some(0),
                Some(code) => entries
                    .iter()
                    .position(|&(hop, vc)| hop.index() * VCS_MAX + usize::from(vc) == code)
                    .map(|at| at + 1),
            };
            let Some(position) = position else { continue };
            for (hop, vc) in entries[position..].iter().rev() {
                row[hop.index()] = *vc;
            }
        }
        let sequence = Self { entries, next };
        for path in paths {
            sequence.fit(path)?;
        }
        Ok(sequence)
    }

    /// How many virtual channels it needs on links of this kind.
    #[must_use]
    pub fn virtual_channels(&self, hop: Hop) -> u8 {
        self.entries.iter().filter(|(kind, _)| *kind == hop).map(|(_, vc)| vc + 1).max().unwrap_or(0)
    }

    /// The channel for a hop of a packet that came in from a terminal.
    #[inline]
    #[must_use]
    pub fn first(&self, hop: Hop) -> u8 {
        self.next[0][hop.index()]
    }

    /// The channel for a hop of a packet that came in by channel `vc` of a link of kind `from`.
    #[inline]
    #[must_use]
    pub fn next(&self, from: Hop, vc: u8, hop: Hop) -> u8 {
        self.next[1 + from.index() * VCS_MAX + usize::from(vc)][hop.index()]
    }

    /// All moves that packets make which take `paths`, written as for [`VcSequence::parse`].
    #[must_use]
    pub fn moves(&self, paths: &[&str]) -> Vec<(ChannelKind, ChannelKind)> {
        let mut moves = Vec::new();
        for path in paths.iter().flat_map(|path| expand(path)) {
            let channels = self.channels(&path).unwrap_or_default();
            moves.extend(channels.windows(2).map(|pair| (pair[0], pair[1])));
        }
        moves.sort_unstable();
        moves.dedup();
        moves
    }

    fn fit(&self, path: &str) -> Result<(), SequenceError> {
        for path in expand(path) {
            self.channels(&path).map_err(|hop| SequenceError::TooShort { path: spell(&path), hop })?;
        }
        Ok(())
    }

    /// The channels of a path, or the hop for which there is none.
    fn channels(&self, path: &[Hop]) -> Result<Vec<ChannelKind>, usize> {
        let mut channels = Vec::new();
        let mut entry = None;
        for (index, &hop) in path.iter().enumerate() {
            let vc = match entry {
                None => self.first(hop),
                Some((from, vc)) => self.next(from, vc, hop),
            };
            if vc == NONE {
                return Err(index + 1);
            }
            channels.push(ChannelKind { class: hop.class(), vc });
            entry = Some((hop, vc));
        }
        Ok(channels)
    }
}

impl fmt::Display for VcSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (hop, vc)) in self.entries.iter().enumerate() {
            let gap = if index > 0 { " " } else { "" };
            write!(f, "{gap}{}{vc}", KINDS[hop.index()])?;
        }
        Ok(())
    }
}

impl fmt::Debug for VcSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VcSequence({self})")
    }
}

fn parse_entry(entry: &str) -> Result<(Hop, u8), SequenceError> {
    let malformed = || SequenceError::Malformed(entry.to_owned());
    let mut chars = entry.chars();
    let hop = match chars.next() {
        Some('l') => Hop::Local,
        Some('g') => Hop::Global,
        _ => return Err(malformed()),
    };
    let number = chars.as_str();
    // Numbers are read with a sign, too.
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let vc: Option<u8> = number.parse().ok().filter(|&vc| is_number && usize::from(vc) < VCS_MAX);
    vc.map(|vc| (hop, vc)).ok_or_else(malformed)
}

/// All paths that a path with optional hops stands for.
fn expand(path: &str) -> Vec<Vec<Hop>> {
    let mut paths = vec![Vec::new()];
    let mut letters = path.chars().peekable();
    while let Some(letter) = letters.next() {
        let hop = if letter == 'g' { Hop::Global } else { Hop::Local };
        let optional = letters.next_if_eq(&'?').is_some();
        let without = if optional { paths.clone() } else { Vec::new() };
        paths.iter_mut().for_each(|path| path.push(hop));
        paths.extend(without);
    }
    paths
}

fn spell(path: &[Hop]) -> String {
    path.iter().map(|hop| KINDS[hop.index()].to_string()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_follow_the_sequence() {
        let sequence = VcSequence::parse("l0 g0 l1 l2 g1 l3", &["l?gl?l?gl?"]).unwrap();
        assert_eq!((sequence.virtual_channels(Hop::Local), sequence.virtual_channels(Hop::Global)), (4, 2));
        assert_eq!(sequence.first(Hop::Local), 0);
        assert_eq!(sequence.first(Hop::Global), 0);
        assert_eq!(sequence.next(Hop::Local, 0, Hop::Global), 0);
        assert_eq!(sequence.next(Hop::Global, 0, Hop::Local), 1);
        assert_eq!(sequence.next(Hop::Local, 1, Hop::Local), 2);
        assert_eq!(sequence.next(Hop::Global, 0, Hop::Global), 1);
        assert_eq!(sequence.next(Hop::Global, 1, Hop::Local), 3);
        assert_eq!(sequence.to_string(), "l0 g0 l1 l2 g1 l3");
    }

    #[test]
    fn a_sequence_must_hold_all_paths() {
        let error = VcSequence::parse("l0 g0", &["l?gl?"]).unwrap_err();
        assert_eq!(error, SequenceError::TooShort { path: "l g l".to_owned(), hop: 3 });
        let error = VcSequence::parse("l0 x1", &["l"]).unwrap_err();
        assert_eq!(error, SequenceError::Malformed("x1".to_owned()));
        assert!(VcSequence::parse("l16", &["l"]).is_err());
        assert!(VcSequence::parse("l+0", &["l"]).is_err());
    }

    #[test]
    fn moves_are_those_of_the_paths() {
        let kind = |class, vc| ChannelKind { class, vc };
        let sequence = VcSequence::parse("l0 g0 l1", &["l?gl?"]).unwrap();
        let (l0, g0, l1) = (kind(1, 0), kind(2, 0), kind(1, 1));
        assert_eq!(sequence.moves(&["l", "l?gl?"]), [(l0, g0), (g0, l1)]);
    }
}
