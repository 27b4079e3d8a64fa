//! The program while it runs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use crate::program::Program;

/// A program that is running. It is killed if a test fails before it ends.
pub struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: BufReader<ChildStderr>,
}

impl Running {
    pub fn start(program: &Program, arguments: &[&str]) -> Self {
        let mut command = program.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        Self { child, stdout, stderr }
    }

    /// Waits for a line on standard error that has `words` in it, and gives it.
    pub fn wait_for(&mut self, words: &str) -> String {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            let length = self.stderr.read_line(&mut line).expect("it can be read");
            assert!(length > 0, "it has ended without saying \"{words}\"");
        }
        line
    }

    /// The next line on standard output; none after the last.
    pub fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.stdout.read_line(&mut line).expect("it can be read");
        (length > 0).then_some(line)
    }

    /// Interrupts it, and gives its exit code, and what else it says on standard output and standard error.
    pub fn interrupt(self) -> (Option<i32>, String, String) {
        // The `kill` of the shell, as not every system has one besides.
        let kill = format!("kill -INT {}", self.child.id());
        let killed = Command::new("sh").args(["-c", &kill]).status().expect("there is a shell");
        assert!(killed.success());
        self.end()
    }

    /// Waits until it has ended; gives its exit code, and what else it says on standard output and standard error.
    pub fn end(mut self) -> (Option<i32>, String, String) {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stderr.read_to_string(&mut stderr).expect("it can be read");
        self.stdout.read_to_string(&mut stdout).expect("it can be read");
        (self.child.wait().expect("it ends").code(), stdout, stderr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
