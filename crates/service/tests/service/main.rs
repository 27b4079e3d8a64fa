//! The service through real connections: a server on a port of the system's choice, and the Rust client.

mod access;
mod acknowledged;
#[cfg(target_os = "linux")]
mod answers;
mod backups;
mod bodies;
mod certificates;
mod connections;
mod creating;
mod damage;
mod damage_anywhere;
mod faults;
mod harness;
mod hostile;
mod kept_workers;
mod migration;
mod models;
mod operating;
mod page;
mod planning;
mod private;
mod projects;
mod recovery;
#[cfg(target_os = "linux")]
mod requests;
mod results;
mod retention;
mod retrying;
mod reusing;
mod sharing;
mod sweeps;
mod tokens;
mod uploading;
mod watching;

/// What workers run: with nobody at the other end it does nothing.
#[test]
#[ignore = "is the worker of the servers in these tests"]
fn worker() {
    drop(tailback_service::work(tailback_service::Connection::Socket, &std::sync::Arc::default()));
}
