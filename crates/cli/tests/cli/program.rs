//! The program in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A dragonfly of 72 nodes for a moment.
pub const SMALL: &str = r#"title = "A small dragonfly"
routing = "minimal"

[topology.dragonfly]
p = 2
a = 4
h = 2
g = 9

[[traffic]]
load = 0.3

[measure]
warmup = 100
cycles = 400
"#;

/// The program, and a temporary folder that it runs in.
pub struct Program {
    folder: TempDir,
}

/// What it said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    /// In a folder with nothing but `small.toml`.
    pub fn new() -> Self {
        let program = Self { folder: tempfile::tempdir().expect("a temporary folder can be made") };
        program.write("small.toml", SMALL);
        program
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("the folder can be written to");
    }

    /// Whether nobody but its owner can read a file.
    pub fn make_private(&self, name: &str, is_private: bool) {
        let mode = if is_private { 0o600 } else { 0o644 };
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    /// The permissions of a file.
    pub fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).expect("it is there").permissions().mode() & 0o777
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The program with arguments, in its folder, without a terminal.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tailback"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        // The width of help is that of a terminal, if there is one.
        command.env_remove("COLUMNS").env_remove("LINES");
        // Which server is meant is said by each test.
        command.env_remove("TAILBACK_SERVER").env_remove("TAILBACK_TOKEN").env_remove("TAILBACK_LOG");
        command.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT").env_remove("TRACEPARENT");
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(arguments, &[])
    }

    /// The same with these variables in its environment.
    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
        let output = self.command(arguments).envs(variables.iter().copied()).output().expect("it can be started");
        let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
        Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs it to its end, which must be a good one, and gives what it printed.
    pub fn good(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "tailback {} says\n{}", arguments.join(" "), said.stderr);
        said.stdout
    }

    /// All files in its folder with what is in them; folders too.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("to its end").path();
        if path.is_dir() {
            collect(&path, files);
            files.insert(path, Vec::new());
        } else {
            let content = fs::read(&path).expect("a file can be read");
            files.insert(path, content);
        }
    }
}

/// Compares what was said in answer to `arguments` with a golden file.
pub fn compare(name: &str, arguments: &[&str], said: &str) {
    let quoted: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
    let text = format!("$ tailback {}\n{}", quoted.join(" "), masked(said));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    tailback_tests::compare(&path, &text);
}

/// As it would have to be typed.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.=/,".contains(c);
    if argument.chars().all(plain) { argument.to_owned() } else { format!("'{argument}'") }
}

/// Without what differs between two runs of the same.
fn masked(said: &str) -> String {
    let mask = |line: &str| if line.starts_with("  took ") { "  took …\n".to_owned() } else { line.to_owned() };
    said.split_inclusive('\n').map(mask).collect()
}
