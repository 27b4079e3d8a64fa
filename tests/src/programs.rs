//! Programs that tests write.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes a shell script that can be executed at once, or puts it in the place of another.
///
/// Another process writes the program itself: one that another test starts at that moment would have a file open that is written here, and what is
/// open for writing cannot be executed.
///
/// # Panics
/// If it cannot be written.
pub fn write_program(path: &Path, script: &str) {
    let [text, new] = ["text", "new"].map(|extension| path.with_extension(extension));
    fs::write(&text, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
    let written = Command::new("install").args(["-m", "755"]).args([&text, &new]).status();
    assert!(written.expect("coreutils are there").success(), "{} cannot be written", new.display());
    fs::rename(new, path).expect("it is there");
    fs::remove_file(text).expect("it is there");
}
