//! One line of text, word by word.

use crate::TextReason;

/// What is left of a line.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    rest: &'a [u8],
}

impl<'a> Line<'a> {
    /// A line, with its line feed unless the text ends without one.
    pub const fn new(line: &'a [u8]) -> Self {
        Self { rest: line }
    }

    /// Skips spaces and tabulators.
    pub fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes `word` if that comes next, whatever comes behind it.
    pub fn word(&mut self, word: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes a word of letters, digits and low lines that begins with a letter.
    pub fn identifier(&mut self) -> Option<&'a [u8]> {
        if !self.rest.first()?.is_ascii_alphabetic() {
            return None;
        }
        let is_in = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let length = self.rest.iter().position(|&byte| !is_in(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(word)
    }

    /// Takes a number, behind blanks, that is not above `largest`.
    pub fn number(&mut self, field: &'static str, largest: u64) -> Result<u64, TextReason> {
        self.skip_blanks();
        if !self.rest.first().is_some_and(u8::is_ascii_digit) {
            return Err(self.expected(field));
        }
        let mut number = 0_u64;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            let longer = number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0')));
            number = longer.filter(|&number| number <= largest).ok_or(TextReason::TooLarge { field, largest })?;
            self.rest = rest;
        }
        Ok(number)
    }

    /// Skips what is left of a comment between `/*` and `*/`, and tells whether it ends in this line.
    pub fn skip_comment(&mut self) -> bool {
        let end = self.rest.windows(2).position(|pair| pair == b"*/");
        self.rest = end.map_or(&[], |end| &self.rest[end + 2..]);
        end.is_some()
    }

    /// Whether nothing is left, not counting blanks.
    pub fn is_over(&mut self) -> bool {
        self.skip_blanks();
        matches!(self.rest, [] | [b'\n'] | [b'\r'] | [b'\r', b'\n'])
    }

    /// Takes the end of a statement.
    pub fn end(&mut self, expected: &'static str) -> Result<(), TextReason> {
        if self.is_over() {
            return Ok(());
        }
        if self.rest.starts_with(b"//") || self.rest.starts_with(b"/*") {
            return Err(TextReason::CommentBehindStatement);
        }
        Err(self.expected(expected))
    }

    /// Says that something else comes next.
    pub fn expected(&self, expected: &'static str) -> TextReason {
        TextReason::Expected { expected, found: self.found() }
    }

    fn found(&self) -> String {
        match self.rest {
            [] => "the end of the text".to_owned(),
            [b'\n', ..] | [b'\r', b'\n', ..] => "the end of the line".to_owned(),
            [b'\r', ..] => "a carriage return without a line feed".to_owned(),
            [b'{' | b'}' | b':', ..] => format!("`{}`", char::from(self.rest[0])),
            rest => {
                let length = rest.iter().position(|byte| b" \t\r\n{}:".contains(byte)).unwrap_or(rest.len());
                format!("`{}`", shown(&rest[..length]))
            }
        }
    }
}

/// A word as people are shown it.
pub fn shown(word: &[u8]) -> String {
    const SHOWN_BYTES: usize = 60;
    if word.len() <= SHOWN_BYTES {
        return word.escape_ascii().to_string();
    }
    format!("{}...", word[..SHOWN_BYTES].escape_ascii())
}
