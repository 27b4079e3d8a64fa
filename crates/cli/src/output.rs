//! Standard output, which is for results.

use std::fmt;
use std::io::{self, Write as _};

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

pub(crate) use {say, say_line};

/// Prints. Where nobody listens any more, as behind `| head`, there is nothing to say and nothing wrong.
pub fn print(what: fmt::Arguments<'_>) {
    match io::stdout().lock().write_fmt(what) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to standard output: {error}");
            std::process::exit(1);
        }
        _ => {}
    }
}

/// A number of things, in words.
pub fn count(number: u32, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Bytes in MiB, rounded up.
pub fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
