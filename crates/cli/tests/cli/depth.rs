//! What is deeper than anybody writes: it is refused with the numbers, and takes no more of the stack than anything else.

use crate::program::{Program, SMALL};

/// Keys of a path. On the stack, each would take some hundred bytes.
const KEYS: usize = 8001;

/// The program refuses it, in words.
fn refuses(program: &Program, arguments: &[&str], why: &str) {
    let said = program.run(arguments);
    let asked: Vec<String> = arguments.iter().map(|argument| argument.chars().take(40).collect()).collect();
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "tailback {asked:?} says\n{}", said.stderr);
    assert!(said.stderr.contains(why), "tailback {asked:?} says\n{}", said.stderr);
}

/// With a value laid over the scenario, by each command that takes one.
fn refuses_value(value: &str, why: &str) {
    let program = Program::new();
    for command in ["run", "check", "sweep"] {
        refuses(&program, &[command, "small.toml", "--set", value], why);
    }
    let over = &["--over", "traffic.load=0.1,0.2"][..];
    refuses(&program, &[&["sweep", "small.toml", "--set", value], over].concat(), why);
}

#[test]
fn paths_of_thousands_of_keys_are_refused() {
    let path = vec!["a"; KEYS].join(".");
    let why = format!("the path has {KEYS} keys, the limit is 32");
    refuses_value(&format!("{path}=1"), &why);
    let program = Program::new();
    refuses(&program, &["sweep", "small.toml", "--over", &format!("{path}=1,2")], &why);
    refuses(&program, &["explain", &path], "cannot read");
}

#[test]
fn values_in_values_in_values_are_refused() {
    // The system allows 128 KiB of an argument. What is no TOML is a text.
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let value = format!("measure.cycles={}1{}", open.repeat(25_000), close.repeat(25_000));
        refuses_value(&value, "is no time");
    }
}

#[test]
fn tables_in_tables_in_tables_are_refused() {
    let path = vec!["a"; KEYS].join(".");
    let nested = |open: &str, close: &str| format!("x = {}1{}", open.repeat(200_000), close.repeat(200_000));
    for (addition, why) in [
        (format!("[{path}]\nb = 1"), "recursion limit"),
        (format!("[[{path}]]\nb = 1"), "recursion limit"),
        (format!("{path} = 1"), "recursion limit"),
        (nested("[", "]"), "max recursion depth met"),
        (nested("{a=", "}"), "max recursion depth met"),
    ] {
        let program = Program::new();
        program.write("deep.toml", format!("{SMALL}\n{addition}\n"));
        for command in ["run", "check", "sweep"] {
            refuses(&program, &[command, "deep.toml"], why);
        }
    }
}
