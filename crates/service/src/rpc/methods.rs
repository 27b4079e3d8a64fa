//! The methods that there are.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use tailback_api::FILE_DESCRIPTOR_SET;

/// The methods of our services, as paths.
static METHODS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let described = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("it was generated with the services");
    let methods_of = |file: FileDescriptorProto| {
        let package = file.package().to_owned();
        file.service.into_iter().flat_map(move |service| {
            let service_name = format!("/{package}.{}", service.name());
            service.method.into_iter().map(move |method| format!("{service_name}/{}", method.name()))
        })
    };
    described.file.into_iter().flat_map(methods_of).collect()
});

/// The method of a path, if it is one of ours.
pub(crate) fn method(path: &str) -> Option<&'static str> {
    METHODS.get(path).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::super::{NAMES, UPLOAD};
    use super::*;

    #[test]
    fn methods_are_those_of_the_services() {
        for service in NAMES {
            assert!(METHODS.iter().any(|path| path.starts_with(&format!("/{service}/"))), "{service} has no methods");
        }
        assert!(method(UPLOAD) == Some(UPLOAD) && method("/tailback.v1.RunService/Invented").is_none());
        let of_services = |path: &String| NAMES.iter().any(|name| path.starts_with(&format!("/{name}/")));
        assert!(METHODS.iter().all(of_services), "{METHODS:?}");
    }
}
