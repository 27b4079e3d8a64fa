//! Whatever scenarios, file names and servers say, a terminal is shown it and obeys none of it.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{Request, Response};
use tonic::server::NamedService;
use tonic::transport::Server as GrpcServer;

use crate::program::{Program, SMALL, Said};
use crate::served::Server;

/// Clears the screen, in three ways, and turns writing around.
const HOSTILE: &str = "a\u{1b}[2Jb\u{9b}2Jc\rd\u{202e}e";
const SHOWN: &str = r"a\u001b[2Jb\u009b2Jc\u000dd\u202ee";

fn is_tame(said: &Said) {
    for text in [&said.stdout, &said.stderr] {
        let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
        assert!(!text.contains(obeyed), "{text:?}");
    }
}

/// A scenario with a title, written as TOML writes it.
fn titled(program: &Program, title: &str) {
    program.write("titled.toml", SMALL.replace("A small dragonfly", title));
}

#[test]
fn titles() {
    let program = Program::new();
    titled(&program, r"a\u001b[2Jb\u009b2Jc\rd\u202ee\nfirst   succeeded");
    let server = Server::start(&program, &[]);
    let asks: [&[&str]; 4] = [
        &["submit", "titled.toml", "--id", "one", "--wait"],
        &["list"],
        &["list", "--format", "json"],
        &["watch", "one"],
    ];
    let said = asks.map(|arguments| server.ask(&program, arguments));
    for said in &said {
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        is_tame(said);
    }
    assert!(said[0].stdout.contains(SHOWN), "{}", said[0].stdout);
    assert!(said[1].stdout.contains(r"a\u001b[2J") && said[1].stdout.lines().count() == 2, "{}", said[1].stdout);
    let listed: serde_json::Value = serde_json::from_str(&said[2].stdout).expect("it is JSON still");
    assert_eq!(listed[0]["title"], format!("{HOSTILE}\nfirst   succeeded"));
    server.stop();
}

#[test]
fn files_and_what_is_in_them() {
    let program = Program::new();
    let name = format!("{HOSTILE}.toml");
    program.write(&name, "");
    for arguments in [&["check", &name][..], &["run", "nowhere\u{1b}[2J.toml"], &[&name]] {
        let said = program.run(arguments);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        is_tame(&said);
        assert!(said.stderr.contains(r"\u00"), "{}", said.stderr);
    }
    // In a line that is shown because there is a mistake in it, too; the mark stays under the mistake.
    program.write("raw.toml", format!("{SMALL}# {HOSTILE}\nodd = \"{HOSTILE}\"\n"));
    let said = program.run(&["check", "raw.toml"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    is_tame(&said);
}

/// A server that answers each call in the same words.
#[derive(Clone)]
struct Hostile;

impl NamedService for Hostile {
    const NAME: &'static str = "tailback.v1.RunService";
}

impl Service<Request<Body>> for Hostile {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Body>) -> Self::Future {
        ready(Ok(Status::not_found(HOSTILE).into_http()))
    }
}

#[test]
fn servers() {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("there are ports");
    let url = format!("http://{}", listener.local_addr().expect("it has one"));
    runtime.spawn(GrpcServer::builder().add_service(Hostile).serve_with_incoming(TcpListenerStream::new(listener)));
    let program = Program::new();
    for arguments in [&["watch", "one"][..], &["list"], &["cancel", "one"], &["submit", "small.toml"]] {
        let said = program.run(&[arguments, &["--server", &url]].concat());
        assert_ne!(said.code, Some(0));
        is_tame(&said);
        assert!(said.stderr.contains(SHOWN), "{}", said.stderr);
    }
}

/// The log is read on terminals, too.
#[test]
fn logs() {
    let program = Program::new();
    let token = program.good(&["token", "alice", "--tokens", "tokens"]);
    program.write("alice.token", token);
    for format in ["text", "json"] {
        program.write("tokens-now", program.read("tokens"));
        program.make_private("tokens-now", true);
        let server = Server::start(&program, &["--tokens", "tokens-now", "--log", format]);
        program.write("tokens-now", format!("alice {HOSTILE}"));
        server.read_tokens_again();
        while !program.read(crate::served::LOG).contains("the tokens stay as they were") {}
        server.stop();
        let stderr = program.read(crate::served::LOG);
        is_tame(&Said { code: None, stdout: String::new(), stderr });
        program.write(crate::served::LOG, "");
    }
}
