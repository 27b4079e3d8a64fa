//! What messages on the control network say.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// A few words, which are kept in place: nothing is allocated for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct Words {
    count: u8,
    words: [u64; Self::MAX],
}

/// There are more words than messages have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message of {0} words, which has room for {max}: send several", max = Words::MAX)]
pub struct TooManyWords(usize);

impl Words {
    /// The most words of a message.
    pub const MAX: usize = 2;

    /// The first so many of these, for whoever keeps messages in another form; [`Words::kept`] is the other way.
    #[must_use]
    #[inline]
    pub fn first(count: usize, words: [u64; Self::MAX]) -> Self {
        Self { count: count as u8, words: std::array::from_fn(|place| if place < count { words[place] } else { 0 }) }
    }

    /// All words that there is room for, of which the first [`len`](slice::len) were given.
    #[must_use]
    #[inline]
    pub const fn kept(&self) -> [u64; Self::MAX] {
        self.words
    }
}

impl<const N: usize> From<[u64; N]> for Words {
    fn from(given: [u64; N]) -> Self {
        const { assert!(N <= Self::MAX, "more words than messages have room for") };
        let mut words = [0; Self::MAX];
        words[..N].copy_from_slice(&given);
        Self { count: N as u8, words }
    }
}

impl TryFrom<Vec<u64>> for Words {
    type Error = TooManyWords;

    fn try_from(given: Vec<u64>) -> Result<Self, TooManyWords> {
        let mut words = [0; Self::MAX];
        words.get_mut(..given.len()).ok_or(TooManyWords(given.len()))?.copy_from_slice(&given);
        Ok(Self { count: given.len() as u8, words })
    }
}

impl From<Words> for Vec<u64> {
    fn from(words: Words) -> Self {
        words.to_vec()
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.words[..self.count.into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_was_given() {
        assert_eq!(*Words::from([]), []);
        assert_eq!(*Words::from([7]), [7]);
        assert_eq!(*Words::from([7, 0]), [7, 0]);
        assert_ne!(Words::from([7]), Words::from([7, 0]));
        for words in [Words::from([]), Words::from([7]), Words::from([7, 8])] {
            assert_eq!(Words::first(words.len(), words.kept()), words);
        }
        assert_eq!(Words::first(1, [7, 8]), Words::from([7]));
        assert_eq!(Words::try_from(vec![1, 2]), Ok(Words::from([1, 2])));
        assert_eq!(
            Words::try_from(vec![0; 3]).unwrap_err().to_string(),
            "a message of 3 words, which has room for 2: send several"
        );
    }
}
