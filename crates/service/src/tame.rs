//! Texts that somebody else has written, made such that no terminal obeys them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text with all that a terminal would obey written out, in a way that JSON can hold, too.
#[must_use]
pub fn tame(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut tame = String::with_capacity(text.len());
    for character in text.chars() {
        if is_obeyed(character) {
            let _ = write!(tame, "\\u{:04x}", u32::from(character));
        } else {
            tame.push(character);
        }
    }
    Cow::Owned(tame)
}

/// A text, or its first so many bytes and a sign that there is more.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes_max)])
}

/// Control characters, and those that turn the direction of writing around or break lines that look whole.
#[must_use]
pub fn is_obeyed(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    is_control
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(tame("plain, tabs\t and lines\n, ä and 漢"), "plain, tabs\t and lines\n, ä and 漢");
        assert_eq!(tame("\x1b[2J\r\x07\u{9b}31m\x7f"), r"\u001b[2J\u000d\u0007\u009b31m\u007f");
        assert_eq!(tame("abc\u{202e}cba"), r"abc\u202ecba");
        let read: String = serde_json::from_str(&tame("\"a\u{9b}b\"")).expect("it is JSON still");
        assert_eq!(read, "a\u{9b}b");
    }
}
