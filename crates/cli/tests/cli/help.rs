//! What can be said on the command line, and what exists.

use std::process::Stdio;

use crate::program::{Program, compare};

fn helps(name: &str, arguments: &[&str]) {
    let said = Program::new().good(arguments);
    compare(name, arguments, &said);
}

#[test]
fn of_the_program() {
    helps("help", &["--help"]);
}

#[test]
fn of_each_command() {
    for command in ["run", "sweep", "check", "explain", "models", "reproduce", "plot"] {
        helps(&format!("help-{command}"), &[command, "--help"]);
    }
    let of_services =
        ["serve", "token", "submit", "watch", "list", "cancel", "retry", "fetch", "files", "fsck", "backup", "restore"];
    for command in of_services {
        helps(&format!("help-{command}"), &[command, "--help"]);
    }
}

#[test]
fn models() {
    helps("models", &["models"]);
    helps("models-valiant", &["models", "valiant"]);
    for name in ["arrival", "pattern", "phases", "size", "traffic"] {
        helps(&format!("models-{name}"), &["models", name]);
    }
}

/// The JSON form is for programs: its shape counts, the words are those of the text.
#[test]
fn models_for_programs() {
    let said = Program::new().good(&["models", "--format", "json"]);
    let models: Vec<serde_json::Value> = serde_json::from_str(&said).expect("it is JSON");
    let mut names = String::new();
    for model in &models {
        let text = |value: &serde_json::Value| value.as_str().expect("it is a text").to_owned();
        assert!(!text(&model["summary"]).is_empty());
        let of_flows = ["pattern", "size", "arrival"].contains(&text(&model["kind"]).as_str());
        assert!(model["example"].is_string() || !of_flows && model["example"].is_null(), "{model}");
        let parameters = model["parameters"].as_array().expect("it is a list");
        for parameter in parameters {
            assert!(!text(&parameter["values"]).is_empty() && !text(&parameter["help"]).is_empty());
            assert!(parameter["default"].is_null() || parameter["default"].is_string());
            let choices = parameter["choices"].as_array().expect("it is a list");
            assert!(choices.iter().all(|choice| choice["value"].is_string() && choice["help"].is_string()));
        }
        let parameters: Vec<String> = parameters.iter().map(|parameter| text(&parameter["name"])).collect();
        names += &format!("{} {}: {}\n", text(&model["kind"]), text(&model["name"]), parameters.join(", "));
    }
    compare("models-json", &["models", "--format", "json"], &names);
}

/// As behind `| head`.
#[test]
fn nobody_has_to_listen_to_the_end() {
    let program = Program::new();
    for arguments in [&["models"][..], &["explain", "small.toml"], &["run", "small.toml"]] {
        let mut command = program.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !complaints.contains("panicked"), "{arguments:?}: {complaints}");
    }
}

#[test]
fn no_command_is_no_good() {
    for arguments in [&[][..], &["frobnicate"], &["run"], &["run", "small.toml", "--threads", "many"]] {
        let said = Program::new().run(arguments);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(said.stderr.contains("Usage") || said.stderr.contains("--help"), "{}", said.stderr);
    }
}
