//! Each file that people start from is a good one.

use std::path::Path;

use crate::scenarios::{read, toml_files};

#[test]
fn each_file_under_configs_resolves() {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs");
    let files = toml_files(&configs);
    assert!(!files.is_empty(), "{} holds no scenarios", configs.display());
    let mut mistakes = Vec::new();
    for file in files {
        let document = read(&file);
        mistakes.extend(document.resolve().err().map(|mistakes| mistakes.to_string()));
        mistakes.extend(document.sweep().err().map(|mistakes| mistakes.to_string()));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
}

/// The points of a sweep are scenarios of their own: what is laid over the file must fit it.
#[test]
fn each_point_of_their_sweeps_resolves() {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs");
    for file in toml_files(&configs) {
        let document = read(&file);
        let Ok(sweep) = document.sweep() else { continue };
        // The first and the last point see each variant's ends; those between differ in numbers alone.
        let points = sweep.points();
        for point in points.first().into_iter().chain(points.last()) {
            let settings = point.settings.iter().map(|(path, value)| format!("{path}={value}"));
            let all = point.assignments.iter().cloned().chain(settings);
            let varied = all.fold(document.clone(), |document, assignment| document.with(&assignment));
            if let Err(mistakes) = varied.resolve() {
                panic!("a point of the sweep in {} is wrong:\n{mistakes}", file.display());
            }
        }
    }
}
