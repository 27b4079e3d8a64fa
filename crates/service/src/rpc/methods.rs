//! The methods that there are.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use tailback_api::FILE_DESCRIPTOR_SET;

/// The methods of our services, as paths; and whether their answers are streams.
static METHODS: LazyLock<BTreeMap<String, bool>> = LazyLock::new(|| {
    let described = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("it was generated with the services");
    let methods_of = |file: FileDescriptorProto| {
        let package = file.package().to_owned();
        file.service.into_iter().flat_map(move |service| {
            let service_name = format!("/{package}.{}", service.name());
            let path = move |name: &str| format!("{service_name}/{name}");
            service.method.into_iter().map(move |method| (path(method.name()), method.server_streaming()))
        })
    };
    described.file.into_iter().flat_map(methods_of).collect()
});

/// The method of a path, if it is one of ours.
pub(crate) fn method(path: &str) -> Option<&'static str> {
    METHODS.get_key_value(path).map(|(path, _)| path.as_str())
}

/// Whether the path is that of one of our methods, and its answer no stream.
pub(crate) fn has_one_answer(path: &str) -> bool {
    METHODS.get(path).is_some_and(|is_stream| !is_stream)
}

#[cfg(test)]
mod tests {
    use super::super::{NAMES, UPLOAD};
    use super::*;

    #[test]
    fn methods_are_those_of_the_services() {
        for service in NAMES {
            assert!(METHODS.keys().any(|path| path.starts_with(&format!("/{service}/"))), "{service} has no methods");
        }
        assert!(method(UPLOAD) == Some(UPLOAD) && method("/tailback.v1.RunService/Invented").is_none());
        assert!(has_one_answer(UPLOAD) && !has_one_answer("/tailback.v1.RunService/Invented"));
        assert!(!has_one_answer("/tailback.v1.RunService/WatchRun"));
        let of_services = |path: &String| NAMES.iter().any(|name| path.starts_with(&format!("/{name}/")));
        assert!(METHODS.keys().all(of_services), "{METHODS:?}");
    }
}
