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
    std::thread::spawn(move || copy(from_client, to_server, || false));
    let state = state.clone();
    std::thread::spawn(move || copy(server, client, || lock(&state).withholds_answers));
    Ok(())
}

/// Copies until one of both is closed, and closes the other.
fn copy(mut from: TcpStream, mut to: TcpStream, withholds: impl Fn() -> bool) {
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !withholds() && to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    for connection in [from, to] {
        let _ = connection.shutdown(Shutdown::Both);
    }
}
