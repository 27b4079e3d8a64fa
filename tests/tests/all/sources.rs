//! Looking for words in the code of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

/// All Rust files under a directory.
pub fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of the workspace can be read") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file: what is in comments and in quotes is left out, line breaks are kept.
fn code_only(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => quoted(rest),
            'r' if rest.starts_with("r#\"") => rest.find("\"#").map_or(rest.len(), |end| end + 2),
            // A quotation mark as a character, not the start of a string.
            '\'' if rest.starts_with("'\"'") => 3,
            '\'' if rest.starts_with("'\\\"'") => 4,
            _ => {
                code.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        code.extend(rest[..skipped].chars().filter(|&c| c == '\n'));
        rest = &rest[skipped..];
    }
    code
}

/// The length of the string literal at the start of `text`.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// The numbers of the lines in whose code a word stands.
pub fn lines_with(word: &str, text: &str) -> Vec<usize> {
    let code = code_only(text);
    let has_word = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word);
    code.lines().enumerate().filter(|(_, line)| has_word(line)).map(|(index, _)| index + 1).collect()
}

#[test]
fn words_in_comments_and_quotes_do_not_count() {
    let text = "// unsafe\nlet a = \"unsafe \\\" unsafe\"; /* unsafe\n */ let unsafe_a = '\"';\nunsafe { b } // c\n";
    assert_eq!(lines_with("unsafe", text), [4]);
}
