//! Who is let in by a server.

use crate::program::Program;
use crate::served::{LOG, Server};

#[test]
fn tokens_let_in() {
    let program = Program::new();
    let token = program.good(&["token", "alice", "--tokens", "tokens"]);
    program.write("alice.token", &token);
    assert!(!program.read("tokens").contains(token.trim()));
    let server = Server::start(&program, &["--tokens", "tokens"]);
    let refused = server.ask(&program, &["list"]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    assert!(refused.stderr.contains("bearer token"), "{}", refused.stderr);
    server.good(&program, &["submit", "small.toml", "--id", "hers", "--token-file", "alice.token", "--wait"]);
    program.write("bob.token", program.good(&["token", "bob", "--tokens", "tokens"]));
    let private = ["submit", "small.toml", "--id", "hidden", "--private", "--reuse", "--token-file", "alice.token"];
    let said = server.ask(&program, &[&private[..], &["--wait"]].concat());
    assert!(said.code == Some(0) && said.stderr.contains("the results are those of run `hers`"), "{}", said.stderr);
    server.read_tokens_again();
    while server.ask(&program, &["list", "--token-file", "bob.token"]).code != Some(0) {}
    let listed = server.good(&program, &["list", "--token-file", "bob.token"]);
    assert!(listed.contains("hers") && !listed.contains("hidden"), "{listed}");
    let said = server.ask(&program, &["watch", "hidden", "--token-file", "bob.token"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let listed = server.good(&program, &["list", "--token-file", "alice.token"]);
    assert!(listed.contains("alice"), "{listed}");
    server.stop();
}

#[test]
fn those_in_a_project_share_its_runs() {
    let program = Program::new();
    let token = |name: &str, more: &[&str]| {
        let said = program.good(&[&["token", name, "--tokens", "tokens"], more].concat());
        program.write(&format!("{name}.token"), said);
    };
    token("alice", &["--project", "fabric", "--project", "storage", "--expires", "2999-12-31"]);
    token("bob", &["--project", "fabric"]);
    token("eve", &[]);
    assert!(program.read("tokens").contains(" until=2999-12-31 projects=fabric,storage\n"));
    let refused = program.run(&["token", "mallory", "--tokens", "tokens", "--project", "a,b"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("`a,b` is not a name"), "{}", refused.stderr);
    let refused = program.run(&["token", "mallory", "--tokens", "tokens", "--expires", "2020-01-01"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("2020-01-01 is over"), "{}", refused.stderr);
    assert!(!program.read("tokens").contains("mallory"));
    let server = Server::start(&program, &["--tokens", "tokens"]);
    let ask = |name: &str, arguments: &[&str]| {
        server.ask(&program, &[arguments, &["--token-file", &format!("{name}.token")]].concat())
    };
    let submit = ["submit", "small.toml", "--id", "ours", "--project", "fabric", "--wait", "--quiet"];
    let refused = ask("eve", &submit);
    assert!(refused.code == Some(1) && refused.stderr.contains("not in the project `fabric`"), "{}", refused.stderr);
    assert_eq!(ask("alice", &submit).code, Some(0));
    let both = ask("alice", &[&submit[..], &["--private"]].concat());
    assert_eq!((both.code, both.stderr.contains("cannot be used with")), (Some(2), true), "{}", both.stderr);
    let listed = |name: &str, more: &[&str]| -> serde_json::Value {
        let said = ask(name, &[&["list", "--format", "json"], more].concat());
        serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr))
    };
    let shown = listed("bob", &["--project", "fabric"]);
    assert_eq!((&shown[0]["id"], &shown[0]["project"], &shown[1]), (&"ours".into(), &"fabric".into(), &().into()));
    for nothing in [listed("bob", &["--project", "storage"]), listed("eve", &[])] {
        assert_eq!(nothing.as_array().map(Vec::len), Some(0));
    }
    assert_eq!(ask("bob", &["cancel", "--delete", "ours"]).code, Some(0));
    server.stop();
}

#[test]
fn tokens_come_and_go_while_a_server_runs() {
    let program = Program::new();
    let token = |arguments: &[&str]| program.run(&[&["token", "--tokens", "tokens"], arguments].concat());
    let alice = token(&["alice"]);
    program.write("alice.token", &alice.stdout);
    assert_eq!(program.mode("tokens"), 0o600);
    let server = Server::start(&program, &["--tokens", "tokens"]);
    let list = |name: &str| server.ask(&program, &["list", "--token-file", &format!("{name}.token")]).code;
    assert_eq!(list("alice"), Some(0));
    program.write("bob.token", token(&["bob", "--expires", "2999-12-31"]).stdout);
    program.write("carol.token", token(&["carol", "--expires", "2026-01-31"]).stdout);
    assert!(program.read("tokens").contains(" until=2999-12-31\n"));
    assert_eq!((list("alice"), list("bob")), (Some(0), Some(1)), "it has not read the file again");
    let revoked = token(&["--revoke", "alice"]);
    assert_eq!((revoked.code, revoked.stdout.as_str()), (Some(0), ""), "{}", revoked.stderr);
    assert!(revoked.stderr.contains("1 line") && revoked.stderr.contains("SIGHUP"), "{}", revoked.stderr);
    server.read_tokens_again();
    while list("bob") != Some(0) {}
    assert_eq!((list("alice"), list("carol")), (Some(1), Some(1)), "one is revoked, the other's has expired");
    // A file that is damaged changes nothing, and the log says so.
    program.write("tokens", "bob boss 00\n");
    server.read_tokens_again();
    while !program.read(LOG).contains("the tokens stay as they were") {}
    assert_eq!(list("bob"), Some(0));
    server.stop();
}

#[test]
fn tokens_that_could_not_be_read_are_not_written() {
    let program = Program::new();
    program.write("broken.pem", "no certificate");
    let before = program.files();
    for (arguments, problem) in [
        (&["alice bob"][..], "`alice bob` is not a name"),
        (&["a\u{1b}[2J"], "is not a name"),
        (&["alice", "--expires", "2027-02-30"], "is not a day"),
        (&["alice", "--cert", "broken.pem"], "cannot be used"),
        (&["--revoke", "alice"], "lets in nobody called `alice`"),
        (&["alice", "--revoke", "alice"], "cannot be used with"),
        (&[], "required"),
    ] {
        let said = program.run(&[&["token", "--tokens", "tokens"], arguments].concat());
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", said.stderr);
        assert!(said.stderr.contains(problem) && !said.stderr.contains('\u{1b}'), "{arguments:?}: {}", said.stderr);
    }
    assert_eq!(program.files(), before);
}
