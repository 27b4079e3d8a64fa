//! What is printed: results to standard output, everything else to standard error.
//!
//! **The invariant it keeps:** whatever a scenario, a file name or a server says, a terminal is shown it and obeys none of
//! it. All printing goes through here.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tailback_service::{is_obeyed, tame};

use crate::arguments::Format;

/// Prints to standard output, as `print!` does.
macro_rules! say {
    ($($what:tt)*) => {
        crate::output::print(format_args!($($what)*))
    };
}

/// The same with the end of a line.
macro_rules! say_line {
    ($($what:tt)*) => {
        crate::output::print(format_args!("{}\n", format_args!($($what)*)))
    };
}

/// Prints a line to standard error, as `eprintln!` does.
macro_rules! tell_line {
    ($($what:tt)*) => {
        crate::output::tell(format_args!("{}\n", format_args!($($what)*)))
    };
}

pub(crate) use {say, say_line, tell_line};

/// Whether this process has nothing to say, as another one speaks for it.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Whether a program is told, and not people.
static TELLS_PROGRAMS: AtomicBool = AtomicBool::new(false);

/// From now on what is told has this format.
pub fn tell_as(format: Format) {
    TELLS_PROGRAMS.store(format == Format::Json, Ordering::Relaxed);
}

/// Whether what is told is [an object](tell_object) in each line.
pub fn tells_programs() -> bool {
    TELLS_PROGRAMS.load(Ordering::Relaxed)
}

/// Tells programs something as a line. Their parsers obey nothing in it.
pub fn tell_object(what: &impl Serialize) {
    write_told(&format!("{}\n", serde_json::to_string(what).expect("plain data")));
}

/// From now on nothing is printed or told by this process; or it is again.
pub fn be_silent(silent: bool) {
    SILENT.store(silent, Ordering::Relaxed);
}

/// Prints. Where nobody listens any more, as behind `| head`, there is nothing to say and nothing wrong.
pub fn print(what: fmt::Arguments<'_>) {
    if SILENT.load(Ordering::Relaxed) {
        return;
    }
    match io::stdout().lock().write_all(tame(&what.to_string()).as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            tell_line!("error: cannot write to standard output: {error}");
            std::process::exit(1);
        }
        _ => {}
    }
}

/// Tells on standard error. Where that cannot be written to, there is nobody to be told.
pub fn tell(what: fmt::Arguments<'_>) {
    let what = what.to_string();
    if tells_programs() {
        return tell_object(&BTreeMap::from([("text", what.trim_end())]));
    }
    tell_tamed(&tame(&what));
}

/// The same for what is tame and has colours.
pub fn tell_tamed(text: &str) {
    if tells_programs() {
        return tell_object(&BTreeMap::from([("text", text.trim_end())]));
    }
    write_told(text);
}

fn write_told(text: &str) {
    if SILENT.load(Ordering::Relaxed) {
        return;
    }
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A text of as many bytes in which something stands for all that a terminal would obey: places in it stay the same.
pub fn tame_in_place(text: &Arc<str>) -> Arc<str> {
    if !text.contains(is_obeyed) {
        return text.clone();
    }
    let stand_in = |character: char| match character.len_utf8() {
        _ if !is_obeyed(character) => character,
        1 => '?',
        2 => '¿',
        _ => char::REPLACEMENT_CHARACTER,
    };
    text.chars().map(stand_in).collect::<String>().into()
}

/// Standard error, for the log.
#[derive(Clone, Copy)]
pub struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        tell_tamed(&tame(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A number of things, in words.
pub fn count(number: u32, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// How many of some runs need not be made, as the end of a sentence.
pub fn there_already(runs: usize) -> String {
    match runs {
        0 => String::new(),
        1 => "; 1 of them is there already".to_owned(),
        runs => format!("; {runs} of them are there already"),
    }
}

/// Bytes in MiB, rounded up.
pub fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_the_same() {
        for text in ["title = \"\x1b[2J\"", "a\u{9b}b", "a\u{202e}b", "ä\tb\n"] {
            let tamed = tame_in_place(&Arc::from(text));
            assert_eq!(tamed.len(), text.len());
            assert!(!tamed.contains(is_obeyed), "{tamed}");
        }
    }
}
