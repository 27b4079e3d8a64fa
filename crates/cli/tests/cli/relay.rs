//! What stands between clients and a server: an address that stays the same while servers come and go behind it.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use crate::served::Server;

/// A relay that runs until the tests are over.
pub struct Relay {
    pub url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Where connections lead to; those that are made while they lead nowhere are closed.
    server: Option<String>,
    /// Whether what the server answers is thrown away.
    withholds_answers: bool,
    /// How many calls have been made, and from which on it will be.
    calls: usize,
    withheld_from: Option<usize>,
    open: Vec<TcpStream>,
}

impl Relay {
    pub fn to(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let relay = Self { url, state: Arc::default() };
        relay.lead_to(server);
        let state = relay.state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A client, or a server, that has gone meanwhile is no failure of the test.
                let _ = connect(client, &state);
            }
        });
        relay
    }

    /// Connections that are made from now on lead to this server.
    pub fn lead_to(&self, server: &Server) {
        lock(&self.state).server = Some(server.url.trim_start_matches("http://").to_owned());
    }

    /// From now on what the server answers is thrown away, or not.
    pub fn withhold_answers(&self, withholds: bool) {
        lock(&self.state).withholds_answers = withholds;
    }

    /// How many calls have been made.
    pub fn calls(&self) -> usize {
        lock(&self.state).calls
    }

    /// What the server answers is thrown away from that call on, of those that are made, counted from 1.
    pub fn withhold_answers_from_call(&self, number: usize) {
        lock(&self.state).withheld_from = Some(number);
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        for connection in lock(&self.state).open.drain(..) {
            // It may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(client: TcpStream, state: &Arc<Mutex<State>>) -> io::Result<()> {
    let mut locked = lock(state);
    let Some(address) = locked.server.clone() else { return Ok(()) };
    let server = TcpStream::connect(address)?;
    locked.open.extend([client.try_clone()?, server.try_clone()?]);
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let (counting, mut frames) = (state.clone(), Frames::default());
    let count = move |bytes: &[u8]| {
        let state = &mut *lock(&counting);
        state.calls += frames.calls(bytes);
        if state.withheld_from.take_if(|number| *number <= state.calls).is_some() {
            state.withholds_answers = true;
        }
        true
    };
    std::thread::spawn(move || copy(from_client, to_server, count));
    let state = state.clone();
    std::thread::spawn(move || copy(server, client, |_| !lock(&state).withholds_answers));
    Ok(())
}

/// The frames of HTTP/2 that a client sends.
struct Frames {
    /// Bytes that are no heading: at first those that each connection begins with.
    skipped: usize,
    heading: Vec<u8>,
}

impl Default for Frames {
    fn default() -> Self {
        Self { skipped: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len(), heading: Vec::new() }
    }
}

impl Frames {
    /// How many calls begin in these bytes: each has headers, and nothing else of a client does.
    fn calls(&mut self, bytes: &[u8]) -> usize {
        let mut calls = 0;
        for &byte in bytes {
            if self.skipped > 0 {
                self.skipped -= 1;
                continue;
            }
            self.heading.push(byte);
            if let [high, middle, low, kind, _, _, _, _, _] = self.heading[..] {
                self.skipped = u32::from_be_bytes([0, high, middle, low]) as usize;
                self.heading.clear();
                calls += usize::from(kind == 1);
            }
        }
        calls
    }
}

/// Copies what is to be passed on until one of both is closed, and closes the other.
fn copy(mut from: TcpStream, mut to: TcpStream, mut passes: impl FnMut(&[u8]) -> bool) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if passes(&bytes[..count]) && to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    for connection in [from, to] {
        let _ = connection.shutdown(Shutdown::Both);
    }
}
