//! The program as a server.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Program, Said};

/// What servers log, in the folder of their program.
pub const LOG: &str = "server.log";

/// A server that runs.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    /// Starts one in the folder of a program, with further arguments.
    pub fn start(program: &Program, arguments: &[&str]) -> Self {
        let first = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];
        Self::of(program.command(&[&first, arguments].concat()), program)
    }

    /// Starts one by a command of its own, in the folder of a program.
    pub fn of(mut command: Command, program: &Program) -> Self {
        command.current_dir(program.path(""));
        let log = OpenOptions::new().create(true).append(true).open(program.path(LOG)).expect("it can be written");
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("it can be started");
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
        lines.read_line(&mut line).expect("it says something");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("it says {line:?}"));
        Self { url: url.to_owned(), child }
    }

    /// Runs the program against it.
    pub fn ask(&self, program: &Program, arguments: &[&str]) -> Said {
        program.run(&[arguments, &["--server", &self.url]].concat())
    }

    /// The same, and it must go well.
    pub fn good(&self, program: &Program, arguments: &[&str]) -> String {
        let said = self.ask(program, arguments);
        assert_eq!(said.code, Some(0), "tailback {} says\n{}", arguments.join(" "), said.stderr);
        said.stdout
    }

    /// Kills it, without any chance to do something about it.
    pub fn kill(&self) {
        self.signal("KILL");
    }

    /// Asks it to read its tokens again.
    pub fn read_tokens_again(&self) {
        self.signal("HUP");
    }

    /// Asks it to stop; it must end well.
    pub fn stop(mut self) {
        self.signal("TERM");
        assert!(self.child.wait().expect("it ends").success());
    }

    /// The same of one that has to cut something off.
    pub fn stop_in_time(mut self) {
        self.signal("TERM");
        let began = Instant::now();
        let ended = loop {
            if let Some(ended) = self.child.try_wait().expect("it is ours") {
                break ended;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "it does not end");
            std::thread::yield_now();
        };
        assert!(ended.success());
    }

    /// Removes a file as the server sees it, which may have disks of its own.
    pub fn remove_file(&self, path: &Path) {
        let seen = path.strip_prefix("/").expect("the path is whole");
        let path = Path::new("/proc").join(self.child.id().to_string()).join("root").join(seen);
        std::fs::remove_file(path).expect("it is there");
    }

    /// Bytes of memory that it occupies.
    #[cfg(target_os = "linux")]
    pub fn memory_bytes(&self) -> u64 {
        self.bytes_in_status("VmRSS:")
    }

    /// The most that it has occupied so far.
    #[cfg(target_os = "linux")]
    pub fn peak_memory_bytes(&self) -> u64 {
        self.bytes_in_status("VmHWM:")
    }

    #[cfg(target_os = "linux")]
    fn bytes_in_status(&self, key: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("it is there");
        let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("it says so");
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib << 10
    }

    /// The processes that carry out its runs now.
    pub fn workers(&self) -> Vec<u32> {
        let server = self.child.id().to_string();
        let all = std::fs::read_dir("/proc").expect("the system tells of its processes");
        let ids = all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.filter(|&id| Self::is_worker(id) && parent(id).is_some_and(|parent| parent == server)).collect()
    }

    /// Whether a process is a worker, of whatever server.
    pub fn is_worker(id: u32) -> bool {
        std::fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.contains("\0worker\0"))
    }

    /// Kills a process, without any chance to do something about it. It may have ended already: tells whether it was there.
    pub fn kill_process(id: u32) -> bool {
        Self::signal_process(id, "KILL")
    }

    /// Has a process do nothing until it is told to go on, or killed.
    pub fn freeze_process(id: u32) -> bool {
        Self::signal_process(id, "STOP")
    }

    fn signal_process(id: u32, name: &str) -> bool {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {id} 2>/dev/null")]).status();
        sent.expect("a signal can be sent").success()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status();
        assert!(sent.is_ok_and(|status| status.success()), "a signal can be sent");
    }
}

/// The parent of a process.
fn parent(id: u32) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        // After a test that failed; others have ended it already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
