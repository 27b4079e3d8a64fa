//! The gRPC interface, as code.
//!
//! Everything here is generated from `proto/` at the root: messages, clients and servers, and the descriptors for
//! reflection. What the messages mean is said there.
//!
//! **What this crate must never know:** anything that is not in `proto/`.

/// Version 1.
pub mod v1 {
    #![allow(clippy::all, clippy::pedantic, missing_docs, unused_qualifications, reason = "generated")]
    tonic::include_proto!("tailback.v1");
}

/// The descriptors of all files, and of what they import, as a serialised `FileDescriptorSet`.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
