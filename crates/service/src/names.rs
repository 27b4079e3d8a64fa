//! Names that come from clients: what they may look like, so that they can be used in paths and queries.
//!
//! **The invariant it keeps:** a name that passed has no slash, no backslash, does not begin with a dot, and is short.

use std::collections::BTreeMap;

use crate::api_error::ApiError;

const NAME_BYTES_MAX: usize = 63;
const REQUEST_BYTES_MAX: usize = 128;
const DOCUMENT_BYTES_MAX: usize = 255;
const FILES_MAX: usize = 64;
const LABELS_MAX: usize = 32;
const LABEL_KEY_BYTES_MAX: usize = 63;
const LABEL_VALUE_BYTES_MAX: usize = 255;

/// A name that a client gives a new run: a letter, then letters, digits and hyphens.
pub(crate) fn new_run(name: &str) -> Result<(), ApiError> {
    plain("run_id", "a run", name)
}

/// The name of a project.
pub(crate) fn project(name: &str) -> Result<(), ApiError> {
    plain("project", "a project", name)
}

fn plain(field: &'static str, what: &str, name: &str) -> Result<(), ApiError> {
    let begins_well = name.starts_with(|c: char| c.is_ascii_lowercase());
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if begins_well && plain && name.len() <= NAME_BYTES_MAX {
        return Ok(());
    }
    let rule = "a letter, then letters, digits and hyphens, lower case, 63 at most";
    Err(ApiError::invalid(field, format!("{} is not a name for {what}: {rule}", quoted(name))))
}

/// The name of a run that may be there: of a sweep's runs too.
pub(crate) fn known_run(name: &str) -> Result<(), ApiError> {
    let (own, number) = name.split_once('.').unwrap_or((name, "1"));
    let is_number = !number.is_empty() && number.len() <= 9 && number.bytes().all(|byte| byte.is_ascii_digit());
    if name.is_empty() {
        return Err(ApiError::invalid("run_id", "there is no name"));
    }
    new_run(own).and(if is_number { Ok(()) } else { Err(ApiError::RunNotFound(name.to_owned())) })
}

/// What makes repeated requests one.
pub(crate) fn request(id: &str) -> Result<(), ApiError> {
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte));
    if plain && id.len() <= REQUEST_BYTES_MAX {
        return Ok(());
    }
    let rule = "up to 128 letters, digits and `-_.:`";
    Err(ApiError::invalid("request_id", format!("{} is not a request id: {rule}", quoted(id))))
}

/// How a client knows a document.
pub(crate) fn document(name: &str) -> Result<(), ApiError> {
    if name.len() <= DOCUMENT_BYTES_MAX {
        return Ok(());
    }
    let problem = format!("the name has {} bytes, the limit is {DOCUMENT_BYTES_MAX}", name.len());
    Err(ApiError::invalid("scenario.name", problem))
}

/// The labels of a run.
pub(crate) fn labels(labels: &BTreeMap<String, String>) -> Result<(), ApiError> {
    if labels.len() > LABELS_MAX {
        return Err(ApiError::invalid("labels", format!("{} labels, the limit is {LABELS_MAX}", labels.len())));
    }
    for (key, value) in labels {
        let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
        if key.is_empty() || !plain || key.len() > LABEL_KEY_BYTES_MAX {
            let rule = "1 to 63 letters, digits and `-_./`";
            return Err(ApiError::invalid("labels", format!("{} is not a key of a label: {rule}", quoted(key))));
        }
        if value.len() > LABEL_VALUE_BYTES_MAX {
            let problem = format!("label `{key}` has {} bytes, the limit is {LABEL_VALUE_BYTES_MAX}", value.len());
            return Err(ApiError::invalid("labels", problem));
        }
    }
    Ok(())
}

/// The beginning of a digest.
pub(crate) fn digest(field: &'static str, digest: &str) -> Result<(), ApiError> {
    let hexadecimal = digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if hexadecimal && digest.len() <= 64 {
        return Ok(());
    }
    Err(ApiError::invalid(
        field,
        format!("{} is not the beginning of a digest: hexadecimal, lower case", quoted(digest)),
    ))
}

/// The SHA-256 of a file, whole: such a name can be part of a path.
pub(crate) fn whole_digest(field: &'static str, digest: &str) -> Result<(), ApiError> {
    let hexadecimal = digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if hexadecimal && digest.len() == 64 {
        return Ok(());
    }
    Err(ApiError::invalid(field, format!("{} is no SHA-256: 64 hexadecimal digits, lower case", quoted(digest))))
}

/// How a client knows a file.
pub(crate) fn file(field: &'static str, name: &str) -> Result<(), ApiError> {
    if (1..=DOCUMENT_BYTES_MAX).contains(&name.len()) {
        return Ok(());
    }
    let problem = format!("the name of a file has {} bytes, not 1 to {DOCUMENT_BYTES_MAX}", name.len());
    Err(ApiError::invalid(field, problem))
}

/// The files that a scenario names, each with the SHA-256 of its content.
pub(crate) fn files(files: &BTreeMap<String, String>) -> Result<(), ApiError> {
    let field = "scenario.files";
    if files.len() > FILES_MAX {
        return Err(ApiError::invalid(field, format!("{} files, the limit is {FILES_MAX}", files.len())));
    }
    files.iter().try_for_each(|(name, sha256)| file(field, name).and_then(|()| whole_digest(field, sha256)))
}

/// A text of a client's, in a message: not all of it, and nothing that a terminal would obey.
pub(crate) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    format!("`{short}{}`", if text.chars().count() > 80 { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_runs() {
        for good in ["a", "run-1", "x23456789-123456789-123456789-123456789-123456789-123456789-12"] {
            assert_eq!(new_run(good), Ok(()), "{good}");
        }
        for bad in ["", "-a", "1a", "A", "a.1", "a/b", "..", "a b", "ä", "a\0"] {
            assert!(new_run(bad).is_err(), "{bad}");
        }
        assert!(new_run(&"a".repeat(64)).is_err());
        assert_eq!(known_run("sweep.17"), Ok(()));
        for bad in ["", ".", "a.", "a.b", "a.1.2", "a.1234567890", "../a", "a./../b"] {
            assert!(known_run(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn labels_may_be_so_many_and_so_long() {
        let of = |key: &str, value: &str| labels(&BTreeMap::from([(key.to_owned(), value.to_owned())]));
        let (key, value) = ("k".repeat(LABEL_KEY_BYTES_MAX), "ä".repeat(LABEL_VALUE_BYTES_MAX / 2));
        assert_eq!(of(&key, &value), Ok(()));
        let problem = |key: &str, value: &str| of(key, value).expect_err("it is refused").to_string();
        for bad in ["", "a b", "ä", &format!("{key}k")] {
            assert!(problem(bad, "").contains("is not a key of a label: 1 to 63 letters"), "{bad}");
        }
        assert!(problem("a", &format!("{value}ä")).contains("label `a` has 256 bytes, the limit is 255"));
        let many = |count| labels(&(0..count).map(|number| (number.to_string(), String::new())).collect());
        assert_eq!(many(LABELS_MAX), Ok(()));
        assert!(many(LABELS_MAX + 1).is_err_and(|refused| refused.to_string().contains("33 labels, the limit is 32")));
    }

    proptest! {
        #[test]
        fn no_name_leads_out_of_a_folder(name in "\\PC{0,80}|[a-z./\\\\]{0,12}") {
            if new_run(&name).is_ok() || known_run(&name).is_ok() {
                let path = std::path::Path::new("folder").join(&name);
                prop_assert_eq!(path.components().count(), 2);
                prop_assert!(path.starts_with("folder") && !name.contains("..") && !name.is_empty());
            }
        }

        #[test]
        fn quoted_texts_are_short_and_tame(text in "\\PC{0,300}|[\\x00-\\x1f]{0,20}") {
            let quoted = quoted(&text);
            prop_assert!(quoted.len() < 1000 && !quoted.chars().any(char::is_control));
        }
    }
}
